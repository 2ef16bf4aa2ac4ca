/** Every rule of a game as a field: those of a game with a name, or one's own. */

import { say } from "./catalogue.js";
import { field, h, select, show } from "./dom.js";
import { PRESETS, nameCells, parseCell, rulesOf } from "./rules.js";

const number = (min = 1) => h("input", { type: "number", min, max: 32 });
const text = (placeholder = "") => h("input", { placeholder, autocomplete: "off" });
const check = () => h("input", { type: "checkbox" });

/** @param {(preset: string | null) => void} onChange hears which game the fields make, null for one's own @param {() => void} onEdit */
export function makeRuleFields(onChange, onEdit) {
	const [rows, columns, win, marks, blocked] = [number(), number(), number(2), text("XO"), text(say("page new none"))];
	const [misere, gravity, exact, seat] = [check(), check(), check(), h("select")];
	const opening = select(["", "pie", "swap2"], (one) => say(`form ${one || "none"}`));
	const others = Object.entries({ win, marks, blocked, misere, gravity, exact, opening, seat });
	const element = h("div.fields", { input: edit },
		h("div.pair", field(say("page new rows"), rows), field(say("page new columns"), columns)),
		others.map(([name, control]) => field(say(`new room ${name}`), control, say(`new room ${name} note`))),
	);
	let preset = /** @type {string | null} */ (PRESETS[0]);
	return { element, take, read };

	/** Fill the fields with the rules of a game that has a name. @param {string} name */
	function take(name) {
		const rules = rulesOf(name);
		[rows.value, columns.value, win.value] = [rules.rows, rules.columns, rules.line].map(String);
		[marks.value, blocked.value] = [rules.marks, nameCells(rules.blocked, rules).join(" ").toLowerCase()];
		[misere.checked, gravity.checked, exact.checked] = [rules.misere, rules.gravity, !!rules.exact];
		opening.value = rules.opening ?? "";
		preset = name;
		offerSeats();
	}

	/** What a room is made with, or null where a blocked cell is none of the board. */
	function read() {
		const { preset: _, ...own } = readFields();
		return own.blocked.includes(-1) ? null : { preset, rules: preset ?? own, seat: seat.value, marks: own.marks };
	}

	/** @param {Event} event */
	function edit({ target }) {
		onEdit();
		if (target === seat) return;
		const own = JSON.stringify(readFields());
		preset = PRESETS.find((name) => JSON.stringify({ ...rulesOf(name), preset: null }) === own) ?? null;
		offerSeats();
		onChange(preset);
	}

	function offerSeats() {
		const before = seat.value;
		show(seat, [...readFields().marks].map((mark) => h("option", { selected: mark === before }, mark)));
	}

	function readFields() {
		const rules = {
			preset: null, rows: Number(rows.value), columns: Number(columns.value), line: Number(win.value),
			marks: marks.value.trim().toUpperCase(), blocked: [], misere: misere.checked, gravity: gravity.checked,
		};
		const cells = blocked.value.split(/[\s,]+/).filter(Boolean).map((name) => parseCell(name, { ...rules, gravity: false }));
		return {
			...rules, blocked: cells.sort((a, b) => a - b),
			...(exact.checked && { exact: true }), ...(opening.value && { opening: opening.value }),
		};
	}
}
