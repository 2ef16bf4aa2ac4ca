/** The page of an event: the player's part, the table, and the pairings. */

import { say, sayTitle } from "../catalogue.js";
import { button, h, setText, show } from "../dom.js";
import { formatDuration } from "../words.js";
import { Entry, Organiser } from "./parts.js";
import { Following } from "./following.js";
import { drawPairings, sure } from "./pairings.js";
import { Table, makeBracket, makeCrossTable } from "./table.js";
import { describeStanding, describeTerms, isOpen, isOver, listNotes } from "./tournaments.js";

export class EventPage {
	#title = h("h1");
	#terms = h("p.note");
	#standing = h("p.standing");
	#share = button(sayTitle("key share"), async () => (await import("../share.js")).showShare(this.following.app, { path: `e/${this.following.code}`, isPublic: true }), { hidden: true });
	#table = new Table();
	#now = h("ul.pairings");
	#mine = h("ul.pairings");
	#past = h("ul.pairings");
	#cross = h("div");
	#round = h("h2");
	#bracket = h("div.scrolls", { tabindex: 0, role: "region", "aria-label": say("tournament bracket") });
	#presence = h("h2");
	#decision = h("p.note");
	element = h("div.event");

	/** @param {App} app */
	constructor(app, code = "", ticket = "") {
		this.following = new Following(app, code, () => this.draw());
		this.entry = new Entry(this.following, ticket);
		this.organiser = new Organiser(this.following, ticket);
		this.parts = {
			table: h("section.card", { "aria-label": say("page event table") }, this.#presence, this.#table.element, this.#decision),
			bracket: h("section.card", { hidden: true }, this.#bracket),
			now: h("section.card", { hidden: true, "aria-label": say("page event pairings") }, this.#round, this.#now),
			mine: h("section.card", { hidden: true }, h("h2", say("page event mine")), this.#mine),
			past: h("details.card", { open: true, hidden: true }, h("summary", say("page event past")), this.#past),
			cross: h("section.card", { hidden: true }, h("h2", say("page event cross")), this.#cross),
		};
		show(this.element,
			h("div.hero", h("div", this.#title, this.#terms, this.#share), this.#standing),
			h("div.event-side", this.organiser.element, this.entry.element, this.parts.now),
			h("div.event-main", this.parts.bracket, this.parts.table, this.parts.cross, this.parts.past, this.parts.mine),
		);
		this.follows = [this.following];
	}

	get title() {
		return this.following.state?.head.title ?? say("page event");
	}

	draw() {
		const { state, whole, player, isOrganiser, refused, app, presence } = this.following;
		if (refused && !state) return show(this.element, app.makeNothing(refused).element);
		if (!state) return undefined;
		app.retitle(this.title);
		setText(this.#title, this.title);
		setText(this.#terms, describeTerms(state));
		this.#share.hidden = state.head.entry !== "open";
		this.entry.draw();
		this.organiser.element.hidden = !isOrganiser;
		this.organiser.draw();
		this.parts.bracket.hidden = !whole?.bracket;
		show(this.#bracket, makeBracket(whole?.bracket ?? [], player));
		setText(this.#presence, state.status === "open" ? presence : say("page event table"));
		setText(this.#decision, listNotes(state).join(" "));
		setText(this.#round, state.round ? say("tournament now", { round: state.round }) : say("page event pairings"));
		this.parts.table.hidden = !state.table.length && !state.expected;
		this.parts.now.hidden = !state.pairings.length;
		this.#drawPast();
		return this.tick();
	}

	#drawNow() {
		const { following, organiser } = this;
		const { state, player, isOrganiser } = following;
		const run = isOrganiser && state && !isOver(state) ? organiser.run : null;
		this.#table.draw(following, run ? ({ player: id, name, status = "in" }) => status !== "expelled" && sure(say("page event take out"), () => run("expel", status === "expected" ? { name } : { player: id }), { "aria-label": say("page event expel", { name }) }) : undefined);
		drawPairings(this.#now, state?.pairings ?? [], player, run, false, following);
	}

	#drawPast() {
		const { state, whole, player } = this.following;
		if (!state || !whole) return;
		const { round, head: { kind } } = state;
		const scored = whole.pairings.filter((pairing) => !isOpen(pairing));
		const mine = scored.filter(({ players }) => Object.values(players).includes(player));
		drawPairings(this.#mine, mine, player, null, true);
		this.parts.mine.hidden = !mine.length;
		this.parts.cross.hidden = kind !== "round_robin" || !whole.pairings.length;
		this.parts.past.hidden = kind !== "swiss" || round < 2;
		if (!this.parts.cross.hidden) show(this.#cross, makeCrossTable(whole, player));
		else drawPairings(this.#past, scored.filter((pairing) => pairing.round < round).reverse(), player, null, true);
	}

	tick() {
		const { state, left, waiting } = this.following;
		if (!state) return;
		const standing = state.needed ? waiting : describeStanding(state);
		this.#drawNow();
		this.organiser.tick();
		setText(this.#standing, left === null ? standing : say("page event due", { standing, time: formatDuration(left) }));
	}
}
