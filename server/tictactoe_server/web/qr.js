/** Draws a link as a QR code without asking a server: byte mode, level L, mask 3. Source: ISO/IEC 18004. */

import { say } from "./catalogue.js";
import { svg } from "./dom.js";

/** For versions 1 to 5: the number of data codewords and of error correction codewords. */
const CODEWORDS = [[19, 7], [34, 10], [55, 15], [80, 20], [108, 26]];
const FORMAT = 0b111100010011101;
const BYTES = 4;
const PADS = [0xec, 0x11];
const QUIET = 4;

function multiply(one = 0, other = 0) {
	let product = 0;
	for (let bit = 7; bit >= 0; bit--) product = (product << 1) ^ ((product >> 7) * 0x11d) ^ (((other >> bit) & 1) * one);
	return product;
}

/** Return the error correction codewords for data codewords. @param {number[]} data @param {number} count */
function correct(data, count) {
	const divisor = [...Array(count - 1).fill(0), 1];
	for (let root = 1, step = 0; step < count; step++, root = multiply(root, 2)) {
		divisor.forEach((each, at) => (divisor[at] = multiply(each, root) ^ (divisor[at + 1] ?? 0)));
	}
	return data.reduce((rest, each) => {
		const factor = each ^ rest[0];
		return divisor.map((one, at) => (rest[at + 1] ?? 0) ^ multiply(one, factor));
	}, Array(count).fill(0));
}

/** @param {number[]} bytes @param {number} count how many codewords have data */
function encode(bytes, count) {
	const halves = [BYTES, bytes.length >> 4, bytes.length & 15, ...bytes.flatMap((byte) => [byte >> 4, byte & 15]), 0];
	return Array.from({ length: count }, (_, at) => (2 * at < halves.length ? (halves[2 * at] << 4) | halves[2 * at + 1] : PADS[(at - bytes.length) % 2]));
}

/** Return the fixed modules of a code of this size, undefined for data modules. @param {number} size @returns {(boolean | undefined)[][]} by rows */
function outline(size) {
	const cells = Array.from({ length: size }, () => Array(size).fill(undefined));
	/** @param {number} row @param {number} column @param {number} radius @param {number[]} light the distances at which it is light */
	const ring = (row, column, radius, light) => {
		for (let y = Math.max(0, row - radius); y <= Math.min(size - 1, row + radius); y++) {
			for (let x = Math.max(0, column - radius); x <= Math.min(size - 1, column + radius); x++) cells[y][x] = !light.includes(Math.max(Math.abs(y - row), Math.abs(x - column)));
		}
	};
	if (size > 21) ring(size - 7, size - 7, 2, [1]);
	for (let at = 8; at < size - 8; at++) cells[6][at] = cells[at][6] = at % 2 === 0;
	for (const [row, column] of [[3, 3], [3, size - 4], [size - 4, 3]]) ring(row, column, 4, [2, 4]);
	for (let bit = 0; bit < 15; bit++) {
		const isDark = ((FORMAT >> bit) & 1) === 1;
		const [row, column] = bit < 8 ? [bit + Number(bit > 5), 8] : [8, bit < 9 ? 7 : 14 - bit];
		cells[row][column] = isDark;
		if (bit < 8) cells[8][size - 1 - bit] = isDark;
		else cells[size - 15 + bit][8] = isDark;
	}
	cells[size - 8][8] = true;
	return cells;
}

/** Return the dark modules of a text's code, by rows, or null for a text of more than 106 bytes. */
export function encodeQr(text = "") {
	const bytes = [...new TextEncoder().encode(text)];
	const version = CODEWORDS.findIndex(([data]) => data >= bytes.length + 2);
	if (version < 0) return null;
	const [count, more] = CODEWORDS[version];
	const data = encode(bytes, count);
	const codewords = [...data, ...correct(data, more)];
	const size = 21 + 4 * version;
	const cells = outline(size);
	let bit = 0;
	for (let pair = 0; pair < (size - 1) / 2; pair++) {
		const right = size - 1 - 2 * pair - Number(size - 1 - 2 * pair <= 6);
		for (let step = 0; step < size; step++) {
			const row = pair % 2 ? step : size - 1 - step;
			for (const column of [right, right - 1]) {
				if (cells[row][column] !== undefined) continue;
				cells[row][column] = (((codewords[bit >> 3] >> (7 - (bit & 7))) & 1) === 1) !== ((row + column) % 3 === 0);
				bit++;
			}
		}
	}
	return cells;
}

/** Return a code as a picture, or null if the text is too long. */
export function drawQr(text = "") {
	const cells = encodeQr(text);
	if (!cells) return null;
	const d = cells.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ""))).join("");
	const side = cells.length + 2 * QUIET;
	return svg("svg", { viewBox: `${-QUIET} ${-QUIET} ${side} ${side}`, class: "qr", role: "img", "aria-label": say("page invite qr"), "shape-rendering": "crispEdges" }, svg("path", { d }));
}
