/** What keys mean at the board, by the names of what may be done. */

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
