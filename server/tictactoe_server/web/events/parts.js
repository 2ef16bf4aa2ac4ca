/** What one does in an event: a player enters, goes to the board, pauses and leaves; the organiser runs it. */

import { say, sayTitle } from "../catalogue.js";
import { button, field, h, nameInput, setText } from "../dom.js";
import { isGuest } from "../identity.js";
import { Refused } from "../requests.js";
import { messageOf } from "../words.js";
import { sure } from "./pairings.js";
import { describeOwn, ownBoard, rowOf } from "./tournaments.js";

/** The tickets used to enter, by event code: they bring the player back from another device. @type {Map<string, string>} */
const tickets = new Map();

export class Entry {
	/** Whether the player's name in the event was adopted as their own for later events. */
	#isNamed = false;
	#name = nameInput({ focus: () => this.#name.select() });
	#ticket = h("input", { autocomplete: "off", maxlength: 64 });
	#fault = h("p.fault", { role: "alert" });
	#told = h("p.told");
	#named = field(say("page event your name"), this.#name);
	#ticketed = field(say("page event ticket"), this.#ticket);
	#form = h("form.row", { submit: () => this.#enter() }, this.#named, this.#ticketed, h("button.primary.big", say("page join")));
	#board = button(say("page event board"), () => this.following.app.play({ type: "join", room: this.#room }), { class: "primary big" });
	#back = button(say("page event back"), () => this.#do({ type: "event_ready", on: true }), { class: "primary" });
	#pause = button(sayTitle("key event pause"), () => this.#do({ type: "event_ready", on: false }));
	#leave = button(sayTitle("deed leave"), () => confirm(say("tournament sure to leave")) && this.#do({ type: "event_leave" }));
	element = h("section.card.entry", { "aria-label": say("page event you") },
		this.#told, this.#form, h("div.row", this.#board, this.#back, this.#pause, this.#leave), this.#fault,
	);

	/** @param {Following} following */
	constructor(following, ticket = "") {
		ticket ||= tickets.get(following.code) ?? "";
		this.following = following;
		this.#name.value = following.app.connection.name;
		this.#ticket.value = ticket;
		following.hasCard = ticket !== "";
	}

