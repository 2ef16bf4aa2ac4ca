/** The rules of every game that has a name, in two sentences each, over whatever page one is on. */

import { say } from "./catalogue.js";
import { openDialog } from "./dialog.js";
import { h } from "./dom.js";
import { PRESETS } from "./rules.js";
import { drawExample } from "./tiles.js";

/** @param {string | null} [preset] of the game to begin with */
export function showRules(preset = null) {
	const parts = PRESETS.map((name) =>
		h("section.rules-of", { id: `rules-${name}` },
			drawExample(name),
			h("div", {}, h("h3", {}, say(`name of ${name}`)), h("p", {}, say(`rules of ${name}`))),
		),
	);
	const dialog = openDialog(say("page rules"), parts);
	if (preset) dialog.querySelector(`#rules-${preset}`)?.scrollIntoView();
}
