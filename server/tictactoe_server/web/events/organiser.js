/** What the organiser of an event does with it. */

import { say } from "../catalogue.js";
import { button, field, h, submitting } from "../dom.js";
import { Refused } from "../requests.js";
import { messageOf } from "../words.js";
import { sure } from "./pairings.js";

/** When each action is of use. @type {[action: string, isOf: (state: Protocol.EventState) => boolean][]} */
const ACTIONS = [
	["begin", ({ status }) => status === "open"],
	["next", ({ status, pairings }) => status === "running" && pairings.every(({ state }) => state === "scored")],
	["pause", ({ status }) => status === "running"],
	["resume", ({ status }) => status === "paused"],
	["close", ({ status }) => status !== "over" && status !== "void"],
];
const MOST_TRIES = 3;
const MAIN = ["begin", "next", "resume"];

export class Organiser {
	/** @param {Following} following @param {string} ticket with which others enter, if there is one */
	constructor(following, ticket) {
		const { app, code } = following;
		this.following = following;
		this.run = this.run.bind(this);
		this.buttons = ACTIONS.map(([action, isOf]) => {
			const [label, does] = [say(`page event run ${action}`), () => this.run(action)];
			return { isOf, element: action === "close" ? sure(label, does) : button(label, does, { class: MAIN.includes(action) ? "primary" : "" }) };
		});
		const name = h("input", { maxlength: 24, autocomplete: "off" });
		this.roster = h("form.row", { submit: submitting(() => this.run("add", { name: name.value }).then((ok) => ok && (name.value = ""))) },
			field(say("page event add"), name), h("button", {}, say("page event add it")), h("a.go", { href: `/e/${code}/cards` }, say("page event cards")),
		);
		const link = app.linkTo(`e/${code}${ticket && `#${ticket}`}`);
		this.element = h("section.card", { "aria-label": say("page event organise") }, h("h2", {}, say("page event organise")),
			h("div.row", {}, this.buttons.map(({ element }) => element)), this.roster,
			h("div.row", {}, h("a.go", { href: `/e/${code}/wall${ticket && `#${ticket}`}` }, say("page event wall")), button(say("page event copy"), () => app.copy(link))),
		);
	}

	draw() {
		const { state } = this.following;
		if (!state) return;
		for (const { isOf, element } of this.buttons) element.hidden = !isOf(state);
		this.roster.hidden = state.head.entry !== "roster" || state.status === "over";
	}

	/** @param {string} action @param {Record<string, string>} [about] */
	async run(action, about = {}) {
		const { following } = this;
		const meant = following.state;
		for (let tries = MOST_TRIES; ; tries--) {
			try {
				return await following.ask({ type: "event_run", seq: following.state?.seq, action, ...about });
			} catch (error) {
				const isStale = error instanceof Refused && error.code === "stale" && tries > 0;
				if (isStale) await following.renew().catch(() => undefined);
				// Where somebody has only entered meanwhile, say, it is still what was meant.
				if (!isStale || following.state?.status !== meant?.status || following.state?.round !== meant?.round) return following.app.say(messageOf(error));
			}
		}
	}
}
