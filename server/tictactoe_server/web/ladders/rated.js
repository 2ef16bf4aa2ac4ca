/** Links to ladders and players, the switch for rated games, and their results. */

import { showNotice } from "../banner.js";
import { say } from "../catalogue.js";
import { h, setText } from "../dom.js";
import { setEmblem } from "../emblem.js";
import { nameGame } from "../words.js";
import { describeRated } from "./words.js";

export const nameLadder = (preset = "") => nameGame({ preset, rows: 0, columns: 0, line: 0 });
/** The keys of all ladders; empty before the welcome. @param {App} app @returns {readonly string[]} */
export const listLadders = ({ connection }) => connection.welcome?.ladders ?? [];

/** Return a player's name as a link to the player's page. @param {App} app */
export function linkTo(app, player = "", name = "") {
	const link = h("a", { href: `/player/${player}` }, name);
	app.names.set(player, name);
	setEmblem(link, player);
	return link;
}

/** @param {App} app @param {boolean} [isOn] whether it is on at first */
export function makeRated(app, isOn) {
	const [box, why, arrived] = [h("input", { type: "checkbox", role: "switch", checked: isOn }), h("small"), app.arrive()];
	const element = h("label.field.rated", { hidden: true }, h("span", say("rated")), box, why);
	return { element, judge, get isOn() { return box.checked && !box.disabled; } };

	/** Disable the switch and show the reason if the game cannot be rated. */
	async function judge(preset = "", hasClock = false, isPublic = true) {
		await arrived;
		const keys = listLadders(app);
		const no = !keys.includes(preset) ? "not_allowed ladder" : !isPublic ? "not_allowed rated room" : !hasClock ? "bad_clock rated" : app.connection.welcome?.claimed ? "" : "not_allowed rated name";
		[element.hidden, box.disabled] = [!keys.length, !!no];
		setText(why, no && say(`refused ${no}`, { ladders: keys.map(nameLadder).join(", ") }));
	}
}

/** Announce new ratings in the game's room, or as a notice on any other page. @param {App} app @param {Protocol.Rated} push */
export function tellRated({ names, home, rooms: { shown } }, push) {
	const isHere = shown?.code === push.room;
	const told = describeRated(push, Object.fromEntries(names), (isHere ? shown.viewer : home.welcome?.player) ?? "");
	if (isHere) shown.ears.onTold(told);
	else showNotice(told.join(" "));
}
