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

/** @param {Following} following */
export function makeEntry(following, ticket = "") {
	const { app, code } = following;
	/** Whether the player's name in the event was adopted as their own for later events. */
	let isNamed = false;
	const nameField = nameInput({ value: app.connection.name, focus: () => nameField.select() });
	const ticketInput = h("input", { autocomplete: "off", maxlength: 300, value: ticket || tickets.get(code) });
	const fault = h("p.fault", { role: "alert" });
	const told = h("p.told");
	const named = field(say("page event your name"), nameField);
	const ticketed = field(say("page event ticket"), ticketInput);
	const form = h("form.row", { submit: enter }, named, ticketed, h("button.primary.big", say("page join")));
	const board = button(say("page event board"), () => app.play({ type: "join", room: room() }), { class: "primary big" });
	const back = button(say("page event back"), () => ask({ type: "event_ready", on: true }), { class: "primary" });
	const pause = button(sayTitle("key event pause"), () => ask({ type: "event_ready", on: false }));
	const leave = button(sayTitle("deed leave"), () => confirm(say("tournament sure to leave")) && ask({ type: "event_leave" }));
	const element = h("section.card.entry", { "aria-label": say("page event you") },
		told, form, h("div.row", board, back, pause, leave), fault,
	);
	following.hasCard = ticketInput.value !== "";
	return { element, draw };

	function draw() {
		const { state, player, deeds } = following;
		if (!state) return;
		const [may, { head }] = [(deed = "") => deeds.includes(deed), state];
		const own = describeOwn(state, player);
		const row = rowOf(state, player);
		if (row && !isNamed && isGuest(app.connection.name)) app.bear(row.name);
		isNamed = !!row;
		// An organiser who hands out the cards does not need one.
		element.hidden = !own && following.isOrganiser && (!may("join") || (head.entry === "roster" && !following.hasCard));
		form.hidden = !may("join");
		named.hidden = head.entry === "roster" || app.isNamed;
		ticketed.hidden = (head.entry ?? "open") === "open" || following.hasCard;
		board.hidden = !room();
		back.hidden = !may("ready");
		pause.hidden = !may("away");
		leave.hidden = !may("leave");
		setText(told, own || say(!may("join") ? "page event only watching" : head.entry !== "roster" ? "page event enter" : state.may?.[""]?.length ? "page event by card" : "page event by card late"));
	}

	function room() {
		const { state, player } = following;
		return (state && ownBoard(state, player)?.room) ?? "";
	}

	async function enter() {
		const [used, name] = [ticketInput.value.trim().replace(/.*#(?=.)/s, ""), nameField.value.trim()];
		if (!(await ask({ type: "event_join", ticket: used || undefined, name: (!named.hidden && name) || undefined }))) return nameField.focus();
		tickets.set(code, used);
		// A player who has entered no longer needs the ticket, so do not show it to bystanders.
		return history.replaceState(null, "", location.pathname);
	}

	/** @param {AboutIt} request @returns {Promise<Ok | void>} */
	async function ask(request) {
		setText(fault, "");
		try {
			return await following.ask(request);
		} catch (error) {
			const isInUse = error instanceof Refused && error.why === "event card";
			if (isInUse && confirm(`${error.message} ${say("card here")}`)) return ask({ ...request, here: true });
			if (error instanceof Refused && error.code === "event_begun") {
				following.hasCard = false; // it was not used in time
				draw();
			}
			return void setText(fault, messageOf(error));
		}
	}
}

const ACTIONS = ["begin", "next", "pause", "resume", "close"];
const MOST_TRIES = 3;
const MAIN = ["begin", "next", "resume"];

/** @param {Following} following */
export function makeOrganiser(following, ticket = "") {
	const told = h("p.told");
	const { app, code } = following;
	const buttons = ACTIONS.map((action) => {
		const make = action === "close" ? sure : button;
		const does = () => (action === "begin" ? begin() : run(action));
		const label = sayTitle(action === "begin" ? "type begin" : `tournament do ${action}`);
		return { action, element: make(label, does, { class: MAIN.includes(action) ? "primary" : "" }) };
	});
	const name = nameInput({ autocomplete: "off" });
	const roster = h("form.row", { submit: () => run("add", { name: name.value }).then((ok) => ok && (name.value = "")) },
		field(say("page event add"), name), h("button", say("page event add it")));
	const wall = h("a.go", { target: "_blank" }, say("page event wall"));
	const cards = h("a.go", { href: `/e/${code}/cards` }, say("page event cards"));
	const link = app.linkTo(`e/${code}${ticket && `#${ticket}`}`);
	const close = buttons[buttons.length - 1].element;
	const element = h("section.card", { "aria-label": say("page event organise") }, h("h2", say("page event organise")),
		told, h("div.row", buttons.slice(0, -1).map((one) => one.element)),
		h("div.row", wall, button(sayTitle("deed copy"), () => app.copy(link)), cards),
		roster, h("div.row", close),
	);
	return { element, draw, tick, run };

	function draw() {
		const { deeds, state } = following;
		const hash = ticket || (state?.key ? `key=${state.key}` : "");
		wall.setAttribute("href", `/e/${code}/wall${hash && `#${hash}`}`);
		for (const one of buttons) one.element.hidden = !deeds.includes(one.action);
		roster.hidden = !deeds.includes("add");
		cards.hidden = !deeds.includes("cards");
		tick();
	}

	function tick() {
		const { state, missing, presence, waiting } = following;
		const isEmpty = state?.status === "open" && state.head.entry === "roster" && !state.table.some(({ status = "in" }) => status === "in");
		cards.classList.toggle("primary", isEmpty);
		const standing = state?.status !== "open" ? waiting : missing.n ? `${presence} ${waiting}` : presence;
		setText(told, isEmpty ? say("page event give", { address: app.linkTo(`e/${code}`).replace(/^https?:\/\//, "") }) : standing);
	}

	function begin() {
		const { missing, state } = following;
		const head = state?.head;
		const shuts = head?.expected && !head.late_until ? `${say("tournament begin shuts")} ` : "";
		if (!missing.n || confirm(shuts + say("tournament begin without", missing))) run("begin");
	}

	/** @param {Record<string, string>} [about] */
	async function run(action = "", about = {}) {
		const meant = following.state;
		for (let tries = MOST_TRIES; ; tries--) {
			try {
				return await following.ask({ type: "event_run", seq: following.state?.seq, action, ...about });
			} catch (error) {
				const isStale = error instanceof Refused && error.code === "stale" && tries > 0;
				if (isStale) await following.renew().catch(() => undefined);
				// If only players have entered meanwhile, for example, the action still means the same.
				if (!isStale || following.state?.status !== meant?.status || following.state?.round !== meant?.round) return app.say(messageOf(error));
			}
		}
	}
}
