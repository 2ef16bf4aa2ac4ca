/** The parts of a board: ground, lines, labels, marks, discs and stones; and the marks and signs next to names. A cell is a square of 100. */

import { svg } from "./dom.js";
import { hasLooks } from "./kept.js";
import { BLOCKED, FREE, nameColumn, numberRow } from "./rules.js";

export const SIDE = 100;
/** The star points of boards with stones, all of which are 15 by 15. */
const STARS = [48, 56, 112, 168, 176];
const BLOCK = "M22 22H78V78H22ZM22 50 50 22M22 78 78 22M50 78 78 50";
const BITS = 28;

/** Lines between the cells or, for stones, through them: stones lie on the crossings. */
export function linesOf(width = 0, height = 0, side = 0, isStones = false) {
	const [from, first] = isStones ? [side / 2, side / 2] : [0, side];
	let d = "";
	for (let y = first; y < height; y += side) d += `M${from} ${y}H${width - from}`;
	for (let x = first; x < width; x += side) d += `M${x} ${from}V${height - from}`;
	return d;
}

const upTo = (count = 0) => [...Array(count).keys()];

/** @param {Rules} rules @param {Look} look */
export function makeShapes(rules, look) {
	const { rows, columns, marks } = rules;
	const [width, height] = [columns * SIDE, rows * SIDE];
	return { width, height, cornerOf, at, makeRows, makeGround, makeShine, makePlate, makeLabels, makePiece, makeMark, makeStroke, makeBurst };

	function cornerOf(cell = 0) {
		return [(cell % columns) * SIDE, Math.floor(cell / columns) * SIDE];
	}

	/** @param {Attributes} attributes @param {...(Child | Child[])} children */
	function at(cell = 0, attributes, ...children) {
		return svg("g", { ...attributes, transform: `translate(${cornerOf(cell)})` }, ...children);
	}

	/** The rows, each a copy of the first, so that a browser computes one style for a whole column. */
	function makeRows() {
		const cells = upTo(columns).map((column) => svg("rect", { role: "gridcell", tabindex: -1, x: column * SIDE, width: SIDE, height: SIDE }));
		const model = svg("g", { role: "row" }, cells);
		return upTo(rows).map((row) => {
			const made = /** @type {SVGElement} */ (model.cloneNode(true));
			made.setAttribute("transform", `translate(0,${row * SIDE})`);
			[...made.children].forEach((cell, column) => cell.setAttribute("data-cell", String(row * columns + column)));
			return made;
		});
	}

	function makeGround() {
		const d = look === "discs" ? "" : linesOf(width, height, SIDE, look === "stones");
		return [svg("rect", { class: "paper", width, height, rx: 14 }), svg("path", { class: "grid-lines", d })];
	}

	function makeShine() {
		const shades = [["#666a75", "#15161a"], ["#ffffff", "#cdc6b6"]];
		const made = shades.map(([light, dark], index) => {
			const stops = [svg("stop", { "stop-color": light }), svg("stop", { offset: 1, "stop-color": dark })];
			return svg("radialGradient", { id: `stone${index}`, cx: 0.36, cy: 0.3, r: 0.75 }, stops);
		});
		return svg("defs", made);
	}

	function makePlate() {
		const corners = upTo(rows * columns).map(cornerOf);
		const d = corners.map(([x, y]) => `M${x + 9} ${y + 50}a41 41 0 1 0 82 0a41 41 0 1 0 -82 0Z`).join("");
		const frame = `M6 -8H${width - 6}a14 14 0 0 1 14 14V${height - 6}a14 14 0 0 1 -14 14H6a14 14 0 0 1 -14 -14V6a14 14 0 0 1 14 -14Z`;
		return [svg("path", { class: "plate", d: frame + d, "fill-rule": "evenodd" }), svg("path", { class: "rims", d })];
	}

	function makeLabels(size = 0) {
		const top = upTo(columns).map((column) => svg("text", { x: column * SIDE + 50, y: -size * 0.6 }, nameColumn(column)));
		const left = upTo(rows).map((row) => svg("text", { x: -size * 0.95, y: row * SIDE + 50 + size * 0.36 }, `${numberRow(row, rules)}`));
		return svg("g", { class: "labels", "aria-hidden": "true", "font-size": size }, top, left);
	}

	function makePiece(cell = 0, mark = "", isMove = false) {
		const content = makeContent(cell, mark, isMove);
		return content && at(cell, { "data-in": cell }, content);
	}

	function makeContent(cell = 0, mark = "", isMove = false) {
		if (mark === BLOCKED) return svg("path", { class: "block", d: BLOCK });
		if (mark !== FREE) return makeMark(mark, isMove ? Math.floor(cell / columns) + 1 : 0);
		const isStar = hasLooks(rules) && STARS.includes(cell);
		return isStar ? svg("circle", { class: "star", cx: 50, cy: 50, r: look === "stones" ? 10 : 14 }) : null;
	}

	/** @param {number} [fallen] so many rows it comes from above, 0 where it lies there already */
	function makeMark(mark = "", fallen = 0) {
		const index = marks.indexOf(mark);
		if (look === "stones") {
			const stone = svg("circle", { class: `mark stone${fallen ? " laid" : ""}`, cx: 50, cy: 50, r: 46 });
			stone.style.fill = `url(#stone${index})`;
			return stone;
		}
		const strokes = drawMark(marks, mark, fallen && look === "marks" ? " drawn" : "");
		if (look === "marks") return strokes;
		const fall = { "--fall": `${-fallen * SIDE}px`, "--fall-time": `${0.16 + Math.sqrt(fallen) * 0.13}s` };
		return svg("g", { class: `disc m${index}${fallen ? " falling" : ""}`, ...fall }, svg("circle", { cx: 50, cy: 50, r: 43 }), svg("circle", { class: "groove", cx: 50, cy: 50, r: 34 }), strokes);
	}

	/** @param {Moves} run */
	function makeStroke(run) {
		const [[x, y], [toX, toY]] = [cornerOf(run[0]), cornerOf(run[run.length - 1])];
		const [dx, dy] = [Math.sign(toX - x) * 34, Math.sign(toY - y) * 34];
		return svg("path", { class: "through", pathLength: 1, d: `M${x + 50 - dx} ${y + 50 - dy}L${toX + 50 + dx} ${toY + 50 + dy}` });
	}

	/** @param {Moves} line */
	function makeBurst(line) {
		const from = line.length ? line : [(rows * columns) >> 1];
		const reach = Math.min(width, height) * 0.3;
		const bits = upTo(BITS).map((bit) => {
			const [left, top] = cornerOf(from[Math.floor((bit / BITS) * from.length)]);
			const [angle, far] = [bit * 2.4, reach * (0.5 + 0.5 * Math.abs(Math.sin(bit * 7)))];
			const [x, y] = [Math.cos, Math.sin].map((part) => `${Math.round(part(angle) * far)}px`);
			return svg("circle", { class: `m${bit % 6}`, cx: left + 50, cy: top + 50, r: reach / (bit % 3 ? 20 : 14), "--x": x, "--y": y });
		});
		return svg("g", { class: "burst" }, bits);
	}
}

