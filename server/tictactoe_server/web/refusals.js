/** Why something was refused, or a room is gone; as tictactoe_protocol.refusals. */

import { say } from "./catalogue.js";

/** Why a request was refused; in the server's words where this page has none. @param {Protocol.Error} error */
const describeRefusal = ({ code, data, message }) => describe(`refused ${code}`, data) ?? message;

/** Why a room is gone. @param {Protocol.Closed} closed */
const describeClosing = ({ code, data, reason }) => describe(`closed ${code}`, data) ?? reason;

/** @param {string} id @param {Protocol.Error["data"]} [data] */
function describe(id, data) {
	if (!data) return null;
	const places = Object.entries(data).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]);
	try {
		return say(data.why ? `${id} ${data.why}` : id, Object.fromEntries(places));
	} catch {
		return null;
	}
}

/** What the server says, with its reasons in the language of the page. @param {Protocol.Push} push */
export function inOwnWords(push) {
	if (push.type === "error") return { ...push, message: describeRefusal(push) };
	if (push.type === "announcement") return { ...push, text: describe(`announced ${push.code}`, {}) ?? push.text };
	return push.type === "closed" ? { ...push, reason: describeClosing(push) } : push;
}
