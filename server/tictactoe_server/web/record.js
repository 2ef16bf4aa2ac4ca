/** Records of games as text (docs/records.md), read into the state at their end. */

import { PRESETS, emptyBoard, landingCell, parseCell, rulesOf, splitLines } from "./rules.js";

const TOKEN = /\{[^}]*\}|\[\s*(\w+)\s*"((?:[^"\\]|\\.)*)"\s*\]|\d+\.+|[A-Za-z]+\d*|\S/g;

/** @type {ParseRecord} */
export function parseRecord(text) {
	/** @type {Record<string, string>} */
	const tags = {};
	const words = [];
	for (const [token, tag, value] of text.replace(/^\ufeff/, "").matchAll(TOKEN)) {
		if (tag) tags[tag] = value.replace(/\\(.)/g, "$1");
		else if (!/^(\{|\d+\.)/.test(token)) words.push(token);
	}
	const rules = readRules(tags);
	const ending = words.pop() ?? "*";
	const passed = new Map((tags.Passed ?? "").split(" ").map((word) => [word[0], Number(word.slice(2))]));
	const cells = [...emptyBoard(rules)];
	/** @type {number[]} */
	const moves = [];
	let turn = 0;
	for (const word of words) {
		for (let tries = 0; tries < rules.marks.length && (passed.get(rules.marks[turn]) ?? Infinity) <= moves.length; tries++) {
			turn = (turn + 1) % rules.marks.length;
		}
		const cell = parseCell(word, rules);
		if (cell < 0 || landingCell(rules, cells.join(""), cell) !== cell) throw new Error(`${word} is no move here.`);
		cells[cell] = rules.marks[turn];
		moves.push(cell);
		turn = (turn + 1) % rules.marks.length;
	}
	return { state: makeState(rules, tags, cells, moves, ending), moves, date: (tags.Date ?? "").slice(0, 10) };
}

/** @type {MakeState} */
function makeState(rules, tags, cells, moves, ending) {
	const last = moves.at(-1) ?? null;
	const own = [...cells.keys()].filter((cell) => last !== null && cells[cell] === cells[last]);
	const line = splitLines(rules, own).filter((run) => run.includes(last ?? -1)).flat();
	const reason = tags.Reason ?? (line.length ? "line" : "full");
	const winner = rules.marks.includes(ending) ? ending : null;
	const seats = [...rules.marks].map((mark) => {
		return [mark, { player: mark, name: tags[mark] ?? "unknown", online: true, bot: null, out: (tags.Passed ?? "").includes(`${mark}@`) }];
	});
	return {
		type: "room", room: tags.Room ?? "", seq: 0, status: "over", visibility: "private", game: 1, rules,
		board: cells.join(""), ply: moves.length, turn: null, last, seats: Object.fromEntries(seats),
		result: ending === "*" ? null : { winner, reason, line: reason === "line" ? line : [] },
		offers: {}, clock: null, watchers: 0, score: {},
	};
}

/** @type {ReadRules} */
function readRules(tags) {
	const { Rules: preset = "classic" } = tags;
	if (!PRESETS.includes(preset)) throw new Error(`There are no rules called ${preset}.`);
	const rules = rulesOf(preset);
	if (tags.Rules) return rules;
	/** @type {NumberOf} */
	const number = (tag, usual) => Math.min(32, Math.max(1, Number(tags[tag] ?? usual) || usual));
	const own = { ...rules, rows: number("Rows", 3), columns: number("Columns", 3), line: number("Line", 3), marks: tags.Marks ?? "XO" };
	const blocked = (tags.Blocked ?? "").split(" ").map((name) => parseCell(name, own)).filter((cell) => cell >= 0);
	return { ...own, blocked, misere: tags.Misere === "true", gravity: tags.Gravity === "true" };
}
