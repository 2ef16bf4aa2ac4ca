/** The organiser's controls of an event. */

import { say, sayTitle } from "../catalogue.js";
import { button, field, h, nameInput, setText, submitting } from "../dom.js";
import { Refused } from "../requests.js";
import { messageOf } from "../words.js";
import { sure } from "./pairings.js";

const ACTIONS = ["begin", "next", "pause", "resume", "close"];
const MOST_TRIES = 3;
const MAIN = ["begin", "next", "resume"];

export class Organiser {
	told = h("p.told");

	/** @param {Following} following @param {string} ticket with which others enter, if there is one */
	constructor(following, ticket) {
		const { app, code } = following;
		this.following = following;
		this.run = this.run.bind(this);
		this.buttons = ACTIONS.map((action) => {
			const question = action === "close" ? undefined : () => (action === "begin" && following.missing.n ? say("tournament begin without", following.missing) : "");
			return { action, element: sure(say(`tournament do ${action}`), () => this.run(action), { class: MAIN.includes(action) ? "primary" : "" }, question) };
		});
		const name = nameInput({ autocomplete: "off" });
		this.roster = h("form.row", { submit: submitting(() => this.run("add", { name: name.value }).then((ok) => ok && (name.value = ""))) },
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
		this.roster.hidden = this.cards.hidden = !deeds.includes("add");
		this.tick();
	}

	/** Show whom the organiser waits for, and before anybody is present, how players enter. */
	tick() {
		const { app, code, state, missing, presence, waiting } = this.following;
		const isEmpty = state?.status === "open" && state.head.entry === "roster" && !state.table.some(({ status = "in" }) => status === "in");
		this.cards.classList.toggle("primary", isEmpty);
		for (const { action, element } of this.buttons) {
			if (action === "begin") element.classList.toggle("primary", !isEmpty);
			element.renew();
		}
		const told = state?.status !== "open" ? waiting : missing.n ? `${presence} ${waiting}` : presence;
		setText(this.told, isEmpty ? say("page event give", { address: app.linkTo(`e/${code}`).replace(/^https?:\/\//, "") }) : told);
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
				// If only players have entered meanwhile, for example, the action still means the same.
				if (!isStale || following.state?.status !== meant?.status || following.state?.round !== meant?.round) return following.app.say(messageOf(error));
			}
		}
	}
}
