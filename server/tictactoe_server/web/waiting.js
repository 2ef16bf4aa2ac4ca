/** What replaces the board while players are missing: a button for the free seat, or the link to invite somebody. */

import { say } from "./catalogue.js";
import { field, h, makeLink, nameInput } from "./dom.js";
import { isGuest } from "./identity.js";
import { describeClock, describeManners, describeRules, explainRules, joinWords, nameMark } from "./words.js";

/** @param {State} state */
const describeTerms = ({ rules, time_control, ...state }) => say("new room sum", { rules: describeRules(rules), clock: [describeClock(time_control), ...describeManners(state)].join(", ") });

/** @param {App} app @param {State} state @param {(name: string) => void} onJoin */
export function makeDoor({ connection: { name: own }, isNamed }, state, onJoin) {
	const name = nameInput({ value: own });
	if (isGuest(own) && !isNamed) import("./names.js").then(({ proposeName }) => {
		if (name.value === own && document.activeElement !== name) name.value = proposeName(); // no player has begun to type
	}, () => undefined);
	const mark = Object.keys(state.seats).find((one) => !state.seats[one]) ?? "";
	const hosts = Object.values(state.seats).flatMap((seat) => seat?.name ?? []);
	const title = hosts.length ? say("view door host", { n: hosts.length, names: joinWords(hosts) }) : say("view door nobody");
	return h("form.card.door", { submit: () => onJoin(name.value) },
		h("h2", title),
		h("p", describeTerms(state)),
		h("p", explainRules(state.rules).join(" ")),
		!isNamed && field(say("name title"), name),
		h("button.primary.big", say("view door play", { mark: nameMark(state, mark) })),
	);
}

/** @param {App} app @param {State} state */
export function makeInvitation(app, state) {
	const { room: code } = state;
	const link = app.linkTo(code);
	const image = h("img.qr", { src: `/qr/${code}.svg`, alt: say("page invite qr"), width: 176, height: 176 });
	return h("div.card.invite",
		h("div.invite-words",
			h("h2", say("page invite title")),
			h("p", say("page invite how")),
			h("p", describeTerms(state)),
			makeLink(app, link, say("page invite share")),
			h("p.code", say("invitation code"), " ", h("b", code)),
			h("p.note", say("page invite terminal"), " ", h("code", `tictactoe-client join ${link}`)),
		),
		h("figure.qr-box", image, h("figcaption.note", say("page invite scan"))),
	);
}
