/** The rules of every game that has a name, in two sentences each, over whatever page one is on; before them those of one's own. */

import { say } from "./catalogue.js";
import { openDialog } from "./dialog.js";
import { h } from "./dom.js";
import { PRESETS, boardAfter } from "./rules.js";
import { SmallBoard } from "./smallboard.js";
import { drawExample } from "./tiles.js";
import { describeRules, nameGame } from "./words.js";

/** @param {Protocol.RulesState} [rules] of the game to begin with */
export function showRules(rules) {
	const parts = PRESETS.map((name) => makePart(`rules-${name}`, drawExample(name), say(`name of ${name}`), say(`rules of ${name}`)));
	const isNamed = !!rules?.preset && PRESETS.includes(rules.preset);
	if (rules && !isNamed) parts.unshift(makePart("rules-own", drawEmpty(rules), nameGame(rules), explainRules(rules)));
	const dialog = openDialog(say("page rules"), parts);
	if (isNamed) dialog.querySelector(`#rules-${rules.preset}`)?.scrollIntoView();
}

/** @param {string} id @param {Element} picture @param {string} name @param {string} text */
function makePart(id, picture, name, text) {
	return h("section.rules-of", { id }, picture, h("div", {}, h("h3", {}, name), h("p", {}, text)));
}

/** @param {Protocol.RulesState} rules */
function drawEmpty(rules) {
	const board = new SmallBoard(rules);
	board.draw(boardAfter(rules, "", []));
	return board.element;
}

/** What a game without a name is about, with what is hard to tell from a few words. @param {Protocol.RulesState} rules */
function explainRules(rules) {
	const { exact, opening, line } = rules;
	const told = [`${describeRules(rules)}.`];
	if (exact) told.push(say("explain exact", { line }));
	if (opening) told.push(say(opening === "pie" ? "explain pie" : "explain swap2"));
	return told.join(" ");
}
