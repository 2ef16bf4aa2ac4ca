/** The tag by which a page of another site shows a game or an event. */

import { h } from "./dom.js";

/** Copy the tag for what is under a path. @param {App} app @param {string} path */
export function copyTag(app, path) {
	const frame = h("iframe", { src: app.linkTo(`embed/${path}`), width: 480, height: 600 });
	app.copy(new XMLSerializer().serializeToString(frame));
}
