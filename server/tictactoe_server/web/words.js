/** States in words. A viewer is the id of the reader, whom sentences call "you". */

import { say, sayOr } from "./catalogue.js";
import { lookOf } from "./kept.js";
import { hasSingleKeys, nameCell } from "./rules.js";

const DRAWS = ["line", "full", "resigned", "timeout", "claimed", "agreed"];
export const MOST_SENT = 64;

/** @type {(error: unknown) => string} */
export const messageOf = (error) => (error instanceof Error ? error.message : String(error));

/** @type {(words: string[]) => string} */
export const joinWords = (words) =>
	words.length > 1 ? say("and", { first: words.slice(0, -1).join(", "), last: words[words.length - 1] }) : words.join("");

/** Return the id of the player whose connection a player or a guest uses, as in tictactoe_protocol.guests. */
export const ownerOf = (id = "") => id.split(".")[0];

/** Return the mark of a viewer, or null for a watcher and for a player who has left. @param {{seats: State["seats"]}} state */
export function seatOf(state, viewer = "") {
	const own = Object.entries(state.seats).find(([, seat]) => seat?.player === viewer && !seat.left);
	return own ? own[0] : null;
}

/** Return the result of a game for a viewer, or "" if it is still running or was won by nobody. @param {State} state */
export function endFor(state, viewer = "") {
	const [own, winner] = [seatOf(state, viewer), state.result?.winner];
	return own && winner ? (winner === own ? "win" : "lose") : "";
}

/** @param {Pick<State, "seats" | "rules">} state @param {string | null} mark */
export function nameOf({ seats, rules }, mark) {
	const name = seats[mark ?? ""]?.name;
	if (name === undefined) return say("nobody");
	const isShared = Object.values(seats).filter((seat) => seat && seat.name === name).length > 1;
	return isShared ? say("name with mark", { name, mark: nameMark({ rules }, mark ?? "") }) : name;
}

/** @param {{rules: Pick<Rules, "preset" | "gravity" | "marks">}} state */
export function nameMark({ rules }, mark = "") {
	if (lookOf(rules) !== "stones") return mark;
	return say(mark === rules.marks[0] ? "stone black" : "stone white");
}

/** @param {{seats: {[mark: string]: {name: string} | null}}} state */
export const namePlayers = ({ seats }) => Object.values(seats).map((seat) => seat?.name ?? say("view cell free")).join(say("versus"));

/** @param {Rules} rules */
export function describeRules(rules) {
	const { rows, columns, line, misere, marks, blocked, gravity, exact, opening } = rules;
	const parts = [say("rules size", { rows, columns }), say(misere ? "rules line loses" : "rules line", { line })];
	if (marks.length !== 2) parts.push(say("rules players", { n: marks.length }));
	if (blocked.length) {
		const cells = blocked.length > 4 ? say("count cell", { n: blocked.length }) : blocked.map((cell) => nameCell(cell, rules)).join(" ");
		parts.push(say("rules blocked", { cells }));
	}
	if (gravity) parts.push(say("rules gravity"));
	if (exact) parts.push(say("rules exact"));
	if (opening) parts.push(say(opening === "pie" ? "rules pie" : "rules swap2"));
	return parts.join(", ");
}

/** @param {{preset: string | null, rows: number, columns: number, line: number}} rules */
export function nameGame({ preset, rows, columns, line }) {
	return preset ? sayOr(`name of ${preset}`, preset) : say("game size", { rows, columns, line });
}

/** Replace the hyphens after short syllables, as in Tic-tac-toe, with non-breaking ones. */
export const keepTogether = (text = "") => text.replace(/(?<=(?<!\p{L})\p{L}{1,3})-/gu, "\u2011");

/** The usual levels of the computer; a server may have others. */
export const LEVELS = ["easy", "medium", "hard"];

export const describeLevel = (level = "") => sayOr(`level ${level}`, level);

/** @param {{rated?: boolean, host_rating?: number, host_provisional?: boolean, analysis?: string, chat?: string}} room */
export function describeManners({ rated, host_rating, host_provisional, analysis, chat }) {
	const told = rated ? [say("rated") + (host_rating ? ` ${host_rating}${host_provisional ? "?" : ""}` : "")] : [];
	if (analysis) told.push(sayOr(`analysis ${analysis}`, analysis));
	if (chat) told.push(sayOr(`chat ${chat}`, chat));
	return told;
}

/** @type {(clock: Protocol.ClockTerms | null | undefined) => string} */
export function describeClock(clock) {
	if (!clock) return say("clock none");
	const { initial_ms: initial = 0, increment_ms: increment = 0, move_ms: move, days, bank_days: bank = 0 } = clock;
	if (days) return say(bank ? "clock days and bank" : "clock days", { n: days, bank });
	if (move) return say("clock move", { seconds: move / 1000 });
	return say("clock seat", { minutes: Number((initial / 60_000).toPrecision(6)), seconds: increment / 1000 });
}

