/** The keys on the page of a game: those of the terminal client, as far as the browser leaves them to a page. */

import { say } from "./catalogue.js";
import { findDeed } from "./choices.js";
import { isForControl } from "./dom.js";
import { hasSingleKeys, parseCell } from "./rules.js";

/** The actions of each key; the first possible one is carried out. @type {Record<string, string[]>} */
export const KEYS = {
	b: ["computer"],
	n: ["new game", "new private room", "new opponent"],
	r: ["rematch accept", "rematch ask", "challenge"],
	v: ["review"],
	y: ["copy"],
	w: ["claim win"],
	d: ["claim draw"],
};

/** @param {GamePage} page */
export function makeKeyboard(page) {
	return press;

	/** @param {KeyboardEvent} event */
	function press(event) {
		const { key, ctrlKey, altKey } = event;
		const isAnswer = (ctrlKey || altKey) && (key === "y" || key === "n");
		if (isAnswer ? page.controls.answer(key === "y" ? 0 : 1) : !isForControl(event) && pressAlone(key)) event.preventDefault();
		page.draw();
	}

	/** Carry out the action of a key without modifiers; return whether there was one. */
	function pressAlone(key = "") {
		const { game, state, may } = page;
		if (!game || !state) return false;
		const side = may.filter(({ name }) => name.startsWith("choose"))[Number(key) - 1];
		if (side) page.controls.run(side.name);
		else if (key === "Escape") goBack();
		else if (key === "Backspace" && page.typed) page.typed = page.typed.slice(0, -1);
		else if (game.plays ? pressAtBoard(key, state.rules, may) : pressLooking(key)) return true;
		else if (key.startsWith("Arrow")) page.board?.focus();
		else return !game.plays && page.controls.run(deedOfKey(may, key));
		return true;
	}

	/** @param {Rules} rules @param {readonly Deed[]} may */
	function pressAtBoard(key = "", rules, may) {
		const claim = deedOfKey(may, key, true);
		const digit = Number(key);
		const isCell = digit > 0 && !page.typed && (hasSingleKeys(rules) || (rules.gravity && digit <= rules.columns));
		if (claim) page.controls.run(claim);
		else if (isCell) page.board?.play(digit - 1);
		else if (/^[a-zA-Z0-9,]$/.test(key)) page.typed += key;
		else if (key === "Enter" && page.typed) playTyped(rules);
		else return false;
		return true;
	}

	/** @param {Rules} rules */
	function playTyped(rules) {
		const cell = parseCell(page.typed, rules);
		if (cell >= 0) page.board?.play(cell);
		else page.app.say(say("unknown", { typed: page.typed, hint: say("move looks like") }));
		page.typed = "";
	}

	function pressLooking(key = "") {
		const { timeline } = page;
		const ply = { ArrowLeft: timeline.shown - 1, ArrowRight: timeline.shown + 1, Home: 0, End: Infinity }[key];
		if (ply !== undefined) timeline.look(ply);
		return ply !== undefined;
	}

	function goBack() {
		if (page.typed) page.typed = "";
		else if (page.board?.choose(null)) return;
		else if (page.review) page.beginAnew();
		else if (page.timeline.isBack && page.room) page.timeline.look();
		else page.controls.run(page.room?.seat && !page.room.ended ? "leave" : "home");
	}
}

/** Return the action of a key, or ""; at the board, where letters are moves, only claims have keys. @param {readonly Deed[]} may */
export const deedOfKey = (may, key = "", isAtBoard = false) =>
	KEYS[key]?.find((name) => findDeed(may, name) && (!isAtBoard || name.startsWith("claim"))) ?? "";
