/** A call to the board of an event: it opens by itself where nothing else is played, else it is said above every page. */

import { say } from "../catalogue.js";
import { button, h, setText } from "../dom.js";
import { prepareEvents } from "../later.js";
import { clean, formatDuration } from "../words.js";

const TICK_MS = 300;
/** The calls that are answered or shown, by room: each connection is told of them. @type {Set<string>} */
const known = new Set();

/** @param {App} app @param {Call} call */
export async function answerCall(app, { room, mark, against, due_ms }) {
	// A wall stays one, also where its organiser plays, too.
	if (location.pathname.endsWith("/wall") || known.has(room) || app.rooms.find(room)?.seat) return;
	known.add(room);
	const until = performance.now() + due_ms;
	try {
		await prepareEvents();
	} catch {
		// The server is away; its next welcome has the call again.
		return void known.delete(room);
	}
	const time = h("b.clock");
	const told = say("page event called", { name: clean(against), mark });
	const banner = h("div.call", { role: "alert" },
		h("span", told), time, button(say("page event board"), enter, { class: "primary" }));
	const ticker = setInterval(look, TICK_MS);
	if (!look()) announce();

	/** Go there as soon as one can be taken along; whether it is over with the call. */
	function look() {
		const left = until - performance.now();
		const isThere = !!app.rooms.find(room)?.seat;
		if (isThere || left <= 0) return end();
		if (!document.hidden && !app.rooms.shown?.plays && app.connection.phase === "on") return enter();
		setText(time, formatDuration(left));
		return false;
	}

	function announce() {
		document.querySelector("main")?.before(banner);
		app.sound.play("turn");
		if (document.hidden && globalThis.Notification?.permission === "granted") new Notification(told, { tag: room });
	}

	function enter() {
		app.play({ type: "join", room });
		return end();
	}

	function end() {
		clearInterval(ticker);
		banner.remove();
		known.delete(room);
		return true;
	}
}
