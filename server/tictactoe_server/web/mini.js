/** A small board to look at. A change costs a few paths, whatever the board's size. */

import { svg } from "./dom.js";
import { BLOCKED } from "./rules.js";

/** @type {Record<string, string>} */
const SHAPES = { X: "m2.6 2.6l4.8 4.8m0-4.8l-4.8 4.8", O: "m7.6 5a2.6 2.6 0 1 0-5.2 0a2.6 2.6 0 1 0 5.2 0", [BLOCKED]: "h10v10h-10z" };
const OTHER = "m2.4 7.4l2.6-5l2.6 5z";

export class MiniBoard {
	#drawn = "";

	/** @param {number} rows @param {number} columns @param {string} marks in turn order */
	constructor(rows, columns, marks) {
		this.columns = columns;
		this.marks = marks;
		let d = "";
		for (let row = 1; row < rows; row++) d += `M0 ${row * 10}h${columns * 10}`;
		for (let column = 1; column < columns; column++) d += `M${column * 10} 0v${rows * 10}`;
		/** @type {Path} */
		const path = (name, d = "") => svg("path", { class: name, d });
		this.last = path("last");
		this.won = path("won");
		this.blocks = path("block");
		this.paths = [...marks].map((_, index) => path(`mark m${index}`));
		const paper = svg("rect", { class: "paper", width: columns * 10, height: rows * 10, rx: 2 });
		const box = { viewBox: `-1 -1 ${columns * 10 + 2} ${rows * 10 + 2}`, class: "mini", "aria-hidden": "true" };
		this.element = svg("svg", box, paper, this.won, this.last, path("grid-lines", d), this.blocks, this.paths);
	}

	/** @param {string} board @param {number | null} last @param {readonly number[]} line */
	draw(board, last, line) {
		const key = `${board}${last}${line}`;
		if (key === this.#drawn) return;
		this.#drawn = key;
		/** @type {At} */
		const at = (cell, shape) => `M${(cell % this.columns) * 10} ${Math.floor(cell / this.columns) * 10}${shape}`;
		/** @type {All} */
		const all = (mark, shape) => {
			let d = "";
			for (let cell = board.indexOf(mark); cell >= 0; cell = board.indexOf(mark, cell + 1)) d += at(cell, shape);
			return d;
		};
		this.paths.forEach((path, index) => {
			const mark = this.marks[index];
			path.setAttribute("d", all(mark, SHAPES[mark] ?? OTHER));
		});
		this.blocks.setAttribute("d", all(BLOCKED, SHAPES[BLOCKED]));
		this.won.setAttribute("d", line.map((cell) => at(cell, SHAPES[BLOCKED])).join(""));
		this.last.setAttribute("d", last === null ? "" : at(last, SHAPES[BLOCKED]));
	}
}
