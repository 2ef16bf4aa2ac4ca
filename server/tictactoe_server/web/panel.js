/** Who plays: a row for each seat. */

import { h, setText, show } from "./dom.js";
import { markIcon } from "./marks.js";
import { clean, formatDuration } from "./words.js";

const SHORT_MS = 15_000;

/** @type {MakePanel} */
export function makePanel() {
	const element = h("ul.players", { "aria-label": "Players" });
	/** @type {Map<string, HTMLElement[]>} */
	const rows = new Map();
	/** @type {Table | null} */
	let table = null;
	return { element, draw, tick };

	/** @param {Table} next */
	function draw(next) {
		table = next;
		const { state, viewer } = next;
		if (!state) return;
		const { rules, seats, turn, result, score, game, status } = state;
		if ([...rows.keys()].join("") !== rules.marks) show(element, [...rules.marks].map((mark) => makeRow(rules.marks, mark)));
		for (const [mark, seat] of Object.entries(seats)) {
			const [row, name, , won] = rows.get(mark) ?? [];
			const is = [turn === mark && "moving", !seat?.online && "away", result?.winner === mark && "winner"];
			row.className = ["player", `m${rules.marks.indexOf(mark)}`, ...is].filter(Boolean).join(" ");
			setText(name, seat ? `${clean(seat.name)}${seat.player === viewer ? " (you)" : ""}` : "free seat");
			setText(won, seat && viewer && (game > 1 || status === "over") ? String(score[seat.player] ?? 0) : "");
		}
		tick();
	}

	function makeRow(marks = "", mark = "") {
		const parts = ["name", "note", "score", "clock"].map((kind) => h("span", { class: kind }));
		const [name, note, score, clock] = parts;
		const row = h("li", {}, markIcon(marks, mark), h("span.unseen", {}, mark), h("span.who", {}, name, note), score, clock);
		rows.set(mark, [row, ...parts]);
		return row;
	}

	function tick() {
		const { state, receivedAt = 0 } = table ?? {};
		if (!state) return;
		const passed = performance.now() - receivedAt;
		for (const [mark, seat] of Object.entries(state.seats)) {
			const [, , note, , clock] = rows.get(mark) ?? [];
			setText(note, seat ? describeSeat(state, mark, seat, passed) : "");
			const left = state.clock?.remaining_ms[mark];
			if (left === undefined) continue;
			const isRunning = state.clock?.running === mark;
			const now = left - (isRunning ? passed : 0);
			setText(clock, formatDuration(now));
			clock.className = isRunning && now < SHORT_MS ? "clock short" : "clock";
		}
	}
}

/** @type {DescribeSeat} */
function describeSeat({ status, clock, turn, result }, mark, seat, passed) {
	const isPlaying = status === "playing";
	if (seat.left) return "has left";
	if (seat.out) return "out of this game";
	if (!seat.online && (!isPlaying || seat.hold_ms === undefined)) return "away";
	if (!seat.online) return (seat.hold_ms ?? 0) > passed ? `away, seat held ${formatDuration((seat.hold_ms ?? 0) - passed)}` : "gone too long";
	if (turn === mark && clock?.start_ms !== undefined) return `first move due in ${formatDuration(clock.start_ms - passed)}`;
	if (result?.winner === mark) return "wins";
	if (seat.bot) return `computer, ${clean(seat.bot)}`;
	return turn === mark ? "to move" : "";
}
