/** What one does in an event oneself: enter it, go to the board, pause, leave; and how one stands. */

import { say } from "../catalogue.js";
import { button, field, h, setText, submitting } from "../dom.js";
import { isGuest } from "../identity.js";
import { Refused } from "../requests.js";
import { clean, messageOf } from "../words.js";
import { formatPoints, orWord, sidesOf } from "./words.js";
import { sure } from "./pairings.js";

/** By the codes of events the tickets with which one came in: they lead back from another device. @type {Map<string, string>} */
const tickets = new Map();

export class Entry {
	/** Whether the name that one has here was taken for one's own, for later events. */
	#isNamed = false;
	#name = h("input", { maxlength: 24, autocomplete: "nickname", focus: () => this.#name.select() });
	#ticket = h("input", { autocomplete: "off", maxlength: 64 });
	#fault = h("p.fault", { role: "alert" });
	#told = h("p.told");
	#named = field(say("page event your name"), this.#name);
	#ticketed = field(say("page event ticket"), this.#ticket);
	#form = h("form.row", { submit: submitting(() => this.#enter()) }, this.#named, this.#ticketed, h("button.primary.big", {}, say("page join")));
	#here = h("div.ask", { hidden: true, role: "alert" }, h("p", {}, say("page event card")), button(say("page event here"), () => this.#enter(true), { class: "primary" }), button(say("page cancel"), () => void (this.#here.hidden = true)));
	#board = button(say("page event board"), () => this.following.app.play({ type: "join", room: this.#pairing?.room ?? "" }), { class: "primary big" });
	#back = button(say("page event back"), () => this.#do({ type: "event_ready", on: true }), { class: "primary" });
	#pause = button(say("page event pause"), () => this.#do({ type: "event_ready", on: false }));
	#leave = sure(say("page event leave"), () => this.#do({ type: "event_leave" }));
	element = h("section.card.entry", { "aria-label": say("page event you") },
		this.#told, this.#form, this.#here, h("div.row", {}, this.#board, this.#back, this.#pause, this.#leave), this.#fault,
	);

	/** @param {Following} following @param {string} ticket that came with the link */
	constructor(following, ticket) {
		ticket ||= tickets.get(following.code) ?? "";
		this.following = following;
		this.#name.value = following.app.connection.name;
		this.#ticket.value = ticket;
		this.hasCard = ticket !== "";
	}

	draw() {
		const { state, own } = this.following;
		if (!state) return;
		const { status, round, head } = state;
		if (own && !this.#isNamed && isGuest(this.following.app.connection.name)) this.following.app.bear(clean(own.name));
		this.#isNamed = !!own;
		const isOn = status === "running" || status === "paused";
		const isOpen = status === "open" || (isOn && (round <= (head.late_until ?? 0) || (head.entry === "roster" && this.hasCard)));
		const isIn = (status === "open" || isOn) && (own?.status ?? "in") === "in" && !!own;
		const isAway = isOn && own?.status === "away";
		this.element.hidden = !own && !isOpen && this.following.isOrganiser;
		this.#form.hidden = !!own || !isOpen;
		this.#named.hidden = head.entry === "roster";
		this.#ticketed.hidden = (head.entry ?? "open") === "open" || this.hasCard;
		this.#board.hidden = !this.#pairing;
		this.#back.hidden = !isAway;
		this.#pause.hidden = !isIn || !isOn;
		this.#leave.hidden = !isIn && !isAway;
		setText(this.#told, own ? this.#tell(state, own) : say(!isOpen ? "page event only watching" : head.entry === "roster" ? "page event by card" : "page event enter"));
	}

	/** One's pairing that is played now. */
	get #pairing() {
		const { state, player } = this.following;
		return state?.pairings.find(({ players, state: at, room }) => at === "open" && room && Object.values(players).includes(player));
	}

	/** @param {Protocol.EventState} state @param {Protocol.EventRow} own */
	#tell(state, { status = "in", place, points, name, player }) {
		const pairing = this.#pairing;
		const [, , against] = (pairing && sidesOf(pairing).find((side) => side[1] !== player)) ?? [];
		if (against) return say("page event against", { name: against });
		if (status !== "in") return orWord(status, () => say(`page event you are ${status}`));
		if (state.status === "over") return say("page event you came", { place, points: formatPoints(points) });
		return say(state.status === "open" ? "page event you wait" : "page event you stand", { name: clean(name), place, points: formatPoints(points) });
	}

	/** Enter with the name and the ticket, as far as they are wanted; who plays by the card elsewhere gives way where that is meant. */
	async #enter(here = false) {
		const [ticket, name] = [this.#ticket.value.trim(), this.#name.value.trim()];
		this.#here.hidden = true;
		if (!(await this.#do({ type: "event_join", ...(ticket && { ticket }), ...(name && !this.#named.hidden && { name }), ...(here && { here }) }))) return this.#name.focus();
		tickets.set(this.following.code, ticket);
		// Who is in needs no ticket any more, and shows none to who stands beside.
		return history.replaceState(null, "", location.pathname);
	}

	/** Ask for something; whether it was done. @param {import("./following.js").AboutIt} request */
	async #do(request) {
		const { following } = this;
		setText(this.#fault, "");
		try {
			return await following.ask(request);
		} catch (error) {
			const isInUse = error instanceof Refused && error.why === "event card" && following.app.connection.welcome?.features?.includes("cards");
			if (isInUse) this.#here.hidden = false;
			return void setText(this.#fault, isInUse ? "" : messageOf(error));
		}
	}
}
