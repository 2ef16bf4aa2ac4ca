/** Custom rules: a board built in a preview, and a link that shares the rules. */

import { say, sayTitle } from "./catalogue.js";
import { button, h, setText, show } from "./dom.js";
import { checkField } from "./forms.js";
import { ARROWS, BLOCKED, DIRECTIONS, FREE, chosenRules, nameCell, nameCells, neighbour, parseCell } from "./rules.js";
import { drawSmall } from "./smallboard.js";

const MARKS = "XOABCD";
const [LEAST, LARGEST] = [2, 19];

const limit = (value = 0, most = LARGEST) => Math.max(LEAST, Math.min(value, most));

/** Return the custom rules in full. @param {OwnRules} own */
const complete = (own) => chosenRules({ game: "custom", own });

/** Return the first line without a blocked cell, from below if marks fall; null if nobody could win. @param {Rules} rules */
function findLine(rules) {
	const cells = [...Array(rules.rows * rules.columns).keys()];
	for (const cell of rules.gravity ? cells.reverse() : cells) {
		for (const [down, right] of DIRECTIONS) {
			const run = [...Array(rules.line).keys()].map((at) => neighbour(rules, cell, down * at, right * at));
			if (run.every((one) => one >= 0 && !rules.blocked.includes(one))) return run;
		}
	}
	return null;
}

/** Return the nearest playable rules; if the blocked cells leave no room for a line, none is blocked. @param {OwnRules} own @returns {OwnRules} */
function fitRules(own) {
	const [rows, columns] = [limit(own.rows), limit(own.columns)];
	const line = limit(own.line, Math.max(rows, columns));
	const marks = MARKS.slice(0, limit(own.marks.length, Math.min(MARKS.length, rows * columns)));
	const blocked = [...new Set(own.blocked)].filter((cell) => cell >= 0 && cell < rows * columns).sort((one, other) => one - other);
	const fitted = { rows, columns, line, marks, blocked, misere: own.misere && marks.length === 2, gravity: own.gravity };
	return findLine(complete(fitted)) ? fitted : { ...fitted, blocked: [] };
}

/** Return the fragment of a link to these rules, such as `own=4x5x3&players=3&blocked=b2,c3&gravity`. @param {OwnRules} own */
function writeOwn(own) {
	const { rows, columns, line, marks, blocked, misere, gravity } = own;
	const cells = nameCells(blocked, complete(own)).join(",").toLowerCase();
	return [`own=${rows}x${columns}x${line}`, marks.length > 2 && `players=${marks.length}`, cells && `blocked=${cells}`, misere && "misere", gravity && "gravity"].filter(Boolean).join("&");
}

/** Return the rules in the fragment of a link, or null if they are not playable. */
export function readOwn(fragment = "") {
	const terms = new URLSearchParams(fragment);
	const size = /^(\d+)x(\d+)x(\d+)$/.exec(terms.get("own") ?? "");
	const players = Number(terms.get("players") ?? 2);
	if (!size || !(players <= MARKS.length)) return null;
	const [rows, columns, line] = size.slice(1).map(Number);
	const own = { rows, columns, line, marks: MARKS.slice(0, players), blocked: /** @type {number[]} */ ([]), misere: terms.has("misere"), gravity: terms.has("gravity") };
	const cells = (terms.get("blocked") ?? "").split(",").filter(Boolean);
	own.blocked = cells.map((name) => parseCell(name, complete(own))).sort((one, other) => one - other);
	return JSON.stringify(fitRules(own)) === JSON.stringify(own) ? own : null;
}

export class OwnGame {
	#board = h("div.own-board");
	#fault = h("p.fault", { role: "alert" });
	#misere = this.#makeSwitch("misere");
	#gravity = this.#makeSwitch("gravity");

