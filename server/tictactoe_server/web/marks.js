/** Marks in a square of 100: X, O and A in strokes, other letters as written. */

import { svg } from "./dom.js";

/** @type {Record<string, string>} */
const STROKES = { X: "M27 27 73 73M73 27 27 73", O: "M50 24A26 26 0 1 1 49.9 24", A: "M28 75 50 25 72 75M36 57H64" };

/** @param {string} marks in turn order, which colours them @param {string} mark @param {string} [more] classes */
export function drawMark(marks, mark, more = "") {
	const kind = { class: `mark m${marks.indexOf(mark)}${more}` };
	if (mark in STROKES) return svg("path", { ...kind, d: STROKES[mark], pathLength: 1 });
	return svg("text", { ...kind, x: 50, y: 72, "font-size": 62, "text-anchor": "middle" }, mark);
}

/** A mark as a small picture beside a name. @param {string} marks @param {string} mark */
export const markIcon = (marks, mark) =>
	svg("svg", { viewBox: "12 12 76 76", class: "icon", "aria-hidden": "true" }, drawMark(marks, mark));

/** What a player places, as a small picture beside the name: with its mark also where stones bear none. @param {Look} look @param {string} marks @param {string} mark */
export function seatIcon(look, marks, mark) {
	if (look === "marks") return markIcon(marks, mark);
	const kind = look === "stones" ? `stone s${marks.indexOf(mark)}` : `disc m${marks.indexOf(mark)}`;
	const piece = svg("g", { class: kind }, svg("circle", { cx: 50, cy: 50, r: 45 }), drawMark(marks, mark));
	return svg("svg", { viewBox: "2 2 96 96", class: "icon", "aria-hidden": "true" }, piece);
}
