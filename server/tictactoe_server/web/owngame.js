/** Custom rules: the size of the board, the length of a line, and the number of players. */

import { say } from "./catalogue.js";
import { button, h, setText, show } from "./dom.js";
import { FREE } from "./rules.js";
import { drawSmall } from "./smallboard.js";

const MARKS = "XOABCD";
const LARGEST = 19;

/** @typedef {Pick<Rules, "rows" | "columns" | "line" | "marks">} OwnRules */

/** Return custom rules that are playable: a line fits on the board, and everybody has a first move. @param {OwnRules} rules @returns {OwnRules} */
export function fitRules({ rows, columns, line, marks }) {
	const [most, cells] = [Math.max(rows, columns), rows * columns];
	return { rows, columns, line: Math.max(2, Math.min(line, most)), marks: marks.slice(0, Math.max(2, cells)) };
}

/** The steppers for custom rules, with a preview of the board. @param {OwnRules} own @param {(own: OwnRules) => void} onChange */
export function makeOwnGame(own, onChange) {
	const preview = h("div.preview");
	const steppers = [
		makeStepper("page new rows", 2, () => own.rows, (rows) => ({ rows })),
		makeStepper("page new columns", 2, () => own.columns, (columns) => ({ columns })),
		makeStepper("new room win", 2, () => own.line, (line) => ({ line }), () => Math.max(own.rows, own.columns)),
		makeStepper("page own players", 2, () => own.marks.length, (count) => ({ marks: MARKS.slice(0, count) }), () => Math.min(MARKS.length, own.rows * own.columns)),
	];
	const element = h("div.own-game", preview, h("div.steppers", steppers.map((stepper) => stepper.element)));
	draw();
	return element;

	function draw() {
		for (const stepper of steppers) stepper.draw();
		const { rows, columns, line, marks } = own;
		const cells = Array(rows * columns).fill(FREE);
		for (let at = 0; at < line; at++) cells[at * (line > columns ? columns : 1)] = marks[0];
		show(preview, drawSmall({ rows, columns, marks, preset: null }, cells.join("")));
	}

	/**
	 * A number between two buttons.
	 * @param {string} id @param {number} least @param {() => number} value @param {(value: number) => Partial<OwnRules>} change @param {() => number} [most]
	 */
	function makeStepper(id, least, value, change, most = () => LARGEST) {
		const label = say(id);
		const output = h("output");
		const step = (by = 1) => {
			own = fitRules({ ...own, ...change(Math.max(least, Math.min(value() + by, most()))) });
			onChange(own);
			draw();
		};
		const less = button("−", () => step(-1), { "aria-label": say("page own less", { what: label }) });
		const more = button("+", () => step(), { "aria-label": say("page own more", { what: label }) });
		return {
			element: h("div.stepper", { role: "group", "aria-label": label }, h("span", label), less, output, more),
			draw() {
				setText(output, String(value()));
				less.disabled = value() <= least;
				more.disabled = value() >= most();
			},
		};
	}
}
