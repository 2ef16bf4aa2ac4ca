/** A small dialog that opens an event, and says how long it would take: the port of `tictactoe_protocol.plans`. */

import { say, sayTitle } from "../catalogue.js";
import { button, field, h, openDialog, select, setText } from "../dom.js";
import { makeFault, parseClock } from "../forms.js";
import { PRESETS, rulesOf } from "../rules.js";
import { LEVELS, describeClock, describeLevel, formatDuration } from "../words.js";
import { readRoster } from "./roster.js";
import { nameKind } from "./tournaments.js";

const KINDS = ["round_robin", "swiss", "knock_out"];
const CLOCKS = ["1+1", "3+2", "5+3", "10/move", "30/move", "1d", "3d"];
const SECONDS = [5, 30, 60, 120, 300, 600];

function selectTime(usual = 60) {
	const times = select(SECONDS.map((one) => `${one}000`), (ms) => formatDuration(Number(ms)));
	times.value = `${usual}000`;
	return times;
}

const makeKinds = () => h("fieldset.kinds", h("legend", sayTitle("column kind")), KINDS.map((value, at) =>
	h("label", h("input", { type: "radio", name: "kind", value, checked: !at }), h("b", nameKind(value)), h("small", say(`tournament about ${value}`)))));

/** Players, rounds and duration, and a button that changes to the kind that fits. @param {() => RadioNodeList} kind @param {() => Plan} read */
function makePlan(kind, read) {
	const told = h("p.plan", { "aria-live": "polite" });
	const change = button("", () => {
		kind().value = fitting();
		change.dispatchEvent(new Event("input", { bubbles: true }));
	});
	return { element: h("div.row", told, change), draw };

	function fitting() {
		return fittingKind(kind().value, read().players);
	}

	function draw() {
		setText(told, describePlan(read()));
		change.hidden = fitting() === kind().value;
		setText(change, say("page event switch", { kind: nameKind(fitting()) }));
	}
}

function makeRoster() {
	const roster = h("textarea", { rows: 5, placeholder: say("page event roster example") });
	roster.addEventListener("input", (event) => {
		if (/** @type {InputEvent} */ (event).inputType === "insertFromPaste" && /[\t;,]/.test(roster.value)) roster.value = `${readRoster(roster.value).join("\n")}\n`;
	});
	return roster;
}

