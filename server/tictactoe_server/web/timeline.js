/** The moves of a game as a list that one steps through. */

import { button, h, setText } from "./dom.js";
import { markIcon } from "./marks.js";
import { nameCell } from "./rules.js";

/** @type {MakeTimeline} */
export function makeTimeline(onLook) {
	let count = 0;
	/** How many moves are looked at, null for the newest moment, whatever comes. @type {number | null} */
	let here = null;
	/** @type {string[]} */
	let listed = [];
	const list = h("ol.moves", { "aria-label": "Moves", tabindex: 0 });
	const where = h("span.where");
	const back = [button("«", () => look(0), { "aria-label": "To the start" }), button("‹", () => step(-1), { "aria-label": "A step back" })];
	const on = [button("›", () => step(1), { "aria-label": "A step on" }), button("»", () => look(count), { "aria-label": "To the end" })];
	const steps = h("div.steps", { role: "group", "aria-label": "Steps" }, back, where, on);
	return { list, steps, here: () => here ?? count, isBack: () => here !== null, step, look, draw, reset: () => (here = null) };

	function step(by = 1) {
		look((here ?? count) + by);
	}

	function look(ply = Infinity) {
		here = ply >= count ? null : Math.max(0, ply);
		onLook();
	}

	/** @type {DrawMoves} */
	function draw({ rules, board }, moves) {
		count = moves.length;
		if (here !== null && here >= count) here = null;
		const shown = here ?? count;
		const names = moves.map((cell) => `${board[cell]} ${nameCell(cell, rules)}`);
		names.forEach((name, ply) => {
			if (name === listed[ply]) return;
			const made = button("", () => look(ply + 1));
			made.append(h("small", {}, `${ply + 1}`), markIcon(rules.marks, name[0]), h("span.unseen", {}, ` ${name[0]} `), name.slice(2));
			list.children[ply]?.remove();
			list.insertBefore(h("li", {}, made), list.children[ply] ?? null);
		});
		while (list.children.length > count) list.lastChild?.remove();
		listed = names;
		list.querySelector("[aria-current]")?.removeAttribute("aria-current");
		const current = list.children[shown - 1]?.querySelector("button");
		current?.setAttribute("aria-current", "true");
		if (current) list.scrollTop = current.offsetTop - 60;
		setText(where, count ? `${shown} / ${count}` : "no move yet");
		for (const one of back) one.disabled = shown === 0;
		for (const one of on) one.disabled = shown === count;
	}
}
