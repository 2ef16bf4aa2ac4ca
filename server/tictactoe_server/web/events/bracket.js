/** The bracket of a knock-out: its rounds side by side, and the player who advances from each match. */

import { say } from "../catalogue.js";
import { h } from "../dom.js";
import { clean } from "../words.js";
import { formatPoints } from "./tournaments.js";

const ROUNDS = ["final", "semifinals", "quarterfinals"];

/** Return the name of the round that leaves this many players of all. */
export const nameRound = (left = 0, all = 0) => ROUNDS[left] ? say(`tournament ${ROUNDS[left]}`) : say("tournament now", { round: all - left });

/** @param {EventMatch[][]} rounds @param {string} own the player who looks @param {number} [most] how many rounds are shown */
export const makeBracket = (rounds, own, most = rounds.length) =>
	h("ol.bracket", { "aria-label": say("tournament bracket") }, rounds.slice(-most).map((matches, at, { length }) => {
		const name = nameRound(length - 1 - at, rounds.length);
		return h("li", h("h3", name), h("ol", matches.map((match) => makeMatch(match, own))));
	}));

/** A name that shrinks if it is too long for its place. */
export const fit = (name = "") => h("div.fit", h("span", { "--length": name.length }, clean(name)));

/** @param {EventMatch} match @param {string} own */
function makeMatch({ players, names, points = [], goes_on: winner, by }, own) {
	const sides = players.map((player, at) =>
		h("p", { class: `${player && player === winner ? "won" : ""} ${player && player === own ? "own" : ""}` },
			fit(names[at] ?? "–"), h("b", players[1] && points[at] !== undefined && formatPoints(points[at]))));
	const why = by === "draw" && h("p.why", `${points.map(formatPoints).join(":")}, ${say("tournament by draw")}`);
	return h("li.match", sides, players.length < 2 && h("p", say("tournament bye")), why);
}
