/** Challenges: the dialog for a new one, and a banner over every page for each open one; an accepted challenge leads to its room. */

import { showBanner, showNotice } from "../banner.js";
import { say, sayTitle } from "../catalogue.js";
import { button, field, h, openDialog, select, setText, show } from "../dom.js";
import { RATED_CLOCK, makeClock, parseClock } from "../forms.js";
import { makeRated } from "../rated.js";
import { PRESETS, rulesOf } from "../rules.js";
import { messageOf } from "../words.js";
import { describeChallenge, describeChallengeEnd, describeRated } from "./words.js";

/** @type {Map<string, {challenge: Protocol.OpenChallenge, banner: HTMLElement}>} */
const open = new Map();
/** The challenges made in this window: only here an accepted one opens its room by itself. @type {Set<string>} */
const made = new Set();

/** A challenge that a welcome does not list is over. @param {App} app @param {LadderNews} news */
export function hearLadders(app, news) {
	if (news.type === "rated") {
		const { shown } = app.rooms;
		const isHere = shown?.code === news.room;
		const told = describeRated(news, Object.fromEntries(app.names), isHere ? shown.viewer : app.home.player);
		return isHere ? shown.ears?.onTold(told) : showNotice(told.join(" "));
	}
	if (news.type === "challenge_over") return finish(app, news);
	const listed = news.type === "challenge" ? [news] : (news.challenges ?? []);
	if (news.type === "welcome") for (const id of open.keys()) if (!listed.some(({ challenge }) => challenge === id)) finish(app, { challenge: id, how: "over" });
	for (const challenge of listed) if (!open.has(challenge.challenge)) open.set(challenge.challenge, { challenge, banner: makeBanner(app, challenge) });
}

/** @param {App} app @param {Protocol.OpenChallenge} challenge */
function makeBanner(app, challenge) {
	const { challenge: id, player, name, to, expires_ms } = challenge;
	const own = player === app.home.player;
	const isPlaying = () => !own && app.rooms.shown?.plays;
	const accept = () => (!isPlaying() || confirm(say("page challenge sure"))) && answer(app, id, true);
	const refuse = (label = "") => button(sayTitle(label), () => answer(app, id, false));
	const answers = [button(sayTitle("deed accept"), accept, { class: "primary" }), refuse("deed decline"), button(sayTitle("key block"), () => setBlocked(app, player, true)), button(say("page block strangers"), () => blockStrangers(app, true))];
	const [playing, row] = [h("span"), h("div.row", own ? refuse("deed withdraw") : answers)];
	if (!own) {
		app.names.set(player, name);
		app.sound.play("turn");
	}
	const judge = () => {
		setText(playing, isPlaying() ? say("page challenge playing") : "");
		for (const one of row.querySelectorAll("button")) one.disabled = !app.connection.isOn;
	};
	return showBanner(describeChallenge(challenge, app.home.player, app.names.get(to)), [playing, row], performance.now() + expires_ms, judge);
}

/** @param {App} app */
async function answer(app, challenge = "", accept = false) {
	const ok = await app.ask({ type: "answer", challenge, accept });
	if (ok && accept) app.play({ type: "join", room: ok.room ?? "" });
}

/** @param {App} app @param {Without<Protocol.ChallengeOver, "type">} over */
function finish(app, over) {
	const { challenge: id, how, room = "" } = over;
	const challenge = close(id);
	if (!challenge) return;
	const text = describeChallengeEnd(over, challenge, app.home.player, app.names.get(challenge.to));
	const enter = () => void app.play({ type: "join", room });
	if (how !== "accepted") app.say(text);
	else if (challenge.player !== app.home.player) return; // the answer itself leads the other player there
	else if (made.has(id) && !app.rooms.shown?.plays) enter();
	else showNotice(text, button(say("page event board"), enter, { class: "primary" }));
}

function close(id = "") {
	const { challenge, banner } = open.get(id) ?? {};
	open.delete(id);
	banner?.remove();
	return challenge;
}

/** @param {App} app @param {Without<Protocol.Challenge, "id">} request */
const ask = async (app, request) => void made.add((await app.connection.request(request)).challenge ?? "");

/** @param {App} app @param {Room} room */
export function challengeAgain(app, { state, player }) {
	const [side, seat] = Object.entries(state?.seats ?? {}).find(([, one]) => one && one.player !== player) ?? [];
	if (!state || !seat) return;
	const { rules: { preset, ...fields }, time_control: clock } = state;
	ask(app, { type: "challenge", player: seat.player, rules: preset ?? fields, clock, rated: true, side }).catch((error) => app.say(messageOf(error)));
}

/** @param {App} app */
async function blockStrangers(app, on = false) {
	const ok = await app.ask({ type: "block", strangers: on });
	if (ok && on) showNotice(say("page strangers blocked"), button(say("page strangers undo"), () => blockStrangers(app, false)));
	else if (ok) app.say(say("page strangers welcome"));
}

/** @param {App} app */
export async function setBlocked(app, player = "", on = false) {
	if (!(await app.ask({ type: "block", player, on }))) return !on;
	if (on) for (const [id, { challenge }] of open) if (challenge.player === player) close(id);
	app.say(say(on ? "blocked now" : "page unblocked", { name: app.names.get(player) ?? say("challenge somebody") }));
	return on;
}

/** @param {App} app */
export function askForGame(app, player = "") {
	const [game, clock] = [select(PRESETS, (one) => say(`name of ${one}`)), makeClock(app.kept.clock || RATED_CLOCK)];
	const rated = makeRated(app, clock);
	const side = h("select");
	const fault = h("p.fault", { role: "alert" });
	const form = h("form.ask-terms", { submit: send, change: judge },
		field(say("new room game"), game), field(say("new room clock"), clock), rated.element,
		field(say("new room seat"), side), fault,
		h("div.row", h("button.primary", sayTitle("type challenge"))),
	);
	if (PRESETS.includes(app.kept.game)) game.value = app.kept.game;
	const dialog = openDialog(say("page challenge title", { name: app.names.get(player) ?? "" }), form);
	judge();

	async function judge() {
		const { value } = side;
		show(side, ["", ...rulesOf(game.value).marks].map((mark) => h("option", { value: mark, selected: mark === value }, mark || say("page challenge drawn"))));
		await rated.judge(game.value);
	}

	async function send() {
		const terms = { rules: game.value, clock: parseClock(clock.value) ?? null, rated: rated.isOn };
		try {
			await app.meet();
			await ask(app, { type: "challenge", player, ...terms, side: side.value || undefined });
			dialog.close();
		} catch (error) {
			setText(fault, messageOf(error));
		}
	}
}
