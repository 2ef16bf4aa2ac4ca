/** The dialog for a challenge or a quick match that may be rated, and the card that opens it on the first page. */

import { say } from "../catalogue.js";
import { button, field, h, openDialog, select, setText, show, submitting } from "../dom.js";
import { prepareLadders } from "../later.js";
import { makeClock } from "../playcard.js";
import { PRESETS, rulesOf } from "../rules.js";
import { messageOf, parseClock } from "../words.js";
import { ask } from "./challenges.js";
import { makeRated } from "./rated.js";

/** Open the dialog that challenges a player, or that looks for any opponent if `player` is empty, rated on a `ladder`. @param {App} app */
export function askForGame(app, player = "", ladder = "") {
	const [game, clock, rated] = [select(PRESETS, (one) => say(`name of ${one}`)), makeClock(app.kept.clock || "3+2", () => undefined), makeRated(app, !!ladder)];
	const side = h("select");
	const fault = h("p.fault", { role: "alert" });
	const form = h("form.ask-terms", { submit: submitting(send), change: judge },
		field(say("new room game"), game), field(say("new room clock"), clock), rated.element,
		player && field(say("page challenge side"), side), fault,
		h("div.row", h("button.primary", say(player ? "page challenge" : "home match"))),
	);
	if (PRESETS.includes(ladder || app.kept.game)) game.value = ladder || app.kept.game;
	const dialog = openDialog(player ? say("page challenge title", { name: app.names.get(player) ?? "" }) : say("page look"), form);
	judge();

	async function judge() {
		const { value } = side;
		show(side, ["", ...rulesOf(game.value).marks].map((mark) => h("option", { value: mark, selected: mark === value }, mark || say("page challenge drawn"))));
		await rated.judge(game.value, !!clock.value);
	}

	async function send() {
		const terms = { rules: game.value, clock: parseClock(clock.value) ?? null, rated: rated.isOn || undefined };
		if (!player) {
			dialog.close();
			return void app.play({ type: "match", ...terms });
		}
		try {
			await app.meet();
			await ask(app, { type: "challenge", player, ...terms, side: side.value || undefined });
			dialog.close();
		} catch (error) {
			setText(fault, messageOf(error));
		}
	}
}

/** Show links to the ladders and to a rated match. @param {App} app @param {HTMLElement} section */
export async function showRated(app, section) {
	await prepareLadders();
	const look = button(say("page look"), () => askForGame(app));
	show(section, h("div.card-head", h("h2", say("page rated games")), h("a", { href: "/ladder/" }, say("page ladders"))), h("div.row", look));
}
