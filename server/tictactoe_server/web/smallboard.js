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

export class SmallBoard {
	#drawn = "";

	/** @param {BoardKind} kind its marks in turn order */
	constructor({ rows, columns, marks, preset, gravity = preset === "connect-four" }) {
		this.columns = columns;
		this.marks = marks;
		const look = (this.look = lookOf({ preset, gravity }));
		const isStones = look === "stones";
		this.isRound = gravity || isStones;
		const path = (name = "", d = "") => svg("path", { class: name, d });
		this.won = path(preset === "misere" ? "fatal" : "won");
		this.last = path("last");
		this.blocks = path("block");
		this.paths = [...marks].map((_, index) => path(this.isRound ? `round ${isStones ? "s" : "m"}${index}` : `mark m${index}`));
		const [width, height] = [columns * SIDE, rows * SIDE];
		const edge = isStones ? 0 : 2;
		const paper = svg("rect", { class: "paper", x: -edge / 2, y: -edge / 2, width: width + edge, height: height + edge, rx: 3 });
		const lines = gravity ? path("holes", this.#all(FREE.repeat(rows * columns), FREE, ROUND)) : path("grid-lines", linesOf(width, height, SIDE, isStones));
		const box = { viewBox: `-2 -2 ${width + 4} ${height + 4}`, class: `mini ${look}`, "aria-hidden": "true" };
		const under = this.isRound ? [] : [this.last, this.won];
		this.element = svg("svg", box, paper, under, lines, this.blocks, this.paths, this.isRound && [this.last, this.won]);
	}

	/** @param {number | null} [last] @param {Moves} [line] */
	draw(board = "", last = null, line = []) {
		const key = `${board}${last}${line}`;
		if (key === this.#drawn) return;
		this.#drawn = key;
		this.paths.forEach((path, index) => {
			const mark = this.marks[index];
			path.setAttribute("d", this.#all(board, mark, this.isRound ? ROUND : (STROKES[mark] ?? OTHER)));
		});
		this.blocks.setAttribute("d", this.#all(board, BLOCKED, CELL));
		const [onLine, onLast] = this.isRound ? [ROUND, DOT] : [CELL, CELL];
		this.won.setAttribute("d", line.map((cell) => this.#at(cell, onLine)).join(""));
		this.last.setAttribute("d", last === null ? "" : this.#at(last, onLast));
	}

	#at(cell = 0, shape = "") {
		return `M${(cell % this.columns) * SIDE} ${Math.floor(cell / this.columns) * SIDE}${shape}`;
	}

	#all(board = "", mark = "", shape = "") {
		let d = "";
		for (let cell = board.indexOf(mark); cell >= 0; cell = board.indexOf(mark, cell + 1)) d += this.#at(cell, shape);
		return d;
	}
}

/** @param {BoardKind} kind */
export function drawSmall(kind, board = "") {
	const made = new SmallBoard(kind);
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

/** @param {(preset: string) => void} onChoose */
export function makeTiles(chosen = "", onChoose) {
	const tiles = [...PRESETS, OWN].map((value) => {
		const words = h("span", h("b", keepTogether(say(`name of ${value}`))), " ", h("small", value === OWN ? say("page won custom") : describeRules(rulesOf(value))));
		return h("label.tile", h("input", { type: "radio", name: "game", value, checked: value === chosen, change: () => onChoose(value) }), drawExample(value), words);
	});
	return h("div.tiles", { role: "radiogroup", "aria-label": say("new room game") }, tiles);
}
