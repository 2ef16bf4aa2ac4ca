/** What is kept between visits, as far as the browser keeps anything. */

import { OWN, PRESETS } from "./rules.js";

const STORE = "tictactoe";

/** What is kept under a name as it is read from its text, or from null. @template T @param {string} name @param {(text: string | null) => T} parse */
export function read(name, parse) {
	try {
		return parse(localStorage.getItem(name));
	} catch {
		return parse(null);
	}
}

export function write(name = "", text = "") {
	try {
		localStorage.setItem(name, text);
	} catch {
		// Where the browser keeps nothing, it counts for this visit.
	}
}

export function readKept() {
	const found = read(STORE, (text) => JSON.parse(text ?? "{}"));
	// Who comes from before there were clusters has the one token alone.
	const tokens = found.token ? { "": found.token } : {};
	const game = [...PRESETS, OWN].includes(found.game) ? found.game : PRESETS[0];
	const own = { rows: 4, columns: 5, line: 4, marks: "XO" };
	return { name: "", token: "", tokens, sound: true, theme: "system", clock: "", own, ...found, game };
}

/** @param {Kept} kept */
export const writeKept = (kept) => write(STORE, JSON.stringify(kept));
