/** The moves of a game as a list that one steps through. */

import { say } from "./catalogue.js";
import { button, h, setText } from "./dom.js";
import { showKeyed } from "./keyed.js";
import { markIcon } from "./marks.js";
import { nameCell } from "./rules.js";

/** A move of the list, `kind` how good it was where that is known. @typedef {{ply: number, mark: string, cell: string, kind: string}} Listed */

export class Timeline {
	/** How many moves are looked at, null for the newest moment, whatever comes. @type {number | null} */
	here = null;
	#count = 0;
	#where = h("span.where");
	#back = [
		button("«", () => this.look(0), { "aria-label": say("view steps first") }),
		button("‹", () => this.step(-1), { "aria-label": say("view steps back") }),
	];
	#on = [
		button("›", () => this.step(1), { "aria-label": say("view steps on") }),
		button("»", () => this.look(), { "aria-label": say("view steps last") }),
	];
	list = h("ol.moves", { "aria-label": say("view steps moves"), tabindex: 0 });
	steps = h("div.steps", { role: "group", "aria-label": say("view steps") }, this.#back, this.#where, this.#on);

	/** @param {() => void} onLook */
	constructor(onLook) {
		this.onLook = onLook;
	}

	/** How many moves are looked at. */
	get shown() {
		return this.here ?? this.#count;
	}

	get isBack() {
		return this.here !== null;
	}

	step(by = 1) {
		this.look(this.shown + by);
	}

	look(ply = Infinity) {
		this.here = ply >= this.#count ? null : Math.max(0, ply);
		this.onLook();
	}

	/** Show the newest moment again, without a word. */
	reset() {
		this.here = null;
	}

	/** @param {State} state @param {readonly number[]} moves @param {readonly string[]} kinds how good each was, as far as known */
	draw({ rules, board }, moves, kinds = []) {
		this.#count = moves.length;
		if (this.here !== null && this.here >= moves.length) this.here = null;
		const items = moves.map((cell, at) => ({ ply: at + 1, mark: board[cell], cell: nameCell(cell, rules), kind: kinds[at] ?? "" }));
		const make = (/** @type {Listed} */ item) => this.#makeMove(rules, item);
		showKeyed(this.list, items, ({ ply, mark, cell }) => `${ply} ${mark} ${cell}`, make, (item, { ply, kind }) => {
			item.className = kind;
			const [made] = item.children;
			if (ply === this.shown) made.setAttribute("aria-current", "true");
			else made.removeAttribute("aria-current");
		});
		const current = this.list.querySelector("[aria-current]");
		if (current instanceof HTMLElement) this.list.scrollTop = current.offsetTop - 60;
		setText(this.#where, moves.length ? say("view steps where", { n: this.shown, count: moves.length }) : say("view steps none"));
		for (const one of this.#back) one.disabled = this.shown === 0;
		for (const one of this.#on) one.disabled = this.shown === moves.length;
	}

	/** @param {Rules} rules @param {Listed} move */
	#makeMove(rules, { ply, mark, cell }) {
		const made = button("", () => this.look(ply));
		made.append(h("small", {}, `${ply}`), markIcon(rules.marks, mark), h("span.unseen", {}, ` ${mark} `), cell);
		return h("li", {}, made);
	}
}