export function formatDuration(milliseconds = 0) {
	const seconds = Math.floor(Math.max(milliseconds, 0) / 1000);
	if (seconds >= 86_400) return say("duration days", { days: Math.floor(seconds / 86_400), hours: Math.floor(seconds / 3600) % 24 });
	const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60].slice(seconds < 3600 ? 1 : 0);
	return parts.map((part, index) => (index ? String(part).padStart(2, "0") : part)).join(":");
}

/** Explain in whole sentences the rules that a few words cannot. @param {Rules} rules */
export const explainRules = ({ exact, opening, line }) =>
	[exact ? say("explain exact", { line }) : [], opening ? say(opening === "pie" ? "explain pie" : "explain swap2") : []].flat();

/** @param {Rules} rules */
export function describeCell(cell = 0, rules) {
	const name = nameCell(cell, rules);
	return hasSingleKeys(rules) ? say("cell with place", { cell: name, place: say(`place ${cell}`) }) : name;
}

/** @param {Rules} rules */
export const describeTaken = (mark = "", cell = 0, rules) => say(mark === "#" ? "refused blocked" : "refused occupied", { cell: nameCell(cell, rules), mark });

/** @param {State} state */
export function describePlayers(state, viewer = "") {
	const own = seatOf(state, viewer);
	const others = Object.entries(state.seats).flatMap(([mark, seat]) => (seat && mark !== own ? [say("is", { name: seat.name, mark: nameMark(state, mark) })] : []));
	const told = [own && say("you are", { mark: nameMark(state, own) }), others.length > 0 && `${others.join(", ")}.`];
	return told.filter(Boolean).join(" ") || say("nobody sits");
}

/** @param {State} state */
export function describeTurn(state, viewer = "") {
	const { status, turn: mark, opening } = state;
	if (status === "waiting") return say("turn waiting", { n: Object.values(state.seats).filter((seat) => !seat).length });
	if (status === "over") return say("refused game_over");
	if (!mark) return status;
	const own = seatOf(state, viewer);
	const whose = mark === own ? "yours" : "of";
	const name = nameOf(state, mark);
	if (!opening) return say(whose === "yours" ? "turn yours" : "refused not_your_turn", { mark: nameMark(state, mark), name });
	if (opening.options.length) return say(`turn choose ${whose}`, { name });
	const other = state.rules.marks.replace(mark, "");
	const id = other === own ? "turn place of, you" : `turn place ${whose}`;
	return say(id, { name, other: nameOf(state, other), mark: nameMark(state, opening.places ?? ""), n: opening.left });
}

/** Whether a game was drawn; one that was aborted, or ended in a way that only newer servers know, was not. @param {{winner: string | null, reason: string}} result */
export const isDraw = ({ winner, reason }) => winner === null && DRAWS.includes(reason);

export const describeReason = (reason = "") => sayOr(`by ${reason}`, say("by other", { reason }));

/** @param {Protocol.Notice | Protocol.Announcement} push */
export function describePush(push) {
	if (push.type === "announcement") return say("server says", { text: push.text });
	const isFinal = push.code === "stopping";
	if (push.in_ms === undefined) return say(isFinal ? "refused busy stopping" : "refused busy restarting");
	return say(isFinal ? "last games before stop" : "last games before restart");
}

/** @param {Unanswered | null} [there] */
export function describeUnanswered(room = "", there) {
	if (!there) return "";
	const then = there.step === "refused" ? there.why : there.step ? say("unanswered asked") : "";
	return `${say("unanswered", { room, url: there.url })} ${then ?? ""}`.trim();
}

/** Cut pasted text to what the server accepts as a room: the last link without its query, or the text without words in lower case. */
export function cutPasted(pasted = "") {
	// In capitals, because the paths of other pages, such as "wall", are in lower case.
	const text = pasted.normalize("NFKC").trim().replace(/^[a-z]+$/, (word) => word.toUpperCase());
	if (text.length <= MOST_SENT) return text;
	const [, joined] = text.match(/ join ([\w-]{6,8})(?!\S)/) ?? []; // a command of the terminal, with options
	if (joined) return joined;
	const links = text.replace(/%3A/gi, ":").replace(/%2F/gi, "/").match(/https?:\/\/[^\s?#&]+/gi);
	return (links?.at(-1) ?? text.replace(/(?<!\S)[^\s\d\p{Lu}]+(?!\S)/gu, "·")).slice(-MOST_SENT);
}
