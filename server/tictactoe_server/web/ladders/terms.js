/** The terms by which one asks somebody or everybody for a game. */

import { say } from "../catalogue.js";
import { button, field, h, openDialog, select, setText, show, submitting } from "../dom.js";
import { makeClock } from "../playcard.js";
import { PRESETS, rulesOf } from "../rules.js";
import { messageOf, parseClock } from "../words.js";
import { ask } from "./challenges.js";
import { makeRated } from "./rated.js";

const WITHIN = ["", "100", "200", "400"];

/** Ask a player for a game, by default everybody. @param {App} app */
export function askForGame(app, player = "") {
	const [game, clock, rated] = [select(PRESETS, (one) => say(`name of ${one}`)), makeClock(app.kept.clock || "3+2", () => undefined), makeRated(app)];
	const [side, within] = [h("select"), select(WITHIN, (one) => (one ? say("challenge within", { n: Number(one) }) : say("page seek anybody")))];
	const fault = h("p.fault", { role: "alert" });
	const form = h("form.ask-terms", { submit: submitting(send), change: judge },
		field(say("new room game"), game), field(say("new room clock"), clock), rated.element,
		player ? field(say("page challenge side"), side) : field(say("page seek within"), within), fault,
		h("div.row", h("button.primary", say(player ? "page challenge" : "page seek")), !player && button(say("home match"), () => (dialog.close(), app.play({ type: "match", ...readTerms() })))),
	);
	game.value = app.kept.game;
	const dialog = openDialog(player ? say("page challenge title", { name: app.names.get(player) ?? "" }) : say("page seek new"), form);
	judge();

	async function judge() {
		const { value } = side;
		show(side, ["", ...rulesOf(game.value).marks].map((mark) => h("option", { value: mark, selected: mark === value }, mark || say("page challenge drawn"))));
		await rated.judge(game.value, !!clock.value);
		within.disabled = !rated.isOn;
	}

	function readTerms() {
		const terms = { rules: game.value, clock: parseClock(clock.value) ?? null, rated: rated.isOn || undefined };
		return player ? terms : { ...terms, within: rated.isOn && within.value ? Number(within.value) : undefined };
	}

	async function send() {
		try {
			await app.meet();
			await ask(app, player ? { type: "challenge", player, ...readTerms(), side: side.value || undefined } : { type: "seek", ...readTerms() });
			dialog.close();
		} catch (error) {
			setText(fault, messageOf(error));
		}
	}
}
