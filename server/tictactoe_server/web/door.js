/** What stands in the board's place while somebody is missing: a door to the free seat. */

import { say } from "./catalogue.js";
import { field, h, submitting } from "./dom.js";
import { isGuest } from "./identity.js";
import { prepared } from "./later.js";
import { clean, describeClock, describeRules, explainRules, joinWords, nameMark } from "./words.js";

/** @param {string} own the name that one bears @param {State} state @param {(name: string) => void} onJoin */
export function makeDoor(own, state, onJoin) {
	const name = h("input", { value: own, maxlength: 24, autocomplete: "nickname" });
	if (isGuest(own)) prepared(import("./naming.js")).then(({ proposeName }) => (name.value = name.value === own ? proposeName() : name.value), () => undefined);
	const mark = Object.keys(state.seats).find((one) => !state.seats[one]) ?? "";
	const hosts = Object.values(state.seats).flatMap((seat) => (seat ? clean(seat.name) : []));
	const title = hosts.length ? say("view door host", { n: hosts.length, names: joinWords(hosts) }) : say("view door nobody");
	return h("form.card.door", { submit: submitting(() => onJoin(name.value)) },
		h("h2", {}, title),
		h("p", {}, say("new room sum", { rules: describeRules(state.rules), clock: describeClock(state.time_control) })),
		h("p", {}, explainRules(state.rules).join(" ")),
		field(say("view door name"), name),
		h("button.primary.big", {}, say("view door play", { mark: nameMark(state, mark) })),
	);
}
