/** What only the room of a game over days has: the way to the next game, a choice when leaving, and notifications. */

import { say, sayTitle } from "./catalogue.js";
import { button, h, setText } from "./dom.js";

/** The value of `page.confirming` while the player is asked how to leave. */
const LEAVING = "leaving";

export class DayPanel {
	#next = button("", () => this.page.app.openNextTurn(), { class: "primary", "aria-keyshortcuts": "." });
	#give = button("", () => this.#giveUp());
	#leaving = h("div.ask", { hidden: true },
		h("p", say("day leave")),
		button(say("day later"), () => this.page.app.navigate("/"), { class: "primary" }),
		this.#give,
		button(sayTitle("key cancel"), () => this.#ask("")),
	);
	#notify = button(say("notify title"), () => this.#openNotify());
	element = h("div.days", this.#leaving, h("div.deeds", this.#next, this.#notify));

	/** @param {GamePage} page */
	constructor(page) {
		this.page = page;
		page.stage.element.querySelector(".below")?.append(this.element);
	}

	draw() {
		const { room, confirming, app } = this.page;
		if (!room?.state) return;
		const { status, turn } = room.state;
		const isPlaying = status === "playing" && !!room.seat && !room.ended;
		const others = app.otherTurns;
		this.#next.hidden = !others.length || (isPlaying && turn === room.seat);
		setText(this.#next, `${sayTitle("page next")} (${others.length})`);
		this.#notify.hidden = !room.seat;
		this.#leaving.hidden = confirming !== LEAVING;
		setText(this.#give, sayTitle(isPlaying ? "deed resign" : "deed leave"));
	}

	/** Ask how to leave a game that is not over; return whether the player is asked. */
	leave() {
		const { room, app } = this.page;
		if (!room?.seat || room.state?.status === "over" || app.connection.phase !== "on") return false;
		this.#ask(LEAVING);
		this.#leaving.querySelector("button")?.focus();
		return true;
	}

	#ask(what = "") {
		this.page.confirming = what;
		this.page.draw();
	}

	#giveUp() {
		const { room, controls } = this.page;
		if (room?.state?.status === "playing") controls.run("resign");
		else room?.leave();
	}

	async #openNotify() {
		(await import("./notify.js")).openNotify(this.page.app);
	}
}
