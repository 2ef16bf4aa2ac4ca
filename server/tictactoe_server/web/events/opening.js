/** A small dialog that opens an event. */

import { say } from "../catalogue.js";
import { field, h, select, setText, submitting } from "../dom.js";
import { openDialog } from "../dialog.js";
import { PRESETS, rulesOf } from "../rules.js";
import { describeWord } from "./tournaments.js";
import { LEVELS, describeClock, describeLevel, messageOf, parseClock } from "../words.js";

const KINDS = ["round_robin", "swiss", "knock_out"];
const CLOCKS = ["1+1", "3+2", "5+3", "10/move", "30/move"];

/** @param {App} app */
export function showOpening(app) {
	const title = h("input", { maxlength: 60, required: true, autocomplete: "off" });
	const kind = select(KINDS.map((one) => [one, describeWord("kind", one)]));
	const games = PRESETS.filter((one) => rulesOf(one).marks.length === 2);
	const game = select(games.map((one) => [one, say(`name of ${one}`)]));
	const clock = select(CLOCKS.map((one) => [one, describeClock(parseClock(one))]));
	const bots = LEVELS.map((level) => h("input", { type: "checkbox", value: level }));
	const roster = h("textarea", { rows: 6, placeholder: say("page event roster example") });
	const fault = h("p.fault", { role: "alert" });
	if (games.includes(app.kept.game)) game.value = app.kept.game;
	clock.value = CLOCKS[1];
	const form = h("form.card.opening", { submit: submitting(open) },
		field(say("page event title"), title),
		h("div.pair", {}, field(say("page event kind"), kind), field(say("new room game"), game)),
		h("div.pair", {}, field(say("new room clock"), clock), h("fieldset.levels", {}, h("legend", {}, say("page event bots")), bots.map((box) => h("label", {}, box, " ", describeLevel(box.value))))),
		field(say("page event roster"), roster, say("page event roster note")),
		fault, h("button.primary.big", {}, say("page event open it")),
	);
	const dialog = openDialog(say("page event new"), form);
	title.focus();

	async function open() {
		const names = roster.value.split("\n").map((line) => line.trim()).filter(Boolean);
		try {
			const { event, ticket } = await app.connection.request({
				type: "event_open", title: title.value.trim(), kind: /** @type {"swiss"} */ (kind.value), rules: game.value, clock: parseClock(clock.value) ?? {},
				bots: bots.filter((box) => box.checked).map((box) => box.value), ...(names.length > 0 && { entry: "roster", roster: names }),
			});
			dialog.close();
			app.navigate(`/e/${event}${ticket ? `#${ticket}` : ""}`);
		} catch (error) {
			setText(fault, messageOf(error));
		}
	}
}
