/** What one is called: asked once, before the first game, with a proposal. */

import { say } from "./catalogue.js";
import { h, nameInput, openDialog, submitting } from "./dom.js";

const pick = (id = "", words = say(id).split(" ")) => words[Math.floor(Math.random() * words.length)];

export const proposeName = () => `${pick("name proposal first")} ${pick("name proposal last")}`;

/** Resolves once one bears a name: what was typed, or who closes the question the one proposed. @param {App} app */
export async function askName(app) {
	const proposal = proposeName();
	const name = nameInput({ value: proposal, "aria-label": say("name question") });
	const form = h("form.row", { submit: submitting(() => dialog.close()) }, name, h("button.primary", say("name question take")));
	const dialog = openDialog(say("name question"), h("p", say("name question note")), form);
	name.focus();
	name.select();
	await new Promise((resolve) => dialog.addEventListener("close", resolve));
	app.keep({ asked: true });
	if (!(await app.bear(name.value || proposal))) await askName(app);
}
