/** Challenges: what is open stands over every page until it is over, and what was accepted leads to its room. */

import { say } from "../catalogue.js";
import { button, h, setText, show } from "../dom.js";
import { prepareLadders } from "../later.js";
import { clean, formatDuration, messageOf } from "../words.js";
import { describeChallenge, describeChallengeEnd } from "./words.js";

const TICK_MS = 250;
/** How long a banner takes no click, as it came where somebody was about to press something else. */
const FRESH_MS = 800;
/** What is open, by its id, with the banner of what is to one player. @type {Map<string, {challenge: Protocol.OpenChallenge, banner?: HTMLElement}>} */
const open = new Map();
/** What this window asked for: elsewhere its room is not entered by itself. @type {Set<string>} */
const made = new Set();
const place = h("aside.challenges");
/** @param {App} app */
const viewerOf = ({ home }) => home.welcome?.player ?? "";

/** Take over what is said of challenges; what a welcome does not have is over. @param {App} app @param {Protocol.Challenged | Protocol.ChallengeOver | Welcome} news */
export async function hearChallenge(app, news) {
	await prepareLadders();
	if (news.type === "challenge_over") return finish(app, news);
	const there = news.type === "challenge" ? [news] : (news.challenges ?? []);
	const gone = news.type === "challenge" ? [] : [...open.keys()].filter((id) => !there.some(({ challenge }) => challenge === id));
	for (const challenge of gone) finish(app, { challenge, how: "gone" });
	for (const one of there) if (!open.has(one.challenge)) open.set(one.challenge, { challenge: one, banner: one.to ? makeBanner(app, one) : undefined }); // what is to all stands in the lobby
}

/** What asks for an answer, with what can be done. @param {App} app @param {Protocol.OpenChallenge} challenge */
function makeBanner(app, challenge) {
	const { challenge: id, player = "", name = "", to = "", expires_ms } = challenge;
	const [isOwn, until] = [player === viewerOf(app), performance.now() + expires_ms];
	const [time, playing, row] = [h("b.clock", { "aria-hidden": "true" }), h("span"), h("div.row")];
	if (!isOwn) app.names.set(player, clean(name));
	const banner = showBanner(describeChallenge(challenge, viewerOf(app), app.names.get(to)), time, playing, row);
	const ticker = setInterval(tick, TICK_MS);
	tick();
	draw();
	if (!isOwn) app.sound.play("turn");
	return banner;

	function tick() {
		if (!banner.isConnected) return clearInterval(ticker);
		setText(time, formatDuration(until - performance.now()));
		setText(playing, !isOwn && app.rooms.shown?.plays ? say("page challenge playing") : "");
	}

	/** Show what can be done; the way out of a game that is on stands where nobody has just pressed. */
	function draw(isAsked = false) {
		const hadFocus = row.contains(document.activeElement);
		const accept = () => (isAsked || !app.rooms.shown?.plays ? answer(app, id, true) : draw(true));
		const yes = button(say(isAsked ? "page challenge sure" : "page challenge accept"), accept, { class: "primary" });
		const no = button(say(isOwn ? "page challenge withdraw" : "page challenge decline"), () => answer(app, id, false));
		show(row, isOwn ? no : isAsked ? [button(say("page challenge stay"), () => draw()), yes] : [yes, no, button(say("page block"), () => setBlocked(app, player, true))]);
		if (hadFocus) row.querySelector("button")?.focus();
	}
}

/** Show something over the page, which is read out as it comes. @param {string} told @param {...Node} more */
function showBanner(told, ...more) {
	const banner = h("section.challenge.fresh", { "aria-label": say("page challenge") }, h("p", { role: "alert" }, told), ...more);
	place.append(banner);
	document.querySelector("main")?.before(place);
	setTimeout(() => banner.classList.remove("fresh"), FRESH_MS);
	return banner;
}

/** Accept a challenge and go to its room, or end it. @param {App} app @param {string} challenge its id @param {boolean} accept */
export async function answer(app, challenge, accept) {
	try {
		const { room } = await app.connection.request({ type: "answer", challenge, accept });
		if (accept) await app.play({ type: "join", room: room ?? "" });
	} catch (error) {
		app.say(messageOf(error));
	}
}

/** It is over: say how, and take who asked to the room where that leaves no game. @param {App} app @param {Without<Protocol.ChallengeOver, "type">} over */
function finish(app, over) {
	const { challenge: id, how, room = "" } = over;
	const challenge = close(id);
	if (!challenge) return;
	const told = describeChallengeEnd(over, challenge, viewerOf(app), app.names.get(challenge.to ?? ""));
	const enter = () => void app.play({ type: "join", room });
	if (how !== "accepted") app.say(told);
	else if (challenge.player !== viewerOf(app)) return; // who answered goes there by the answer
	else if (made.has(id) && !app.rooms.shown?.plays) enter();
	else {
		const ready = showBanner(told, h("div.row", button(say("page challenge board"), enter, { class: "primary" }), button(say("page close"), () => undefined)));
		ready.addEventListener("click", ({ target }) => target instanceof HTMLButtonElement && ready.remove());
	}
}

/** Show a challenge no more; what it was, if it was open. */
function close(id = "") {
	const { challenge, banner } = open.get(id) ?? {};
	open.delete(id);
	banner?.remove();
	return challenge;
}

/** Ask one player, or by a seek all; rejects as a request does. @param {App} app @param {Without<Protocol.Challenge | Protocol.Seek, "id">} request */
export const ask = async (app, request) => void made.add((await app.connection.request(request)).challenge ?? "");

/** Challenge the opponent of a room to the same game with the sides changed. @param {App} app @param {Room} room */
export function challengeAgain(app, { state, player }) {
	const [side, seat] = Object.entries(state?.seats ?? {}).find(([, one]) => one && one.player !== player) ?? [];
	if (!state || !seat) return;
	const { rules: { preset, ...fields }, time_control: clock } = state;
	app.names.set(seat.player, clean(seat.name));
	ask(app, { type: "challenge", player: seat.player, rules: preset ?? fields, clock, rated: true, side }).catch((error) => app.say(messageOf(error)));
}

/** Hide a player's challenges and chat, or show them again; all whom one blocks. @param {App} app @param {string} player @param {boolean} on */
export async function setBlocked(app, player, on) {
	const { blocks = [] } = await app.connection.request({ type: "block", player, on }).catch((error) => void app.say(messageOf(error))) ?? {};
	for (const [id, { challenge }] of open) if (blocks.includes(challenge.player ?? "")) close(id);
	if (blocks.includes(player) === on) app.say(say(on ? "page blocked" : "page unblocked", { name: app.names.get(player) ?? say("challenge somebody") }));
	return blocks;
}
