/** Links to ladders and players, and the switch for rated games. */

import { say, sayOr } from "./catalogue.js";
import { closing, h, setText } from "./dom.js";
import { RATED_CLOCK, checkbox, parseClock } from "./forms.js";
import { setEmblem } from "./shapes.js";

export const nameLadder = (preset = "") => sayOr(`name of ${preset}`, preset);

/** @param {App} app */
export function linkTo(app, player = "", name = "") {
	const link = h("a", { href: `/player/${player}` }, name);
	app.names.set(player, name);
	setEmblem(link, player);
	return link;
}

/** Whether the player has a name of their own, after an offer to keep one. @param {App} app */
async function hasOwnName(app) {
	await app.arrive();
	if (!app.connection.welcome?.claimed) await closing((await import("./names.js")).showNames(app));
	return !!app.connection.welcome?.claimed;
}

/** @param {App} app @param {HTMLSelectElement} clock */
export function makeRated(app, clock) {
	const [box, why] = [checkbox({ role: "switch", change: turn }), h("small")];
	const title = h("span", say("rated"));
	const element = h("label.field.rated", { hidden: true }, title, box, why);
	clock.addEventListener("change", () => (box.checked &&= !!clock.value));
	return { element, judge, get isOn() { return (box.checked && !box.hidden) || undefined; } };

	async function turn() {
		if (!box.checked) return;
		clock.value ||= RATED_CLOCK;
		box.checked = await hasOwnName(app);
	}

	/** Hide the switch on servers without ladders; if only this game has none, name those that do. */
	async function judge(preset = "") {
		await app.arrive();
		const keys = app.connection.welcome?.ladders ?? [];
		title.hidden = box.hidden = !keys.includes(preset);
		element.hidden = app.isNamed || !keys.length;
		setText(why, box.hidden ? say("refused not_allowed ladder", { ladders: keys.map(nameLadder).join(", ") }) : say("rated note"));
	}
}

/** @param {App} app */
export async function playRated(app, preset = "") {
	if (await hasOwnName(app)) app.play({ type: "match", rules: preset, clock: parseClock(app.kept.clock || RATED_CLOCK), rated: true });
}