/** @param {App} app */
export function showOpening(app) {
	const title = h("input", { maxlength: 60, required: true, autocomplete: "off", autofocus: true });
	const kinds = makeKinds();
	const kind = () => /** @type {RadioNodeList} */ (form.elements.namedItem("kind"));
	const games = PRESETS.filter((one) => rulesOf(one).marks.length === 2);
	const game = select(games, (one) => say(`name of ${one}`));
	const clock = select(CLOCKS, (one) => describeClock(parseClock(one)));
	const bots = LEVELS.map((level) => h("input", { type: "checkbox", value: level }));
	const roster = makeRoster();
	const [rounds, late] = [1, 0].map((min) => h("input", { type: "number", min, max: 50 }));
	const [ready, rest] = [selectTime(60), selectTime(30)];
	const [byHand, double] = [1, 2].map(() => h("input", { type: "checkbox" }));
	const swiss = h("div.pair", field(say("page event rounds"), rounds), field(say("page event late"), late));
	const robin = h("label", double, " ", say("option double"));
	const more = h("details", h("summary", say("new room more")),
		h("div.pair", field(say("page event ready"), ready), field(say("page event break"), rest)), swiss, h("div.levels", h("label", byHand, " ", say("page event by hand")), robin));
	const { element: fault, blame, refuse } = makeFault(more, { title, kind: kinds, rules: game, clock, roster, size: roster, rounds, late_until: late });
	const plan = makePlan(kind, readPlan);
	if (games.includes(app.kept.game)) game.value = app.kept.game;
	clock.value = CLOCKS[1];
	const form = h("form.card.opening", { submit: open, input: draw },
		field(say("page event title"), title),
		kinds,
		h("div.pair", field(say("new room game"), game), field(say("new room clock"), clock)),
		h("fieldset.levels", h("legend", say("page event bots")), bots.map((box) => h("label", box, " ", describeLevel(box.value)))),
		plan.element,
		field(say("page event roster"), roster, say("page event roster note")),
		more, fault, h("button.primary.big", say("page event open it")),
	);
	draw();
	const dialog = openDialog(say("page event new"), form);

	function readPlan() {
		const players = readRoster(roster.value).length + bots.filter(({ checked }) => checked).length;
		const { rows, columns } = rulesOf(game.value);
		return { kind: kind().value, players, cells: rows * columns, clock: parseClock(clock.value) ?? {}, break_ms: +rest.value, double: double.checked, rounds: +rounds.value };
	}

	function draw() {
		blame("");
		swiss.hidden = kind().value !== "swiss";
		robin.hidden = kind().value !== "round_robin";
		plan.draw();
	}

	async function open() {
		const names = readRoster(roster.value);
		try {
			const { event, ticket } = await app.connection.request({
				type: "event_open", title: title.value.trim(), kind: /** @type {"swiss"} */ (kind().value), rules: game.value, clock: parseClock(clock.value) ?? {},
				bots: bots.filter((box) => box.checked).map((box) => box.value), ...(names.length > 0 && { entry: "roster", roster: names }),
				ready_ms: +ready.value, break_ms: +rest.value, advance: byHand.checked ? "hand" : undefined, double: !robin.hidden && double.checked,
				...(!swiss.hidden && { ...(rounds.value && { rounds: +rounds.value }), late_until: +late.value }),
			});
			dialog.close();
			app.navigate(`/e/${event}${ticket ? `#${ticket}` : ""}`);
		} catch (error) {
			refuse(error);
		}
	}
}

const [MAX_ENTRANTS, MAX_ROUND_ROBIN] = [200, 24];
const [MOST_PLIES, MOVE_MS, GAMES_OF_MATCH, MINUTE_MS] = [40, 8_000, 3, 60_000];

const mostEntrants = (kind = "") => (kind === "round_robin" ? MAX_ROUND_ROBIN : MAX_ENTRANTS);

/** Return the given kind of tournament, or Swiss if only that takes this many players. */
export const fittingKind = (kind = "", players = 0) => (mostEntrants(kind) < players && players <= MAX_ENTRANTS ? "swiss" : kind);

/** @param {Plan} plan */
function countRounds({ kind, players, double, rounds }) {
	const each = players - 1 + (players % 2);
	if (kind === "round_robin") return each * (double ? 2 : 1);
	const needed = Math.ceil(Math.log2(players));
	return kind === "knock_out" ? needed : rounds || Math.max(needed, Math.min(3, each));
}

/** @param {Plan} plan */
function estimateMinutes({ kind, cells, clock, break_ms }, rounds = 0) {
	const plies = Math.min(cells, MOST_PLIES);
	const move = (clock.days ?? 0) * 86_400_000 || clock.move_ms || Math.floor((2 * (clock.initial_ms ?? 0)) / plies) + (clock.increment_ms ?? 0);
	const game = plies * Math.min(Math.floor(move / 2), Math.max(MOVE_MS, Math.floor(move / 10)));
	const round = break_ms + game * (kind === "knock_out" ? GAMES_OF_MATCH : 1);
	return Math.max(1, Math.floor((rounds * round + MINUTE_MS / 2) / MINUTE_MS));
}

/** Describe players, rounds and duration, or say that there are too many players; "" for fewer than two. @param {Plan} plan */
export function describePlan(plan) {
	const { kind, players } = plan;
	if (players < 2) return "";
	if (players > mostEntrants(kind)) return say("tournament plan full", { players, most: mostEntrants(kind) });
	const rounds = countRounds(plan);
	const minutes = estimateMinutes(plan, rounds);
	const hours = Math.floor((minutes + 30) / 60);
	const time = hours > 1 ? say("tournament plan hours", { n: hours }) : say("tournament plan minutes", { n: minutes });
	return say("tournament plan", { players: say("rules players", { n: players }), rounds: say("tournament plan rounds", { n: rounds }), time });
}
