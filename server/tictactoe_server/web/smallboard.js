/** Small read-only boards in the game's look, and the tiles with which a game is chosen. A change costs a few paths, whatever the board's size. */

import { say } from "./catalogue.js";
import { h, svg } from "./dom.js";
import { lookOf } from "./kept.js";
import { BLOCKED, FREE, OWN, PRESETS, rulesOf } from "./rules.js";
import { linesOf } from "./shapes.js";
import { describeRules, keepTogether } from "./words.js";

const SIDE = 10;
/** @type {Record<string, string>} */
const STROKES = { X: "m2.6 2.6l4.8 4.8m0-4.8l-4.8 4.8", O: "m7.6 5a2.6 2.6 0 1 0-5.2 0a2.6 2.6 0 1 0 5.2 0" };
const OTHER = "m2.4 7.4l2.6-5l2.6 5z";
const CELL = "h10v10h-10z";
const ROUND = "m.7 5a4.3 4.3 0 1 0 8.6 0a4.3 4.3 0 1 0-8.6 0z";
const DOT = "m3.9 5a1.1 1.1 0 1 0 2.2 0a1.1 1.1 0 1 0-2.2 0z";

/** @param {BoardKind} kind its marks in turn order */
export function makeSmallBoard({ rows, columns, marks, preset, gravity = preset === "connect-four" }) {
	const look = lookOf({ preset, gravity });
	const isStones = look === "stones";
	const isRound = gravity || isStones;
	const path = (name = "", d = "") => svg("path", { class: name, d });
	const won = path(preset === "misere" ? "fatal" : "won");
	const lastMove = path("last");
	const blocks = path("block");
	const paths = [...marks].map((_, index) => path(isRound ? `round ${isStones ? "s" : "m"}${index}` : `mark m${index}`));
	const [width, height] = [columns * SIDE, rows * SIDE];
	const edge = isStones ? 0 : 2;
	const paper = svg("rect", { class: "paper", x: -edge / 2, y: -edge / 2, width: width + edge, height: height + edge, rx: 3 });
	const lines = gravity ? path("holes", all(FREE.repeat(rows * columns), FREE, ROUND)) : path("grid-lines", linesOf(width, height, SIDE, isStones));
	const box = { viewBox: `-2 -2 ${width + 4} ${height + 4}`, class: `mini ${look}`, "aria-hidden": "true" };
	const signs = [lastMove, won];
	const element = svg("svg", box, paper, isRound ? [] : signs, lines, blocks, paths, isRound && signs);
	let drawn = "";
	return { element, look, draw };

	/** @param {number | null} [last] @param {Moves} [line] */
	function draw(board = "", last = null, line = []) {
		const key = `${board}${last}${line}`;
		if (key === drawn) return;
		drawn = key;
		paths.forEach((one, index) => one.setAttribute("d", all(board, marks[index], isRound ? ROUND : (STROKES[marks[index]] ?? OTHER))));
		blocks.setAttribute("d", all(board, BLOCKED, CELL));
		const [onLine, onLast] = isRound ? [ROUND, DOT] : [CELL, CELL];
		won.setAttribute("d", line.map((cell) => at(cell, onLine)).join(""));
		lastMove.setAttribute("d", last === null ? "" : at(last, onLast));
	}

	function at(cell = 0, shape = "") {
		return `M${(cell % columns) * SIDE} ${Math.floor(cell / columns) * SIDE}${shape}`;
	}

	function all(board = "", mark = "", shape = "") {
		return [...board].map((one, cell) => (one === mark ? at(cell, shape) : "")).join("");
	}
}

/** @param {BoardKind} kind */
export function drawSmall(kind, board = "") {
	const made = makeSmallBoard(kind);
	made.draw(board);
	return made.element;
}

/** @type {Record<string, string>} */
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

/** @param {App} app @param {() => void} onChoose */
export function makeTiles(app, onChoose) {
	const tiles = [...PRESETS, OWN].map((value) => {
		const words = h("span", h("b", keepTogether(say(`name of ${value}`))), " ", h("small", value === OWN ? say("page won custom") : describeRules(rulesOf(value))));
		const change = () => {
			app.keep({ game: value });
			onChoose();
		};
		return h("label.tile", h("input", { type: "radio", name: "game", value, checked: value === app.kept.game, change }), drawExample(value), words);
	});
	return h("div.tiles", { role: "radiogroup", "aria-label": say("new room game") }, tiles);
}
