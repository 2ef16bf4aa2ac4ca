/** A call to the board of an event: the board opens by itself unless another game is running, in which case a banner announces it. */

import { showBanner } from "../banner.js";
import { say } from "../catalogue.js";
import { button, h } from "../dom.js";

/** The calls already answered or shown, by room: every connection receives them, and each new one receives them again. @type {Set<string>} */
const known = new Set();

/** @param {App} app @param {Call} call */
export function answerCall(app, { room, against, due_ms }) {
	// A wall stays open, even if its organiser plays too.
	if (location.pathname.endsWith("/wall") || known.has(room) || app.rooms.find(room)?.seat) return;
	known.add(room);
	if (!due_ms) return; // the player plays in another window or on another device
	const until = performance.now() + due_ms;
	if (look()) return;
	const board = h("div.row", button(say("page event board"), accept, { class: "primary" }));
	const banner = showBanner(say("page event called", { name: against }), board, until, look);
	banner.parentElement?.prepend(banner);
	app.sound.play("turn");

	/** Go to the board as soon as the player is free to; return whether the call is settled. */
	function look() {
		const isThere = !!app.rooms.find(room)?.seat;
		if (isThere || performance.now() >= until) return true;
		return !document.hidden && !app.rooms.shown?.plays && app.connection.isOn && enter();
	}

	function accept() {
		banner.remove();
		enter();
	}

	function enter() {
		app.play({ type: "join", room }).then((entered) => entered || known.delete(room));
		return true;
	}
}
