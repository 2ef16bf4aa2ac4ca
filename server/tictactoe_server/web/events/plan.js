/** How many players a tournament takes, its rounds and its rough duration: the port of `tictactoe_protocol.plans`. */

import { say } from "../catalogue.js";

const [MAX_ENTRANTS, MAX_ROUND_ROBIN] = [200, 24];
const [MOST_PLIES, MOVE_MS, GAMES_OF_MATCH, MINUTE_MS] = [40, 8_000, 3, 60_000];

const mostEntrants = (kind = "") => (kind === "round_robin" ? MAX_ROUND_ROBIN : MAX_ENTRANTS);

/** Return the given kind of tournament, or Swiss if only that takes this many players. */
export const fittingKind = (kind = "", players = 0) => (mostEntrants(kind) < players && players <= MAX_ENTRANTS ? "swiss" : kind);

/** @param {Plan} plan */
function countRounds({ kind, players, double, rounds }) {
	const each = players - 1 + (players % 2);
	if (kind === "round_robin") return each * (double ? 2 : 1);
	const needed = Math.ceil(Math.log2(players));
	return kind === "knock_out" ? needed : rounds || Math.max(needed, Math.min(3, each));
}

/** @param {Plan} plan @param {number} rounds */
function estimateMinutes({ kind, cells, clock, break_ms }, rounds) {
	const plies = Math.min(cells, MOST_PLIES);
	const move = clock.move_ms || Math.floor((2 * (clock.initial_ms ?? 0)) / plies) + (clock.increment_ms ?? 0);
	const game = plies * Math.min(Math.floor(move / 2), Math.max(MOVE_MS, Math.floor(move / 10)));
	const round = break_ms + game * (kind === "knock_out" ? GAMES_OF_MATCH : 1);
	return Math.max(1, Math.floor((rounds * round + MINUTE_MS / 2) / MINUTE_MS));
}

/** Describe players, rounds and duration, or say that there are too many players; "" for fewer than two. @param {Plan} plan */
export function describePlan(plan) {
	const { kind, players } = plan;
	if (players < 2) return "";
	if (players > mostEntrants(kind)) return say("tournament plan full", { players, most: mostEntrants(kind) });
	const rounds = countRounds(plan);
	const minutes = estimateMinutes(plan, rounds);
	const hours = Math.floor((minutes + 30) / 60);
	const time = hours > 1 ? say("tournament plan hours", { n: hours }) : say("tournament plan minutes", { n: minutes });
	return say("tournament plan", { players: say("rules players", { n: players }), rounds: say("tournament plan rounds", { n: rounds }), time });
}
