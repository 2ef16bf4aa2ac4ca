/** Words, as in the terminal. A viewer is the id of whoever reads: "you". */

import { hasSingleKeys, nameCell, nameCells, nameColumn, splitLines } from "./rules.js";

const ROWS = ["top", "middle", "bottom"];
const COLUMNS = ["left", "centre", "right"];
/** @type {Record<string, string>} */
const REASONS = {
	line: "by a line",
	full: "on a full board",
	resigned: "by resignation",
	timeout: "on time",
	claimed: "by a claim",
	agreed: "by agreement",
	aborted: "by an abort",
};
/** @type {Record<string, string>} */
const ENDINGS = {
	full: "The board is full.",
	agreed: "Both agreed.",
	claimed: "The game was claimed, as the other seat stayed empty.",
};
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb]/gu;

/** @type {(text: string) => string} */
export const clean = (text) => text.replace(HIDDEN, "").replace(/(\p{M}{4})\p{M}+/gu, "$1");

/** @type {(error: unknown) => string} */
export const messageOf = (error) => clean(error instanceof Error ? error.message : String(error));

/** @type {Count} */
export const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

/** @type {(words: string[]) => string} */
export const joinWords = (words) => words.join(", ").replace(/, ([^,]*)$/, " and $1");

/** @type {SeatOf} */
export function seatOf(state, viewer) {
	const own = Object.entries(state.seats).find(([, seat]) => seat?.player === viewer && !seat.left);
	return own ? own[0] : null;
}

/** @type {NameOf} */
export function nameOf({ seats }, mark) {
	const name = seats[mark ?? ""]?.name;
	if (name === undefined) return "nobody";
	const isShared = Object.values(seats).filter((seat) => seat?.name === name).length > 1;
	return clean(name) + (isShared ? ` (${mark})` : "");
}

/** @type {NamePlayers} */
export const namePlayers = ({ seats }) => Object.values(seats).map((seat) => (seat ? clean(seat.name) : "free")).join(" v ");

/** @type {SayRules} */
export function describeRules(rules) {
	const parts = [`${rules.rows} by ${rules.columns}`, `${rules.line} in a row${rules.misere ? " loses" : ""}`];
	if (rules.marks.length !== 2) parts.push(`${rules.marks.length} players`);
	if (rules.blocked.length) {
		parts.push(`${rules.blocked.length > 4 ? `${rules.blocked.length} cells` : nameCells(rules.blocked, rules).join(" ")} blocked`);
	}
	if (rules.gravity) parts.push("marks fall");
	return parts.join(", ");
}

/** @type {SayRules} */
export function nameGame({ preset, rows, columns, line }) {
	if (preset === "classic") return "3x3";
	return preset ? clean(preset) : `${rows}x${columns}, ${line} in a row`;
}

/** @type {DescribeManners} */
export const describeManners = ({ analysis, chat }) =>
	[analysis ? `analysis ${clean(analysis)}` : [], chat ? `chat for ${clean(chat)}` : []].flat();

/** @type {(clock: Terms) => string} */
export function describeClock(clock) {
	if (!clock) return "no clock";
	const { initial_ms: initial = 0, increment_ms: increment = 0, move_ms: move } = clock;
	return move ? `${move / 1000} s a move` : `${initial / 60_000}+${increment / 1000}`;
}

/** @type {ParseClock} */
export function parseClock(text) {
	const found = /^(\d+(?:\.\d+)?)(?:\s*\/\s*(move)|\s*\+\s*(\d+(?:\.\d+)?))?$/.exec(text.trim());
	if (!found) return text.trim() ? undefined : null;
	const [, first, move, more = "0"] = found;
	if (move) return { move_ms: Math.round(Number(first) * 1000) };
	return { initial_ms: Math.round(Number(first) * 60_000), increment_ms: Math.round(Number(more) * 1000) };
}

/** @type {FormatDuration} */
export function formatDuration(milliseconds) {
	const seconds = Math.floor(Math.max(milliseconds, 0) / 1000);
	const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60].slice(seconds < 3600 ? 1 : 0);
	return parts.map((part, index) => (index ? String(part).padStart(2, "0") : part)).join(":");
}

