/** Every rule of a game as a field: those of a game with a name, or one's own. */

import { say } from "./catalogue.js";
import { field, h } from "./dom.js";
import { PRESETS, nameCells, parseCell, rulesOf } from "./rules.js";

/** @typedef {Protocol.RulesState} Rules */

const MOST = 32;

/**
 * @param {(preset: string | null) => void} onChange hears which game with a name the fields make, null for none
 * @param {() => void} onEdit
 */
export function makeRuleFields(onChange, onEdit) {
	const [rows, columns, line] = [1, 1, 2].map((min) => h("input", { type: "number", min, max: MOST }));
	const [marks, blocked] = ["XO", say("page new none")].map((placeholder) => h("input", { placeholder, autocomplete: "off" }));
	const [misere, gravity] = [1, 2].map(() => h("input", { type: "checkbox" }));
	const seat = h("select");
	/** @type {string | null} */
	let preset = PRESETS[0];
	const fields = h("div.fields", { input: edit },
		h("div.pair", {}, field(say("page new rows"), rows), field(say("page new columns"), columns)),
		field(say("page new line"), line),
		field(say("page new marks"), marks, say("page new marks note")),
		field(say("page new blocked"), blocked, say("page new blocked note")),
		h("div.pair", {},
			field(say("page new misere"), misere, say("page new misere note")),
			field(say("page new gravity"), gravity, say("page new gravity note")),
		),
		field(say("page new seat"), seat, say("page new seat note")),
	);
	return {
		fields, take, read,
		get preset() {
			return preset;
		},
	};

	/** Fill the fields with the rules of a game that has a name. @param {string} name */
	function take(name) {
		const rules = rulesOf(name);
		[rows.value, columns.value, line.value] = [rules.rows, rules.columns, rules.line].map(String);
		[marks.value, blocked.value] = [rules.marks, nameCells(rules.blocked, rules).join(" ").toLowerCase()];
		[misere.checked, gravity.checked] = [rules.misere, rules.gravity];
		preset = name;
		offerSeats(rules.marks);
	}

	/** @param {Event} event */
	function edit({ target }) {
		onEdit();
		if (target === seat) return;
		const own = JSON.stringify(readFields());
		preset = PRESETS.find((name) => JSON.stringify({ ...rulesOf(name), preset: null }) === own) ?? null;
		offerSeats(readFields().marks);
		onChange(preset);
	}

	/** @param {string} of the marks */
	function offerSeats(of) {
		const before = seat.value;
		seat.replaceChildren(...[...of].map((mark) => h("option", { selected: mark === before }, mark)));
	}

	/** @returns {Rules} */
	function readFields() {
		const size = { rows: Number(rows.value), columns: Number(columns.value), line: Number(line.value) };
		const kind = { marks: marks.value.trim().toUpperCase(), blocked: [], misere: misere.checked, gravity: gravity.checked };
		const rules = { preset: null, ...size, ...kind };
		const cells = blocked.value.split(/[\s,]+/).filter(Boolean).map((name) => parseCell(name, { ...rules, gravity: false }));
		return { ...rules, blocked: cells.sort((a, b) => a - b) };
	}

	/** What a room is made with, or null where a blocked cell is none of the board. */
	function read() {
		const { preset: _, ...own } = readFields();
		if (own.blocked.includes(-1)) return null;
		return { rules: preset ?? own, seat: seat.value, players: own.marks.length };
	}
}
