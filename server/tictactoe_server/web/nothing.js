/** The page for URLs that lead nowhere, with links to other pages. */

import { say, sayTitle } from "./catalogue.js";
import { button, h } from "./dom.js";

/** @param {App} app @param {string} message why */
export function makeNothing(app, message) {
	const element = h("div.card.narrow",
		h("h1", say("page nothing title")),
		h("p", message),
		h("div.row",
			button(sayTitle("key to home"), () => app.navigate("/"), { class: "primary" }),
			button(say("home new"), () => app.navigate("/#new")),
			button(say("page all games"), () => app.navigate("/wall")),
		),
	);
	return { title: say("page nothing"), element };
}