/** @type {DescribeCell} */
export function describeCell(cell, rules) {
	if (!hasSingleKeys(rules)) return nameCell(cell, rules);
	return `${nameCell(cell, rules)}, ${cell === 4 ? "centre" : `${ROWS[Math.floor(cell / 3)]} ${COLUMNS[cell % 3]}`}`;
}

/** @type {Say} */
export function describePlayers(state, viewer) {
	const own = seatOf(state, viewer);
	const others = Object.entries(state.seats).flatMap(([mark, seat]) => (seat && mark !== own ? [`${clean(seat.name)} is ${mark}`] : []));
	return `${own ? `You are ${own}. ` : ""}${others.length ? `${others.join(", ")}.` : own ? "" : "Nobody sits here yet."}`.trim();
}

/** @type {Say} */
export function describeTurn(state, viewer) {
	if (state.status === "waiting") return "Waiting for another player.";
	if (state.status === "over") return "The game is over.";
	if (!state.turn) return `The game is ${clean(state.status)}.`;
	return state.turn === seatOf(state, viewer) ? `Your move, ${state.turn}.` : `It's ${nameOf(state, state.turn)}'s move.`;
}

/** @type {DescribeLines} */
function describeLines(rules, board, cells) {
	const told = splitLines(rules, cells).map((run) => {
		const first = run[0];
		const marks = run.map((cell) => board[cell]).join(" ");
		const reach = `${nameCell(first, rules)} to ${nameCell(run[run.length - 1], rules)}`;
		const isRow = run[1] === first + 1;
		if (!isRow && run[1] !== first + rules.columns) return `The diagonal ${reach} is ${marks}.`;
		const name = isRow ? `Row ${Math.floor(first / rules.columns) + 1}` : `Column ${nameColumn(first % rules.columns)}`;
		return `${name}${run.length === (isRow ? rules.columns : rules.rows) ? "" : `, ${reach},`} is ${marks}.`;
	});
	return told.join(" ");
}

/** @type {LoserOf} */
export function loserOf({ result, seats }) {
	const others = Object.keys(seats).filter((mark) => mark !== result?.winner && !seats[mark]?.out);
	return result?.winner && others.length === 1 ? others[0] : null;
}

/** @type {IsDraw} */
export const isDraw = ({ winner, reason }) => winner === null && reason in REASONS && reason !== "aborted";

/** @type {Say} */
export function describeVerdict(state, viewer) {
	const { result } = state;
	const own = seatOf(state, viewer);
	if (!result) return "";
	if (!result.winner) return isDraw(result) ? "It's a draw." : "It has no winner.";
	if (result.winner === own) return "You win.";
	return own && state.rules.marks.length === 2 ? "You lose." : `${nameOf(state, result.winner)} wins.`;
}

/** @type {SayWho} */
export function sayWho(state, mark, verb, viewer) {
	const isOwn = mark === seatOf(state, viewer);
	return `${isOwn ? "You" : nameOf(state, mark)} ${verb.replace("{s}", isOwn ? "" : "s")}.`;
}

/** @type {Say} */
export function describeResult(state, viewer) {
	const { result, rules, board } = state;
	const loser = loserOf(state);
	const verdict = describeVerdict(state, viewer);
	if (!result) return "";
	switch (result.reason) {
		case "line":
			return `${describeLines(rules, board, result.line ?? [])} ${verdict}`;
		case "aborted":
			return "The game was aborted, as not everybody had moved yet. It doesn't count.";
		case "resigned":
		case "timeout": {
			if (!loser) return `Nobody else is left in the game. ${verdict}`;
			const gone = state.seats[loser]?.left ? "left the game" : "resign{s}";
			return `${sayWho(state, loser, result.reason === "timeout" ? "ran out of time" : gone, viewer)} ${verdict}`;
		}
		default:
			return `${ENDINGS[result.reason] ?? `The game ended ${describeReason(result.reason)}.`} ${verdict}`;
	}
}

/** @type {(reason: string) => string} */
export const describeReason = (reason) => REASONS[reason] ?? `by ${clean(reason)}`;

/** @type {DescribePush} */
export function describePush(push) {
	if (push.type === "announcement") return `The server says: ${clean(push.text)}`;
	const isFinal = push.code === "stopping";
	return `The server is about to ${isFinal ? "stop for good" : "restart"}${push.in_ms === undefined ? "" : " when the running games are over"}.`;
}
