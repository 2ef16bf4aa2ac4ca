/** Values kept between visits, if the browser stores any, among them the look of boards: marks, discs or stones. */

import { OWN, PRESETS } from "./rules.js";

const STORE = "tictactoe";

/** Return the stored value as parsed by `parse`, which gets null if there is none. @template T @param {(text: string | null) => T} parse */
function read(name = "", parse) {
	try {
		return parse(localStorage.getItem(name));
	} catch {
		return parse(null);
	}
}

function write(name = "", text = "") {
	try {
		localStorage.setItem(name, text);
	} catch {
		// Without storage, the value lasts for this visit only.
	}
}

export function readKept() {
	const found = read(STORE, (text) => JSON.parse(text ?? "{}"));
	const game = [...PRESETS, OWN].includes(found.game) ? found.game : PRESETS[0];
	const own = { rows: 4, columns: 5, line: 4, marks: "XO", blocked: [], misere: false, gravity: false, ...found.own };
	return { name: "", token: "", tokens: {}, sound: true, theme: "system", clock: "", ...found, own, game };
}

/** @param {Kept} kept */
export const writeKept = (kept) => write(STORE, JSON.stringify(kept));

const LOOK_STORE = "tictactoe.board";

let isPlain = read(LOOK_STORE, (text) => text === "marks");

/** @param {{preset: string | null}} rules */
export const hasLooks = ({ preset }) => preset === "gomoku" || preset === "gomoku-standard";

/** @param {{preset: string | null, gravity: boolean}} rules @returns {Look} */
export function lookOf(rules) {
	if (rules.gravity) return "discs";
	return hasLooks(rules) && !isPlain ? "stones" : "marks";
}

export function changeLook() {
	isPlain = !isPlain;
	write(LOOK_STORE, isPlain ? "marks" : "stones");
}
