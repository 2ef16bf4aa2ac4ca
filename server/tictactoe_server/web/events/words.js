/** What more than one page of an event says of it. */

import { say } from "../catalogue.js";
import { describeClock, nameGame } from "../words.js";
import { describeWord } from "./tournaments.js";

/** What an event is about, in a line. @param {EventState} state */
export function describeTerms({ head }) {
	const { kind, rules, clock, double, players } = head;
	const what = double ? say("tournament kind double") : describeWord("kind", kind);
	return [what, nameGame(rules), describeClock(clock), say("page event players", { n: players })].join(" · ");
}
