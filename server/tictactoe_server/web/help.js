/** The dialogs that explain keys and the rules of games. */

import { say, sayTitle } from "./catalogue.js";
import { h, openDialog } from "./dom.js";
import { KEYS } from "./keyboard.js";
import { PRESETS, boardAfter } from "./rules.js";
import { drawExample, drawSmall } from "./smallboard.js";
import { describeRules, explainRules, nameGame } from "./words.js";

const OTHERS = ["digits", "names", "arrows", "steps", "answers"];

export function showKeys() {
	const letters = Object.entries(KEYS).map(([key, deeds]) => [key, deeds.slice(-2).map((name) => say(`deed ${name}`)).join(", ")]);
	const keys = [
		...OTHERS.map((id) => [say(`view keys ${id}`), say(`view keys ${id} do`)]),
		...letters,
		[".", say("view keys next")],
		["Esc", say("key back")],
	];
	openDialog(say("view keys"), h("dl", keys.map(([names, does]) => h("div", h("dt", names), h("dd", does)))));
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
