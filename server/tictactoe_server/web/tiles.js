/** The choice of games: tiles with a board in mid-game, the name and how the game is won. */

import { say } from "./catalogue.js";
import { h } from "./dom.js";
import { OWN, PRESETS, rulesOf } from "./rules.js";
import { drawSmall } from "./smallboard.js";
import { keepTogether } from "./words.js";

/** A mid-game position of each game. @type {Record<string, string>} */
const EXAMPLES = {
	classic: "X.O.X...O",
	blocker: "XO..#.X.O",
	misere: "XX.OO..X.",
	four: "X..OOX...OX...O.",
	"four-pie": ".X..XOO..OX....X",
	"three-players": ".....XX.A..OXO.A.O....A..",
	"connect-four": "..............X.....OO....XXO..OOXXX..OXOO".padStart(42, "."),
	[OWN]: "..#..X.O.O.X.#..",
};
/** For games with stones, the moves in turn; for the standard games, fewer. */
const MOVES = [112, 97, 113, 111, 127, 98, 128, 82, 83, 142, 96, 129, 114, 115, 81, 66, 126, 143, 99, 141, 69, 159, 100, 80, 54, 67];

export function drawExample(preset = "") {
	const rules = preset === OWN ? { rows: 4, columns: 4, marks: "XO", preset: null } : rulesOf(preset);
	const cells = Array(rules.rows * rules.columns).fill(".");
	MOVES.slice(0, preset === "gomoku" ? 26 : 15).forEach((cell, ply) => (cells[cell] = "XO"[ply % 2]));
	return drawSmall(rules, EXAMPLES[preset] ?? cells.join(""));
}

/**
 * A tile for each game, with the chosen one marked.
 * @param {string} chosen @param {(preset: string) => void} onChoose
 */
export function makeTiles(chosen, onChoose) {
	const games = [...PRESETS, OWN];
	const inputs = games.map((value) => h("input", { type: "radio", name: "game", value, change: () => onChoose(value) }));
	const tiles = games.map((preset, index) => {
		const words = h("span", h("b", keepTogether(say(`name of ${preset}`))), " ", h("small", say(`page won ${preset}`)));
		return h("label.tile", inputs[index], drawExample(preset), words);
	});
	const element = h("div.tiles", { role: "radiogroup", "aria-label": say("new room game") }, tiles);
	choose(chosen);
	return { element, choose };

	/** Mark a tile as chosen without calling the listener. */
	function choose(preset = "") {
		for (const input of inputs) input.checked = input.value === preset;
	}
}
