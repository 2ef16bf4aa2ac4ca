/** The question for the player's name, asked once before the first game, with a proposal. */

import { say } from "./catalogue.js";
import { field, h, nameInput, openDialog, submitting } from "./dom.js";
import { isGuest } from "./identity.js";

const pick = (id = "", words = say(id).split(" ")) => words[Math.floor(Math.random() * words.length)];

export const proposeName = () => `${pick("name proposal first")} ${pick("name proposal last")}`;

/** Resolve when the player has a name: the typed one, or the proposed one if the question is closed. @param {App} app */
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

/** Ask for the names of all players at this keyboard and take the first; resolve to the other names, or to null. @param {App} app @param {string} marks @returns {Promise<string[] | null>} */
export async function askNames(app, marks) {
	const numbers = [...marks].map((_, at) => say("local player", { n: at + 1 }));
	if (app.isNamed) return numbers.slice(1);
	const { name } = app.connection;
	const inputs = numbers.map((placeholder, at) => nameInput({ placeholder, autocomplete: "off", value: at || isGuest(name) ? "" : name }));
	let isAnswered = false;
	const form = h("form.fields", { submit: submitting(() => dialog.close(String((isAnswered = true)))) },
		inputs.map((input, at) => field(say("page new name of", { mark: marks[at] }), input)), h("button.primary.big", say("new room begin")));
	const dialog = openDialog(say("page here who"), form);
	inputs.find(({ value }) => !value)?.focus();
	await new Promise((resolve) => dialog.addEventListener("close", resolve));
	if (!isAnswered) return null;
	const [first, ...others] = inputs.map(({ value }, at) => value.trim() || numbers[at]);
	app.keep({ asked: true });
	return (await app.bear(first)) ? others : askNames(app, marks);
}
