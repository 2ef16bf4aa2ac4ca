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

export class Timeline {
	/** The number of moves in the displayed position, or null to follow the newest one. @type {number | null} */
	here = null;
	#count = 0;
	#where = h("span.where");
	#timer = 0;
	#playing = button("▶", () => this.#toggle(), { hidden: true });
	#back = [
		button("«", () => this.look(0), { "aria-label": say("view steps first") }),
		button("‹", () => this.look(this.shown - 1), { "aria-label": sayTitle("does back") }),
	];
	#on = [
		button("›", () => this.look(this.shown + 1), { "aria-label": sayTitle("does next") }),
		button("»", () => this.look(), { "aria-label": sayTitle("key to the newest") }),
	];
	list = h("ol.moves", { "aria-label": sayTitle("column moves"), tabindex: 0 });
	steps = h("div.steps", { role: "group", "aria-label": say("view steps") }, this.#back, this.#where, this.#on, this.#playing);

	/** @param {GamePage} page */
	constructor(page) {
		this.page = page;
		for (const one of [...this.#back, ...this.#on]) one.disabled = true; // until the game is loaded
	}

	get shown() {
		return this.here ?? this.#count;
	}

	get isBack() {
		return this.here !== null;
	}

	/** Show the position after so many moves, by default the newest one, where a replay ends. */
	look(ply = Infinity, isPlaying = false) {
		this.here = ply >= this.#count ? null : Math.max(0, ply);
		if (!isPlaying || !this.isBack) this.pause();
		this.page.look(isPlaying);
	}

	play() {
		this.#timer = setInterval(() => this.look(this.shown + 1, true), this.#count > MANY ? MOVE_OF_MANY_MS : MOVE_MS);
		this.look(this.here ?? 0, true);
	}

	#toggle() {
		if (!this.#timer) return this.play();
		this.pause();
		return this.page.look(true);
	}

	pause() {
		clearInterval(this.#timer);
		this.#timer = 0;
	}

	/** @param {State} state @param {readonly string[]} kinds how good each was, as far as known */
	draw(state, viewer = "", kinds = []) {
		const { rules, board, status, chosen, moves } = state;
		this.#count = moves.length;
		if (this.here !== null && this.here >= moves.length) this.here = null;
		const listed = moves.map((cell, at) => ({
			ply: at + 1, mark: board[cell], cell: nameCell(cell, rules), kind: kinds[at] ?? "", choice: chosen ? describeChoicesAt(state, at + 1, viewer) : "",
		}));
		const look = lookOf(rules);
		showKeyed(this.list, listed, ({ ply, mark, cell, choice }) => `${look} ${ply} ${mark}${cell} ${choice}`, (move) => this.#makeMove(rules, move), drawKind);
		this.#markCurrent(this.list.children[this.shown - 1]?.firstElementChild ?? null);
		setText(this.#where, `${this.shown} / ${moves.length}`);
		this.#playing.hidden = status !== "over" || !moves.length;
		setText(this.#playing, this.#timer ? "❚❚" : "▶");
		this.#playing.setAttribute("aria-label", say(this.#timer ? "view steps pause" : "view steps play"));
		for (const one of this.#back) one.disabled = this.shown === 0;
		for (const one of this.#on) one.disabled = this.shown === moves.length;
	}

	/** @param {Rules} rules @param {ListedMove} move */
	#makeMove(rules, { ply, mark, cell, choice }) {
		const made = button("", () => this.look(ply));
		made.append(h("small", `${ply}`), seatIcon(lookOf(rules), rules.marks, mark), h("span.unseen", ` ${nameMark({ rules }, mark)} `), cell);
		return h("li", made, !!choice && h("small.choice", choice));
	}

	/** @param {Element | null} current the move that is looked at */
	#markCurrent(current) {
		const before = this.list.querySelector("[aria-current]");
		if (current === before) return;
		before?.removeAttribute("aria-current");
		current?.setAttribute("aria-current", "true");
		// Read the position when the page is laid out anyway, which avoids a forced layout.
		requestAnimationFrame(() => current instanceof HTMLElement && (this.list.scrollTop = current.offsetTop + current.offsetHeight - this.list.clientHeight));
	}
}

/** @param {Element} item @param {ListedMove} move */
function drawKind(item, { kind }) {
	if (item.className === kind) return;
	item.className = kind;
	item.firstElementChild?.setAttribute("title", sayOr(`view move ${kind}`, ""));
}
