/** What somebody in a room may do now, what waits for an answer, and why the rest cannot be done. */

import { say } from "./catalogue.js";
import { takenBackBy } from "./happened.js";
import { choicesOf } from "./rules.js";
import { describeTakeBack } from "./telling.js";
import { clean, formatDuration, joinWords, nameMark, nameOf, seatOf } from "./words.js";

/**
 * Return what the viewer may do.
 * @param {State} state @param {string} viewer
 * @param {Moves | null} moves null if they are unknown
 * @param {number} nowMs the time since the state arrived
 * @param {boolean} isOnline
 * @param {{chat?: string, challenges?: readonly unknown[], sharing?: boolean}} welcome of the server
 * @returns {Choices}
 */
export function choices(state, viewer, moves, nowMs, isOnline, { chat, challenges, sharing }) {
	const why = listReasons(state, viewer, moves, nowMs, isOnline);
	if (chat === "off") why.chat = "refused not_allowed chat off";
	if (!challenges && why.challenge === "") why.challenge = "why no challenges";
	if (!sharing) why.share ||= "refused not_allowed share";
	const cost = costOfGoing(state, viewer);
	const deeds = Object.keys(why).flatMap((name) => (why[name] ? [] : [makeDeed(name, cost)]));
	const reasons = Object.fromEntries(Object.entries(why).filter(([, reason]) => reason));
	return { deeds, reasons, questions: listQuestions(state, seatOf(state, viewer), deeds, nowMs) };
}

/** Whether the server plays here. @param {{bot?: string | null} | null | undefined} seat */
export const isServerBot = (seat) => !!seat?.bot && seat.bot !== "guest";

/** The deed of this name, or the first of this kind. @param {Choices} from @param {string} name */
export const findDeed = ({ deeds }, name) => deeds.find((deed) => deed.name === name || deed.id === name);

/** The first of some deeds that may be done. @param {Choices} may @param {readonly string[]} names */
export const firstOf = (may, names) => names.find((name) => findDeed(may, name));

/**
 * The id of the sentence that says why this cannot be done now, undefined where it can.
 * @param {Choices} from @param {string} name
 */
export function findReason(from, name) {
	if (findDeed(from, name)) return undefined;
	return Object.entries(from.reasons).find(([other]) => name === other || name === other.split(" ")[0])?.[1];
}

/** @param {State} state @param {string} viewer */
function costOfGoing({ seats, status, board, rules, chosen, event }, viewer) {
	const own = seatOf({ seats }, viewer);
	const playing = Object.keys(seats).filter((mark) => seats[mark] && !seats[mark]?.out);
	if (status !== "playing" || !own || !playing.includes(own)) return "";
	// In an opening the first choice is the second player's first act.
	const isBeginning = rules.opening ? !chosen : playing.some((mark) => !board.includes(mark));
	return playing.length === 2 && isBeginning && !event ? "abort" : "lose";
}

/** The sentence for a reason. @param {string} reason @param {State} state */
export function describeReason(reason, state) {
	const left = Object.values(state.seats).find((seat) => seat?.left);
	if (reason === "refused not_allowed deserted" && left) return say(reason, { name: clean(left.name) });
	/** @type {Record<string, string | null | undefined>} */
	const named = { "refused not_your_turn": state.turn, "refused not_allowed answer": state.offers.undo };
	const name = nameOf(state, (reason in named ? named[reason] : state.offers.draw) ?? null);
	return say(reason, { name, options: state.opening?.options.join(", ") ?? "" });
}

