/** What happened in a room, in sentences, and which of them the page shows and plays a sound for. A viewer is the reader's public id. */

import { say, sayOr } from "./catalogue.js";
import { nameCell, nameColumn, numberRow, placerOf, splitLines } from "./rules.js";
import { describeCell, describePlayers, describeReason, describeRules, describeTurn, endFor, formatDuration, isDraw, joinWords, nameMark, nameOf, seatOf } from "./words.js";

const MOST_NAMED = 6;
const MOST_IN_WORDS = 6;
const LOSING = ["resigned", "timeout", "forfeit", "claimed"];
/** What the board and the players' rows show, so that the talk does not repeat it. */
const SHOWN_ELSEWHERE = ["moved", "ended", "dropped", "back"];

/** Return a sentence for each event of a state, at most; a result shares a sentence with the move that caused it. @param {readonly Happening[]} events @param {State} state @param {readonly string[]} [hidden] the types that are left out */
export function announce(events, state, viewer = "", afterLoss = false, hidden = []) {
	const { rules, seats } = state;
	/** @type {string[]} */
	const told = [];
	let movedAt = -1;
	for (const event of events) {
		if (event.type === "moved") movedAt = told.length;
		if (hidden.includes(event.type)) continue;
		let sentence = tell(event);
		if (event.type === "ended" && movedAt >= 0 && ["line", "full"].includes(event.result?.reason ?? "")) {
			sentence = `${told.splice(movedAt, 1)[0]} ${sentence}`;
		}
		if (sentence) told.push(sentence);
	}
	return told;

	/** Return the sentence for an event, or "" if another event implies it or if it is about the reader's own seat. @param {Happening} event */
	function tell(event) {
		const { type, mark = "", cell = 0, cells = [], kind } = event;
		switch (type) {
			case "began":
				return state.game > 1 ? say("game", { n: state.game, players: describePlayers(state, viewer) }) : "";
			case "missed":
				return say(cells.length ? "missed moves named" : "missed moves", { n: event.moves ?? 0, moves: cells.length ? nameMoves(cells, rules) : "" });
			case "moved": {
				const by = placerOf(state, state.moves.indexOf(cell));
				if (by) return sayOf(state, by, "places", viewer, { cell: describeCell(cell, rules), mark: nameMark(state, mark) });
				return sayOf(state, mark, "plays", viewer, { cell: cell === state.last && state.result?.line?.includes(cell) ? nameCell(cell, rules) : describeCell(cell, rules) });
			}
			case "chose":
				return (state.choices ?? []).flatMap((choice) => (choice.mark === mark ? tellChoice(state, choice, viewer) : [])).join("");
			case "taken back": {
				const moves = cells.length <= MOST_NAMED ? nameMoves(cells, rules) : "";
				if (moves && mark) return sayOf(state, mark, "takes back", viewer, { moves });
				return say(moves ? "taken back" : "taken back unnamed", { n: cells.length, moves });
			}
			case "out": {
				const why = whyOut(state, mark);
				return seats[mark]?.out ? `${sayOf(state, mark, `ended ${why === "late" ? "timeout" : why}`, viewer)} ${say("others play on")}` : ""; // the end of the game says so too
			}
			case "ended":
				return `${describeVerdict(state, viewer)} ${describeCause(state, viewer)}`.trim();
			case "offered":
				return sayOf(state, mark, `waits ${kind}`, viewer, { moves: cells.length ? nameMoves(cells, rules) : describeTakeBack(state, mark), n: 1 });
			case "declined":
				return sayOf(state, mark, "declined", viewer);
			case "withdrawn":
				return sayOf(state, mark, kind === "undo" ? "withdraws undo" : "withdrawn", viewer);
			case "lapsed":
				return kind === "rematch" ? "" : say(kind === "undo" ? "lapses undo" : "lapsed");
			default:
				return tellOfSeat(event);
		}
	}

	/** @param {Happening} event */
	function tellOfSeat({ type, mark = "", name: called = "", before }) {
		const seat = seats[mark];
		const name = nameOf(state, mark);
		if (type === "left" && !seat) return `${say("left room", { name: called })} ${say("seat free", { mark: nameMark(state, mark) })}`;
		if (!seat || seat.player === viewer) return "";
		const isBeginning = state.game === 1 && !state.ply; // when a seat may be kept for somebody
		switch (type) {
			case "joined":
				return say("joins", { name, mark: nameMark(state, mark) });
			case "renamed":
				return say("renamed", { before: before ?? "", name });
			case "back":
				return say(isBeginning ? "is here" : "back", { name });
			case "dropped": {
				const held = seat.hold_ms && state.status === "playing" ? ` ${say("held", { time: formatDuration(seat.hold_ms) })}` : "";
				// After a loss of our own connection, all may have lost the server.
				const isAbsent = afterLoss || state.time_control?.days || (state.event && isBeginning);
				return say(isAbsent ? "not here" : "dropped", { name }) + held;
			}
			case "left": {
				const whys = events.flatMap((one) => (one.type === "out" && one.mark === mark ? [one.why ?? "left"] : []));
				const isTold = (seat.out && whys.length) || (mark === loserOf(state) && events.some(({ result }) => result?.reason === "resigned"));
				return isTold && whys.every((why) => why === "left") ? "" : say(state.status === "over" ? "left room" : "ended left", { name });
			}
			default:
				return "";
		}
	}
}

