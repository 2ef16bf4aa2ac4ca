/** Slash commands by the names of their actions, and the dialogs that explain commands, keys and the rules of games. */

import { say, sayTitle } from "./catalogue.js";
import { h, openDialog } from "./dom.js";
import { KEYS, KEYS_OF_CLAIMS } from "./keyboard.js";
import { PRESETS, boardAfter } from "./rules.js";
import { drawExample, drawSmall } from "./smallboard.js";
import { describeRules, explainRules, nameGame } from "./words.js";

const WAYS = ["choose more", "choose stay", "choose swap"];
/** @type {Record<string, string[]>} */
export const COMMANDS = {
	...Object.fromEntries([...WAYS, "claim draw", "computer", "copy", "leave", "new", "resign", "review", "share", "yes", "no", "help"].map((name) => [name, [name]])),
	claim: ["claim win"],
	draw: ["draw accept", "draw offer"],
	rematch: ["rematch accept", "rematch ask"],
	undo: ["undo accept", "undo offer"],
};

/** The words for a command, the displayed one first; the English word is valid in every language. */
export const wordsOf = (id = "") => [...say(`type ${id}`).split(/[;,] /).filter((word) => word.length > 1), id];

export function readCommand(text = "") {
	const typed = text.trim().replace(/\s+/g, " ").toLowerCase();
	const found = Object.entries(COMMANDS).find(([id]) => wordsOf(id).includes(typed));
	return found ? found[1] : null;
}

const OTHERS = ["digits", "names", "arrows", "steps", "answers"];

function listKeys() {
	const letters = Object.entries({ ...KEYS, ...KEYS_OF_CLAIMS }).map(([key, names]) => [key, say(`deed ${names[names.length - 1]}`)]);
	const commands = Object.keys(COMMANDS).map((id) => `/${wordsOf(id)[0]}`);
	return [
		...OTHERS.map((id) => [say(`view keys ${id}`), say(`view keys ${id} do`)]),
		...letters,
		[".", say("view keys next")],
		["/", say("view keys commands", { commands: commands.join(", ") })],
		["Esc", say("key back")],
	];
}

export function showKeys() {
	const rows = listKeys().map(([keys, does]) => h("div", h("dt", keys), h("dd", does)));
	openDialog(say("view keys"), h("dl", rows));
}

/** @param {Rules} [rules] of the game to begin with */
export function showRules(rules) {
	const parts = PRESETS.map((name) => makePart(`rules-${name}`, drawExample(name), say(`name of ${name}`), say(`rules of ${name}`)));
	const isNamed = !!rules?.preset && PRESETS.includes(rules.preset);
	if (rules && !isNamed) parts.unshift(makePart("rules-own", drawSmall(rules, boardAfter(rules, "", [])), nameGame(rules), [`${describeRules(rules)}.`, ...explainRules(rules)].join(" ")));
	const dialog = openDialog(sayTitle("column rules"), parts);
	if (isNamed) dialog.querySelector(`#rules-${rules.preset}`)?.scrollIntoView();
}

/** @param {Element} picture */
function makePart(id = "", picture, name = "", text = "") {
	return h("section.rules-of", { id }, picture, h("div", h("h3", name), h("p", text)));
}
