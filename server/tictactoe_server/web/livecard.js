/** A game that is on, as a small board with its players, their clocks and how it ended. */

import { say } from "./catalogue.js";
import { h, setText } from "./dom.js";
import { isDraw } from "./happened.js";
import { PRESETS } from "./rules.js";
import { seatIcon } from "./shapes.js";
import { SmallBoard } from "./smallboard.js";
import { clean, formatDuration } from "./words.js";

/** A card that leads to its game; that of computers is in no room. @param {LiveBoard} live */
export function makeCard(live) {
	const marks = Object.keys(live.names).join("");
	const board = new SmallBoard({ ...live, marks });
	const rows = [...marks].map((mark) => h("span.live-player", seatIcon(board.look, marks, mark), h("span.unseen", mark), h("span.name"), h("span.clock")));
	const note = h("p.note");
	const link = h("a", { href: live.room ? `/${live.room}#watch` : null }, h("p.live-title", nameOf(live)), board.element, h("div.live-players", rows), note);
	let receivedAt = 0;
	/** @type {LiveCard} */
	const card = { item: h("li", link), live, draw, tick };
	return card;

	/** @param {LiveBoard} next */
	function draw(next) {
		card.live = next;
		receivedAt = performance.now();
		const { board: cells, last, names, turn, result } = next;
		board.draw(cells, last, result?.line);
		rows.forEach((row, index) => {
			const mark = marks[index];
			setText(row.children[2], clean(names[mark] ?? ""));
			row.className = `live-player m${index}${turn === mark ? " moving" : ""}${result?.winner === mark ? " winner" : ""}`;
		});
		card.item.classList.toggle("over", !!result);
		setText(note, result ? describeEnd(next) : say("page to move", { name: clean(names[turn ?? ""] ?? turn ?? "") }));
		tick();
	}

	function tick() {
		const { remaining_ms = {}, running } = card.live.clock ?? {};
		const passed = performance.now() - receivedAt;
		rows.forEach(({ lastElementChild: shown }, index) => {
			const left = remaining_ms[marks[index]];
			if (shown && left !== undefined) setText(shown, formatDuration(left - (running === marks[index] ? passed : 0)));
		});
	}
}

/** @param {LiveBoard} live */
function nameOf({ preset, rows, columns }) {
	return preset && PRESETS.includes(preset) ? say(`name of ${preset}`) : `${rows}x${columns}`;
}

/** @param {LiveBoard} live */
function describeEnd({ result, names }) {
	if (result?.winner) return say("page wins", { name: clean(names[result.winner] ?? result.winner) });
	return result && isDraw(result) ? say("page went drawn") : say("page went ended");
}