/** @param {State} state @returns {Happening[]} */
function listStanding({ seats, offers: { draw, undo, rematch = [] }, result }) {
	const players = Object.entries(seats).flatMap(([mark, seat]) => (seat ? [{ ...seat, mark }] : []));
	const offers = [["draw", draw], ["undo", undo], ...rematch.map((mark) => ["rematch", mark])];
	return [
		...players.filter(({ out }) => out).map(({ mark }) => ({ type: "out", mark })),
		...(result ? [{ type: "ended", result }] : []),
		...players.filter(({ left, online }) => left || !online).map(({ mark, left }) => ({ type: left ? "left" : "dropped", mark })),
		...offers.flatMap(([kind, mark]) => (kind && mark ? [{ type: "offered", kind, mark }] : [])),
	];
}

/** @param {State} state */
export function announceStanding(state, viewer = "") {
	const told = announce(listStanding(state), state, viewer, true);
	return state.game > 1 ? [say("game of room", { n: state.game }), ...told] : told;
}

/** @param {State} state @param {Protocol.OpeningChoice} choice */
function tellChoice(state, { by: mark, mark: before, take }, viewer = "") {
	const other = Object.keys(state.seats).find((one) => one !== mark) ?? mark;
	const places = { take: nameMark(state, take), other: nameOf(state, other), mark: nameMark(state, other) };
	const id = take === "more" ? "chose more" : take === before ? "chose stay" : "chose swap";
	if (other !== seatOf(state, viewer) || id === "chose stay") return sayOf(state, mark, id, viewer, places);
	return say(`${id}, them`, { name: nameOf(state, mark), ...places });
}

/** @param {State} state */
export const describeChoicesAt = (state, count = 0, viewer = "") =>
	(state.choices ?? []).flatMap((choice) => (choice.ply === count ? tellChoice(state, choice, viewer) : [])).join(" ");

/** Why somebody is out of a game or has lost it, if no event says so. @param {State} state */
function whyOut({ seats, clock, news = [] }, mark = "") {
	const seat = seats[mark];
	const said = news.find((one) => one.type === "out" && one.mark === mark)?.why;
	if (said || seat?.left) return said ?? "left";
	if (clock?.remaining_ms[mark] === 0) return "late";
	return seat && !seat.online && seat.hold_ms === 0 ? "away" : "resigned";
}

/** @param {State} state @param {Record<string, string | number>} [places] */
function sayOf(state, mark = "", id = "", viewer = "", places = {}) {
	if (mark === seatOf(state, viewer)) return say(`${id}, you`, places);
	return say(id, { name: nameOf(state, mark), ...places });
}

