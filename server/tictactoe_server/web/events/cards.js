/** A sheet of cards to print and cut: a name, a link and its QR code for each player of the roster. */

import { say } from "../catalogue.js";
import { button, h, setText, show } from "../dom.js";
import { drawQr } from "../qr.js";
import { messageOf } from "../words.js";
import { Following } from "./following.js";

/** @param {App} app */
export function makeCards(app, code = "") {
	const [title, fault, sheet] = [h("h1"), h("p.fault", { role: "alert" }), h("ul.cards")];
	const following = new Following(app, code, () => (following.state ? draw() : setText(fault, following.refused)));
	const element = h("div.sheet", h("div.hero", title, h("div.row", button(say("page event print"), () => print(), { class: "primary" }), h("a.go", { href: `/e/${code}` }, say("page event to")))), h("p.note", say("page event cut")), fault, sheet);
	let isAsked = false;
	return { title: say("page event cards"), element, follows: [following] };

	async function draw() {
		const { state } = following;
		setText(title, state?.head.title ?? "");
		if (isAsked) return;
		isAsked = true;
		try {
			const { cards = [] } = await following.ask({ type: "event_run", seq: state?.seq, action: "cards" });
			setText(fault, "");
			show(sheet, cards.map(({ name, ticket }) => {
				const address = app.linkTo(`e/${code}`);
				return h("li", drawQr(app, `${address}#${ticket}`), h("div", h("b", name), h("p", title.textContent), h("code", address.replace(/^https?:\/\//, ""), h("span", `#${ticket.match(/.{1,4}/g)?.join("-")}`))));
			}));
		} catch (error) {
			isAsked = false;
			if (following.state !== state) return void draw(); // the refusal may be about the earlier state
			setText(fault, messageOf(error));
		}
	}
}
