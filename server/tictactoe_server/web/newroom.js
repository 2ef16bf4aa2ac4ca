/** The form of a new room, with every rule of the game. */

import { button, field, h, select, setText, submitting } from "./dom.js";
import { PRESETS, nameCells, parseCell, rulesOf } from "./rules.js";
import { messageOf, parseClock } from "./words.js";

const OWN = "your own";

/** @type {MakePage} */
export function makeNewRoom(app) {
	const preset = select([...PRESETS, OWN]);
	const [rows, columns, line] = [1, 1, 2].map((min) => h("input", { type: "number", min, max: 32 }));
	const [marks, blocked, clock] = ["XO", "none", "no clock"].map((placeholder) => h("input", { placeholder, autocomplete: "off" }));
	const [misere, gravity] = [1, 2].map(() => h("input", { type: "checkbox" }));
	const visibility = select(["public", "private"]);
	const analysis = select(["closed", "open"]);
	const chat = select(["all", "players"]);
	const seat = h("select");
	const bots = select([["", "no"], "easy", "medium", "hard"]);
	const fault = h("p.fault", { role: "alert" });
	const element = h("form.card.new-room", { input: change, submit: submitting(open) },
		h("h1", { tabindex: -1 }, "New room"),
		h("div.fields", {},
			field("Game", preset, "a game with a name, or your own"),
			h("div.pair", {}, field("Rows", rows), field("Columns", columns)),
			field("In a row to win", line),
			field("Marks", marks, "in turn order; one for each player"),
			field("Blocked cells", blocked, "such as b2 c3"),
			h("div.pair", {}, field("Misère", misere, "a line loses"), field("Gravity", gravity, "marks fall")),
			field("Clock", clock, "3+2, 10/move (seconds), or empty"),
			field("Who may see it", visibility, "private: with the link only"),
			field("Your mark", seat, "the first begins"),
			field("The computer", bots, "in the other seats"),
			field("Chat", chat, "players: who watches only reads"),
			field("Analysis", analysis, "open: of the running game, a lesson"),
		),
		fault,
		h("div.row", {}, h("button.primary.big", {}, "Open the room"), button("Cancel", () => app.navigate("/"))),
	);
	preset.value = PRESETS.includes(app.kept.game) ? app.kept.game : PRESETS[0];
	clock.value = app.kept.clock;
	choose();
	return { title: "New room", element };

	function choose() {
		if (preset.value !== OWN) {
			const rules = rulesOf(preset.value);
			[rows.value, columns.value, line.value] = [rules.rows, rules.columns, rules.line].map(String);
			[marks.value, blocked.value] = [rules.marks, nameCells(rules.blocked, rules).join(" ").toLowerCase()];
			[misere.checked, gravity.checked] = [rules.misere, rules.gravity];
		}
		describe();
	}

	/** @param {Event} event */
	function change({ target }) {
		if (target === preset) return choose();
		const own = JSON.stringify(read());
		preset.value = PRESETS.find((name) => JSON.stringify({ ...rulesOf(name), preset: null }) === own) ?? OWN;
		return describe();
	}

	/** @returns {Rules} */
	function read() {
		const size = { rows: Number(rows.value), columns: Number(columns.value), line: Number(line.value) };
		const kind = { marks: marks.value.trim().toUpperCase(), blocked: [], misere: misere.checked, gravity: gravity.checked };
		const rules = { preset: null, ...size, ...kind };
		const cells = blocked.value.split(/[\s,]+/).filter(Boolean).map((name) => parseCell(name, { ...rules, gravity: false }));
		return { ...rules, blocked: cells.sort((a, b) => a - b) };
	}

	function describe() {
		const rules = read();
		const before = seat.value;
		seat.replaceChildren(...[...rules.marks].map((mark) => h("option", { selected: mark === before }, mark)));
		setText(fault, "");
	}

	async function open() {
		const { preset: _, ...rules } = read();
		const terms = parseClock(clock.value);
		if (terms === undefined) return setText(fault, "A clock is 3+2 for minutes and seconds a move, 10/move, or nothing.");
		if (rules.blocked.includes(-1)) return setText(fault, "Blocked cells are cells of this board, such as b2 c3.");
		/** @type {WithoutId<Protocol.Create>} */
		const request = { type: "create", rules: preset.value === OWN ? rules : preset.value, clock: terms, seat: seat.value };
		if (visibility.value === "private") request.visibility = "private";
		if (bots.value) request.bots = Array(rules.marks.length - 1).fill(bots.value);
		if (analysis.value === "open") request.analysis = "open";
		if (chat.value === "players") request.chat = "players";
		try {
			const room = await app.rooms.enter(request);
			app.keep({ game: preset.value === OWN ? app.kept.game : preset.value, clock: clock.value.trim() });
			return app.navigate(`/${room.code}`);
		} catch (error) {
			return setText(fault, messageOf(error));
		}
	}
}
