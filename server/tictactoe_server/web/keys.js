/** What keys mean: the terminal's, as far as a browser leaves them to a page. */

import { button, h } from "./dom.js";

const KEYS = [
	["1 to 9", "a cell of 3x3, or a column where marks fall"],
	["h8 Enter", "a cell by its name"],
	["arrows, Enter", "go to a cell and place"],
	["← → Home End", "step through a game"],
	["Ctrl+Y, Alt+N", "accept, decline"],
	["r n v", "rematch, new opponent, values of moves"],
	["w d", "claim the win or a draw"],
	["y b", "copy the link, let the computer sit in"],
	["/", "a command, such as /draw, /undo, /resign, /leave"],
	["Esc", "back"],
];

export function showKeys() {
	const rows = KEYS.map(([keys, does]) => h("div", {}, h("dt", {}, keys), h("dd", {}, does)));
	const close = button("Close", () => dialog.close(), { class: "primary" });
	/** @type {HTMLDialogElement} */
	const dialog = h("dialog", { "aria-label": "Keys", close: () => dialog.remove() }, h("h2", {}, "Keys"), h("dl", {}, rows), close);
	document.body.append(dialog);
	dialog.showModal();
}

/** Whether a key is for the control that has the focus, or for the browser. @param {KeyboardEvent} event */
export function isForControl({ target, key, ctrlKey, metaKey, altKey }) {
	if (ctrlKey || metaKey || altKey || !(target instanceof Element)) return true;
	return target.matches("input, select") || ((key === "Enter" || key === " ") && target.matches("button, a"));
}
