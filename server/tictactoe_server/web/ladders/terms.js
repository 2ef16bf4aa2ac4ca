/** The dialog for a challenge, which may be rated. */

import { say, sayTitle } from "../catalogue.js";
import { USUAL_CLOCK, makeClock, parseClock } from "../clocks.js";
import { field, h, openDialog, select, setText, show, submitting } from "../dom.js";
import { PRESETS, rulesOf } from "../rules.js";
import { messageOf } from "../words.js";
import { ask } from "./challenges.js";
import { makeRated } from "./rated.js";

/** @param {App} app @param {string} player */
export function askForGame(app, player) {
	const [game, clock] = [select(PRESETS, (one) => say(`name of ${one}`)), makeClock(app.kept.clock || USUAL_CLOCK, () => undefined)];
	const rated = makeRated(app, clock);
	const side = h("select");
	const fault = h("p.fault", { role: "alert" });
	const form = h("form.ask-terms", { submit: submitting(send), change: judge },
		field(say("new room game"), game), field(say("new room clock"), clock), rated.element,
		field(say("page challenge side"), side), fault,
		h("div.row", h("button.primary", sayTitle("key challenge"))),
	);
	if (PRESETS.includes(app.kept.game)) game.value = app.kept.game;
	const dialog = openDialog(say("page challenge title", { name: app.names.get(player) ?? "" }), form);
	judge();

	async function judge() {
		const { value } = side;
		show(side, ["", ...rulesOf(game.value).marks].map((mark) => h("option", { value: mark, selected: mark === value }, mark || say("page challenge drawn"))));
		await rated.judge(game.value);
	}

	async function send() {
		const terms = { rules: game.value, clock: parseClock(clock.value) ?? null, rated: rated.isOn || undefined };
		try {
			await app.meet();
			await ask(app, { type: "challenge", player, ...terms, side: side.value || undefined });
			dialog.close();
		} catch (error) {
			setText(fault, messageOf(error));
		}
	}
}
