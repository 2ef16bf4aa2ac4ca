/** The events of a server, on the home page. */

import { say, sayTitle } from "../catalogue.js";
import { button, h, show } from "../dom.js";
import { makeRow } from "../lobby.js";
import { nameKind, nameStatus } from "./tournaments.js";

/** @param {App} app @param {HTMLElement} section where they stand */
export async function drawEvents(app, section) {
	const { events = [] } = await app.connection.request({ type: "events" }).catch(() => ({ events: [] }));
	const rows = events.map(({ event, title, kind, status, round, players }) => {
		const isOpen = status === "open";
		const terms = [nameKind(kind), say("rules players", { n: players }), status === "running" ? say("tournament now", { round }) : nameStatus(status)];
		return makeRow(title, terms, event, isOpen ? say("page join") : sayTitle("key watch"), `/e/${event}`, isOpen ? "open" : "");
	});
	const mayOpen = app.connection.welcome?.opens_events !== false;
	const open = async () => (await import("./opening.js")).showOpening(app);
	section.hidden = !mayOpen && !rows.length;
	show(section, h("div.card-head", h("h2", say("tournament title")), mayOpen && button(say("page event new"), open)), rows.length > 0 ? h("ul.rooms", rows) : h("p.note", say("page events note")));
}
