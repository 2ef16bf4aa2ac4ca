/** A playable board. It is drawn from views; only changed cells are touched. */

import { say } from "./catalogue.js";
import { h, setText, svg } from "./dom.js";
import { ARROWS, BLOCKED, FREE, landingCell, nameCell, neighbour, splitLines } from "./rules.js";
import { SIDE, Shapes, numberCells } from "./shapes.js";
import { describeRules, nameMark } from "./words.js";

/** On cells smaller than this, in pixels, a tap selects a cell and a second one confirms. */
const FINGER = 40;
const REFUSAL_MS = 4500;
/** With more changed cells than this, the board shows another moment rather than animating a move. */
const MOST_MOVED = 3;
/** The minimum width of a cell, in pixels; a larger board scrolls sideways. */
const LEAST_CELL = 14;
/** With more columns than this, names of columns have two letters. */
const ONE_LETTER = 26;

export class Board {
	/** @type {BoardView} */
	#view = { board: "", last: null, line: [], turn: null, isMine: false, pending: null, values: null, isWon: false };
	#drawn = "";
	#cursor = -1;
	#refusalTimer = 0;
	/** The cell selected by a tap and not yet confirmed, or -1. */
	#chosen = -1;
	#pointed = -1;
	#bubble = h("p.bubble", { hidden: true });
	#ghost = svg("g", { class: "ghost" });
	#cross = svg("g", { class: "cross" });
	#line = svg("g");
	#pieces = svg("g", { class: "pieces", "aria-hidden": "true" });
	#values = svg("g");
	/** @type {(SVGElement | null)[]} */ #pieceIn = [];

