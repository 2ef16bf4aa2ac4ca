/** The seats that one may go back to or give up: against whom, at what, whose turn it is. */

import { say } from "./catalogue.js";
import { button, h, show, showKeyed } from "./dom.js";
import { clean, formatDuration, joinWords, messageOf, nameGame } from "./words.js";

/** @param {App} app */
export function makeResume(app) {
	const { connection, rooms } = app;
	const element = h("div.resume");
	return { element, draw };

	function draw() {
		showKeyed(element, rooms.held, (held) => JSON.stringify(held), makeSeat);
	}

	function drawAnew() {
		show(element);
		draw();
	}

	/** @param {HeldSeat} held */
	function makeSeat(held) {
		const { room, seat, names = {} } = held;
		const others = Object.entries(names).flatMap(([mark, other]) => (mark === seat ? [] : [clean(other)]));
		const title = others.length ? say("page resume with", { names: joinWords(others) }) : say("page resume room", { room });
		const terms = describeSeat(held, connection.welcome?.held_ms?.[room]);
		const back = button(say("page resume"), () => app.navigate(`/${room}`), { class: "primary", "aria-label": `${say("page resume")} ${room}` });
		const away = button(say("page give up"), () => ask(item, room), { "aria-label": say("page give up room", { room }) });
		const item = h("div.ask", h("p", title, " ", h("small", terms.join(" · "))), back, away);
		return item;
	}

	/** @param {HTMLElement} item @param {string} room */
	function ask(item, room) {
		const give = () => rooms.giveUp(room).catch((error) => app.say(messageOf(error))).finally(drawAnew);
		const sure = button(say("page give up sure"), give);
		show(item, h("p", say("page give up question", { room })), sure, button(say("page keep"), drawAnew));
		sure.focus();
	}
}

/** @param {HeldSeat} held @param {number | undefined} left ms of its hold */
function describeSeat({ room, seat, rules, names = {}, turn }, left) {
	const terms = [rules ? nameGame(rules) : room];
	if (turn) terms.push(turn === seat ? say("page your move") : say("page to move", { name: clean(names[turn] ?? "") }));
	else if (turn === null) terms.push(say("status waiting"));
	if (left) terms.push(say("page time left", { time: formatDuration(left) }));
	else if (left === 0) terms.push(say("page until claimed"));
	return terms;
}
