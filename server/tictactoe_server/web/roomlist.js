/** Lists of rooms and games: the players, the game, its status, and a link. */

import { say } from "./catalogue.js";
import { h } from "./dom.js";
import { describeClock, describeManners, nameGame, namePlayers } from "./words.js";

const MOST_LISTED = 40;

/**
 * @param {string} names of who plays @param {string[]} terms @param {string} what it is, or how it went
 * @param {string} verb on the link @param {string} href @param {string} [kind] a class
 */
export function makeRow(names, terms, what, verb, href, kind = "") {
	const link = h("a.go", { href, "aria-label": `${verb}: ${names}, ${[what, ...terms].join(", ")}` }, verb);
	return h("li", { class: kind }, h("span.names", names), h("span.note", terms.join(" · ")), h("span.what", what), link);
}

/** Waiting rooms and running games, the ones that can be joined first. @param {Iterable<Protocol.RoomSummary>} rooms */
export function makeRoomRows(rooms) {
	const open = [...rooms].filter(({ status }) => status !== "over");
	const sorted = [...open.filter(isWaiting), ...open.filter((room) => !isWaiting(room))];
	return sorted.slice(0, MOST_LISTED).map((row) => {
		const { room, rules, ply, clock } = row;
		const terms = [nameGame(rules), describeClock(clock), ...describeManners(row)];
		if (isWaiting(row)) return makeRow(namePlayers(row), terms, room, say("page join"), `/${room}`, "open");
		return makeRow(namePlayers(row), [...terms, say("count move", { n: ply })], room, say("page watch"), `/${room}#watch`);
	});
}

/** @param {Protocol.RoomSummary} room */
const isWaiting = ({ status }) => status === "waiting";
