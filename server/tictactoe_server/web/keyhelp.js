/** The list of keys and commands that the page shows on request. */

import { say } from "./catalogue.js";
import { COMMANDS, wordsOf } from "./commands.js";
import { openDialog } from "./dialog.js";
import { h } from "./dom.js";
import { KEYS, KEYS_OF_CLAIMS } from "./keys.js";

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
	openDialog(say("view keys"), h("dl", {}, rows));
}
