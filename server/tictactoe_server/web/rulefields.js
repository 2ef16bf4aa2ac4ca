/** Every rule of a game as a field: those of a game with a name, or one's own. */

import { say } from "./catalogue.js";
import { field, h, select } from "./dom.js";
import { PRESETS, nameCells, parseCell, rulesOf } from "./rules.js";

const MOST = 32;
const number = (least = 1) => h("input", { type: "number", min: least, max: MOST });
const text = (placeholder = "") => h("input", { placeholder, autocomplete: "off" });
const check = () => h("input", { type: "checkbox" });

export class RuleFields {
	/** The game with a name that the fields make, null for one's own. @type {string | null} */
	preset = PRESETS[0];
	#rows = number();
	#columns = number();
	#line = number(2);
	#marks = text("XO");
	#blocked = text(say("page new none"));
	#misere = check();
	#gravity = check();
	#exact = check();
	#opening = select(["", "pie", "swap2"].map((one) => [one, say(`form ${one || "none"}`)]));
	#seat = h("select");

	/** @param {(preset: string | null) => void} onChange hears which game the fields make @param {() => void} onEdit */
	constructor(onChange, onEdit) {
		this.onChange = onChange;
		this.onEdit = onEdit;
		this.element = h("div.fields", { input: (/** @type {Event} */ event) => this.#edit(event) },
			h("div.pair", {}, field(say("page new rows"), this.#rows), field(say("page new columns"), this.#columns)),
			field(say("new room win"), this.#line),
			field(say("new room marks"), this.#marks, say("page new marks note")),
			field(say("new room blocked"), this.#blocked, say("page new blocked note")),
			h("div.pair", {},
				field(say("new room misere"), this.#misere, say("page new misere note")),
				field(say("new room gravity"), this.#gravity, say("rules gravity")),
			),
			field(say("new room exact"), this.#exact, say("new room exact note")),
			field(say("new room opening"), this.#opening, say("new room opening help")),
			field(say("new room seat"), this.#seat, say("new room seat note")),
		);
	}

	/** Fill the fields with the rules of a game that has a name. @param {string} name */
	take(name) {
		const rules = rulesOf(name);
		[this.#rows.value, this.#columns.value, this.#line.value] = [rules.rows, rules.columns, rules.line].map(String);
		[this.#marks.value, this.#blocked.value] = [rules.marks, nameCells(rules.blocked, rules).join(" ").toLowerCase()];
		[this.#misere.checked, this.#gravity.checked, this.#exact.checked] = [rules.misere, rules.gravity, !!rules.exact];
		this.#opening.value = rules.opening ?? "";
		this.preset = name;
		this.#offerSeats(rules.marks);
	}

	/** What a room is made with, or null where a blocked cell is none of the board. */
	read() {
		const { preset: _, ...own } = this.#readFields();
		if (own.blocked.includes(-1)) return null;
		return { rules: this.preset ?? own, seat: this.#seat.value, players: own.marks.length };
	}

	/** @param {Event} event */
	#edit({ target }) {
		this.onEdit();
		if (target === this.#seat) return;
		const rules = this.#readFields();
		const own = JSON.stringify(rules);
		this.preset = PRESETS.find((name) => JSON.stringify({ ...rulesOf(name), preset: null }) === own) ?? null;
		this.#offerSeats(rules.marks);
		this.onChange(this.preset);
	}

	/** @param {string} marks */
	#offerSeats(marks) {
		const before = this.#seat.value;
		this.#seat.replaceChildren(...[...marks].map((mark) => h("option", { selected: mark === before }, mark)));
	}

	/** @returns {Protocol.RulesState} */
	#readFields() {
		const [rows, columns, line] = [this.#rows, this.#columns, this.#line].map(({ value }) => Number(value));
		const marks = this.#marks.value.trim().toUpperCase();
		const rules = { preset: null, rows, columns, line, marks, blocked: [], misere: this.#misere.checked, gravity: this.#gravity.checked };
		const cells = this.#blocked.value.split(/[\s,]+/).filter(Boolean).map((name) => parseCell(name, { ...rules, gravity: false }));
		const [exact, opening] = [this.#exact.checked, this.#opening.value];
		return { ...rules, blocked: cells.sort((a, b) => a - b), ...(exact && { exact }), ...(opening && { opening }) };
	}
}
