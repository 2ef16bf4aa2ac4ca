/** What happened in a room, in sentences, and what of it is told in the talk, aloud and as a sound. A viewer is the reader's public id. */

import { say } from "./catalogue.js";
import { choicesAt, happened, isDraw, standing, takenBackBy } from "./happened.js";
import { MORE, nameCell, nameCells, nameColumn, numberRow, splitLines } from "./rules.js";
import { clean, describeCell, describePlayers, describeReason, describeRules, describeTurn, endFor, formatDuration, joinWords, nameMark, nameOf, seatOf } from "./words.js";

/** How many moves that were taken back are told by their names. */
const MOST_NAMED = 6;
const MOST_IN_WORDS = 6;
const OUT_REASONS = ["resigned", "late", "left", "away"];
const WHY_OVER = ["full", "agreed", "claimed", "aborted"];
const LOSING = ["resigned", "timeout", "forfeit"];
/** What the board and the players' rows show, so that the talk does not repeat it. */
const SHOWN_ELSEWHERE = ["Moved", "Ended", "Dropped", "Returned"];

/**
 * What one state brought, a sentence for each event; the result stands behind the move that made it. After a loss of our
 * own connection nobody is said to have dropped: all may have lost the server, or may never have come.
 * @param {Happened[]} changes @param {string} viewer @param {boolean} [afterLoss]
 */
export function announce(changes, viewer, afterLoss) {
	/** @type {string[]} */
	const told = [];
	let lastMove = "";
	for (const change of changes) {
		let sentence = tell({ ...change, viewer, afterLoss });
		if (change.type === "Moved") lastMove = sentence;
		else if (change.type === "Ended" && ["line", "full"].includes(change.result.reason) && lastMove) {
			told.splice(told.indexOf(lastMove), 1);
			sentence = `${lastMove} ${sentence}`;
		}
		if (sentence) told.push(sentence);
	}
	return told;
}

/** What somebody who comes now must know beside players and moves. @param {State} state @param {Cells} moves @param {string} viewer */
export function announceStanding(state, moves, viewer) {
	const told = announce(standing(state, moves), viewer, true);
	return state.game > 1 ? [say("game of room", { n: state.game }), ...told] : told;
}

/** One event in a sentence, empty where another tells it or the reader did it. @param {Happened} change with the viewer */
function tell(change) {
	const { type, old, state, mark = "", viewer } = change;
	switch (type) {
		case "Started":
			return old.game === state.game ? "" : say("game", { n: state.game, players: describePlayers(state, viewer) });
		case "Missed":
			return tellMissed(change);
		case "Moved": {
			if (change.by) return sayOf(state, change.by, "places", viewer, { cell: describeCell(change.cell, state.rules), mark: nameMark(state, mark) });
			const cell = change.decides ? nameCell(change.cell, state.rules) : describeCell(change.cell, state.rules);
			return sayOf(state, mark, "plays", viewer, { cell });
		}
		case "Chose":
			return tellChoice(change);
		case "TakenBack":
			return tellTakenBack(change);
		case "PassedOver":
			return sayOf(state, mark, `out ${whyOut(state, mark)}`, viewer);
		case "Ended":
			return describeResult(state, viewer);
		case "Left":
			return change.seat.player === viewer ? "" : tellLeft(change);
		case "Joined":
		case "Renamed":
		case "Returned":
		case "Dropped":
			return tellOfSeat(change);
		default:
			return tellOffer(change);
	}
}

/** @param {Happened} change */
function tellOfSeat({ type, state, mark = "", before, hold_ms, viewer, afterLoss }) {
	const seat = state.seats[mark];
	const name = nameOf(state, mark);
	const isBeginning = state.game === 1 && !state.ply; // when a seat may be kept for somebody
	if (!seat || seat.player === viewer) return "";
	if (type === "Joined") return say("joins", { name, mark: nameMark(state, mark) });
	if (type === "Renamed") return say("renamed", { before: clean(before), name });
	if (type === "Returned") return say(isBeginning ? "is here" : "back", { name });
	const held = hold_ms && state.status === "playing" ? ` ${say("held", { time: formatDuration(hold_ms) })}` : "";
	return say(afterLoss || (state.event && isBeginning) ? "not here" : "dropped", { name }) + held;
}