/** @type {Record<string, string>} */
const STROKES = { X: "M27 27 73 73M73 27 27 73", O: "M50 24A26 26 0 1 1 49.9 24", A: "M28 75 50 25 72 75M36 57H64" };

/** @param {string} marks in turn order, which colours them */
function drawMark(marks, mark = "", more = "") {
	const kind = { class: `mark m${marks.indexOf(mark)}${more}` };
	if (mark in STROKES) return svg("path", { ...kind, d: STROKES[mark], pathLength: 1 });
	return svg("text", { ...kind, x: 50, y: 72, "font-size": 62, "text-anchor": "middle" }, mark);
}

/** @param {Look} look */
export function seatIcon(look, marks = "", mark = "") {
	const isMark = look === "marks";
	const kind = look === "stones" ? `stone s${marks.indexOf(mark)}` : `disc m${marks.indexOf(mark)}`;
	const drawn = look !== "stones" && drawMark(marks, mark);
	const piece = isMark ? drawn : svg("g", { class: kind }, svg("circle", { cx: 50, cy: 50, r: 45 }), drawn);
	return svg("svg", { viewBox: isMark ? "12 12 76 76" : "-3 -3 106 106", class: "icon", "aria-hidden": "true" }, piece);
}

const SIGNS = "★◆■✚✦✿❖";

/** @returns {[sign: string, colour: number]} the colour is one of six, those of the marks */
export function emblemOf(player = "") {
	let hash = 0;
	for (const letter of player) hash = (hash * 31 + letter.charCodeAt(0)) % 2 ** 32;
	return [SIGNS[hash % SIGNS.length], Math.floor(hash / SIGNS.length) % 6];
}

/** The sign of each player of a room, "" for ""; players share a sign only if there are too few. @param {readonly string[]} players */
export function listSigns(players) {
	const signs = players.map(() => "");
	const order = [...players.keys()].sort((a, b) => (players[a] < players[b] ? -1 : Number(players[a] > players[b])));
	for (const index of order) {
		const first = SIGNS.indexOf(emblemOf(players[index])[0]);
		const free = [...SIGNS.slice(first), ...SIGNS.slice(0, first)].find((sign) => !signs.includes(sign));
		signs[index] = players[index] && (free ?? SIGNS[first]);
	}
	return signs;
}

/** @param {HTMLElement} element */
export function setEmblem({ dataset, style }, player = "") {
	const [sign, colour] = emblemOf(player);
	dataset.sign = player ? sign : "";
	style.setProperty("--e", `var(--m${colour})`);
}
