/** What a player may do now, and the labels of that. */

import { say } from "./catalogue.js";
import { nameMark, nameOf, seatOf } from "./words.js";

const ANSWERS = ["accept", "decline", "withdraw"];
const CHOICES = ["swap", "stay", "more"];

/** Return the possible requests, which the server lists in `may`, and the actions of the page itself. @param {State} state @param {Partial<Welcome>} welcome */
export function choices(state, viewer = "", isOnline = false, welcome) {
	const { status, seats, offers } = state;
	const own = seatOf(state, viewer);
	const listed = state.may?.[own ?? ""] ?? [];
	const requests = listed.filter((name) => isOnline && !/move|leave/.test(name)).flatMap(makeDeeds);
	const cost = listed.find((name) => name.startsWith("leave"))?.split(" ")[1] ?? "";
	return [...requests, ...listOwn().map((name) => ({ name, cost: "" })), { name: "leave", cost }];

	function makeDeeds(name = "") {
		const [id, more = ""] = name.split(" ");
		const offeredBy = offers[/** @type {"draw" | "undo"} */ (id)];
		if (more === "offer" && offeredBy) return []; // the offer is answered instead
		if (id === "choose") return CHOICES.slice(0, state.opening?.options.length).map((way) => ({ name: `choose ${way}`, cost: "" }));
		if (id === "claim" && listed.some((one) => one.endsWith("abort"))) return more === "win" ? [{ name, cost: "abort" }] : [];
		if (id === "resign") return [{ name: id, cost: more || "lose" }];
		if (id === "rematch") return [{ name: offers.rematch?.length ? "rematch accept" : "rematch ask", cost: "" }];
		return [{ name: more === "decline" && offeredBy === own ? `${id} withdraw` : name, cost: "" }];
	}

	function listOwn() {
		const people = Object.values(seats).filter((seat) => seat && !isServerBot(seat)).length;
		const isOver = status === "over";
		const mayGoOn = own && isOver && isOnline;
		const another = isOver && people < Object.keys(seats).length ? "new game" : state.visibility === "private" ? "new private room" : "new opponent";
		const names = [
			mayGoOn && state.rated && welcome.challenges && Object.keys(seats).length < 3 && "challenge",
			mayGoOn && another,
			own && status === "waiting" && isOnline && "computer",
			(isOver || state.analysis === "open" || (!own && people < 2 && !state.event)) && "review",
			mayGoOn && welcome.sharing && "share",
			"copy",
		];
		return names.filter((name) => typeof name === "string");
	}
}

/** @param {{bot?: string | null} | null | undefined} seat */
export const isServerBot = (seat) => !!seat?.bot && seat.bot !== "guest";

/** @param {readonly Deed[]} may */
export const findDeed = (may, name = "") => may.find((deed) => deed.name === name || deed.name.startsWith(`${name} `));

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

/** Return what a choice takes in a request: a mark, or "more". @param {State} state */
export function takeOf({ turn, rules }, way = "") {
	return way === "stay" ? (turn ?? "") : way === "swap" ? rules.marks.replace(turn ?? "", "") : way;
}
