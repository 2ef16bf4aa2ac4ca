/** A game that is on, as a small board: who plays what, whose move it is, how much time is left, how it ended. */

import { say } from "./catalogue.js";
import { h, setText, show } from "./dom.js";
import { isDraw } from "./happened.js";
import { seatIcon } from "./marks.js";
import { PRESETS } from "./rules.js";
import { SmallBoard } from "./smallboard.js";
import { clean, formatDuration } from "./words.js";

/** @typedef {{item: HTMLElement, live: Protocol.LiveBoard, draw(live: Protocol.LiveBoard): void, tick(): void}} Card */

/** A card that leads to its game; that of computers is in no room. @param {Protocol.LiveBoard} live @returns {Card} */
export function makeCard(live) {
	const marks = Object.keys(live.names).join("");
	const board = new SmallBoard({ ...live, marks });
	/** By mark: the row, the name and the clock of a player. @type {Map<string, HTMLElement[]>} */
	const rows = new Map();
	const [players, note] = [h("div.live-players"), h("p.note")];
	const title = h("p.live-title", {}, nameOf(live));
	for (const mark of marks) {
		const [name, clock] = [h("span.name"), h("span.clock")];
		rows.set(mark, [h("span.live-player", {}, seatIcon(board.look, marks, mark), h("span.unseen", {}, mark), name, clock), name, clock]);
	}
	show(players, [...rows.values()].map(([row]) => row));
	let receivedAt = 0;
	/** @type {Card} */
	const card = { item: h("li", {}, h("a", { href: live.room ? `/${live.room}#watch` : null }, title, board.element, players, note)), live, draw, tick };
	return card;

	/** @param {Protocol.LiveBoard} next */
	function draw(next) {
		card.live = next;
		receivedAt = performance.now();
		const { board: cells, last, names, turn, result } = next;
		board.draw(cells, last, result?.line ?? []);
		for (const [mark, [row, name]] of rows) {
			setText(name, clean(names[mark] ?? ""));
			row.className = `live-player m${marks.indexOf(mark)}${turn === mark ? " moving" : ""}${result?.winner === mark ? " winner" : ""}`;
		}
		card.item.classList.toggle("over", !!result);
		setText(note, result ? describeEnd(next) : say("page to move", { name: clean(names[turn ?? ""] ?? turn ?? "") }));
		tick();
	}

	function tick() {
		const { clock } = card.live;
		if (!clock) return;
		const passed = performance.now() - receivedAt;
		for (const [mark, [, , shown]] of rows) {
			const left = clock.remaining_ms[mark];
			if (left !== undefined) setText(shown, formatDuration(left - (clock.running === mark ? passed : 0)));
		}
	}
}

/** @param {Protocol.LiveBoard} live */
function nameOf({ preset, rows, columns }) {
	return preset && PRESETS.includes(preset) ? say(`name of ${preset}`) : `${rows}x${columns}`;
}

/** @param {Protocol.LiveBoard} live */
function describeEnd({ result, names }) {
	if (result?.winner) return say("page wins", { name: clean(names[result.winner] ?? result.winner) });
	return result && isDraw(result) ? say("page went drawn") : say("page went ended");
}
