/** A playable board. It is drawn from views; only changed cells are touched. */

import { say } from "./catalogue.js";
import { h, setText, show, svg } from "./dom.js";
import { ARROWS, BLOCKED, FREE, landingCell, nameCell, neighbour, splitLines } from "./rules.js";
import { SIDE, makeShapes } from "./shapes.js";
import { describeRules, nameMark } from "./words.js";

/** On cells smaller than this, in pixels, a tap selects a cell and a second one confirms. */
const FINGER = 40;
const REFUSAL_MS = 4500;
/** With more changed cells than this, the board shows another moment rather than animating a move. */
const MOST_MOVED = 3;
/** The minimum width of a cell, in pixels; a larger board scrolls sideways. */
const LEAST_CELL = 14;

/** @param {GamePage} page @param {Rules} rules @param {Look} look */
export function makeBoard(page, rules, look) {
	/** @type {BoardView} */
	let view = { board: "", last: null, line: [], turn: null, isMine: false, pending: null, values: null, isWon: false };
	let drawn = "";
	let cursor = -1;
	let refusalTimer = 0;
	/** The cell selected by a tap and not yet confirmed, or -1. */
	let chosen = -1;
	let pointed = -1;
	const bubble = h("p.bubble", { hidden: true });
	const ghost = svg("g", { class: "ghost" });
	const cross = svg("g", { class: "cross" });
	const lines = svg("g");
	const pieces = svg("g", { class: "pieces", "aria-hidden": "true" });
	const worths = svg("g");
	/** @type {(SVGElement | null)[]} */
	const pieceIn = [];
	const shapes = makeShapes(rules, look);
	const rows = shapes.makeRows();
	const cells = rows.flatMap((row) => /** @type {SVGElement[]} */ ([...row.children]));
	const grid = svg("g", { class: "cells", role: "grid", "aria-label": say("view board of", { rules: describeRules(rules) }) }, rows);
	const letters = Math.min(rules.columns > 26 ? 52 : 80, Math.max(11, Math.min(rules.rows, rules.columns) * 3)); // AA needs more room than Z
	const margin = letters * 1.8;
	const right = rules.columns > 9 ? 8 : margin; // a small board is centred; a large one needs the whole width
	const [width, height] = [shapes.width + margin + right, shapes.height + margin + 8];
	const under = svg("g", { "aria-hidden": "true" }, look === "stones" && shapes.makeShine(), shapes.makeGround(), cross);
	const over = svg("g", { class: "over", "aria-hidden": "true" }, look === "discs" && shapes.makePlate(), ghost, worths, lines);
	const box = { viewBox: `${-margin} ${-margin} ${width} ${height}`, class: `board ${look}`, role: "presentation" };
	const picture = svg("svg", box, shapes.makeLabels(letters), under, grid, pieces, over);
	const element = h("div.board-box", { "--ratio": width / height, "--least": `${rules.columns * LEAST_CELL}px` }, h("div.board-inner", picture, bubble));
	grid.addEventListener("click", click);
	grid.addEventListener("pointerover", (event) => event.pointerType === "mouse" && point(cellOf(event)));
	grid.addEventListener("pointerleave", () => point(-1));
	grid.addEventListener("keydown", press);
	// On the grid itself, this listener would make Chromium stop at the whole grid for Tab.
	element.addEventListener("focusin", (event) => setCursor(cellOf(event)));
	return { element, rules, look, draw, play, choose, focus, refuse };

	/** @param {BoardView} next */
	function draw(next) {
		const before = view;
		const { board, pending, turn, last } = next;
		view = next;
		const isShown = pending !== null && turn && board[pending] === FREE;
		drawCells(isShown ? board.slice(0, pending) + turn + board.slice(pending + 1) : board);
		moveClass("last", before.last, last);
		moveClass("pending", before.pending, pending);
		if (before.line !== next.line) drawLine(before.line);
		if (next.isWon && !before.isWon && before.board) lines.append(shapes.makeBurst(next.line));
		if (before.values !== next.values) drawValues();
		picture.classList.toggle("mine", next.isMine);
		if (!next.isMine || drawn[chosen] !== FREE) choose(null);
		if (!next.isMine) point(pointed);
		if (cursor < 0) setCursor(last ?? Math.floor((cells.length - 1) / 2));
	}

	function drawCells(shown = "") {
		if (shown === drawn) return;
		const changed = [...cells.keys()].filter((cell) => shown[cell] !== drawn[cell]);
		const isMove = !!drawn && changed.length <= MOST_MOVED;
		for (const cell of changed) setMark(cell, shown[cell], isMove);
		bubble.hidden = true;
		drawn = shown;
	}

	function setMark(cell = 0, mark = "", isMove = false) {
		const place = cells[cell];
		const kind = { [FREE]: "free", [BLOCKED]: "blocked" }[mark];
		const what = kind ? say(`view cell ${kind}`) : nameMark({ rules }, mark);
		place.setAttribute("aria-label", say("cell with place", { cell: nameCell(cell, rules), place: what }));
		place.setAttribute("class", kind ?? "taken");
		pieceIn[cell]?.remove();
		const piece = (pieceIn[cell] = shapes.makePiece(cell, mark, isMove));
		if (piece) pieces.append(piece);
	}

	/** @param {number | null} from @param {number | null} to */
	function moveClass(kind = "", from, to) {
		for (const all of [cells, pieceIn]) {
			all[from ?? -1]?.classList.remove(kind);
			all[to ?? -1]?.classList.add(kind);
		}
	}

	/** @param {Moves} before */
	function drawLine(before) {
		const kind = rules.misere ? "fatal" : "won";
		for (const cell of before) moveClass(kind, cell, null);
		for (const cell of view.line) moveClass(kind, null, cell);
		show(lines, splitLines(rules, view.line).map(shapes.makeStroke));
	}

	function drawValues() {
		const { values, board } = view;
		show(worths, values && values.draw(values, shapes, board, pointed));
	}

	function targetOf(cell = 0) {
		return view.isMine && cell >= 0 ? landingCell(rules, view.board, cell) : -1;
	}

	/** @param {MouseEvent} event */
	function click(event) {
		const cell = cellOf(event);
		const target = targetOf(cell);
		const isTouch = event instanceof PointerEvent && event.pointerType === "touch";
		const isSmall = isTouch && target >= 0 && cells[cell].getBoundingClientRect().width < FINGER;
		if (isTouch || view.values) point(cell);
		if (view.values && !view.isMine) return;
		if (isSmall && chosen !== target) choose(target);
		else if (cell >= 0) play(cell);
	}

	function play(cell = 0) {
		const target = targetOf(cell);
		choose(null);
		page.controls.play(target >= 0 ? target : cell);
	}

	/** Select a cell, or none; return whether that changes anything. @param {number | null} cell */
	function choose(cell) {
		if (chosen === (cell ?? -1)) return false;
		cells[chosen]?.removeAttribute("aria-selected");
		chosen = cell ?? -1;
		point(chosen);
		const [x, y] = shapes.cornerOf(chosen);
		cells[chosen]?.setAttribute("aria-selected", "true");
		const both = [svg("rect", { y, width: shapes.width, height: SIDE }), svg("rect", { x, width: SIDE, height: shapes.height })];
		show(cross, cell !== null && both);
		page.stage.drawConfirm(cell);
		return true;
	}

	/** Preview the mark of a move to a cell, and the move's value. */
	function point(cell = -1) {
		const target = targetOf(chosen >= 0 ? chosen : cell);
		ghost.setAttribute("transform", `translate(${shapes.cornerOf(target)})`);
		show(ghost, target >= 0 && shapes.makeMark(view.turn ?? ""));
		const isOther = pointed !== cell;
		pointed = cell;
		if (!isOther || !view.values) return;
		drawValues();
		page.review?.point(cell);
	}

	/** @param {KeyboardEvent} event */
	function press(event) {
		const { key, ctrlKey, metaKey, altKey } = event;
		const here = cellOf(event);
		if (ctrlKey || metaKey || altKey) return;
		if (key in ARROWS) focus(neighbour(rules, here, ...ARROWS[key]));
		else if ((key === " " || key === "Enter") && !page.typed) play(here);
		else return;
		event.preventDefault();
	}

	function focus(cell = cursor) {
		cells[cell]?.focus({ preventScroll: true });
		if (cell >= 0) point(cell);
	}

	function setCursor(cell = -1) {
		if (cell < 0) return;
		cells[cursor]?.setAttribute("tabindex", "-1");
		cursor = cell;
		cells[cell].setAttribute("tabindex", "0");
	}

	/** Explain next to a cell, for some time, why no mark can be placed there. */
	function refuse(cell = 0, message = "") {
		const [x, y] = shapes.cornerOf(cell);
		setText(bubble, message);
		bubble.hidden = false;
		bubble.style.setProperty("--x", `${((x + 50 + margin) / width) * 100}%`);
		bubble.style.top = `${((y + 50 + margin) / height) * 100}%`;
		clearTimeout(refusalTimer);
		refusalTimer = setTimeout(() => (bubble.hidden = true), REFUSAL_MS);
	}
}

/** @param {Event} event */
function cellOf({ target }) {
	const cell = target instanceof Element && target.closest("[data-cell]");
	return cell ? Number(cell.getAttribute("data-cell")) : -1;
}
