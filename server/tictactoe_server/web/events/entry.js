/** What one does in an event oneself: enter it, go to the board, pause, leave; and how one stands. */

import { say } from "../catalogue.js";
import { button, field, h, setText, show, submitting } from "../dom.js";
import { clean, messageOf } from "../words.js";
import { formatPoints, sidesOf } from "./words.js";
import { sure } from "./pairings.js";

export class Entry {
	#name = h("input", { maxlength: 24, autocomplete: "nickname" });
	#ticket = h("input", { autocomplete: "off", maxlength: 64 });
	#fault = h("p.fault", { role: "alert" });
	#told = h("p.told");
	#deeds = h("div.row");
	#drawn = "";
	#form;

	/** @param {import("./following.js").Following} following @param {string} ticket that came with the link */
	constructor(following, ticket) {
		this.following = following;
		this.#name.value = following.app.connection.name;
		this.#ticket.value = ticket;
		this.named = field(say("page event your name"), this.#name);
		this.ticketed = field(say("page event ticket"), this.#ticket);
		this.#form = h("form.row", { submit: submitting(() => this.#do({ type: "event_join", ...this.#written }, this.#name)) },
			this.named, this.ticketed, h("button.primary.big", {}, say("page join")),
		);
		this.element = h("section.card.entry", { "aria-label": say("page event you") }, this.#told, this.#form, this.#deeds, this.#fault);
		this.hasCard = ticket !== "";
	}

	/** What the form says: the name and the ticket, as far as they are wanted. */
	get #written() {
		const [ticket, name] = [this.#ticket.value.trim(), this.#name.value.trim()];
		return { ...(ticket && { ticket }), ...(name && !this.named.hidden && { name }) };
	}

	draw() {
		const { state, own } = this.following;
		if (!state) return;
		const { status, round, head } = state;
		const isOpen = status === "open" || (status !== "over" && status !== "void" && round <= (head.late_until ?? 0));
		const isIn = own && own.status !== "out" && own.status !== "expelled";
		this.#form.hidden = !!own || !isOpen;
		this.named.hidden = head.entry === "roster";
		this.ticketed.hidden = (head.entry ?? "open") === "open" || this.hasCard;
		setText(this.#told, this.#tell(isOpen));
		const deeds = isIn ? this.#listDeeds() : [];
		if (deeds.join() === this.#drawn) return;
		this.#drawn = deeds.join();
		show(this.#deeds, deeds.map((name) => this.#makeDeed(name)));
	}

	/** One's pairing that is played now. */
	get #pairing() {
		const { state, player } = this.following;
		return state?.pairings.find(({ players, state: at, room }) => at === "open" && room && Object.values(players).includes(player));
	}

	/** @param {boolean} isOpen whether one may still enter */
	#tell(isOpen) {
		const { own, state } = this.following;
		if (!own || !state) return say(isOpen ? (state?.head.entry === "roster" ? "page event by card" : "page event enter") : "page event only watching");
		const { status, place, points, name } = own;
		const pairing = this.#pairing;
		const [, , against] = (pairing && sidesOf(pairing).find(([, player]) => player !== own.player)) ?? [];
		if (against) return say("page event against", { name: against });
		if (status && status !== "in") return say(`page event you are ${status}`);
		if (state.status === "over") return say("page event you came", { place, points: formatPoints(points) });
		return say(state.status === "open" ? "page event you wait" : "page event you stand", { name: clean(name), place, points: formatPoints(points) });
	}

	#listDeeds() {
		const { own, state } = this.following;
		if (state?.status === "over" || state?.status === "void") return [];
		const isAway = own?.status === "away";
		return [...(this.#pairing ? [`board ${this.#pairing.room}`] : []), ...(isAway ? ["back"] : state?.status === "open" ? [] : ["pause"]), "leave"];
	}

	/** @param {string} deed */
	#makeDeed(deed) {
		const { app } = this.following;
		const [name, room] = deed.split(" ");
		if (name === "board") return button(say("page event board"), () => app.play({ type: "join", room }), { class: "primary big" });
		if (name === "back") return button(say("page event back"), () => this.#do({ type: "event_ready", on: true }), { class: "primary" });
		if (name === "pause") return button(say("page event pause"), () => this.#do({ type: "event_ready", on: false }));
		return sure(say("page event leave"), () => this.#do({ type: "event_leave" }));
	}

	/** @param {import("./following.js").AboutIt} request @param {HTMLElement} [asked] what to look at where it is refused */
	async #do(request, asked) {
		setText(this.#fault, "");
		try {
			await this.following.ask(request);
			// Who is in needs no ticket any more, and shows none to who stands beside.
			if (request.type === "event_join") history.replaceState(null, "", location.pathname);
		} catch (error) {
			setText(this.#fault, messageOf(error));
			asked?.focus();
		}
	}
}