/** @param {Happened} missed */
function tellMissed({ old, first_game: first, last_game: last, winner, is_draw }) {
	if (first < last) return say("missed games", { first, last });
	if (winner !== null) return say("missed won", { n: first, name: nameOf(old, winner) });
	return say(is_draw ? "missed draw" : "missed no winner", { n: first });
}

/** @param {Happened} change */
function tellTakenBack({ state, count: n, cells, by, viewer }) {
	const moves = cells.length && n <= MOST_NAMED ? nameMoves(cells, n, state) : "";
	if (moves && by !== null) return sayOf(state, by, "takes back", viewer, { moves });
	return say(moves ? "taken back" : "taken back unnamed", { n, moves });
}

/** @param {Happened} change */
function tellOffer({ type, state, by, kind, count, cells, cause, mover, viewer }) {
	if (type === "Offered" && kind === "draw") return sayOf(state, by, "offers draw", viewer);
	if (type === "Offered" && kind === "undo") return sayOf(state, by, "asks undo", viewer, { moves: nameMoves(cells, count, state) });
	if (type === "Offered") return sayOf(state, by, "asks rematch", viewer);
	if (type === "Declined") return sayOf(state, by, `declines ${kind}`, viewer);
	if (type === "Withdrawn") return sayOf(state, by, `withdraws ${kind}`, viewer);
	if (cause === "taking back") return say(`lapses ${kind} by undo`);
	return mover ? sayOf(state, mover, `lapses ${kind}`, viewer) : say(`off ${kind}`);
}

/** Who went for good, empty where the result or the passing over tells it. @param {Happened} left */
function tellLeft({ old, state, mark = "", seat, frees }) {
	if (frees) {
		const free = state.seats[mark] ? "" : ` ${say("seat free", { mark: nameMark(state, mark) })}`;
		return say("left seat", { name: nameOf(old, mark) }) + free;
	}
	const isJustOut = seat.out && !old.seats[mark]?.out;
	const isJustOver = !old.result && state.result?.reason === "resigned";
	if (isJustOut || (isJustOver && mark === loserOf(state))) return "";
	return say(state.status === "over" ? "left room" : "left game", { name: nameOf(state, mark) });
}

/** What somebody chose in an opening, for one of both players or for others. @param {Happened} choice */
function tellChoice({ state, mark = "", take, swaps, viewer }) {
	const other = Object.keys(state.seats).find((one) => one !== mark) ?? mark;
	const places = { take: nameMark(state, take), other: nameOf(state, other), mark: nameMark(state, other) };
	const id = swaps ? "chose swap" : take === MORE ? "chose more" : "chose stay";
	if (other !== seatOf(state, viewer) || id === "chose stay") return sayOf(state, mark, id, viewer, places);
	return say(`${id}, them`, { name: nameOf(state, mark), ...places });
}

/** What was chosen after so many moves, "" for nothing. @param {State} state @param {number} ply @param {string} viewer */
export const describeChoicesAt = (state, ply, viewer) => announce(choicesAt(state, ply), viewer).join(" ");

/** Why somebody plays no more in a game: as the state says, else as far as it shows. @param {State} state @param {string} mark */
function whyOut({ seats, clock, news = [] }, mark) {
	const said = news.find((one) => one.type === "out" && one.mark === mark && OUT_REASONS.includes(one.why ?? ""));
	const seat = seats[mark];
	if (said?.why) return said.why;
	if (seat?.left) return "left";
	if (clock?.remaining_ms[mark] === 0) return "late";
	return seat && !seat.online && seat.hold_ms === 0 ? "away" : "resigned";
}

/** A sentence about whoever plays a mark, who may be the reader. @param {State} state @param {string} mark @param {string} id @param {string} viewer @param {Record<string, string | number>} [places] */
function sayOf(state, mark, id, viewer, places = {}) {
	if (mark === seatOf(state, viewer)) return say(`${id}, you`, places);
	return say(id, { name: nameOf(state, mark), ...places });
}

/** The cells of the last moves by name, or their number where they are not known. @param {Moves} cells @param {number} n @param {State} state */
const nameMoves = (cells, n, state) => joinWords(nameCells(cells, state.rules)) || say("last moves", { n });

/** What is taken back where the asker asks. @param {State} state @param {string} asker @param {Moves | null} moves */
export function describeTakeBack(state, asker, moves) {
	const { count, cells } = takenBackBy(state, asker, moves);
	return nameMoves(cells, count, state);
}

