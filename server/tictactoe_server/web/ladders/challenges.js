/** What is open: challenges to one player stand over every page, those to all in the lobby; what was accepted leads to its room. */

import { settleBanners, showBanner, showNotice } from "../banner.js";
import { say } from "../catalogue.js";
import { button, h, setText, show } from "../dom.js";
import { prepareLadders } from "../later.js";
import { clean, messageOf } from "../words.js";
import { linkTo, listLadders, tellRated, tellWaiting } from "./rated.js";
import { describeChallenge, describeChallengeEnd, describeTerms } from "./words.js";

/** What is open, by its id, and what shows it. @type {Map<string, {challenge: Protocol.OpenChallenge, shown: HTMLElement}>} */
const open = new Map();
/** What this window asked for: elsewhere its room is not entered by itself. @type {Set<string>} */
const made = new Set();
/** What is over has its place in it until the pointer is elsewhere, so that no other row comes under that. */
const seeks = h("ul.rooms.seeks", { pointerleave: () => seeks.querySelectorAll("[inert]").forEach((row) => row.remove()) });
/** @param {App} app @param {Protocol.OpenChallenge} challenge */
const isOwn = ({ home }, { player }) => player === home.welcome?.player;

/** Take over what is said of challenges and rated games; what a welcome does not have is over. @param {App} app @param {LadderNews} news */
export async function hearLadders(app, news) {
	await prepareLadders();
	if (news.type === "rated") return tellRated(app, news);
	if (news.type === "waiting") return tellWaiting(app, news);
	if (news.type === "challenge_over") return finish(app, news);
	const there = news.type === "challenge" ? [news] : news.type === "seeks" ? news.changed : (news.challenges ?? []);
	if (news.type === "welcome") for (const id of open.keys()) if (!there.some(({ challenge }) => challenge === id)) finish(app, { challenge: id, how: "over" });
	if (news.type === "seeks") for (const id of news.closed) dropSeek(app, id);
	for (const one of there) if (!open.has(one.challenge)) open.set(one.challenge, { challenge: one, shown: (one.to ? makeBanner : makeSeek)(app, one) });
}

/** Show who looks for a game, and the ways to `look` for one and to the ladders. @param {App} app @param {HTMLElement} section where it stands @param {() => unknown} look */
export async function showSeeks(app, section, look) {
	await prepareLadders();
	for (const id of open.keys()) dropSeek(app, id);
	show(section, h("div.card-head", h("h2", say("page seeks")), listLadders(app).length > 0 && h("a", { href: "/ladder/" }, say("page ladders"))), seeks, h("div.row", button(say("page seek new"), look)));
}

/** @param {App} app @param {Protocol.OpenChallenge} challenge */
function makeSeek(app, challenge) {
	const [terms, name, [yes]] = [describeTerms(challenge), clean(challenge.name), makeAnswers(app, challenge, () => answer(app, challenge.challenge, true))];
	yes.ariaLabel = `${yes.textContent}: ${name}, ${terms}`;
	yes.classList.add("go");
	const row = h("li", h("span.names", linkTo(app, challenge.player, name)), h("span.note", terms), yes);
	seeks.append(row);
	return row;
}

/** The buttons that answer: first the one for yes, for one's own that takes it back. @param {App} app @param {Protocol.OpenChallenge} challenge @param {() => unknown} accept */
function makeAnswers(app, challenge, accept) {
	const refuse = (label = "") => button(say(label), () => answer(app, challenge.challenge, false));
	if (isOwn(app, challenge)) return [refuse("page challenge withdraw")];
	return [button(say("page challenge accept"), accept, { class: "primary" }), refuse("page challenge decline"), button(say("page block"), () => setBlocked(app, challenge.player ?? "", true))];
}

