/** A small dialog that opens an event, and says how long it would take. */

import { say, sayTitle } from "../catalogue.js";
import { button, field, h, openDialog, select, setText } from "../dom.js";
import { checkbox, makeFault, parseClock } from "../forms.js";
import { Refused } from "../requests.js";
import { PRESETS, rulesOf } from "../rules.js";
import { LEVELS, describeClock, describeLevel, formatDuration } from "../words.js";
import { nameKind } from "./tournaments.js";

const KINDS = ["round_robin", "swiss", "knock_out"];
const CLOCKS = ["1+1", "3+2", "5+3", "10/move", "30/move", "1d", "3d"];
const SECONDS = [5, 30, 60, 120, 300, 600];
/** The most bytes of a roster, in JSON, that a message has room for. */
const MOST_BYTES = 14_000;
/** The pause after the last change before the server is asked for a plan. */
const PAUSE_MS = 300;

function selectTime(usual = 60) {
	const times = select(SECONDS.map((one) => `${one}000`), (ms) => formatDuration(Number(ms)));
	times.value = `${usual}000`;
	return times;
}

/** @param {App} app */
export function showOpening(app) {
	const title = h("input", { maxlength: 60, required: true, autocomplete: "off", autofocus: true });
	const kinds = h("fieldset.kinds", h("legend", sayTitle("column kind")), KINDS.map((value, at) =>
		h("label", h("input", { type: "radio", name: "kind", value, checked: !at }), h("b", nameKind(value)), h("small", say(`tournament about ${value}`)))));
	const kind = () => /** @type {RadioNodeList} */ (form.elements.namedItem("kind"));
	const games = PRESETS.filter((one) => rulesOf(one).marks.length === 2);
	const game = select(games, (one) => say(`name of ${one}`));
	const clock = select(CLOCKS, (one) => describeClock(parseClock(one)));
	const bots = LEVELS.map((level) => checkbox({ value: level }));
	const roster = h("textarea", { rows: 5, placeholder: say("page event roster example") });
	const [rounds, late] = [1, 0].map((min) => h("input", { type: "number", min, max: 50 }));
	const [ready, rest] = [selectTime(60), selectTime(30)];
	const [byHand, double] = [checkbox(), checkbox()];
	const swiss = h("div.pair", field(say("page event rounds"), rounds), field(say("page event late"), late));
	const robin = h("label", double, " ", say("option double"));
	const more = h("details", h("summary", say("new room more")),
		h("div.pair", field(say("page event ready"), ready), field(say("page event break"), rest)), swiss, h("div.levels", h("label", byHand, " ", say("page event by hand")), robin));
	const { element: fault, blame, refuse } = makeFault(more, { title, kind: kinds, rules: game, clock, roster, size: roster, rounds, late_until: late });
	const plan = h("p.plan", { "aria-live": "polite" });
	let [fitting, timer, isPasted] = ["", 0, false];
	roster.addEventListener("paste", () => (isPasted = true));
	const change = button("", () => {
		kind().value = fitting;
		draw();
	}, { hidden: true });
	if (games.includes(app.kept.game)) game.value = app.kept.game;
	clock.value = CLOCKS[1];
	const form = h("form.card.opening", { submit: () => open().catch(refuse), input: draw },
		field(say("page event title"), title),
		kinds,
		h("div.pair", field(say("new room game"), game), field(say("new room clock"), clock)),
		h("fieldset.levels", h("legend", say("page event bots")), bots.map((box) => h("label", box, " ", describeLevel(box.value)))),
		h("div.row", plan, change),
		field(say("page event roster"), roster, say("page event roster note")),
		more, fault, h("button.primary.big", say("page event open it")),
	);
	draw();
	const dialog = openDialog(say("page event new").replace(/\s*…$/, ""), form);

	const terms = () => ({
		kind: /** @type {"swiss"} */ (kind().value), rules: game.value, clock: parseClock(clock.value) ?? {}, bots: bots.filter(({ checked }) => checked).map(({ value }) => value),
		break_ms: +rest.value, double: !robin.hidden && double.checked, rounds: (!swiss.hidden && +rounds.value) || undefined,
	});

	async function ask() {
		const length = new TextEncoder().encode(JSON.stringify(roster.value)).length;
		if (length > MOST_BYTES) throw new Refused({ type: "error", code: "too_long", path: "roster", message: say("refused too_long", { length, most: MOST_BYTES }) });
		return /** @type {Protocol.PlannedEvent} */ ((await app.connection.request({ type: "event_plan", ...terms(), roster: roster.value })).event_plan);
	}

	function draw() {
		blame("");
		swiss.hidden = kind().value !== "swiss";
		robin.hidden = kind().value !== "round_robin";
		clearTimeout(timer);
		timer = setTimeout(drawPlan, PAUSE_MS);
	}

	/** A pasted table is reduced to its names. */
	async function drawPlan() {
		const started = timer;
		const planned = await ask().catch(() => null);
		if (started !== timer) return;
		setText(plan, planned?.text ?? "");
		change.hidden = !planned || planned.kind === kind().value;
		if (!planned) return;
		if (isPasted && /[\t;,]/.test(roster.value)) roster.value = `${planned.names.join("\n")}\n`;
		isPasted = false;
		fitting = planned.kind;
		setText(change, say("page event switch", { kind: nameKind(fitting) }));
	}

	async function open() {
		const { names } = await ask();
		const { event, ticket } = await app.connection.request({
			type: "event_open", title: title.value.trim(), ...terms(), ...(names.length > 0 && { entry: "roster", roster: names }),
			ready_ms: +ready.value, advance: byHand.checked ? "hand" : undefined, ...(!swiss.hidden && { late_until: +late.value }),
		});
		dialog.close();
		app.navigate(`/e/${event}${ticket ? `#${ticket}` : ""}`);
	}
}
