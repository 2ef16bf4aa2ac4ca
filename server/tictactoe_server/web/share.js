/** The share dialog of a game or an event: a link, a picture, and a tag to embed it in another page. */

import { say, sayTitle } from "./catalogue.js";
import { h, makeLink, openDialog, urlOf } from "./dom.js";

/** Only public games have a picture and a tag; our own finished game is published first. @param {App} app @param {{ path?: string, isPublic?: boolean, past?: string }} what */
export async function showShare(app, { path = "", isPublic = false, past }) {
	if (past) {
		const ok = await app.ask({ type: "share", game_id: past, on: true });
		if (!ok) return;
		[path, isPublic] = [`replay/${ok.replay}`, true];
	}
	const part = (id = "", text = "", /** @type {Element[]} */ ...more) => h("section", h("h3", say(id)), ...more, makeLink(app, text, sayTitle("key share"), say(id)));
	const picture = `preview/${path}.png`;
	const shown = h("img.shared", { src: urlOf(`/${picture}`), alt: "", error: () => shown.parentElement?.remove() });
	const tag = `<iframe src="${app.linkTo(`embed/${path}`)}" title="tictactoe" width="100%" height="600"></iframe>`;
	const dialog = openDialog(sayTitle("key share"), h("div.share", part("invitation link", app.linkTo(path)), ...(isPublic ? [part("share picture", app.linkTo(picture), shown), part("page embed", tag)] : [])));
	// The announcement that the link was copied is outside of the dialog, so close that first.
	dialog.addEventListener("click", ({ target }) => target instanceof Element && target.matches(".primary") && dialog.close(), true);
}