	/** @param {OwnRules} own @param {(own: OwnRules) => void} onChange @param {(fragment: string) => unknown} onShare */
	constructor(own, onChange, onShare) {
		this.own = fitRules(own);
		this.onChange = onChange;
		this.steppers = [
			this.#makeStepper("page new rows", () => this.own.rows, (rows) => ({ rows, blocked: this.#moveBlocked(rows, this.own.columns) })),
			this.#makeStepper("page new columns", () => this.own.columns, (columns) => ({ columns, blocked: this.#moveBlocked(this.own.rows, columns) })),
			this.#makeStepper("new room win", () => this.own.line, (line) => ({ line }), () => Math.max(this.own.rows, this.own.columns)),
			this.#makeStepper("page own players", () => this.own.marks.length, (count) => ({ marks: MARKS.slice(0, count) }), () => Math.min(MARKS.length, this.own.rows * this.own.columns)),
		];
		const share = button(sayTitle("key share"), () => onShare(writeOwn(this.own)));
		this.element = h("div.own-game", this.#board, h("div.own-rules",
			h("div.steppers", this.steppers.map(({ element }) => element)), this.#misere.element, this.#gravity.element,
			h("div.row", share, h("small", say("page own share note"))), this.#fault,
		));
		this.#draw();
	}

	blame(message = "") {
		setText(this.#fault, message);
	}

	/** @param {Partial<OwnRules>} changed @param {number} [focused] the cell that keeps the focus */
	#change(changed, focused) {
		this.own = fitRules({ ...this.own, ...changed });
		this.blame();
		this.onChange(this.own);
		this.#draw();
		if (focused !== undefined) this.#focus(focused);
	}

	#draw() {
		const [{ own }, rules] = [this, complete(this.own)];
		for (const stepper of this.steppers) stepper.draw();
		this.#misere.box.checked = own.misere;
		this.#misere.box.disabled = own.marks.length > 2;
		this.#gravity.box.checked = own.gravity;
		const cells = Array(own.rows * own.columns).fill(FREE);
		for (const cell of own.blocked) cells[cell] = BLOCKED;
		for (const cell of findLine(rules) ?? []) cells[cell] = own.marks[0];
		const toggles = cells.map((mark, cell) => button("", () => this.#toggle(cell), {
			"aria-label": say("view cell holds", { cell: nameCell(cell, rules), what: say(`view cell ${mark === BLOCKED ? "blocked" : "free"}`) }),
			"aria-pressed": String(mark === BLOCKED), tabindex: cell ? -1 : 0,
		}));
		const preview = { role: "group", "aria-label": say("page own board"), "--rows": own.rows, "--columns": own.columns, keydown: (/** @type {KeyboardEvent} */ event) => this.#moveFocus(event) };
		show(this.#board, h("div.preview", preview, drawSmall(rules, cells.join("")), h("div.toggles", toggles)), h("small", say("page own board note")));
	}

	/** Block or unblock a cell, unless that leaves no room for a line. */
	#toggle(cell = 0) {
		const { own } = this;
		const blocked = own.blocked.includes(cell) ? own.blocked.filter((one) => one !== cell) : [...own.blocked, cell];
		if (findLine(complete({ ...own, blocked }))) this.#change({ blocked }, cell);
		else this.blame(say("refused bad_rules no room", { line: own.line }));
	}

	#focus(cell = 0) {
		const toggles = /** @type {NodeListOf<HTMLElement>} */ (this.#board.querySelectorAll("button"));
		toggles.forEach((one, at) => (one.tabIndex = at === cell ? 0 : -1));
		toggles[cell]?.focus();
	}

	/** @param {KeyboardEvent} event */
	#moveFocus(event) {
		const way = ARROWS[event.key];
		if (!way) return;
		event.preventDefault();
		const from = [...this.#board.querySelectorAll("button")].findIndex((one) => one === document.activeElement);
		const to = neighbour(complete(this.own), from, ...way);
		if (to >= 0) this.#focus(to);
	}

	/** Return the blocked cells as numbered on a board of another size. */
	#moveBlocked(rows = 0, columns = 0) {
		return this.own.blocked.flatMap((cell) => {
			const [row, column] = [Math.floor(cell / this.own.columns), cell % this.own.columns];
			return row < rows && column < columns ? [row * columns + column] : [];
		});
	}

	/** @param {"misere" | "gravity"} name */
	#makeSwitch(name) {
		const box = h("input", { type: "checkbox", change: () => this.#change({ [name]: box.checked }) });
		return { box, element: checkField(say(`new room ${name}`), box, say(`option ${name}`)) };
	}

	/**
	 * Make a number between two buttons.
	 * @param {string} id @param {() => number} value @param {(value: number) => Partial<OwnRules>} changeTo @param {() => number} [most]
	 */
	#makeStepper(id, value, changeTo, most = () => LARGEST) {
		const [label, output] = [say(id), h("output")];
		const step = (by = 1) => this.#change(changeTo(limit(value() + by, most())));
		const less = button("−", () => step(-1), { "aria-label": say("page own less", { what: label }) });
		const more = button("+", () => step(), { "aria-label": say("page own more", { what: label }) });
		return {
			element: h("div.stepper", { role: "group", "aria-label": label }, h("span", label), less, output, more),
			draw() {
				setText(output, String(value()));
				less.disabled = value() <= LEAST;
				more.disabled = value() >= most();
			},
		};
	}
}
