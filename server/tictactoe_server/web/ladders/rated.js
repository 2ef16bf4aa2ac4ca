/** Links to ladders and players, the switch for a rated game, and the results of rated games. */

import { showNotice } from "../banner.js";
import { say } from "../catalogue.js";
import { button, h, setText, show } from "../dom.js";
import { setEmblem } from "../emblem.js";
import { prepareLadders } from "../later.js";
import { nameGame } from "../words.js";
import { describeRated } from "./words.js";

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

/** Say what a game changed: in its room, else over the page that is shown. @param {App} app @param {Protocol.Rated} push */
export function tellRated({ names, home, rooms: { shown } }, push) {
	const isHere = shown?.code === push.room;
	const told = describeRated(push, Object.fromEntries(names), (isHere ? shown.viewer : home.welcome?.player) ?? "");
	if (isHere) shown.ears.onTold(told);
	else showNotice(told.join(" "));
}

/** Show the way to the ladders and to a rated match. @param {App} app @param {HTMLElement} section */
export async function showRated(app, section) {
	await prepareLadders();
	const look = async () => (await import("./terms.js")).askForGame(app);
	show(section, h("div.card-head", h("h2", say("page rated games")), h("a", { href: "/ladder/" }, say("page ladders"))), h("div.row", button(say("page look"), look)));
}
