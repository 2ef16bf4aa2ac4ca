/** A board that one can play on. States in; only the cells that changed are touched. */

import { h, setText, svg } from "./dom.js";
import { drawMark } from "./marks.js";
import { BLOCKED, FREE, landingCell, nameCell, nameColumn, neighbour, splitLines } from "./rules.js";

const SIDE = 100;
/** On cells smaller than these pixels a finger chooses first, and then confirms. */
const FINGER = 40;
const REFUSAL_MS = 4500;
/** More changed cells are another moment, not a move that is seen to be made. */
const MOST_MOVED = 3;
/** Of a board of 15 by 15. */
const STARS = [48, 56, 112, 168, 176];
const BLOCK = "M22 22H78V78H22ZM22 50 50 22M22 78 78 22M50 78 78 50";

/** @type {MakeBoard} */
export function makeBoard(rules, name, { onPlay, onChoose }) {
	const { rows, columns, gravity } = rules;
	const letters = Math.max(11, Math.min(rows, columns) * 3);
	const margin = letters * 1.8;
	const [width, height] = [columns * SIDE, rows * SIDE];
	/** @type {BoardView} */
	let view = { board: "", last: null, line: [], turn: null, isMine: false, pending: null, values: null };
	let drawn = "";
	let cursor = -1;
	let refusalTimer = 0;
	/** The cell that a finger has chosen and not yet confirmed, -1 for none. */
	let chosen = -1;
	const model = svg("g", { role: "gridcell", tabindex: -1 }, svg("rect", { class: "hit", width: SIDE, height: SIDE, rx: 12 }));
	const cells = [...Array(rows * columns).keys()].map((cell) => {
		const made = /** @type {SVGElement} */ (model.cloneNode(true));
		made.setAttribute("data-cell", `${cell}`);
		made.setAttribute("transform", `translate(${corner(cell)})`);
		return made;
	});
	const lines = [...Array(rows).keys()].map((row) => svg("g", { role: "row" }, cells.slice(row * columns, (row + 1) * columns)));
	const grid = svg("g", { role: "grid", "aria-label": name }, lines);
	const [ghost, cross, line, values] = ["ghost", "cross", "", ""].map((kind) => svg("g", { class: kind }));
	const under = svg("g", { "aria-hidden": "true" }, makeGround(), cross);
	const over = svg("g", { class: "over", "aria-hidden": "true" }, gravity && makePlate(), ghost, values, line);
	const picture = svg(
		"svg",
		{ viewBox: `${-margin} ${-margin} ${width + margin + 8} ${height + margin + 8}`, class: `board${gravity ? " falls" : ""}`, role: "presentation" },
		makeLabels(),
		under,
		grid,
		over,
	);
	const bubble = h("p.bubble", { hidden: true });
	const element = h("div.board-box", {}, h("div.board-inner", {}, picture, bubble));
	element.style.setProperty("--ratio", String((width + margin) / (height + margin)));
	element.style.setProperty("--least", `${columns * 21}px`);
	grid.addEventListener("click", click);
	grid.addEventListener("pointerover", (event) => event.pointerType === "mouse" && hover(cellOf(event)));
	grid.addEventListener("pointerleave", () => hover(-1));
	grid.addEventListener("keydown", press);
	grid.addEventListener("focusin", (event) => setCursor(cellOf(event)));
	const made = { element, rules, isTyping: false, draw, play, choose, focus, refuse, hasChosen: () => chosen >= 0 };
	return made;

	function corner(cell = 0) {
		return [(cell % columns) * SIDE, Math.floor(cell / columns) * SIDE];
	}

	function makeGround() {
		let d = "";
		for (let y = SIDE; y < height && !gravity; y += SIDE) d += `M0 ${y}H${width}`;
		for (let x = SIDE; x < width && !gravity; x += SIDE) d += `M${x} 0V${height}`;
		return [svg("rect", { class: "paper", width, height, rx: 14 }), svg("path", { class: "grid-lines", d })];
	}

	function makePlate() {
		const holes = cells.map((_, cell) => `M${corner(cell)}m10 50a40 40 0 1 0 80 0a40 40 0 1 0 -80 0Z`);
		return svg("path", { class: "plate", d: `M-8 -8H${width + 8}V${height + 8}H-8Z${holes.join("")}`, "fill-rule": "evenodd" });
	}

	function makeLabels() {
		const top = [...Array(columns).keys()].map((at) => svg("text", { x: at * SIDE + 50, y: -letters * 0.6 }, nameColumn(at)));
		const left = [...Array(rows).keys()].map((at) => svg("text", { x: -letters * 0.95, y: at * SIDE + 50 + letters * 0.36 }, `${at + 1}`));
		return svg("g", { class: "labels", "aria-hidden": "true", "font-size": letters }, top, left);
	}

	/** @param {BoardView} next */
	function draw(next) {
		const { board, pending, turn, last } = next;
		const before = view;
		view = next;
		const isShown = pending !== null && turn && board[pending] === FREE;
		const shown = isShown ? board.slice(0, pending) + turn + board.slice(pending + 1) : board;
		const changed = shown === drawn ? [] : [...cells.keys()].filter((cell) => shown[cell] !== drawn[cell]);
		for (const cell of changed) setMark(cell, shown[cell], !!drawn && changed.length <= MOST_MOVED);
		if (changed.length) bubble.hidden = true;
		drawn = shown;
		move("last", before.last, last);
		move("pending", before.pending, pending);
		if (before.line !== next.line) drawLine(before.line);
		if (before.values !== next.values) drawValues();
		picture.classList.toggle("mine", next.isMine);
		if (!next.isMine || shown[chosen] !== FREE) choose(null);
		if (!next.isMine) hover(-1);
		if (cursor < 0) setCursor(last ?? Math.floor((cells.length - 1) / 2));
	}

	function setMark(cell = 0, mark = "", isMove = false) {
		const place = cells[cell];
		const what = { [FREE]: "free", [BLOCKED]: "blocked" }[mark] ?? mark;
		place.setAttribute("aria-label", `${nameCell(cell, rules)}, ${what}`);
		place.setAttribute("class", what);
		while (place.childNodes.length > 1) place.lastChild?.remove();
		if (mark === BLOCKED) place.append(svg("path", { class: "block", d: BLOCK }));
		else if (mark !== FREE) place.append(makeMark(mark, isMove ? Math.floor(cell / columns) + 1 : 0));
		else if (rules.preset === "gomoku" && STARS.includes(cell)) place.append(svg("circle", { class: "star", cx: 50, cy: 50, r: 14 }));
	}

	/** @param {string} mark @param {number} fallen so many rows it comes from above, 0 where it lies there already */
	function makeMark(mark, fallen) {
		const strokes = drawMark(rules.marks, mark, fallen && !gravity ? " drawn" : "");
		if (!gravity) return strokes;
		const kind = `disc m${rules.marks.indexOf(mark)}${fallen ? " falling" : ""}`;
		const disc = svg("g", { class: kind }, svg("circle", { cx: 50, cy: 50, r: 43 }), strokes);
		disc.style.setProperty("--fall", `${-fallen * SIDE}px`);
		disc.style.setProperty("--fall-time", `${0.16 + Math.sqrt(fallen) * 0.13}s`);
		return disc;
	}

	/** @type {Move} */
	function move(kind, from, to) {
		cells[from ?? -1]?.classList.remove(kind);
		cells[to ?? -1]?.classList.add(kind);
	}

	/** @param {readonly number[]} before */
	function drawLine(before) {
		for (const cell of before) cells[cell].classList.remove("won");
		for (const cell of view.line) cells[cell].classList.add("won");
		const runs = splitLines(rules, view.line).map((run) => {
			const [[x, y], [toX, toY]] = [corner(run[0]), corner(run[run.length - 1])];
			const [dx, dy] = [Math.sign(toX - x) * 34, Math.sign(toY - y) * 34];
			return svg("path", { class: "through", pathLength: 1, d: `M${x + 50 - dx} ${y + 50 - dy}L${toX + 50 + dx} ${toY + 50 + dy}` });
		});
		line.replaceChildren(...runs);
	}

	function drawValues() {
		const told = [...(view.values ?? [])].map(([cell, { sign, kind, best }]) => {
			const box = svg("rect", { x: 14, y: 25, width: 72, height: 50, rx: 14 });
			const text = svg("text", { x: 50, y: 61, "font-size": best && sign.length > 1 ? 28 : 34 }, best ? `*${sign}` : sign);
			return svg("g", { class: `worth ${kind}${best ? " best" : ""}`, transform: `translate(${corner(cell)})` }, box, text);
		});
		values.replaceChildren(...told);
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
		if (isSmall && chosen !== target) choose(target);
		else if (cell >= 0) play(cell);
	}

	function play(cell = 0) {
		const target = targetOf(cell);
		choose(null);
		onPlay(target >= 0 ? target : cell);
	}

	/** @param {number | null} cell */
	function choose(cell) {
		if (chosen === (cell ?? -1)) return;
		cells[chosen]?.removeAttribute("aria-selected");
		chosen = cell ?? -1;
		hover(chosen);
		const [x, y] = corner(chosen);
		cells[chosen]?.setAttribute("aria-selected", "true");
		const both = [svg("rect", { y, width, height: SIDE }), svg("rect", { x, width: SIDE, height })];
		cross.replaceChildren(...(cell === null ? [] : both));
		onChoose(cell);
	}

	function hover(cell = 0) {
		const target = targetOf(chosen >= 0 ? chosen : cell);
		ghost.setAttribute("transform", `translate(${corner(target)})`);
		ghost.replaceChildren(...(target >= 0 ? [makeMark(view.turn ?? "", 0)] : []));
	}

	/** @param {KeyboardEvent} event */
	function press(event) {
		const { key, ctrlKey, metaKey, altKey } = event;
		const here = cellOf(event);
		if (ctrlKey || metaKey || altKey) return;
		/** @type {Record<string, [down: number, right: number]>} */
		const ways = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
		if (key in ways) focus(neighbour(rules, here, ...ways[key]));
		else if ((key === " " || key === "Enter") && !made.isTyping) play(here);
		else return;
		event.preventDefault();
	}

	/** @param {number} [cell] */
	function focus(cell = cursor) {
		cells[cell]?.focus();
		if (cell >= 0) hover(cell);
	}

	function setCursor(cell = 0) {
		cells[cursor]?.setAttribute("tabindex", "-1");
		cursor = cell;
		cells[cell].setAttribute("tabindex", "0");
	}

	function refuse(cell = 0, message = "") {
		const [x, y] = corner(cell);
		setText(bubble, message);
		bubble.hidden = false;
		bubble.style.setProperty("--x", `${((x + 50 + margin) / (width + margin)) * 100}%`);
		bubble.style.top = `${((y + 50 + margin) / (height + margin)) * 100}%`;
		clearTimeout(refusalTimer);
		refusalTimer = setTimeout(() => (bubble.hidden = true), REFUSAL_MS);
	}
}

/** The cell that an event is about, -1 for none. @param {Event} event */
function cellOf({ target }) {
	const cell = target instanceof Element && target.closest("[data-cell]");
	return cell ? Number(cell.getAttribute("data-cell")) : -1;
}