	/** @param {GamePage} page @param {Rules} rules @param {Look} look */
	constructor(page, rules, look) {
		this.rules = rules;
		this.look = look;
		this.page = page;
		this.shapes = new Shapes(rules, look);
		const rows = this.shapes.makeRows();
		this.cells = numberCells(rows);
		this.grid = svg("g", { class: "cells", role: "grid", "aria-label": say("view board of", { rules: describeRules(rules) }) }, rows);
		this.picture = this.#makePicture();
		const { width, height } = this.picture.viewBox.baseVal;
		this.element = h("div.board-box", { "--ratio": width / height, "--least": `${rules.columns * LEAST_CELL}px` }, h("div.board-inner", this.picture, this.#bubble));
		this.#listen();
	}

	get hasChosen() {
		return this.#chosen >= 0;
	}

	#makePicture() {
		const { rules, look, shapes } = this;
		const letters = Math.min(rules.columns > ONE_LETTER ? 52 : 80, Math.max(11, Math.min(rules.rows, rules.columns) * 3));
		this.margin = letters * 1.8;
		const right = rules.columns > 9 ? 8 : this.margin; // a small board is centred; a large one needs the whole width
		const [width, height] = [shapes.width + this.margin + right, shapes.height + this.margin + 8];
		const under = svg("g", { "aria-hidden": "true" }, look === "stones" && shapes.makeShine(), shapes.makeGround(), this.#cross);
		const plate = look === "discs" ? shapes.makePlate() : [];
		const over = svg("g", { class: "over", "aria-hidden": "true" }, plate, this.#ghost, this.#values, this.#line);
		const box = { viewBox: `${-this.margin} ${-this.margin} ${width} ${height}`, class: `board ${look}`, role: "presentation" };
		return svg("svg", box, shapes.makeLabels(letters), under, this.grid, this.#pieces, over);
	}

	#listen() {
		const { grid } = this;
		grid.addEventListener("click", (event) => this.#click(event));
		grid.addEventListener("pointerover", (event) => event.pointerType === "mouse" && this.#point(cellOf(event)));
		grid.addEventListener("pointerleave", () => this.#point(-1));
		grid.addEventListener("keydown", (event) => this.#press(event));
		grid.addEventListener("focusin", (event) => this.#setCursor(cellOf(event)));
	}

	/** @param {BoardView} next */
	draw(next) {
		const before = this.#view;
		const { board, pending, turn, last } = next;
		this.#view = next;
		const isShown = pending !== null && turn && board[pending] === FREE;
		this.#drawCells(isShown ? board.slice(0, pending) + turn + board.slice(pending + 1) : board);
		this.#mark("last", before.last, last);
		this.#mark("pending", before.pending, pending);
		if (before.line !== next.line) this.#drawLine(before.line);
		if (next.isWon && !before.isWon && before.board) this.#line.append(this.shapes.makeBurst(next.line));
		if (before.values !== next.values) this.#drawValues();
		this.picture.classList.toggle("mine", next.isMine);
		if (!next.isMine || this.#drawn[this.#chosen] !== FREE) this.choose(null);
		if (!next.isMine) this.#point(this.#pointed);
		if (this.#cursor < 0) this.#setCursor(last ?? Math.floor((this.cells.length - 1) / 2));
	}

	#drawCells(shown = "") {
		if (shown === this.#drawn) return;
		const changed = [...this.cells.keys()].filter((cell) => shown[cell] !== this.#drawn[cell]);
		const isMove = !!this.#drawn && changed.length <= MOST_MOVED;
		for (const cell of changed) this.#setMark(cell, shown[cell], isMove);
		this.#bubble.hidden = true;
		this.#drawn = shown;
	}

	#setMark(cell = 0, mark = "", isMove = false) {
		const place = this.cells[cell];
		const kind = { [FREE]: "free", [BLOCKED]: "blocked" }[mark];
		const what = kind ? say(`view cell ${kind}`) : nameMark(this, mark);
		place.setAttribute("aria-label", say("cell with place", { cell: nameCell(cell, this.rules), place: what }));
		place.setAttribute("class", kind ?? "taken");
		this.#pieceIn[cell]?.remove();
		const piece = (this.#pieceIn[cell] = this.shapes.makePiece(cell, mark, isMove));
		if (piece) this.#pieces.append(piece);
	}

	/** @param {number | null} from @param {number | null} to */
	#mark(kind = "", from, to) {
		for (const all of [this.cells, this.#pieceIn]) {
			all[from ?? -1]?.classList.remove(kind);
			all[to ?? -1]?.classList.add(kind);
		}
	}

	/** Draw the line that ended the game; in misère it lost. @param {Moves} before */
	#drawLine(before) {
		const { line } = this.#view;
		const kind = this.rules.misere ? "fatal" : "won";
		for (const cell of before) this.#mark(kind, cell, null);
		for (const cell of line) this.#mark(kind, null, cell);
		this.#line.replaceChildren(...splitLines(this.rules, line).map((run) => this.shapes.makeStroke(run)));
	}

	#drawValues() {
		const { values, board } = this.#view;
		this.#values.replaceChildren(...(values ? values.draw(values, this.shapes, board, this.#pointed) : []));
	}

	#targetOf(cell = 0) {
		return this.#view.isMine && cell >= 0 ? landingCell(this.rules, this.#view.board, cell) : -1;
	}

	/** @param {MouseEvent} event */
	#click(event) {
		const cell = cellOf(event);
		const target = this.#targetOf(cell);
		const isTouch = event instanceof PointerEvent && event.pointerType === "touch";
		const isSmall = isTouch && target >= 0 && this.cells[cell].getBoundingClientRect().width < FINGER;
		if (isTouch || this.#view.values) this.#point(cell);
		if (this.#view.values && !this.#view.isMine) return;
		if (isSmall && this.#chosen !== target) this.choose(target);
		else if (cell >= 0) this.play(cell);
	}

	play(cell = 0) {
		const target = this.#targetOf(cell);
		this.choose(null);
		this.page.controls.play(target >= 0 ? target : cell);
	}

	/** @param {number | null} cell */
	choose(cell) {
		if (this.#chosen === (cell ?? -1)) return;
		this.cells[this.#chosen]?.removeAttribute("aria-selected");
		this.#chosen = cell ?? -1;
		this.#point(this.#chosen);
		const [x, y] = this.shapes.cornerOf(this.#chosen);
		this.cells[this.#chosen]?.setAttribute("aria-selected", "true");
		const { width, height } = this.shapes;
		const both = [svg("rect", { y, width, height: SIDE }), svg("rect", { x, width: SIDE, height })];
		this.#cross.replaceChildren(...(cell === null ? [] : both));
		this.page.stage.drawConfirm(this, cell);
	}

	/** Preview the mark of a move to a cell, and the move's value. */
	#point(cell = -1) {
		const target = this.#targetOf(this.#chosen >= 0 ? this.#chosen : cell);
		this.#ghost.setAttribute("transform", `translate(${this.shapes.cornerOf(target)})`);
		this.#ghost.replaceChildren(...(target >= 0 ? [this.shapes.makeMark(this.#view.turn ?? "")] : []));
		const isOther = this.#pointed !== cell;
		this.#pointed = cell;
		if (!isOther || !this.#view.values) return;
		this.#drawValues();
		this.page.review?.point(cell);
	}

	/** @param {KeyboardEvent} event */
	#press(event) {
		const { key, ctrlKey, metaKey, altKey } = event;
		const here = cellOf(event);
		if (ctrlKey || metaKey || altKey) return;
		if (key in ARROWS) this.focus(neighbour(this.rules, here, ...ARROWS[key]));
		else if ((key === " " || key === "Enter") && !this.page.typed) this.play(here);
		else return;
		event.preventDefault();
	}

	focus(cell = this.#cursor) {
		this.cells[cell]?.focus({ preventScroll: true });
		if (cell >= 0) this.#point(cell);
	}

	#setCursor(cell = 0) {
		this.cells[this.#cursor]?.setAttribute("tabindex", "-1");
		this.#cursor = cell;
		this.cells[cell].setAttribute("tabindex", "0");
	}

	/** Explain next to a cell, for some time, why no mark can be placed there. */
	refuse(cell = 0, message = "") {
		const [x, y] = this.shapes.cornerOf(cell);
		const { width, height } = this.picture.viewBox.baseVal;
		const bubble = this.#bubble;
		setText(bubble, message);
		bubble.hidden = false;
		bubble.style.setProperty("--x", `${((x + 50 + (this.margin ?? 0)) / width) * 100}%`);
		bubble.style.top = `${((y + 50 + (this.margin ?? 0)) / height) * 100}%`;
		clearTimeout(this.#refusalTimer);
		this.#refusalTimer = setTimeout(() => (bubble.hidden = true), REFUSAL_MS);
	}
}

/** The cell of a DOM event, or -1. @param {Event} event */
function cellOf({ target }) {
	const cell = target instanceof Element && target.closest("[data-cell]");
	return cell ? Number(cell.getAttribute("data-cell")) : -1;
}
