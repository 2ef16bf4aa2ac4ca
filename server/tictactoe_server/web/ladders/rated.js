/** Ways to ladders and players, the switch that has a game rated where that is possible, and what is said of such games. */

import { showNotice } from "../banner.js";
import { say } from "../catalogue.js";
import { button, h, isStale, setText, showKeyed } from "../dom.js";
import { setEmblem } from "../emblem.js";
import { nameGame } from "../words.js";
import { describeRated, describeWaiting } from "./words.js";

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

/** Say in the card of a room that waits how far is looked, and lead to an older one from there. @param {App} app @param {Protocol.Waiting} push */
export function tellWaiting(app, push) {
	const [{ room, to = "" }, card] = [push, document.querySelector(".invite-words")];
	if (!card || app.rooms.shown?.code !== room) return;
	const told = describeWaiting(push);
	const place = card.querySelector(".within") ?? card.appendChild(h("div.row.within"));
	const go = async () => (await app.play({ type: "join", room: to })) && app.rooms.giveUp(room);
	showKeyed(place, ["", to].slice(0, to ? 2 : 1), String, (key) => (key ? button(say("page waiting go"), go, { class: "primary" }) : h("p")));
	setText(/** @type {Element} */ (place.firstElementChild), told);
	if (!isStale(place, to) || !to) return;
	app.say(told, true);
	app.sound.play("turn");
}
