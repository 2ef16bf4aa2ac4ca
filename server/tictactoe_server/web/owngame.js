/** Custom rules: a board built in a preview, and a link that shares the rules. */

import { say, sayTitle } from "./catalogue.js";
import { button, field, h, select, show } from "./dom.js";
import { checkField, checkbox } from "./forms.js";
import { ARROWS, BLOCKED, DIRECTIONS, FREE, chosenRules, nameCell, neighbour, parseCell } from "./rules.js";
import { drawSmall } from "./smallboard.js";

const MARKS = "XOABCD";
const LARGEST = 32;
const FLAGS = /** @type {const} */ (["misere", "gravity", "exact"]);

const limit = (value = 0, least = 1, most = LARGEST) => Math.max(least, Math.min(Math.trunc(value) || least, most));

/** @param {OwnRules} own */
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

/** Return the nearest playable rules; if the blocked cells leave no room for a line, none is blocked. @param {OwnRules} own */
function fitRules(own) {
	const rows = limit(own.rows);
	const columns = limit(own.columns, rows < 2 ? 2 : 1); // no line fits in one cell
	const line = limit(own.line, 2, Math.max(rows, columns));
	const letters = [...new Set(own.marks.toUpperCase().match(/[A-Z]/g))].slice(0, Math.min(MARKS.length, rows * columns)).join("");
	const marks = letters.length < 2 ? MARKS.slice(0, 2) : letters;
	const blocked = [...new Set(own.blocked)].filter((cell) => cell >= 0 && cell < rows * columns).sort((one, other) => one - other);
	const isTwo = marks.length === 2;
	const fitted = {
		rows, columns, line, marks, blocked, misere: own.misere && isTwo, gravity: own.gravity,
		exact: (own.exact && !own.gravity) || undefined, opening: (isTwo && own.opening) || undefined,
	};
	return findLine(complete(fitted)) ? fitted : { ...fitted, blocked: [] };
}

/** Return the fragment of a link to these rules, such as `own=4x5x3&marks=XOA&blocked=b2,c3&gravity`. @param {OwnRules} own */
function writeOwn(own) {
	const { rows, columns, line, marks, blocked, opening } = own;
	const cells = blocked.map((cell) => nameCell(cell, complete(own))).join(",").toLowerCase();
	const terms = { marks: marks === "XO" ? "" : marks, blocked: cells, opening };
	const given = Object.entries(terms).flatMap(([name, value]) => (value ? `${name}=${value}` : []));
	return [`own=${rows}x${columns}x${line}`, ...given, ...FLAGS.filter((name) => own[name])].join("&");
}

/** Return the rules in the fragment of a link, or null if they are not playable. */
export function readOwn(fragment = "") {
	const terms = new URLSearchParams(fragment);
	const [rows, columns, line] = (/^(\d+)x(\d+)x(\d+)$/.exec(terms.get("own") ?? "") ?? []).slice(1).map(Number);
	if (!rows) return null;
	/** @type {OwnRules} */
	const own = { rows, columns, line, marks: terms.get("marks") ?? "XO", blocked: [], misere: terms.has("misere"), gravity: terms.has("gravity"), exact: terms.has("exact") || undefined, opening: terms.get("opening") ?? undefined };
	const cells = (terms.get("blocked") ?? "").split(",").filter(Boolean);
	own.blocked = cells.map((name) => parseCell(name, complete(own))).sort((one, other) => one - other);
	return JSON.stringify(fitRules(own)) === JSON.stringify(own) ? own : null;
}

const number = (min = 1) => h("input", { type: "number", min, max: LARGEST });

