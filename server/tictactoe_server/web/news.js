/** What happened between two states, in sentences. */

import { FREE, nameCells } from "./rules.js";
import { clean, describeCell, describePlayers, describeResult, formatDuration, joinWords } from "./words.js";
import { loserOf, nameOf, sayWho, seatOf } from "./words.js";

/** @type {{draw: null, undo: null, rematch: string[]}} */
const NO_OFFERS = { draw: null, undo: null, rematch: [] };
const NAMES = { draw: "draw offer", undo: "request to take a move back" };

/** @type {TellNews} */
export function tellNews(old, state, before, moves, viewer, afterLoss) {
	/** @type {Who} */
	const who = (mark, verb) => sayWho(state, mark, verb, viewer);
	/** @type {string[]} */
	const begun = [];
	/** @type {string[]} */
	const ended = [];
	if (state.game !== old.game) {
		begun.push(`Game ${state.game}. ${describePlayers(state, viewer)}`);
		[old, before] = [beforeFirstMove(old, state), []];
	}
	begun.push(...tellArrivals(old, state, viewer));
	const kept = before.findIndex((cell, ply) => moves[ply] !== cell);
	const isTakenBack = kept >= 0;
	if (isTakenBack) {
		const names = joinWords(nameCells(before.slice(kept), state.rules));
		const by = state.seq === old.seq + 1 && old.offers.undo;
		begun.push(by ? who(by, `take{s} back ${names}`) : `${names} taken back.`);
	}
	const played = moves.slice(isTakenBack ? kept : before.length);
	for (const [mark, seat] of Object.entries(state.seats)) {
		if (seat?.out && !old.seats[mark]?.out) ended.push(who(mark, `${mark === seatOf(state, viewer) ? "are" : "is"} passed over from now on`));
	}
	if (state.result && !old.result) ended.push(describeResult(state, viewer).trim());
	ended.push(...tellDepartures(old, state, viewer, afterLoss), ...tellOffers(old, state, moves, viewer, isTakenBack));
	return { begun, played: played.map((cell) => who(state.board[cell], `play{s} ${describeCell(cell, state.rules)}`)), ended };
}

/** @type {TellStanding} */
export function tellStanding(state, moves, viewer) {
	const seats = Object.entries(state.seats).map(([mark, seat]) => [mark, seat && { ...seat, online: true, left: false, out: false }]);
	const old = { ...state, seats: Object.fromEntries(seats), offers: NO_OFFERS, result: null };
	return tellNews(old, state, moves, moves, viewer, false).ended;
}

/** @type {BeforeFirstMove} */
function beforeFirstMove(old, state) {
	const known = new Map(Object.values(old.seats).map((seat) => [seat?.player, seat]));
	const seats = Object.entries(state.seats).map(([mark, seat]) => [mark, seat && { ...seat, ...known.get(seat.player), out: false }]);
	const board = state.board.replace(/[^#]/g, FREE);
	return { ...state, board, ply: 0, last: null, result: null, offers: NO_OFFERS, seats: Object.fromEntries(seats) };
}

/** @type {TellArrivals} */
function tellArrivals(old, state, viewer) {
	return Object.entries(state.seats).flatMap(([mark, seat]) => {
		const was = old.seats[mark];
		if (!seat || seat.player === viewer) return [];
		if (was?.player !== seat.player) return [`${nameOf(state, mark)} joins as ${mark}.`];
		if (was.name !== seat.name) return [`${clean(was.name)} is now called ${clean(seat.name)}.`];
		return seat.online && !was.online ? [`${nameOf(state, mark)} is back.`] : [];
	});
}

/** @type {TellDepartures} */
function tellDepartures(old, state, viewer, afterLoss) {
	return Object.entries(state.seats).flatMap(([mark, seat]) => {
		const was = old.seats[mark];
		if (!was || was.player === viewer || was.left) return [];
		if (!seat) return [`${nameOf(old, mark)} has left. The seat ${mark} is free.`];
		const name = nameOf(state, mark);
		if (seat.left) {
			const isTold = (seat.out && !was.out) || (!old.result && state.result?.reason === "resigned" && mark === loserOf(state));
			return isTold ? [] : [`${name} left the ${state.status === "over" ? "room" : "game"}.`];
		}
		if (seat.online || !was.online) return [];
		const held = seat.hold_ms && state.status === "playing" ? ` Waiting for them: ${formatDuration(seat.hold_ms)}.` : "";
		return [`${name} ${afterLoss ? "is not here" : "has dropped"}.${held}`];
	});
}

/** @type {TellOffers} */
function tellOffers(old, state, moves, viewer, isTakenBack) {
	const told = [];
	for (const what of /** @type {const} */ (["draw", "undo"])) {
		const [was, now, ended] = [old.offers[what], state.offers[what], state.offers.ended?.[what]];
		if (now && now !== was) told.push(describeOffer(state, what, moves, viewer));
		if (!was || now || state.result || (isTakenBack && what === "undo")) continue;
		if (!ended) told.push(`The ${NAMES[what]} ${state.ply > old.ply ? "lapses with the move" : "is off"}.`);
		else if (ended.how === "withdrawn") told.push(sayWho(state, ended.by, `withdraw{s} the ${NAMES[what]}`, viewer));
		else told.push(sayWho(state, ended.by, what === "draw" ? "decline{s} the draw" : "let{s} the move stand", viewer));
	}
	const asking = (state.offers.rematch ?? []).filter((mark) => !old.offers.rematch?.includes(mark));
	return [...told, ...asking.map((mark) => sayWho(state, mark, mark === seatOf(state, viewer) ? "ask for a rematch" : "want{s} a rematch", viewer))];
}

/** @type {DescribeOffer} */
export function describeOffer(state, what, moves, viewer) {
	const by = state.offers[what] ?? "";
	if (what === "draw") return sayWho(state, by, "offer{s} a draw", viewer);
	const back = moves.slice(state.last !== null && state.board[state.last ?? 0] === by ? -1 : -2);
	return sayWho(state, by, `ask{s} to take back ${joinWords(nameCells(back, state.rules))}`, viewer);
}

/** Whether all who played are still there. @type {(state: State) => boolean} */
export const canPlayAgain = ({ seats }) => Object.values(seats).every((seat) => seat && !seat.left);

/** @type {CostOfGoing} */
export function costOfGoing({ seats, status, board }, viewer) {
	const own = seatOf({ seats }, viewer);
	const playing = Object.keys(seats).filter((mark) => seats[mark] && !seats[mark]?.out);
	if (status !== "playing" || !own || !playing.includes(own)) return "";
	return playing.length === 2 && playing.some((mark) => !board.includes(mark)) ? "abort" : "lose";
}

/** @type {GoneOpponents} */
export function goneOpponents({ seats, status }, viewer, passed) {
	const own = seatOf({ seats }, viewer);
	if (!own || status !== "playing" || seats[own]?.out) return [];
	return Object.keys(seats).filter((mark) => {
		const seat = seats[mark];
		return seat && mark !== own && !seat.online && !seat.left && !seat.out && (seat.hold_ms ?? Infinity) <= passed;
	});
}
