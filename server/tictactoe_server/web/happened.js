/** What happened in a room between two of its states, as values; as tictactoe_words.happened. */

import { FREE, MORE, choicesOf, moverOf, placerOf, sitsNow } from "./rules.js";

/** @type {Protocol.Offers} */
const NO_OFFERS = { draw: null, undo: null, rematch: [] };
const REASONS = ["line", "full", "resigned", "timeout", "claimed", "agreed"];

/**
 * Every event once, in the order in which it is told. `moves` are all cells of the new state's game and `before` those
 * of the old one's; null where they are not known.
 * @param {State} old @param {State} state @param {Cells} moves @param {Cells} before
 */
export function happened(old, state, moves, before) {
	const isOneGame = state.game === old.game;
	const hasChosen = isOneGame && state.chosen?.length !== old.chosen?.length;
	const was = isOneGame ? (hasChosen ? asSittingNow(old, state) : old) : beforeFirstMove(old, state);
	const isStart = !isOneGame || (old.status === "waiting" && state.status !== "waiting");
	const [step, seen] = [{ old: was, state, moves, before }, { old, state, moves, before }];
	const started = isStart ? [of("Started", seen, { game: state.game })] : [];
	const begin = isOneGame ? [...arrivals(step), ...started] : [...missedGames(seen), ...started, ...arrivals(step)];
	const play = played(step);
	const isTakenBack = play.some(({ type }) => type === "TakenBack");
	return [...begin, ...play, ...departures(step), ...offers(step, isTakenBack)];
}

/** What one who comes now must know beside players and moves. @param {State} state @param {Cells} moves */
export function standing(state, moves) {
	const seats = mapSeats(state, (seat) => ({ ...seat, online: true, left: false, out: false }));
	return happened({ ...state, seats, offers: NO_OFFERS, result: null }, state, moves, moves);
}

/** Not a game that was aborted, or ended as only newer servers know. @param {{winner: string | null, reason: string}} result */
export const isDraw = ({ winner, reason }) => winner === null && REASONS.includes(reason);

/** @param {string} type @param {Step} step @param {Record<string, any>} [more] */
const of = (type, { old, state }, more = {}) => ({ type, old, state, ...more });

/** @param {State} state @param {(seat: SeatState) => SeatState | null} change */
function mapSeats({ seats }, change) {
	return Object.fromEntries(Object.entries(seats).map(([mark, seat]) => [mark, seat && change(seat)]));
}

/** Which games' ends were not seen; how a single one ended shows in the score. @param {Step} step */
function missedGames(step) {
	const { old, state } = step;
	const first = old.status === "over" ? old.game + 1 : old.game;
	const last = state.game - 1;
	if (first > last) return [];
	const { result } = state;
	const latest = result && (isDraw(result) ? "draws" : state.seats[result.winner ?? ""]?.player);
	const hasGained = (/** @type {string} */ who) =>
		first === last && (state.score[who] ?? 0) - Number(who === latest) > (old.score[who] ?? 0);
	const winner = Object.keys(old.seats).find((mark) => hasGained(old.seats[mark]?.player ?? "")) ?? null;
	const is_draw = !winner && hasGained("draws");
	return [of("Missed", step, { first_game: first, last_game: last, winner, is_draw })];
}