/** @param {App} app @param {() => void} onChange @param {(message: string) => void} blame shows an error, or none */
export function makeOwnGame(app, onChange, blame) {
	let own = fitRules(app.kept.own);
	const board = h("div.own-board");
	const fields = {
		rows: number(), columns: number(), line: number(2), marks: h("input", { autocomplete: "off", maxlength: MARKS.length }),
		opening: select(["", "pie", "swap2"], (one) => one || say("form none")), misere: checkbox(), gravity: checkbox(), exact: checkbox(),
	};
	const { rows, columns, line, marks, opening, misere, gravity, exact } = fields;
	const element = h("div.own-game", board, h("div.own-rules", { change: read },
		h("div.own-numbers", field(say("page new rows"), rows), field(say("page new columns"), columns), field(say("new room win"), line), field(say("new room marks"), marks, say("option marks"))),
		FLAGS.map((name) => checkField(say(`new room ${name}`), fields[name], say(`option ${name}`))),
		field(say("new room opening"), opening, say("option opening")),
		h("div.row", button(sayTitle("key share"), () => app.copy(app.linkTo(`#${writeOwn(own)}`))), h("small", say("page own share note"))),
	));
	draw();
	return { element, fields };

	function read() {
		const size = { rows: limit(rows.valueAsNumber), columns: limit(columns.valueAsNumber) };
		const [before, after] = [own, { ...own, ...size }].map(complete);
		const blocked = before.blocked.map((cell) => parseCell(nameCell(cell, before), after));
		change({
			...size, blocked, line: line.valueAsNumber, marks: marks.value, misere: misere.checked, gravity: gravity.checked, exact: exact.checked,
			opening: /** @type {OwnRules["opening"]} */ (opening.value),
		});
	}

	/** @param {Partial<OwnRules>} changed */
	function change(changed, focused = -1) {
		own = fitRules({ ...own, ...changed });
		blame("");
		app.keep({ own });
		onChange();
		draw();
		if (focused >= 0) focus(focused);
	}

	function draw() {
		const rules = complete(own);
		for (const name of /** @type {const} */ (["rows", "columns", "line"])) fields[name].valueAsNumber = own[name];
		for (const name of FLAGS) fields[name].checked = !!own[name];
		[marks.value, opening.value] = [own.marks, own.opening ?? ""];
		misere.disabled = opening.disabled = own.marks.length > 2;
		exact.disabled = own.gravity;
		const cells = Array(own.rows * own.columns).fill(FREE);
		for (const cell of own.blocked) cells[cell] = BLOCKED;
		for (const cell of findLine(rules) ?? []) cells[cell] = own.marks[0];
		const toggles = cells.map((mark, cell) => button("", () => toggle(cell), {
			"aria-label": say("cell with place", { cell: nameCell(cell, rules), place: say(`view cell ${mark === BLOCKED ? "blocked" : "free"}`) }),
			"aria-pressed": String(mark === BLOCKED), tabindex: cell ? -1 : 0,
		}));
		const preview = { role: "group", "aria-label": say("page own board"), "--rows": own.rows, "--columns": own.columns, keydown: moveFocus };
		show(board, h("div.preview", preview, drawSmall(rules, cells.join("")), h("div.toggles", toggles)), h("small", say("page own board note")));
	}

	function toggle(cell = 0) {
		const blocked = own.blocked.includes(cell) ? own.blocked.filter((one) => one !== cell) : [...own.blocked, cell];
		if (findLine(complete({ ...own, blocked }))) change({ blocked }, cell);
		else blame(say("refused bad_rules no room", { line: own.line }));
	}

	function focus(cell = 0) {
		const toggles = board.querySelectorAll("button");
		toggles.forEach((one, at) => (one.tabIndex = at === cell ? 0 : -1));
		toggles[cell]?.focus();
	}

	/** @param {KeyboardEvent} event */
	function moveFocus(event) {
		const way = ARROWS[event.key];
		if (!way) return;
		event.preventDefault();
		const from = [...board.querySelectorAll("button")].findIndex((one) => one === document.activeElement);
		const to = neighbour(complete(own), from, ...way);
		if (to >= 0) focus(to);
	}
}
