/** Why something was refused, or a room is gone; as tictactoe_protocol.refusals. */

import { say } from "./catalogue.js";

/** The sentence, or null where this page has none. @param {string} id @param {Protocol.Error["data"]} [data] */
function describe(id, data) {
	if (!data) return null;
	const places = Object.entries(data).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]);
	try {
		return say(data.why ? `${id} ${data.why}` : id, Object.fromEntries(places));
	} catch {
		return null;
	}
}

/** What the server says, with its reasons in the language of the page as far as that has them. @param {Protocol.Push} push */
export function inOwnWords(push) {
	if (push.type === "error") return { ...push, message: describe(`refused ${push.code}`, push.data) ?? push.message };
	if (push.type === "announcement") return { ...push, text: describe(`announced ${push.code}`, {}) ?? push.text };
	return push.type === "closed" ? { ...push, reason: describe(`closed ${push.code}`, push.data) ?? push.reason } : push;
}
