/** The card of a room that waits: its link, to be photographed, shared, copied or read out. */

import { say } from "./catalogue.js";
import { button, h } from "./dom.js";

/** @param {App} app @param {string} code of the room */
export function makeInvitation(app, code) {
	const link = app.linkTo(code);
	const image = h("img.qr", { src: `/qr/${code}.svg`, alt: say("page invite qr"), width: 176, height: 176 });
	return h("div.card.invite", {},
		h("div.invite-words", {},
			h("h2", {}, say("page invite title")),
			h("p", {}, say("page invite how")),
			makeLink(app, link, say("page invite share")),
			h("p.code", {}, say("invitation code"), " ", h("b", {}, code)),
			h("p.note", {}, say("page invite terminal"), " ", h("code", {}, `tictactoe-client join ${link}`)),
		),
		h("figure.qr-box", {}, image, h("figcaption.note", {}, say("page invite scan"))),
	);
}

/** A link to be read, copied or shared; browsers can share only on a page that came by TLS. @param {App} app @param {string} url @param {string} title of what is shared */
export function makeLink(app, url, title) {
	const shown = h("input", { readonly: true, value: url, "aria-label": say("invitation link"), focus: () => shown.select() });
	// Who closes the sheet has not shared, and knows it.
	const share = () => navigator.share({ title, url }).catch(() => undefined);
	return h("div.row", {}, shown, button(say("page copy"), () => app.copy(url), { class: "primary" }), !!navigator.canShare?.({ url }) && button(say("page share"), share));
}
