/** What is typed at the board, by the names of what may be done, and what keys mean there. */

import { say } from "./catalogue.js";
import { findDeed } from "./choices.js";
import { hasSingleKeys } from "./rules.js";

/** Which deeds a key stands for, the first of them that may be done. @type {Record<string, string[]>} */
export const KEYS = {
	b: ["computer"],
	n: ["new game", "new private room", "new opponent"],
	r: ["rematch accept", "rematch ask"],
	v: ["review"],
	y: ["copy"],
};
/** At the board, where other letters name cells. @type {Record<string, string[]>} */
export const KEYS_OF_CLAIMS = { w: ["claim win"], d: ["claim draw"] };
const WAYS = ["choose more", "choose stay", "choose swap"];
/** Which deeds a word stands for that is typed behind a slash. @type {Record<string, string[]>} */
export const COMMANDS = {
	...Object.fromEntries([...WAYS, "claim draw", "computer", "copy", "leave", "new", "resign", "review", "share", "yes", "no", "help"].map((name) => [name, [name]])),
	claim: ["claim win"],
	draw: ["draw accept", "draw offer"],
	rematch: ["rematch accept", "rematch ask"],
	undo: ["undo accept", "undo offer"],
};

/** The words for a command, what is written out first; the English one is known in every language. @param {string} id */
export const wordsOf = (id) => [...say(`type ${id}`).split(/[;,] /).filter((word) => word.length > 1), id];

/** The deeds that a line behind a slash asks for, null where it asks for none. @param {string} text */
export function readCommand(text) {
	const typed = text.trim().replace(/\s+/g, " ").toLowerCase();
	const found = Object.entries(COMMANDS).find(([id]) => wordsOf(id).includes(typed));
	return found ? found[1] : null;
}

/** The first of some deeds that may be done. @param {Choices} may @param {readonly string[]} names */
export const firstOf = (may, names) => names.find((name) => findDeed(may, name));

/** The deed that a key stands for, "" for none. @param {Choices} may @param {string} key @param {boolean} isAtBoard whether letters name cells */
export function deedOfKey(may, key, isAtBoard) {
	const names = (isAtBoard ? KEYS_OF_CLAIMS : KEYS)[key];
	return (names && firstOf(may, names)) ?? "";
}

/** The cell or column that a digit alone stands for, -1 for none. @param {string} key @param {Rules} rules */
export function cellOfDigit(key, rules) {
	const digit = Number(key);
	const isColumn = rules.gravity && digit <= rules.columns;
	return digit > 0 && (isColumn || hasSingleKeys(rules)) ? digit - 1 : -1;
}