/** The new state's game at its start, with the players as the old state had them. @param {State} old @param {State} state */
function beforeFirstMove(old, state) {
	const known = playersOf(old);
	const seats = mapSeats(state, (seat) => ({ ...(known.get(seat.player) ?? seat), out: false }));
	const board = state.board.replace(/[^#]/g, FREE);
	const start = { ...state, seq: old.seq, board, ply: 0, last: null, result: null, offers: NO_OFFERS, seats };
	return { ...start, status: "playing", opening: undefined, chosen: undefined };
}

/** The old state, with its seats and the offer of a draw at the marks that their players have now. @param {State} old @param {State} state */
function asSittingNow(old, state) {
	const known = playersOf(old);
	const seats = mapSeats(state, (seat) => known.get(seat.player) ?? null);
	const offerer = old.seats[old.offers.draw ?? ""];
	const draw = Object.keys(seats).find((mark) => offerer && seats[mark] === offerer) ?? null;
	return { ...old, seats, offers: { ...old.offers, draw } };
}

/** The seats of a state by their players. @param {State} state */
const playersOf = ({ seats }) => new Map(Object.values(seats).flatMap((seat) => (seat ? [[seat.player, seat]] : [])));

/** Whether the same person sits there, maybe by a card of an event. @param {SeatState} was @param {SeatState} seat @param {State} state */
const isSame = (was, seat, { event }) => was.player === seat.player || (!!event && was.name === seat.name);

/** Who sat down, came back, or goes by another name. @param {Step} step */
function arrivals(step) {
	const { old, state } = step;
	return Object.entries(state.seats).flatMap(([mark, seat]) => {
		const was = old.seats[mark];
		if (!seat) return [];
		if (!was || !isSame(was, seat, state)) {
			const left = was ? [of("Left", step, { mark, seat: was, frees: true })] : [];
			return [...left, of("Joined", step, { mark })];
		}
		const renamed = was.name === seat.name ? [] : [of("Renamed", step, { mark, before: was.name })];
		return seat.online && !was.online ? [...renamed, of("Returned", step, { mark })] : renamed;
	});
}

/**
 * The cells of a state's game as they were played, or as far as boards tell that: then those first that lie on the other
 * state's board as well, as `guide` has them, as never taken back.
 * @param {Cells} known @param {State} state @param {State} other @param {Cells} guide
 */
function order(known, state, other, guide) {
	if (known?.length === state.ply) return known;
	const cells = [...state.board.matchAll(/[^.#]/g)].map(({ index }) => index);
	const place = (cell = 0) => {
		const isNew = state.board[cell] !== other.board[cell];
		const at = guide?.indexOf(cell) ?? -1;
		return [Number(isNew), isNew ? Number(cell === state.last) : at < 0 ? cell : at];
	};
	return cells.sort((one, two) => place(one)[0] - place(two)[0] || place(one)[1] - place(two)[1]);
}

/** What happened on the board, who was passed over, and how it ended. @param {Step} step */
function played(step) {
	const { old, state, moves, before } = step;
	const laid = order(before, old, state, moves);
	const lies = order(moves, state, old, laid);
	const apart = laid.findIndex((cell, ply) => lies[ply] !== cell);
	const kept = apart < 0 ? laid.length : apart;
	const told = [];
	const taken = laid.slice(kept);
	if (taken.length) {
		const by = state.seq <= old.seq + 1 ? (old.offers.undo ?? null) : null;
		const cells = laid === before || taken.length <= 2 ? taken : [];
		told.push(of("TakenBack", step, { count: taken.length, cells, by }));
	}
	const result = old.result ? null : state.result;
	const chosenAt = (/** @type {number} */ count) => choicesAt(state, count, old);
	told.push(...chosenAt(kept));
	lies.slice(kept).forEach((cell, index) => {
		const ply = kept + index + 1;
		const decides = !!result?.line?.includes(cell) && ply === state.ply;
		told.push(of("Moved", step, { mark: state.board[cell], cell, ply, decides, by: placerOf(state, ply - 1) }), ...chosenAt(ply));
	});
	for (const [mark, seat] of Object.entries(state.seats)) {
		if (seat?.out && !old.seats[mark]?.out) told.push(of("PassedOver", step, { mark }));
	}
	return result ? [...told, of("Ended", step, { result })] : told;
}

/** What was chosen after so many moves, and not yet in the old state. @param {State} state @param {number} count @param {State} [old] */
export function choicesAt(state, count, old) {
	const fresh = choicesOf(state).slice(old?.chosen?.length ?? 0).filter(({ ply }) => ply === count);
	return fresh.map(({ mark, take }) =>
		of("Chose", { old: old ?? state, state }, { mark: sitsNow(state, mark), take, swaps: take !== MORE && take !== mark }));
}

/** Who left or dropped. @param {Step} step */
function departures(step) {
	const { old, state } = step;
	return Object.entries(state.seats).flatMap(([mark, seat]) => {
		const was = old.seats[mark];
		if (!seat) return was ? [of("Left", step, { mark, seat: was, frees: true })] : [];
		if (was?.left) return [];
		if (seat.left) return [of("Left", step, { mark, seat, frees: false })];
		const isGone = !seat.online && (!was || !isSame(was, seat, state) || was.online);
		return isGone ? [of("Dropped", step, { mark, hold_ms: seat.hold_ms ?? null })] : [];
	});
}

/** Which offers were made, and which came to nothing. @param {Step} step @param {boolean} isTakenBack */
function offers(step, isTakenBack) {
	const { old, state, moves } = step;
	const told = [];
	for (const kind of /** @type {const} */ (["draw", "undo"])) {
		const was = old.offers[kind];
		const now = state.offers[kind];
		const isGranted = state.result || (isTakenBack && kind === "undo");
		if (now && now !== was) {
			told.push(of("Offered", step, { kind, by: now, ...(kind === "draw" ? { count: 0, cells: [] } : takenBackBy(state, now, moves)) }));
		} else if (was && !now && !isGranted) told.push(howItEnded(step, kind, was, isTakenBack));
	}
	const asking = (state.offers.rematch ?? []).filter((mark) => !old.offers.rematch?.includes(mark));
	return [...told, ...asking.map((by) => of("Offered", step, { kind: "rematch", by, count: 0, cells: [] }))];
}

/** How many moves are taken back where a mark asks, and their cells, none where they are not known. @param {State} state @param {string} mark @param {Cells} [moves] */
export function takenBackBy({ last, board, ply }, mark, moves) {
	const count = last !== null && board[last] === mark ? 1 : 2;
	const known = moves?.length === ply ? moves : last === null ? [] : [last];
	return { count, cells: count <= known.length ? known.slice(-count) : [] };
}

/** @param {Step} step @param {"draw" | "undo"} kind @param {string} by @param {boolean} isTakenBack */
function howItEnded(step, kind, by, isTakenBack) {
	const { old, state } = step;
	const ended = state.offers.ended?.[kind];
	if (ended) return of(ended.how === "withdrawn" ? "Withdrawn" : "Declined", step, { kind, by: ended.by });
	const isNext = state.seq <= old.seq + 1;
	const mover = state.ply > old.ply ? moverOf(state) : null;
	const isByMove = mover && (mover !== by || kind === "undo");
	const cause = !isNext ? "unknown" : isTakenBack ? "taking back" : isByMove ? "move" : "unknown";
	return of("Lapsed", step, { kind, by, cause, mover: cause === "move" ? mover : null });
}