/** The one mark that lost a game that is over, of those who played to its end. @param {State} state */
function loserOf({ result, seats }) {
	const others = Object.keys(seats).filter((mark) => mark !== result?.winner && !seats[mark]?.out);
	return result?.winner && others.length === 1 ? others[0] : null;
}

/** @param {State} state @param {string} viewer */
export function describeVerdict(state, viewer) {
	const { result, rules } = state;
	const end = endFor(state, viewer);
	if (!result) return "";
	if (result.reason === "aborted") return say("verdict aborted");
	if (!result.winner) return say(isDraw(result) ? "verdict draw" : "verdict none");
	return end === "win" || (end && rules.marks.length === 2) ? say(`verdict ${end}`) : say("verdict wins", { name: nameOf(state, result.winner) });
}

/** Return why a game ended. @param {State} state @param {string} viewer */
export function describeCause(state, viewer) {
	const { result } = state;
	if (!result) return "";
	const { reason } = result;
	const loser = loserOf(state);
	if (reason === "line") return describeLines(state, viewer);
	if (WHY_OVER.includes(reason)) return say(`ended ${reason}`);
	if (!LOSING.includes(reason)) return say("ended otherwise", { reason: describeReason(reason) });
	if (!loser) return say(reason === "forfeit" ? "ended nobody came" : "ended nobody left");
	return sayOf(state, loser, `ended ${reason === "resigned" && whyOut(state, loser) === "left" ? "left" : reason}`, viewer);
}

/** Return the result of a game and why it ended. @param {State} state @param {string} viewer */
export const describeResult = (state, viewer) => `${describeVerdict(state, viewer)} ${describeCause(state, viewer)}`.trim();

/** Return the deciding line or lines; in misère who completed one. @param {State} state @param {string} viewer */
function describeLines(state, viewer) {
	const { rules, board, result } = state;
	const told = splitLines(rules, result?.line ?? []).map((run, index) => {
		const [first, second] = run;
		const many = run.length > MOST_IN_WORDS ? run.length : say(`in words ${run.length}`);
		const reach = say("reach", { first: nameCell(first, rules), last: nameCell(run[run.length - 1], rules) });
		if (rules.misere) return index ? "" : sayOf(state, board[first], "line loses", viewer, { reach });
		const [marks, n] = [run.map((cell) => board[cell]).join(" "), numberRow(Math.floor(first / rules.columns), rules)];
		const mark = nameMark(state, board[first]);
		const places = { mark, many, marks: mark === board[first] ? marks : mark, reach, n, name: nameColumn(first % rules.columns) };
		if (second === first + rules.columns) return say(run.length === rules.rows ? "column" : "column part", places);
		if (second === first + 1) return say(run.length === rules.columns ? "row" : "row part", places);
		return say("diagonal", places);
	});
	return told.join(" ").trim();
}

/** @param {Room} room at its state @param {State | null} old the one before @param {Moves} before its moves @param {boolean} afterLoss */
export function newsOf(room, old, before, afterLoss) {
	const { viewer, seat } = room;
	const state = /** @type {State} */ (room.state);
	if (!old || (viewer && seat && !seatOf(old, viewer))) return { notes: [], told: introduce(room, state), tone: "" };
	const changes = happened(old, state, room.moves, before);
	const told = announce(changes, viewer, afterLoss);
	const beside = changes.filter(({ type }) => !SHOWN_ELSEWHERE.includes(type));
	if (afterLoss && !told.length) told.push(say("nothing missed"));
	if (state.turn === seat && room.plays && (told.length || old.turn !== seat)) told.push(describeTurn(state, viewer));
	const isEnd = !!state.result && !old.result;
	return { notes: announce(beside, viewer, afterLoss), told, tone: (isEnd && endFor(state, viewer)) || toneOf(old, state, seat) };
}

/** @param {Room} room @param {State} state */
function introduce({ code, viewer, moves, seat }, state) {
	const places = { room: code, rules: describeRules(state.rules) };
	const first = say(seat ? "view room entered" : "view room entered watching", places);
	return [first, describePlayers(state, viewer), ...announceStanding(state, moves, viewer), describeTurn(state, viewer)];
}

/** @param {State} old @param {State} state @param {string | null} seat */
function toneOf(old, state, seat) {
	if (state.ply === old.ply && state.chosen?.length === old.chosen?.length) return "";
	return state.turn === seat ? "turn" : "move";
}
