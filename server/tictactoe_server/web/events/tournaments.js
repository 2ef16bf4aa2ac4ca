/** Tournaments: the possible actions, the standings and their texts, as tictactoe_words.tournaments. */

import { say, sayOr } from "../catalogue.js";
import { describeClock, joinWords, nameGame } from "../words.js";

const MOST_NAMES = 6;
/** @type {Record<number, string>} */
const FRACTIONS = { 0.25: "¼", 0.5: "½", 0.75: "¾" };

export const nameKind = (kind = "") => sayOr(`tournament kind ${kind}`, kind);
export const nameStatus = (status = "") => sayOr(`tournament status ${status}`, status);
export const namePresence = (status = "") => sayOr(`tournament is ${status}`, status);
export const nameTie = (tie = "") => sayOr(`tournament tie ${tie}`, tie);

/** @param {EventState} state */
export const rowOf = ({ table }, viewer = "") => table.find(({ player }) => player === viewer);

/** @param {EventState} state */
export const isOver = ({ status }) => status === "over" || status === "void";

/** @param {{state: string}} pairing */
export const isOpen = ({ state }) => state !== "scored";

/** @param {EventState} state */
export const ownBoard = ({ pairings }, viewer = "") => pairings.find(({ players, state }) => state === "open" && Object.values(players).includes(viewer));

/** @param {EventState} state */
export function describeTerms({ head }) {
	const { kind, rules, clock, double, players, present, expected = 0 } = head;
	const what = double ? say("tournament kind double") : nameKind(kind);
	const entrants = expected ? say("tournament here", { n: players + expected, present }) : say("rules players", { n: players });
	return [what, nameGame(rules), describeClock(clock), entrants].join(" · ");
}

/** @param {EventState} state */
export function describeStanding({ status, round, head: { rounds }, table }) {
	const first = table.filter(({ place, points }) => place === 1 && points > 0).map(({ name }) => name);
	if (status === "over" && first.length) return say("tournament won", { n: first.length, names: joinWords(first) });
	if (status !== "running") return nameStatus(status);
	return rounds ? say("tournament now of", { round, rounds }) : say("tournament now", { round });
}

/** @param {EventState} state */
export function describeOwn(state, viewer = "") {
	const [row, board] = [rowOf(state, viewer), ownBoard(state, viewer)];
	if (!row) return "";
	const { status = "in", place, name } = row;
	const against = board && sidesOf(board).find(([, player]) => player !== viewer);
	if (against) return say("tournament against", { name: against[2] });
	if (status !== "in") return sayOr(`tournament you are ${status}${status === "away" && state.head.kind !== "swiss" ? ", paired" : ""}`, status);
	const places = { name, place, won: describeWon(row) };
	if (isOver(state)) return say("tournament you came", places);
	return say(state.status === "open" ? "tournament you wait" : "tournament you stand", places);
}

export const formatPoints = (value = 0) => (FRACTIONS[value % 1] ? `${Math.floor(value) || ""}${FRACTIONS[value % 1]}` : String(value));

/** @param {Pairing} pairing @returns {Side[]} */
export const sidesOf = ({ players, names }) => Object.keys(players).map((mark) => [mark, players[mark], names[mark] ?? players[mark]]);

/** @param {{result?: string | null}} pairing */
export const scoreOf = ({ result }, mark = "") => (result === "draw" ? 0.5 : Number(result === mark));

/** @param {Pairing} pairing */
export function describeScore(pairing) {
	const { by, players, room } = pairing;
	if (by === "bye" || Object.keys(players).length < 2) return say("tournament bye");
	if (isOpen(pairing)) return room ? say("tournament plays", { room }) : pairing.state === "due" ? say("tournament due") : "";
	const points = Object.keys(players).map((mark) => formatPoints(scoreOf(pairing, mark))).join("-");
	return by === "forfeit" || by === "organiser" ? `${points} ${say(`tournament by ${by}`)}` : points;
}

/** @param {EventRow["tie"][number]} tie */
export function describeTie([name, value, sum]) {
	const shown = formatPoints(value);
	if (name === "matches") return `${shown} (${sum})`;
	return value && sum !== shown ? `${shown} = ${sum}` : shown;
}

/** Return what the table counts: the matches won in a knock-out, otherwise points. @param {Pick<EventRow, "points" | "tie">} row */
export const wonOf = ({ points, tie }) => tie.find(([name]) => name === "matches")?.[1] ?? points;

/** @param {Pick<EventRow, "points" | "tie">} row */
export const describeWon = (row) => say(row.tie[0]?.[0] === "matches" ? "tournament count matches" : "tournament count points", { n: formatPoints(wonOf(row)) });

/** @param {string[]} names */
export const nameSome = (names) => joinWords(names.slice(0, MOST_NAMES).concat(names.length > MOST_NAMES ? say("tournament and more", { n: names.length - MOST_NAMES }) : []));

/** @param {EventState} state */
export function listNotes(state) {
	const { head, round, expected = [] } = state;
	const rule = head.kind === "knock_out" ? !isOver(state) && say("tournament match") : describeDecision(state);
	const hasMissed = round && expected.length && !head.expected;
	return [rule, hasMissed && say("tournament never came", { names: nameSome(expected) })].filter((told) => !!told);
}

/** Explain why the first is ahead of the second with equal points, or at the end that they are level; otherwise "". @param {EventState} state */
function describeDecision({ status, table }) {
	const [one, two] = table;
	if (!two || one.points !== two.points) return "";
	if (one.place === two.place) {
		const first = table.filter(({ place }) => place === one.place).map(({ name }) => name);
		return status === "over" && one.points ? say("tournament level", { names: nameSome(first) }) : "";
	}
	const values = new Map(two.tie.map(([tie, value]) => [tie, value]));
	const [tie, value] = one.tie.find(([tie, value]) => values.get(tie) !== value) ?? ["", 0];
	return say("tournament before", { name: one.name, other: two.name, tie: nameTie(tie), mine: formatPoints(value), theirs: formatPoints(values.get(tie) ?? 0) });
}