	draw() {
		const { state, player, deeds } = this.following;
		if (!state) return;
		const [may, { head }] = [(deed = "") => deeds.includes(deed), state];
		const own = describeOwn(state, player);
		const { app } = this.following;
		const row = rowOf(state, player);
		if (row && !this.#isNamed && isGuest(app.connection.name)) app.bear(row.name);
		this.#isNamed = !!row;
		// An organiser who hands out the cards does not need one.
		this.element.hidden = !own && this.following.isOrganiser && (!may("join") || (head.entry === "roster" && !this.following.hasCard));
		this.#form.hidden = !may("join");
		this.#named.hidden = head.entry === "roster" || app.isNamed;
		this.#ticketed.hidden = (head.entry ?? "open") === "open" || this.following.hasCard;
		this.#board.hidden = !this.#room;
		this.#back.hidden = !may("ready");
		this.#pause.hidden = !may("away");
		this.#leave.hidden = !may("leave");
		setText(this.#told, own || say(!may("join") ? "page event only watching" : head.entry !== "roster" ? "page event enter" : state.may?.[""]?.length ? "page event by card" : "page event by card late"));
	}

	get #room() {
		const { state, player } = this.following;
		return (state && ownBoard(state, player)?.room) ?? "";
	}

	async #enter() {
		const [ticket, name] = [this.#ticket.value.trim(), this.#name.value.trim()];
		if (!(await this.#do({ type: "event_join", ticket: ticket || undefined, name: (!this.#named.hidden && name) || undefined }))) return this.#name.focus();
		tickets.set(this.following.code, ticket);
		// A player who has entered no longer needs the ticket, so do not show it to bystanders.
		return history.replaceState(null, "", location.pathname);
	}

	/** Send a request; a card that is in use on another device can be taken over. @param {AboutIt} request @returns {Promise<Ok | void>} */
	async #do(request) {
		const { following } = this;
		setText(this.#fault, "");
		try {
			return await following.ask(request);
		} catch (error) {
			const isInUse = error instanceof Refused && error.why === "event card";
			if (isInUse && confirm(`${error.message} ${say("card here")}`)) return this.#do({ ...request, here: true });
			return void setText(this.#fault, messageOf(error));
		}
	}
}

/** @type {Record<string, string>} */
const LABELS = { begin: "type begin", next: "tournament do next", pause: "tournament do pause", resume: "tournament do resume", close: "tournament do close" };
const MOST_TRIES = 3;
const MAIN = ["begin", "next", "resume"];

export class Organiser {
	told = h("p.told");

	/** @param {Following} following */
	constructor(following, ticket = "") {
		const { app, code } = following;
		this.following = following;
		this.run = this.run.bind(this);
		this.buttons = Object.keys(LABELS).map((action) => {
			const make = action === "close" ? sure : button;
			const does = () => (action === "begin" ? this.#begin() : this.run(action));
			return { action, element: make(sayTitle(LABELS[action]), does, { class: MAIN.includes(action) ? "primary" : "" }) };
		});
		const name = nameInput({ autocomplete: "off" });
		this.roster = h("form.row", { submit: () => this.run("add", { name: name.value }).then((ok) => ok && (name.value = "")) },
			field(say("page event add"), name), h("button", say("page event add it")));
		this.ticket = ticket;
		this.wall = h("a.go", say("page event wall"));
		this.cards = h("a.go", { href: `/e/${code}/cards` }, say("page event cards"));
		const link = app.linkTo(`e/${code}${ticket && `#${ticket}`}`);
		const close = this.buttons[this.buttons.length - 1].element;
		this.element = h("section.card", { "aria-label": say("page event organise") }, h("h2", say("page event organise")),
			this.told, h("div.row", this.buttons.slice(0, -1).map(({ element }) => element)),
			h("div.row", this.wall, button(sayTitle("deed copy"), () => app.copy(link)), this.cards),
			this.roster, h("div.row", close),
		);
	}

	draw() {
		const { deeds, code, state } = this.following;
		const hash = this.ticket || (state?.key ? `key=${state.key}` : "");
		this.wall.setAttribute("href", `/e/${code}/wall${hash && `#${hash}`}`);
		for (const { action, element } of this.buttons) element.hidden = !deeds.includes(action);
		this.roster.hidden = !deeds.includes("add");
		this.cards.hidden = !deeds.includes("cards");
		this.tick();
	}

	tick() {
		const { app, code, state, missing, presence, waiting } = this.following;
		const isEmpty = state?.status === "open" && state.head.entry === "roster" && !state.table.some(({ status = "in" }) => status === "in");
		this.cards.classList.toggle("primary", isEmpty);
		const told = state?.status !== "open" ? waiting : missing.n ? `${presence} ${waiting}` : presence;
		setText(this.told, isEmpty ? say("page event give", { address: app.linkTo(`e/${code}`).replace(/^https?:\/\//, "") }) : told);
	}

	#begin() {
		const { missing } = this.following;
		if (!missing.n || confirm(say("tournament begin without", missing))) this.run("begin");
	}

	/** @param {Record<string, string>} [about] */
	async run(action = "", about = {}) {
		const { following } = this;
		const meant = following.state;
		for (let tries = MOST_TRIES; ; tries--) {
			try {
				return await following.ask({ type: "event_run", seq: following.state?.seq, action, ...about });
			} catch (error) {
				const isStale = error instanceof Refused && error.code === "stale" && tries > 0;
				if (isStale) await following.renew().catch(() => undefined);
				// If only players have entered meanwhile, for example, the action still means the same.
				if (!isStale || following.state?.status !== meant?.status || following.state?.round !== meant?.round) return following.app.say(messageOf(error));
			}
		}
	}
}
