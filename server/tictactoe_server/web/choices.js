/** What a player may do now, which questions wait for an answer, and their labels. */

import { say } from "./catalogue.js";
import { describeTakeBack } from "./telling.js";
import { formatDuration, joinWords, nameMark, nameOf, seatOf } from "./words.js";

const CHOICES = ["swap", "stay", "more"];

/**
 * Return what the viewer may do: the requests that the server lists in `may`, and the actions of the page itself.
 * @param {State} state @param {string} viewer
 * @param {number} nowMs the time since the state arrived
 * @param {boolean} isOnline
 * @param {{challenges?: readonly unknown[], sharing?: boolean}} welcome of the server
 * @returns {Choices}
 */
export function choices(state, viewer, nowMs, isOnline, welcome) {
	const own = seatOf(state, viewer);
	const listed = state.may?.[own ?? ""] ?? [];
	const requests = listed.filter((name) => isOnline && !/move|leave/.test(name)).flatMap((name) => deedsOf(state, own, name));
	const leave = makeDeed("leave", listed.find((name) => name.startsWith("leave"))?.split(" ")[1]);
	const deeds = [...requests, ...listOwn(state, own, isOnline, welcome).map((name) => makeDeed(name)), leave];
	return { deeds, questions: listQuestions(state, own, deeds, nowMs) };
}

/** Whether the server plays here. @param {{bot?: string | null} | null | undefined} seat */
export const isServerBot = (seat) => !!seat?.bot && seat.bot !== "guest";

/** The deed of this name, or the first of this kind. @param {Choices} from @param {string} name */
export const findDeed = ({ deeds }, name) => deeds.find((deed) => deed.name === name || deed.id === name);

/** The first of some deeds that may be done. @param {Choices} may @param {readonly string[]} names */
export const firstOf = (may, names) => names.find((name) => findDeed(may, name));

/** The deeds for a request of `may`. @param {State} state @param {string | null} own @param {string} listed */
function deedsOf({ offers, opening }, own, listed) {
	const [id, more = ""] = listed.split(" ");
	const offeredBy = offers[/** @type {"draw" | "undo"} */ (id)];
	if (more === "offer" && offeredBy) return []; // the offer is answered instead
	if (id === "choose") return CHOICES.slice(0, opening?.options.length).map((way) => makeDeed(`choose ${way}`));
	if (id === "resign") return [makeDeed(id, more || "lose")];
	if (id === "rematch") return [makeDeed(offers.rematch?.length ? "rematch accept" : "rematch ask")];
	return [makeDeed(more === "decline" && offeredBy === own ? `${id} withdraw` : listed)];
}

/** @param {string} name @param {string} [cost] @returns {Deed} */
function makeDeed(name, cost = "") {
	const [id, argument = ""] = name.split(/ (.*)/);
	return { id, argument, name, label: id === "resign" && cost === "abort" ? "deed abort" : `deed ${name}`, cost: /** @type {Deed["cost"]} */ (cost) };
}

/** The actions of the page itself. @param {State} state @param {string | null} own @param {boolean} isOnline @param {{challenges?: readonly unknown[], sharing?: boolean}} welcome */
function listOwn({ status, seats, rated, event, visibility, analysis }, own, isOnline, { challenges, sharing }) {
	const people = Object.values(seats).filter((seat) => seat && !isServerBot(seat)).length;
	const isOver = status === "over";
	const mayGoOn = own && isOver && isOnline;
	const another = isOver && people < Object.keys(seats).length ? "new game" : visibility === "private" ? "new private room" : "new opponent";
	const names = [
		mayGoOn && rated && challenges && Object.keys(seats).length < 3 && "challenge",
		mayGoOn && another,
		own && status === "waiting" && isOnline && "computer",
		(isOver || analysis === "open" || (!own && people < 2 && !event)) && "review",
		mayGoOn && sharing && "share",
		"copy",
	];
	return names.filter((name) => typeof name === "string");
}

/** What waits in a sentence, without how it is answered. @param {Question} question @param {State} state */
export function describeQuestion({ id, marks, left_ms }, state) {
	if (id === "choose") {
		const other = state.rules.marks.replace(marks[0], "");
		const again = state.chosen?.length ? " again" : "";
		return say(`waits choose ${state.rules.opening}${again}`, { names: nameOf(state, other), mark: nameMark(state, marks[0]) });
	}
	const names = joinWords(marks.map((mark) => nameOf(state, mark)));
	const moves = id.endsWith("undo") ? describeTakeBack(state, marks[0]) : "";
	return say(`waits ${id}`, { names, mark: marks[0], n: marks.length, moves, time: formatDuration(left_ms ?? 0) });
}

/** The words on a button; those of an answer in an opening say what comes of it. @param {Deed} deed @param {State} state */
export function describeDeed({ id, argument, label }, state) {
	if (id !== "choose") return say(label);
	const { marks } = state.rules;
	const [take, next] = [takeOf(state, argument), marks[state.ply % marks.length]];
	if (argument === "more") return say(label, { other: nameOf(state, marks.replace(state.turn ?? "", "")) });
	const mark = nameMark(state, take);
	return take === next ? say(`${label}, and move`, { mark }) : say(label, { mark, other: nameMark(state, next) });
}

/** What who is to choose takes on the wire: their own mark to stay, the other to swap, or more. @param {State} state @param {string} way */
export function takeOf({ turn, rules }, way) {
	return way === "stay" ? (turn ?? "") : way === "swap" ? rules.marks.replace(turn ?? "", "") : way;
}

/** @param {State} state @param {string | null} own @param {Deed[]} deeds @param {number} nowMs */
function listQuestions({ seats, status, offers, event }, own, deeds, nowMs) {
	/** @type {Question[]} */
	const found = [];
	if (!own) return found;
	/** @type {(id: string, marks: string[], names?: string[], left_ms?: number | null) => unknown} */
	const add = (id, marks, names = [], left_ms = null) => found.push({ id, marks, deeds: deeds.filter(({ name }) => names.includes(name)), left_ms });
	const may = (/** @type {string} */ name) => deeds.some((deed) => deed.name === name);
	const isIn = (/** @type {string} */ mark) => mark !== own && !seats[mark]?.out && !seats[mark]?.left;
	const left = Object.keys(seats).filter((mark) => seats[mark]?.left);
	const held = status === "playing" && !seats[own]?.out ? Object.keys(seats).filter((mark) => isIn(mark) && seats[mark]?.hold_ms !== undefined) : [];
	const leftMs = (/** @type {string} */ mark) => Math.round((seats[mark]?.hold_ms ?? 0) - nowMs);
	const [gone, absent] = [held.filter((mark) => leftMs(mark) <= 0), held.filter((mark) => leftMs(mark) > 0)];
	if (deeds.some(({ id }) => id === "choose")) add("choose", [own], CHOICES.map((way) => `choose ${way}`));
	for (const kind of /** @type {const} */ (["draw", "undo"])) {
		const by = offers[kind];
		if (by && may(`${kind} accept`)) add(kind, [by], [`${kind} accept`, `${kind} decline`]);
		else if (by === own) add(`own ${kind}`, [own], [`${kind} withdraw`]);
	}
	const { rematch = [] } = offers;
	if (left.length && status === "over") add("deserted", left);
	else if (rematch.includes(own)) add("own rematch", [own]);
	else if (may("rematch accept")) add("rematch", [...rematch], ["rematch accept"]);
	if (gone.length && !event) add("claim", gone, ["claim win", "claim draw"]);
	if (absent.length) add("absent", absent, [], Math.min(...absent.map(leftMs)));
	return found;
}
