/** The list of keys and commands that the page shows on request. */

import { say } from "./catalogue.js";
import { button, h } from "./dom.js";
import { COMMANDS, wordsOf, KEYS, KEYS_OF_CLAIMS } from "./typing.js";

/** What is no deed of the room. */
const OTHERS = ["digits", "names", "arrows", "steps", "answers"];

function listKeys() {
	const letters = Object.entries({ ...KEYS, ...KEYS_OF_CLAIMS }).map(([key, names]) => [key, say(`deed ${names[names.length - 1]}`)]);
	const commands = Object.keys(COMMANDS).map((id) => `/${wordsOf(id)[0]}`);
	return [
		...OTHERS.map((id) => [say(`view keys ${id}`), say(`view keys ${id} do`)]),
		...letters,
		["/", say("view keys commands", { commands: commands.join(", ") })],
		["Esc", say("key back")],
	];
}

export function showKeys() {
	const rows = listKeys().map(([keys, does]) => h("div", {}, h("dt", {}, keys), h("dd", {}, does)));
	const title = say("view keys");
	const close = button(say("page close"), () => dialog.close(), { class: "primary" });
	/** @type {HTMLDialogElement} */
	const dialog = h("dialog", { "aria-label": title, close: () => dialog.remove() }, h("h2", {}, title), h("dl", {}, rows), close);
	document.body.append(dialog);
	dialog.showModal();
}
