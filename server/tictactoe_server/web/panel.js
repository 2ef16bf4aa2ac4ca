/** Who plays: a row for each seat. */

import { say } from "./catalogue.js";
import { isServerBot } from "./choices.js";
import { h, setText, showKeyed } from "./dom.js";
import { setEmblem } from "./emblem.js";
import { seatIcon } from "./marks.js";
import { clean, describeLevel, formatDuration } from "./words.js";

const SHORT_MS = 15_000;

export class Panel {
	element = h("ul.players", { "aria-label": say("view room players") });
	/** @type {ShownGame | null} */
	#game = null;

	/** @param {ShownGame} game @param {Look} look */
	draw(game, look) {
		this.#game = game;
		const { state, viewer } = game;
		if (!state) return;
		const marks = [...state.rules.marks];
		showKeyed(this.element, marks, (mark) => `${look} ${mark}`, (mark) => makeRow(look, state.rules.marks, mark), (row, mark) => {
			const seat = state.seats[mark];
			const is = { moving: state.turn === mark, away: !seat?.online, winner: state.result?.winner === mark };
			for (const [kind, isSo] of Object.entries(is)) row.classList.toggle(kind, isSo);
			const [, , { firstChild: name }, score] = row.children;
			const shown = seat ? clean(seat.name) : say("view room free seat");
			setText(name, seat?.player === viewer ? say("view room you", { name: shown }) : shown);
			name.title = shown.endsWith("?") ? say("name mark", { name: shown.slice(0, -1) }) : shown;
			setEmblem(name, isServerBot(seat) ? "" : seat?.player);
			setText(score, seat && viewer && game.isLive && (state.game > 1 || state.status === "over") ? String(state.score[seat.player] ?? 0) : "");
		});
		this.tick();
	}

	/** Show what changes with the time alone. */
	tick() {
		const { state, receivedAt = 0 } = this.#game ?? {};
		if (!state) return;
		const passed = performance.now() - receivedAt;
		[...state.rules.marks].forEach((mark, index) => {
			const [, , { lastChild: note }, , clock] = /** @type {any} */ (this.element.children[index].children);
			const seat = state.seats[mark];
			setText(note, seat ? describeSeat(state, mark, seat, passed) : "");
			const left = state.clock?.remaining_ms[mark];
			if (left === undefined) return;
			const isRunning = state.clock?.running === mark;
			const now = left - (isRunning ? passed : 0);
			setText(clock, formatDuration(now));
			clock.className = isRunning && now < SHORT_MS ? "clock short" : "clock";
		});
	}
}

/** @param {Look} look @param {string} marks @param {string} mark */
function makeRow(look, marks, mark) {
	const who = h("span.who", {}, h("span.name"), h("span.note"));
	const kind = `m${marks.indexOf(mark)}`;
	return h("li", { class: `player ${kind}` }, seatIcon(look, marks, mark), h("span.unseen", {}, mark), who, h("span.score"), h("span.clock"));
}

/** @param {Protocol.RoomState} state @param {string} mark @param {Protocol.SeatState} seat @param {number} passed */
function describeSeat({ status, clock, turn, event }, mark, seat, passed) {
	if (seat.left) return say("view seat gone");
	if (seat.out) return say("view seat out");
	const due = turn === mark ? clock?.start_ms : undefined;
	if (!seat.online && !(event && due !== undefined)) return describeAbsence(status, seat, passed);
	if (due !== undefined) return say("view seat first move", { time: formatDuration(due - passed) });
	if (seat.bot) return say("view seat computer", { level: describeLevel(seat.bot) });
	return turn === mark ? say("view seat moves") : "";
}

/** @param {string} status @param {Protocol.SeatState} seat @param {number} passed */
function describeAbsence(status, { hold_ms }, passed) {
	if (status !== "playing" || hold_ms === undefined) return say("view seat absent");
	return hold_ms > passed ? say("view seat held until", { time: formatDuration(hold_ms - passed) }) : say("view seat gone too long");
}
