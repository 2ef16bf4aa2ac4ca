/** What all pages of events say, and how they look: loaded with the first of them. */

import { say } from "../catalogue.js";
import { h } from "../dom.js";
import { learnLater, learnMore } from "../language.js";
import { describeClock, nameGame } from "../words.js";
import { describeWord } from "./tournaments.js";

/** @type {Promise<unknown> | undefined} */
let prepared;

/** Load the sentences and the style, once. */
export async function prepare() {
	prepared ??= Promise.all([learnMore("events"), learnLater(), loadStyle()]);
	await prepared.catch((why) => {
		prepared = undefined;
		throw why;
	});
}

function loadStyle() {
	return new Promise((resolve, reject) => document.head.append(h("link", { rel: "stylesheet", href: "./events.css", load: resolve, error: reject })));
}

/** What an event is about, in a line. @param {EventState} state */
export function describeTerms({ head }) {
	const { kind, rules, clock, double, players } = head;
	const what = double ? say("tournament kind double") : describeWord("kind", kind);
	return [what, nameGame(rules), describeClock(clock), say("page event players", { n: players })].join(" · ");
}
