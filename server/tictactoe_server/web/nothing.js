/** The page where there is nothing to be seen, with the ways on. */

import { button, h } from "./dom.js";

/** @param {App} app @param {string} message why @returns {Page} */
export function makeNothing(app, message) {
	const element = h("div.card.new-room", {},
		h("h1", { tabindex: -1 }, "Nothing to see here"),
		h("p", {}, message),
		h("div.row", {},
			button("Home", () => app.navigate("/"), { class: "primary" }),
			button("New room…", () => app.navigate("/#new")),
			button("All games", () => app.navigate("/wall")),
		),
	);
	return { title: "Nothing here", element };
}
