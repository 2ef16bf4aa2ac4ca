/** The dialog with the rules of every named game, two sentences each, with custom rules first. */

import { say } from "./catalogue.js";
import { h, openDialog } from "./dom.js";
import { PRESETS, boardAfter } from "./rules.js";
import { drawSmall } from "./smallboard.js";
import { drawExample } from "./tiles.js";
import { describeRules, explainRules, nameGame } from "./words.js";

/** @param {Rules} [rules] of the game to begin with */
export function showRules(rules) {
	const parts = PRESETS.map((name) => makePart(`rules-${name}`, drawExample(name), say(`name of ${name}`), say(`rules of ${name}`)));
	const isNamed = !!rules?.preset && PRESETS.includes(rules.preset);
	if (rules && !isNamed) parts.unshift(makePart("rules-own", drawSmall(rules, boardAfter(rules, "", [])), nameGame(rules), [`${describeRules(rules)}.`, ...explainRules(rules)].join(" ")));
	const dialog = openDialog(say("page rules"), parts);
	if (isNamed) dialog.querySelector(`#rules-${rules.preset}`)?.scrollIntoView();
}

/** @param {string} id @param {Element} picture @param {string} name @param {string} text */
function makePart(id, picture, name, text) {
	return h("section.rules-of", { id }, picture, h("div", h("h3", name), h("p", text)));
}
