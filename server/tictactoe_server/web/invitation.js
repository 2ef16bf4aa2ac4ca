/** The card of a room that waits: its link, to be photographed, shared, copied or read out. */

import { say } from "./catalogue.js";
import { button, h } from "./dom.js";

/** @param {import("./app.js").App} app @param {string} code of the room */
export function makeInvitation(app, code) {
	const link = app.linkTo(code);
	const shown = h("input", { readonly: true, value: link, "aria-label": say("invitation link"), focus: () => shown.select() });
	const copy = button(say("page copy"), () => app.copy(link), { class: "primary" });
	const image = h("img.qr", { src: `/qr/${code}.svg`, alt: say("page invite qr"), width: 176, height: 176 });
	return h("div.card.invite", {},
		h("div.invite-words", {},
			h("h2", {}, say("page invite title")),
			h("p", {}, say("page invite how")),
			h("div.row", {}, shown, copy, canShare(link) && button(say("page share"), () => share(link))),
			h("p.code", {}, say("invitation code"), " ", h("b", {}, code)),
			h("p.note", {}, say("page invite terminal"), " ", h("code", {}, `tictactoe-client join ${link}`)),
		),
		h("figure.qr-box", {}, image, h("figcaption.note", {}, say("page invite scan"))),
	);
}

/** Whether this browser has a sheet to share by; it has none on a page that came without TLS. @param {string} url */
const canShare = (url) => !!navigator.canShare?.({ url });

/** @param {string} url */
function share(url) {
	// Who closes the sheet has not shared, and knows it.
	navigator.share({ title: say("page invite share"), url }).catch(() => undefined);
}
