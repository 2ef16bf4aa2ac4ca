/** The page of an event: the player's part, the table, and the pairings. */

import { say, sayTitle } from "../catalogue.js";
import { button, h, setText, show } from "../dom.js";
import { formatDuration } from "../words.js";
import { makeEntry, makeOrganiser } from "./parts.js";
import { Following } from "./following.js";
import { drawPairings, sure } from "./pairings.js";
import { makeBracket, makeCrossTable, makeStandings } from "./table.js";
import { describeStanding, describeTerms, isOpen, isOver, listNotes } from "./tournaments.js";

/** @param {App} app */
export function makeEventPage(app, code = "", ticket = "") {
	const following = new Following(app, code, draw);
	const entry = makeEntry(following, ticket);
	const organiser = makeOrganiser(following, ticket);
	const [title, terms, standing] = [h("h1"), h("p.note"), h("p.standing")];
	const share = button(sayTitle("key share"), async () => (await import("../share.js")).showShare(app, { path: `e/${code}`, isPublic: true }), { hidden: true });
	const [standings, presence, decision] = [makeStandings(), h("h2"), h("p.note")];
	const bracket = h("div.scrolls", { tabindex: 0, role: "region", "aria-label": say("tournament bracket") });
	const [now, round] = [h("ul.pairings"), h("h2")];
	const [mine, past, cross] = [h("ul.pairings"), h("ul.pairings"), h("div")];
	const parts = {
		table: h("section.card", { "aria-label": say("page event table") }, presence, standings.element, decision),
		bracket: h("section.card", { hidden: true }, bracket),
		now: h("section.card", { hidden: true, "aria-label": say("page event pairings") }, round, now),
		mine: h("section.card", { hidden: true }, h("h2", say("page event mine")), mine),
		past: h("details.card", { open: true, hidden: true }, h("summary", say("page event past")), past),
		cross: h("section.card", { hidden: true }, h("h2", say("page event cross")), cross),
	};
	const element = h("div.event",
		h("div.hero", h("div", title, terms, share), standing),
		h("div.event-side", organiser.element, entry.element, parts.now),
		h("div.event-main", parts.bracket, parts.table, parts.cross, parts.past, parts.mine),
	);
	return { title: say("page event"), element, follows: [following], tick };

	function draw() {
		const { state, whole, player, isOrganiser, refused } = following;
		if (refused && !state) return show(element, app.makeNothing(refused).element);
		if (!state) return undefined;
		app.retitle(state.head.title);
		setText(title, state.head.title);
		setText(terms, describeTerms(state));
		share.hidden = state.head.entry !== "open";
		entry.draw();
		organiser.element.hidden = !isOrganiser;
		organiser.draw();
		parts.bracket.hidden = !whole?.bracket;
		show(bracket, makeBracket(whole?.bracket ?? [], player));
		setText(presence, state.status === "open" ? following.presence : say("page event table"));
		setText(decision, listNotes(state).join(" "));
		setText(round, state.round ? say("tournament now", { round: state.round }) : say("page event pairings"));
		parts.table.hidden = !state.table.length && !state.expected;
		parts.now.hidden = !state.pairings.length;
		drawPast();
		return tick();
	}

	function drawPast() {
		const { state, whole, player } = following;
		if (!state || !whole) return;
		const { kind } = state.head;
		const scored = whole.pairings.filter((pairing) => !isOpen(pairing));
		const own = scored.filter(({ players }) => Object.values(players).includes(player));
		drawPairings(mine, own, player, null, true);
		parts.mine.hidden = !own.length;
		parts.cross.hidden = kind !== "round_robin" || !whole.pairings.length;
		parts.past.hidden = kind !== "swiss" || state.round < 2;
		if (!parts.cross.hidden) show(cross, makeCrossTable(whole, player));
		else drawPairings(past, scored.filter((pairing) => pairing.round < state.round).reverse(), player, null, true);
	}

	function tick() {
		const { state, left, waiting, player, isOrganiser } = following;
		if (!state) return;
		const told = state.needed ? waiting : describeStanding(state);
		const run = isOrganiser && !isOver(state) ? organiser.run : null;
		standings.draw(following, run ? ({ player: id, name, status = "in" }) => status !== "expelled" && sure(say("page event take out"), () => run("expel", status === "expected" ? { name } : { player: id }), { "aria-label": say("page event expel", { name }) }) : undefined);
		drawPairings(now, state.pairings, player, run, false, following);
		organiser.tick();
		setText(standing, left === null ? told : say("page event due", { standing: told, time: formatDuration(left) }));
	}
}