/** What waits in a sentence, without how it is answered. @param {Question} question @param {State} state @param {Moves | null} moves */
export function describeQuestion({ id, marks, left_ms }, state, moves) {
	if (id === "choose") {
		const other = state.rules.marks.replace(marks[0], "");
		const again = state.chosen?.length ? " again" : "";
		return say(`waits choose ${state.rules.opening}${again}`, { names: nameOf(state, other), mark: nameMark(state, marks[0]) });
	}
	const names = joinWords(marks.map((mark) => nameOf(state, mark)));
	const taken = id.endsWith("undo") ? describeTakeBack(state, marks[0], moves) : "";
	return say(`waits ${id}`, { names, mark: marks[0], n: marks.length, moves: taken, time: formatDuration(left_ms ?? 0) });
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

/** @param {string} name @param {Deed["cost"]} cost */
function makeDeed(name, cost) {
	const [id, ...more] = name.split(" ");
	const own = id === "resign" || id === "leave" ? cost : "";
	return { id, argument: more.join(" "), name, label: id === "resign" && own === "abort" ? "deed abort" : `deed ${name}`, cost: own };
}

/** How many moves lie on the board of an event's game before a draw is offered. */
const EVENT_DRAW_PLY = 8;

/** @type {Record<string, string>} */
const ANSWER_FIRST = { draw: "why answer draw", undo: "refused not_allowed answer" };

/**
 * By the names of all deeds, in the order in which they are shown, why each cannot be done, empty where it can.
 * @param {State} state @param {string} viewer @param {Moves | null} moves
 * @param {number} nowMs @param {boolean} isOnline @returns {Record<string, string>}
 */
function listReasons(state, viewer, moves, nowMs, isOnline) {
	const own = seatOf(state, viewer);
	const [isOver, isWaiting] = [state.status === "over", state.status === "waiting"];
	const seats = Object.values(state.seats).flatMap((seat) => seat ?? []);
	const { gone, left } = findAway(state, own, nowMs);
	const offline = isOnline ? "" : "why offline";
	const toPlay = own ? whyNotPlaying(state, own) : "why watching";
	const inGame = toPlay || offline;
	const atEnd = own ? (isOver ? offline : "refused not_allowed playing") : "why watching";
	const active = seats.filter((seat) => !seat.out).length;
	const people = seats.filter((seat) => !isServerBot(seat)).length;
	const isAlone = isOver && people < Object.keys(state.seats).length;
	const another = isAlone ? "new game" : state.visibility === "private" ? "new private room" : "new opponent";
	const noClaim = inGame || (state.event ? "refused not_allowed event claim" : gone.length ? "" : "refused not_allowed hold");
	const kind = state.event ? "event" : state.rated ? "rated" : "";
	const tooEarly = kind && state.ply < EVENT_DRAW_PLY ? `refused not_allowed ${kind} draw` : "";
	const noDraw = active > 2 && !state.event ? "refused not_allowed draw" : tooEarly;
	const showsWorth = isOver || state.analysis === "open" || (!own && people < 2 && !state.event);
	return {
		...whyNoAct(state, toPlay || (state.turn === own ? "" : "refused not_your_turn"), offline),
		...whyNotOffered("draw", state.offers.draw, own, inGame, noDraw),
		...whyNotOffered("undo", state.offers.undo, own, inGame, whyNoUndo(state, own)),
		resign: inGame,
		"claim win": noClaim,
		"claim draw": noClaim || (gone.length + 1 < active ? "refused not_allowed claim draw" : ""),
		...whyNoRematch(state, own, atEnd, kind, left.length > 0),
		...(state.rated && Object.keys(state.seats).length < 3 && { challenge: atEnd }),
		[another]: atEnd,
		computer: !own ? "why watching" : isWaiting ? offline : "why begun",
		join: own ? "why seated" : isWaiting ? offline : "why full",
		review: showsWorth ? "" : "why worth",
		mistakes: !isOver ? "why worth" : moves ? "" : "why moves",
		save: moves ? "" : "why moves",
		share: atEnd,
		chat: offline || (!own && state.chat === "players" ? "refused not_allowed chat" : ""),
		copy: "",
		leave: "",
	};
}

/** Why nothing is placed, and in an opening why nothing is chosen. @param {State} state @param {string} notNow @param {string} offline @returns {Record<string, string>} */
function whyNoAct({ rules, opening }, notNow, offline) {
	if (!rules.opening) return { place: notNow };
	if (!opening?.options.length) return { place: notNow, choose: notNow || "refused not_allowed nothing to choose" };
	const ways = ["swap", "stay", "more"].slice(0, opening.options.length);
	return { place: notNow || "refused choose_first", ...Object.fromEntries(ways.map((way) => [`choose ${way}`, notNow || offline])) };
}

/** Why a player cannot ask to take a move back. @param {State} state @param {string | null} own */
function whyNoUndo(state, own) {
	if (state.event) return "refused not_allowed event undo";
	if (state.rated) return "refused not_allowed rated undo";
	if (Object.keys(state.seats).length > 2) return "refused not_allowed undo";
	if (state.opening) return "refused not_allowed opening";
	if (!own || !state.board.includes(own)) return "refused not_allowed no move";
	const before = state.ply - takenBackBy(state, own).count;
	return before < (choicesOf(state).at(-1)?.ply ?? 0) ? "refused not_allowed no move" : "";
}

/** What who is to choose takes on the wire: their own mark to stay, the other to swap, or more. @param {State} state @param {string} way */
export function takeOf({ turn, seats }, way) {
	const other = Object.keys(seats).find((mark) => mark !== turn) ?? "";
	return way === "stay" ? (turn ?? "") : way === "swap" ? other : way;
}

/** @param {State} state @param {string} own */
function whyNotPlaying({ status, seats }, own) {
	if (status === "playing") return seats[own]?.out ? "why out" : "";
	return status === "waiting" ? "why not begun" : "refused game_over";
}

/** @param {string} kind @param {string | null | undefined} by @param {string | null} own @param {string} toPlay @param {string} cannot */
function whyNotOffered(kind, by, own, toPlay, cannot) {
	const [isOurs, isTheirs] = [!!by && by === own, !!by && by !== own];
	const answer = toPlay || (isTheirs ? "" : `refused no_offer ${kind}`);
	return {
		[`${kind} offer`]: toPlay || (isOurs ? "why own offer" : isTheirs ? ANSWER_FIRST[kind] : cannot),
		[`${kind} accept`]: answer,
		[`${kind} decline`]: answer,
		[`${kind} withdraw`]: toPlay || (isOurs ? "" : `why not offered ${kind}`),
	};
}

/** @param {State} state @param {string | null} own @param {string} over @param {string} kind @param {boolean} isDeserted */
function whyNoRematch({ offers }, own, over, kind, isDeserted) {
	const asked = offers.rematch ?? [];
	const atEnd = over || (kind ? `refused not_allowed ${kind} rematch` : "");
	const ask = atEnd || (isDeserted ? "refused not_allowed deserted" : asked.includes(own ?? "") ? "why asked" : "");
	return {
		"rematch ask": ask || (asked.length ? "why answer rematch" : ""),
		"rematch accept": ask || (asked.length ? "" : "why no rematch"),
	};
}

/** @param {State} state @param {string | null} own @param {Deed[]} deeds @param {number} nowMs */
function listQuestions(state, own, deeds, nowMs) {
	/** @type {Question[]} */
	const found = [];
	if (!own) return found;
	const { gone, absent, left } = findAway(state, own, nowMs);
	/** @type {(id: string, marks: string[], names?: string[], left_ms?: number | null) => unknown} */
	const add = (id, marks, names = [], left_ms = null) =>
		found.push({ id, marks, deeds: deeds.filter(({ name }) => names.includes(name)), left_ms });
	const ways = deeds.filter(({ id }) => id === "choose").map(({ name }) => name);
	if (ways.length) add("choose", [own], ways);
	const may = (/** @type {string} */ name) => deeds.some((deed) => deed.name === name);
	for (const kind of /** @type {const} */ (["draw", "undo"])) {
		const by = state.offers[kind];
		if (by && may(`${kind} accept`)) add(kind, [by], [`${kind} accept`, `${kind} decline`]);
		else if (by === own) add(`own ${kind}`, [own], [`${kind} withdraw`]);
	}
	const asked = state.offers.rematch ?? [];
	if (left.length && state.status === "over") add("deserted", left);
	else if (asked.includes(own)) add("own rematch", [own]);
	else if (may("rematch accept")) add("rematch", [...asked], ["rematch accept"]);
	if (gone.length && !state.event) add("claim", gone, ["claim win", "claim draw"]);
	const held = Object.values(absent);
	if (held.length) add("absent", Object.keys(absent), [], Math.min(...held));
	return found;
}

/**
 * The opponents past their hold, those who are waited for with what is left of it, and who has left.
 * @param {State} state @param {string | null} own @param {number} nowMs
 */
function findAway({ seats, status }, own, nowMs) {
	const left = Object.keys(seats).filter((mark) => seats[mark]?.left);
	/** @type {string[]} */
	const gone = [];
	/** @type {Record<string, number>} */
	const absent = {};
	if (!own || status !== "playing" || seats[own]?.out) return { gone, absent, left };
	for (const [mark, seat] of Object.entries(seats)) {
		const hold = seat && mark !== own && !seat.online && !seat.left && !seat.out ? seat.hold_ms : undefined;
		if (hold === undefined) continue;
		if (hold <= nowMs) gone.push(mark);
		else absent[mark] = Math.round(hold - nowMs);
	}
	return { gone, absent, left };
}
