/** What all pages of events say, and how they look: loaded with the first of them. */

import { say, spokenLanguage } from "../catalogue.js";
import { h } from "../dom.js";
import { learnLater, learnMore } from "../language.js";
import { clean, describeClock, joinWords, nameGame } from "../words.js";

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

/** What is said for a word of the server, and the word itself where only a newer server knows it. @param {string} word @param {() => string} tell */
export function orWord(word, tell) {
	try {
		return tell();
	} catch {
		return clean(word);
	}
}

/** @type {Record<number, string>} */
const FRACTIONS = { 0.25: "¼", 0.5: "½", 0.75: "¾" };

/** Points or a tie-break: a half as in `2½`. @param {number} value */
export function formatPoints(value) {
	const part = FRACTIONS[value % 1];
	if (part) return `${Math.floor(value) || ""}${part}`;
	return value.toLocaleString(spokenLanguage(), { maximumFractionDigits: 2 });
}

/** What an event is about, in a line. @param {Protocol.EventState} state */
export function describeTerms({ head }) {
	const { kind, rules, clock, double, players } = head;
	const what = double ? say("page event double") : orWord(kind, () => say(`page event kind ${kind}`));
	return [what, nameGame(rules), describeClock(clock), say("page event players", { n: players })].join(" · ");
}

/** How far an event is. @param {Protocol.EventState} state */
export function describeStanding({ status, round, head: { rounds }, table }) {
	const first = table.filter(({ place, points }) => place === 1 && points > 0).map(({ name }) => clean(name));
	if (status === "over" && first.length) return say("page event won", { n: first.length, names: joinWords(first) });
	if (status === "running") return rounds ? say("page event round of", { round, rounds }) : say("page event round", { round });
	return orWord(status, () => say(`page event status ${status}`));
}

/** The marks of a pairing, and under each who plays it. @param {Protocol.EventPairing} pairing @returns {[mark: string, player: string, name: string][]} */
export const sidesOf = ({ players, names }) => Object.keys(players).map((mark) => [mark, players[mark], clean(names[mark] ?? players[mark])]);

/** What a side has of a pairing that is scored. @param {{result?: string | null}} pairing @param {string} mark */
export const scoreOf = ({ result }, mark) => (result === "draw" ? 0.5 : Number(result === mark));
