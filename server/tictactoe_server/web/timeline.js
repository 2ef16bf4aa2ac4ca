/** The moves of a game as a list with buttons to step through it. */

import { say, sayOr, sayTitle } from "./catalogue.js";
import { button, h, setText, showKeyed } from "./dom.js";
import { lookOf } from "./kept.js";
import { nameCell } from "./rules.js";
import { seatIcon } from "./shapes.js";
import { describeChoicesAt } from "./telling.js";
import { nameMark } from "./words.js";

const MOVE_MS = 900;
const MOVE_OF_MANY_MS = 500;
const MANY = 24;

/** @param {GamePage} page */
export function makeTimeline(page) {
	/** The number of moves in the displayed position, or null to follow the newest one. @type {number | null} */
	let here = null;
	let count = 0;
	const where = h("span.where");
	let timer = 0;
	const playing = button("▶", toggle, { hidden: true });
	const back = [
		button("«", () => look(0), { "aria-label": say("view steps first") }),
		button("‹", () => look(shown() - 1), { "aria-label": sayTitle("does back") }),
	];
	const on = [
		button("›", () => look(shown() + 1), { "aria-label": sayTitle("does next") }),
		button("»", () => look(), { "aria-label": sayTitle("key to the newest") }),
	];
	const list = h("ol.moves", { "aria-label": sayTitle("column moves"), tabindex: 0 });
	const steps = h("div.steps", { role: "group", "aria-label": say("view steps") }, back, where, on, playing);
	for (const one of [...back, ...on]) one.disabled = true; // until the game is loaded
	const shown = () => here ?? count;
	return { list, steps, look, play, pause, reset, draw, get here() { return here; }, get shown() { return shown(); }, get isBack() { return here !== null; } };

	function reset() {
		pause();
		here = null;
	}

	/** Show the position after so many moves, by default the newest one, where a replay ends. */
	function look(ply = Infinity, isPlaying = false) {
		here = ply >= count ? null : Math.max(0, ply);
		if (!isPlaying || here === null) pause();
		page.look(isPlaying);
	}

	function play() {
		timer = setInterval(() => look(shown() + 1, true), count > MANY ? MOVE_OF_MANY_MS : MOVE_MS);
		look(here ?? 0, true);
	}

	function toggle() {
		if (!timer) return play();
		pause();
		return page.look(true);
	}

	function pause() {
		clearInterval(timer);
		timer = 0;
	}

	/** @param {State} state @param {readonly string[]} kinds how good each was, as far as known */
	function draw(state, viewer = "", kinds = []) {
		const { rules, board, status, chosen, moves } = state;
		count = moves.length;
		if (here !== null && here >= moves.length) here = null;
		const listed = moves.map((cell, at) => ({
			ply: at + 1, mark: board[cell], cell: nameCell(cell, rules), kind: kinds[at] ?? "", choice: chosen ? describeChoicesAt(state, at + 1, viewer) : "",
		}));
		const boardLook = lookOf(rules);
		showKeyed(list, listed, ({ ply, mark, cell, choice }) => `${boardLook} ${ply} ${mark}${cell} ${choice}`, ({ ply, mark, cell, choice }) => {
			const made = button("", () => look(ply));
			made.append(h("small", `${ply}`), seatIcon(boardLook, rules.marks, mark), h("span.unseen", ` ${nameMark(state, mark)} `), cell);
			return h("li", made, !!choice && h("small.choice", choice));
		}, (item, { kind }) => {
			if (item.className === kind) return;
			item.className = kind;
			item.firstElementChild.title = sayOr(`view move ${kind}`, "");
		});
		const current = list.children[shown() - 1]?.firstElementChild;
		const marked = list.querySelector("[aria-current]");
		if (current !== (marked ?? undefined)) {
			marked?.removeAttribute("aria-current");
			current?.setAttribute("aria-current", "true");
			// Read the position when the page is laid out anyway, which avoids a forced layout.
			requestAnimationFrame(() => current instanceof HTMLElement && (list.scrollTop = current.offsetTop + current.offsetHeight - list.clientHeight));
		}
		setText(where, `${shown()} / ${moves.length}`);
		playing.hidden = status !== "over" || !moves.length;
		setText(playing, timer ? "❚❚" : "▶");
		playing.setAttribute("aria-label", say(timer ? "view steps pause" : "view steps play"));
		for (const one of back) one.disabled = shown() === 0;
		for (const one of on) one.disabled = shown() === moves.length;
	}
}
