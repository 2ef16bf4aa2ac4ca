/** What lies over whatever page one is on, until it is closed. */

import { say } from "./catalogue.js";
import { button, h } from "./dom.js";

/** @param {string} title @param {...(Element | Element[])} content */
export function openDialog(title, ...content) {
	const close = button(say("page close"), () => dialog.close());
	/** @type {HTMLDialogElement} */
	const dialog = h("dialog", { "aria-label": title, close: () => dialog.remove() }, h("div.dialog-head", h("h2", title), close), ...content);
	document.body.append(dialog);
	dialog.showModal();
	return dialog;
}
