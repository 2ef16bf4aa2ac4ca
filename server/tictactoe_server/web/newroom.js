/** The form for a new room: game, clock, opponent and rules. */

import { say, sayTitle } from "./catalogue.js";
import { button, field, h, select, setText, show, submitting } from "./dom.js";
import { checkField, makeClock, makeFault, parseClock } from "./forms.js";
import { prepared } from "./later.js";
import { makeLevel } from "./playcard.js";
import { OWN, PRESETS, chosenRules, nameCells, parseCell, rulesOf } from "./rules.js";
import { makeTiles } from "./smallboard.js";

const WITH = ["invite", "computer", "together"];

/** @param {string[]} values */
const offer = (values) => select(values, (one) => say(`form ${one}`));

const makeWho = () =>
	h("div.segments", { role: "radiogroup", "aria-label": say("page new with") }, WITH.map((value, index) =>
		h("label", h("input", { type: "radio", name: "with", value, checked: !index }), h("span", say(`home ${value}`)))));

/** @param {App} app */
export function makeNewRoom(app) {
	const { kept } = app;
	const [about, level] = [h("p.about"), makeLevel()];
	const ownClock = h("input", { placeholder: say("page new clock example"), autocomplete: "off", input: () => blame("") });
	const clock = makeClock(kept.clock, () => (ownClock.value = ""));
	const [seen, chat, analysis] = [offer(["private", "public"]), offer(["all", "players"]), offer(["closed", "open"])];
	const rules = makeRuleFields((preset) => tell(preset ?? OWN), () => blame(""));
	const tiles = makeTiles(kept.game, choose);
	const more = h("details", h("summary", say("new room more")), h("div.fields",
		rules.element,
		field(say("page new own clock"), ownClock, say("page new clock note")),
		Object.entries({ seen, chat, analysis }).map(([name, control]) => field(say(`new room ${name}`), control)),
	));
	const { element: fault, blame, refuse } = makeFault(more, rules.controls);
	const element = h("form.card.new-room", { submit: submitting(open) },
		h("h1", say("new room title")), tiles.element, about,
		h("div.new-terms", field(say("new room clock"), clock), h("div.field", h("span", say("page new with")), h("div.row", makeWho(), level))),
		more, fault,
		h("div.row", h("button.primary.big", say("new room begin")), button(sayTitle("key cancel"), () => app.navigate("/"))),
	);
	choose(kept.game);
	return { title: say("new room title"), element };

	function choose(preset = "") {
		blame("");
		if (preset === OWN) more.open = true;
		rules.take(chosenRules({ ...kept, game: preset }));
		tell(preset);
	}

	function tell(preset = "") {
		tiles.choose(preset);
		setText(about, preset === OWN ? say("page won custom") : say(`rules of ${preset}`));
	}

	async function open() {
		const terms = parseClock(ownClock.value || clock.value);
		const chosen = rules.read();
		if (terms === undefined) return blame(say("page new bad clock"), ownClock);
		if (!chosen) return blame(say("page new bad cells"), rules.controls.blocked);
		const [{ marks, preset, ...game }, company] = [chosen, new FormData(element).get("with")];
		try {
			const guests = await (company === "together" ? (await prepared(import("./names.js"))).askNames(app, marks) : app.meet());
			if (guests === null) return undefined;
			const room = await app.rooms.enter({
				type: "create", ...game, clock: terms,
				...(company === "computer" && { bots: Array(marks.length - 1).fill(level.value) }), ...(guests && { guests }),
				visibility: company === "together" || seen.value === "private" ? "private" : undefined,
				analysis: analysis.value === "open" ? "open" : undefined,
				chat: chat.value === "players" ? "players" : undefined,
			});
			app.keep({ game: preset ?? kept.game, clock: (ownClock.value || clock.value).trim() });
			return app.navigate(`/${room.code}`);
		} catch (error) {
			return refuse(error);
		}
	}
}

/** The note of each field: the sentences of the command line. @type {Record<string, string>} */
const NOTES = {
	win: "option win", marks: "option marks", blocked: "option blocked", misere: "option misere", gravity: "option gravity",
	exact: "option exact", opening: "option opening", seat: "new room seat note",
};

const number = (min = 1) => h("input", { type: "number", min, max: 32 });
const text = (placeholder = "") => h("input", { placeholder, autocomplete: "off" });
const check = () => h("input", { type: "checkbox" });

/** @param {(preset: string | null) => void} onChange hears which game the fields make, null for one's own @param {() => void} onEdit */
function makeRuleFields(onChange, onEdit) {
	const [rows, columns, win, marks, blocked] = [number(), number(), number(2), text("XO"), text(say("form none"))];
	const [misere, gravity, exact, seat] = [check(), check(), check(), h("select")];
	const opening = select(["", "pie", "swap2"], (one) => say(`form ${one || "none"}`));
	const others = Object.entries({ win, marks, blocked, opening, seat, misere, gravity, exact });
	const element = h("div.fields", { input: edit },
		h("div.pair", field(say("page new rows"), rows), field(say("page new columns"), columns)),
		others.map(([name, control]) => (control.matches("[type=checkbox]") ? checkField : field)(say(`new room ${name}`), control, say(NOTES[name]))),
	);
	let preset = /** @type {string | null} */ (PRESETS[0]);
	return { element, take, read, controls: { rows, columns, line: win, marks, blocked, opening } };

	/** Set the values of the fields. @param {Rules} rules */
	function take(rules) {
		[rows.value, columns.value, win.value] = [rules.rows, rules.columns, rules.line].map(String);
		[marks.value, blocked.value] = [rules.marks, nameCells(rules.blocked, rules).join(" ").toLowerCase()];
		[misere.checked, gravity.checked, exact.checked] = [rules.misere, rules.gravity, !!rules.exact];
		opening.value = rules.opening ?? "";
		preset = rules.preset;
		offerSeats();
	}

	/** Return the options of the room, or null if a blocked cell is not on the board. */
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
		const cells = blocked.value.split(/[\s,]+/).filter(Boolean).map((name) => (/\d/.test(name) ? parseCell(name, rules) : -1));
		return {
			...rules, blocked: cells.sort((a, b) => a - b),
			...(exact.checked && { exact: true }), ...(opening.value && { opening: opening.value }),
		};
	}
}
