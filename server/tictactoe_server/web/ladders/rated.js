/** Ways to ladders and players, and the switch that has a game rated where that is possible. */

import { say } from "../catalogue.js";
import { h, setText } from "../dom.js";
import { setEmblem } from "../emblem.js";
import { nameGame } from "../words.js";

export const nameLadder = (preset = "") => nameGame({ preset, rows: 0, columns: 0, line: 0 });
/** The keys of the ladders that there are, once the server has said welcome. @param {App} app @returns {readonly string[]} */
export const listLadders = ({ connection }) => connection.welcome?.ladders ?? [];

/** The name of a player, which leads to their page. @param {App} app */
export function linkTo(app, player = "", name = "") {
	const link = h("a", { href: `/player/${player}` }, name);
	app.names.set(player, name);
	setEmblem(link, player);
	return link;
}

/** @param {App} app */
export function makeRated(app) {
	const [box, why, arrived] = [h("input", { type: "checkbox", role: "switch" }), h("small"), app.arrive()];
	const element = h("label.field.rated", { hidden: true }, h("span", say("rated")), box, why);
	return { element, judge, get isOn() { return box.checked && !box.disabled; } };

	/** Have it grey, with why, where such a game could not be rated. */
	async function judge(preset = "", hasClock = false, isPublic = true) {
		await arrived;
		const keys = listLadders(app);
		const no = !keys.includes(preset) ? "not_allowed ladder" : !isPublic ? "not_allowed rated room" : !hasClock ? "bad_clock rated" : app.connection.welcome?.claimed ? "" : "not_allowed rated name";
		[element.hidden, box.disabled] = [!keys.length, !!no];
		setText(why, no && say(`refused ${no}`, { ladders: keys.map(nameLadder).join(", ") }));
	}
}
