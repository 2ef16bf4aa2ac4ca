/** The page for URLs that lead nowhere, with links to other pages. */

import { say } from "./catalogue.js";
import { button, h } from "./dom.js";

/** @param {App} app @param {string} message why */
export function makeNothing(app, message) {
	const element = h("div.card.narrow",
		h("h1", say("page nothing title")),
		h("p", message),
		h("div.row",
			button(say("page home"), () => app.navigate("/"), { class: "primary" }),
			button(say("page new room"), () => app.navigate("/#new")),
			button(say("page all games"), () => app.navigate("/wall")),
		),
	);
	return { title: say("page nothing"), element };
}