/** A banner with what can be done. @param {App} app @param {Protocol.OpenChallenge} challenge */
function makeBanner(app, challenge) {
	const [{ player = "", name = "", to = "", expires_ms }, own] = [challenge, isOwn(app, challenge)];
	const [playing, row, accept] = [h("span"), h("div.row"), () => answer(app, challenge.challenge, true)];
	draw();
	if (!own) {
		app.names.set(player, clean(name));
		app.sound.play("turn");
	}
	const judge = () => {
		setText(playing, !own && app.rooms.shown?.plays ? say("page challenge playing") : "");
		for (const one of row.querySelectorAll("button")) one.disabled = app.connection.phase !== "on";
	};
	return showBanner(describeChallenge(challenge, app.home.welcome?.player ?? "", app.names.get(to)), [playing, row], performance.now() + expires_ms, judge);

	function draw() {
		show(row, makeAnswers(app, challenge, () => (app.rooms.shown?.plays ? makeSure() : accept())));
	}

	/** Ask who plays; the way out of that game stands where nobody has just pressed. */
	function makeSure() {
		const stay = button(say("page challenge stay"), draw);
		show(row, stay, button(say("page challenge sure"), accept, { class: "primary" }));
		stay.focus();
	}
}

/** Accept a challenge and go to its room, or end it. @param {App} app @param {string} challenge its id @param {boolean} accept */
function answer(app, challenge, accept) {
	const enter = (/** @type {Ok} */ { room = "" }) => void (accept && app.play({ type: "join", room }));
	return app.connection.request({ type: "answer", challenge, accept }).then(enter).catch((error) => app.say(messageOf(error)));
}

/** It is over: say how, and take who asked to the room where that leaves no game. @param {App} app @param {Without<Protocol.ChallengeOver, "type">} over */
function finish(app, over) {
	const { challenge: id, how, room = "" } = over;
	const challenge = close(id);
	if (!challenge || !(challenge.to || isOwn(app, challenge))) return;
	const told = describeChallengeEnd(over, challenge, app.home.welcome?.player ?? "", app.names.get(challenge.to ?? ""));
	const enter = () => void app.play({ type: "join", room });
	if (how !== "accepted") app.say(told);
	else if (!isOwn(app, challenge)) return; // who answered goes there by the answer
	else if (made.has(id) && !app.rooms.shown?.plays) enter();
	else showNotice(told, button(say("page event board"), enter, { class: "primary" }));
}

/** Show somebody's challenge to all no more; of one's own it is said how it ended. @param {App} app @param {string} id */
function dropSeek(app, id) {
	const { challenge } = open.get(id) ?? {};
	if (challenge && !challenge.to && !isOwn(app, challenge)) close(id);
}

/** Show a challenge no more; what it was, if it was open. */
function close(id = "") {
	const { challenge, shown } = open.get(id) ?? {};
	open.delete(id);
	if (shown && shown.parentElement === seeks && seeks.matches(":hover")) shown.inert = true;
	else shown?.remove();
	if (challenge?.to) settleBanners();
	return challenge;
}

/** Ask one player, or by a seek all; rejects as a request does. @param {App} app @param {Without<Protocol.Challenge | Protocol.Seek, "id">} request */
export const ask = async (app, request) => void made.add((await app.connection.request(request)).challenge ?? "");

/** Challenge the opponent of a room to the same game with the sides changed. @param {App} app @param {Room} room */
export function challengeAgain(app, { state, player }) {
	const [side, seat] = Object.entries(state?.seats ?? {}).find(([, one]) => one && one.player !== player) ?? [];
	if (!state || !seat) return;
	const { rules: { preset, ...fields }, time_control: clock } = state;
	ask(app, { type: "challenge", player: seat.player, rules: preset ?? fields, clock, rated: true, side }).catch((error) => app.say(messageOf(error)));
}

/** Hide a player's challenges and chat, or show them again; whether they are hidden then. @param {App} app @param {string} player @param {boolean} on */
export async function setBlocked(app, player, on) {
	const refused = await app.connection.request({ type: "block", player, on }).then(() => "", messageOf);
	if (on && !refused) for (const [id, { challenge }] of open) if (challenge.player === player) close(id);
	app.say(refused || say(on ? "page blocked" : "page unblocked", { name: app.names.get(player) ?? say("challenge somebody") }));
	return on === !refused;
}
