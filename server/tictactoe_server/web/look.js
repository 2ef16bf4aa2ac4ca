/** The look of boards: marks, discs or stones; the choice is stored. */

import { read, write } from "./kept.js";

const STORE = "tictactoe.board";

let isPlain = read(STORE, (text) => text === "marks");

/** Whether the user can choose the look. @param {{preset: string | null}} rules */
export const hasLooks = ({ preset }) => preset === "gomoku" || preset === "gomoku-standard";

/** @param {{preset: string | null, gravity: boolean}} rules @returns {Look} */
export function lookOf(rules) {
	if (rules.gravity) return "discs";
	return hasLooks(rules) && !isPlain ? "stones" : "marks";
}

export function changeLook() {
	isPlain = !isPlain;
	write(STORE, isPlain ? "marks" : "stones");
}
