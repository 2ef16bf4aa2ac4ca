/** What a player may do now, and the labels of that. */

import { say } from "./catalogue.js";
import { nameMark, nameOf, seatOf } from "./words.js";

const ANSWERS = ["accept", "decline", "withdraw"];
const CHOICES = ["swap", "stay", "more"];

/** Return the possible requests, which the server lists in `may`, and the actions of the page itself. @param {State} state @param {Partial<Welcome>} welcome */
export function choices(state, viewer = "", isOnline = false, welcome) {
	const own = seatOf(state, viewer);
	const listed = state.may?.[own ?? ""] ?? [];
	const requests = listed.filter((name) => isOnline && !/move|leave/.test(name)).flatMap((name) => deedsOf(state, own, name));
	const cost = listed.find((name) => name.startsWith("leave"))?.split(" ")[1] ?? "";
	return [...requests, ...listOwn(state, own, isOnline, welcome).map((name) => ({ name, cost: "" })), { name: "leave", cost }];
}

/** @param {{bot?: string | null} | null | undefined} seat */
export const isServerBot = (seat) => !!seat?.bot && seat.bot !== "guest";

/** @param {readonly Deed[]} may */
export const findDeed = (may, name = "") => may.find((deed) => deed.name === name || deed.name.startsWith(`${name} `));

/** @param {State} state @param {string | null} own */
function deedsOf({ offers, opening, may }, own, listed = "") {
	const [id, more = ""] = listed.split(" ");
	const offeredBy = offers[/** @type {"draw" | "undo"} */ (id)];
	if (more === "offer" && offeredBy) return []; // the offer is answered instead
	if (id === "choose") return CHOICES.slice(0, opening?.options.length).map((way) => ({ name: `choose ${way}`, cost: "" }));
	if (id === "claim" && may?.[own ?? ""]?.some((name) => name.endsWith("abort"))) return more === "win" ? [{ name: listed, cost: "abort" }] : [];
	if (id === "resign") return [{ name: id, cost: more || "lose" }];
	if (id === "rematch") return [{ name: offers.rematch?.length ? "rematch accept" : "rematch ask", cost: "" }];
	return [{ name: more === "decline" && offeredBy === own ? `${id} withdraw` : listed, cost: "" }];
}

/** @param {State} state @param {string | null} own @param {Partial<Welcome>} welcome */
function listOwn({ status, seats, rated, event, visibility, analysis }, own, isOnline = false, welcome) {
	const people = Object.values(seats).filter((seat) => seat && !isServerBot(seat)).length;
	const isOver = status === "over";
	const mayGoOn = own && isOver && isOnline;
	const another = isOver && people < Object.keys(seats).length ? "new game" : visibility === "private" ? "new private room" : "new opponent";
	const names = [
		mayGoOn && rated && welcome.challenges && Object.keys(seats).length < 3 && "challenge",
		mayGoOn && another,
		own && status === "waiting" && isOnline && "computer",
		(isOver || analysis === "open" || (!own && people < 2 && !event)) && "review",
		mayGoOn && welcome.sharing && "share",
		"copy",
	];
	return names.filter((name) => typeof name === "string");
}

/** @param {Deed} deed @param {State} state */
export function describeDeed({ name, cost }, state) {
	const [id, argument] = name.split(" ");
	const label = /resign|claim/.test(id) && cost === "abort" ? "deed abort" : `deed ${ANSWERS.includes(argument) ? argument : name}`;
	if (id !== "choose") return say(label);
	const { marks } = state.rules;
	const [take, next] = [takeOf(state, argument), marks[state.ply % marks.length]];
	if (argument === "more") return say(label, { other: nameOf(state, marks.replace(state.turn ?? "", "")) });
	const mark = nameMark(state, take);
	return take === next ? say(`${label}, and move`, { mark }) : say(label, { mark, other: nameMark(state, next) });
}

/** What who is to choose takes on the wire: their own mark to stay, the other to swap, or more. @param {State} state */
export function takeOf({ turn, rules }, way = "") {
	return way === "stay" ? (turn ?? "") : way === "swap" ? rules.marks.replace(turn ?? "", "") : way;
}
