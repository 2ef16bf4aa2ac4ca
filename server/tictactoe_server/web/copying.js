/** Copying a text, also without TLS, or else marking it to be copied by hand. */

import { say } from "./catalogue.js";
import { h } from "./dom.js";

/** Copy a text and say so, or mark it where the browser copies nothing. @param {App} app @param {string} text */
export async function copyText(app, text) {
	const isWritten = await navigator.clipboard?.writeText(text).then(() => true, () => false);
	if (isWritten || copyMarked(text)) return app.say(say("page copied", { text }));
	app.show(say("page marked", { text }));
	const from = /** @type {Text} */ (app.status.firstChild);
	return getSelection()?.setBaseAndExtent(from, from.length - text.length, from, from.length);
}

/** Copy in the way of before, which a page without TLS has too; whether it did. @param {string} text */
function copyMarked(text) {
	const focused = /** @type {HTMLElement | null} */ (document.activeElement);
	const field = h("textarea.unseen", { readonly: true });
	field.value = text;
	document.body.append(field);
	field.focus({ preventScroll: true });
	field.select();
	const isCopied = document.execCommand("copy");
	field.remove();
	focused?.focus({ preventScroll: true });
	return isCopied;
}
