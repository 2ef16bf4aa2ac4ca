/** The games over days that await the player's move, at the top of the first page. */

import { say, sayTitle } from "./catalogue.js";
import { button, h, setText, showKeyed } from "./dom.js";
import { formatDuration, keepTogether, nameGame } from "./words.js";

/** @param {App} app */
export function makeTurns(app) {
	const [title, list] = [h("h2"), h("ul.rooms")];
	const next = button(sayTitle("page next"), () => app.openNextTurn(), { class: "primary", "aria-keyshortcuts": "." });
	const element = h("section.card.turns", { "aria-labelledby": (title.id = "turns") }, h("div.card-head", title, next), list);
	return { element, onPhase: draw, tick: draw };

	function draw() {
		const { turns } = app;
		element.hidden = !turns.length;
		setText(title, say("page turns", { n: turns.length }));
		showKeyed(list, turns, ({ room }) => room, makeRow, (row, { until }) => {
			setText(row.lastChild, say("page time left", { time: formatDuration(until - performance.now()) }));
		});
	}
}

/** @param {Protocol.Turn} turn */
const makeRow = ({ room, rules }) => h("li", h("a", { href: `/${room}` }, keepTogether(nameGame(rules)), " · ", h("code", room)), h("span.note"));