/** @param {Moves} cells @param {Rules} rules */
const nameMoves = (cells, rules) => joinWords(cells.map((cell) => nameCell(cell, rules)));

/** The moves that the player of a mark asks to take back: up to their own last one. @param {State} state */
export function describeTakeBack({ board, last, moves, rules }, asker = "") {
	return nameMoves(moves.slice(board[last ?? 0] === asker ? -1 : -2), rules);
}

/** The one mark that lost a game that is over, of those who played to its end. @param {State} state */
function loserOf({ result, seats }) {
	const others = Object.keys(seats).filter((mark) => mark !== result?.winner && !seats[mark]?.out);
	return result?.winner && others.length === 1 ? others[0] : null;
}

/** @param {State} state */
export function describeVerdict(state, viewer = "") {
	const { result, rules } = state;
	const end = endFor(state, viewer);
	if (!result) return "";
	if (result.reason === "aborted") return say("verdict aborted");
	if (!result.winner) return say(isDraw(result) ? "verdict draw" : "verdict none");
	return end === "win" || (end && rules.marks.length === 2) ? say(`verdict ${end}`) : say("verdict wins", { name: nameOf(state, result.winner) });
}

/** @param {State} state */
export function describeCause(state, viewer = "") {
	const { result } = state;
	if (!result) return "";
	const { reason } = result;
	const loser = loserOf(state);
	if (reason === "line") return describeLines(state, viewer);
	if (!LOSING.includes(reason) || (reason === "claimed" && !loser)) return sayOr(`ended ${reason}`, say("ended otherwise", { reason: describeReason(reason) }));
	if (!loser) return say(reason === "forfeit" ? "ended nobody came" : "ended nobody left");
	const hasLeft = reason === "resigned" && whyOut(state, loser) === "left";
	return sayOf(state, loser, `ended ${hasLeft ? "left" : reason === "claimed" ? "away" : reason}`, viewer);
}

/** @param {State} state */
function describeLines(state, viewer = "") {
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

/** @param {Room} room @param {State | null} old the state before */
export function newsOf(room, old, afterLoss = false) {
	const { code, viewer, seat } = room;
	const state = /** @type {State} */ (room.state);
	if (!old || (viewer && seat && !seatOf(old, viewer))) {
		const entered = say(seat ? "view room entered" : "view room entered watching", { room: code, rules: describeRules(state.rules) });
		return { notes: [], told: [entered, describePlayers(state, viewer), ...announceStanding(state, viewer), describeTurn(state, viewer)], tone: "" };
	}
	const events = newsSince(old, state);
	const told = announce(events, state, viewer, afterLoss);
	if (afterLoss && !told.length) told.push(say("nothing missed"));
	if (state.turn === seat && room.plays && (told.length || old.turn !== seat)) told.push(describeTurn(state, viewer));
	const notes = announce(events, state, viewer, afterLoss, SHOWN_ELSEWHERE);
	const hasMoved = state.ply !== old.ply || state.chosen?.length !== old.chosen?.length;
	const end = state.result && !old.result && endFor(state, viewer);
	return { notes, told, tone: end || (hasMoved ? (state.turn === seat ? "turn" : "move") : "") };
}

/** Return the news of a state; if states were missed, the number of moves and what holds now. @param {State} old @param {State} state */
export function newsSince(old, state) {
	const { news = [], seq, since = seq - 1, game, ply } = state;
	const isSameGame = game === old.game;
	if (seq === old.seq) return [];
	const played = ply - (isSameGame ? old.ply : 0);
	if (since <= old.seq && (news.length || !played)) return news;
	const isNamed = isSameGame && played <= MOST_NAMED && old.moves.every((cell, place) => cell === state.moves[place]);
	const cells = isNamed ? state.moves.slice(old.ply) : [];
	const standing = listStanding(state).filter(({ type }) => type !== "ended" || !isSameGame || !old.result);
	return [...(isSameGame ? [] : [{ type: "began" }]), ...(played > 0 ? [{ type: "missed", moves: played, cells }] : []), ...standing];
}
