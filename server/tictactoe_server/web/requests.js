/** Pending requests, the two ways in which they fail, and the reasons; as in tictactoe_protocol.refusals. */

import { say } from "./catalogue.js";

const ANSWER_MS = 8000;

/** The server refused a request; the message is a sentence for the user. */
export class Refused extends Error {
	/** @param {Protocol.Error} error */
	constructor(error) {
		super(error.message);
		this.code = error.code;
		this.url = error.url;
		this.path = error.path;
		this.retryMs = error.retry_ms ?? 0;
		this.why = error.data?.why;
	}
}

/** The connection broke before the answer came. */
export class Lost extends Error {
	message = say("banner lost");
}

/** Whether a server answered that another one has the room. @param {unknown} error @returns {error is Refused} */
export function isMoved(error) {
	return error instanceof Refused && error.code === "moved";
}

export class Requests {
	/** @type {Map<string, Waiting>} */
	#waiting = new Map();
	#number = 0;

	/** @param {Ask} request @param {(text: string) => void} send @returns {Promise<Ok>} */
	ask(request, send) {
		const id = String(++this.#number);
		return new Promise((resolve, reject) => {
			const timer = setTimeout(() => this.#take(id)?.reject(new Lost()), ANSWER_MS);
			this.#waiting.set(id, { resolve, reject, timer });
			send(JSON.stringify({ ...request, id }));
		});
	}

	/** @param {Ok | Protocol.Error} answer */
	settle(answer) {
		const asked = this.#take(answer.id);
		if (answer.type === "ok") asked?.resolve(answer);
		else asked?.reject(new Refused(answer));
	}

	lose() {
		for (const id of [...this.#waiting.keys()]) this.#take(id)?.reject(new Lost());
	}

	#take(id = "") {
		const asked = this.#waiting.get(id);
		clearTimeout(asked?.timer);
		this.#waiting.delete(id);
		return asked;
	}
}

/** Return the sentence, or null if this page has none. @param {Protocol.Error["data"]} [data] */
function describe(id = "", data) {
	if (!data) return null;
	try {
		const nameIn = (list = "", /** @type {unknown} */ one) => (list === "ladders" ? say(`name of ${one}`) : one);
		const places = Object.entries(data).map(([name, value]) => [name, Array.isArray(value) ? value.map((one) => nameIn(name, one)).join(", ") : value]);
		return say(data.why ? `${id} ${data.why}` : id, Object.fromEntries(places));
	} catch {
		return null;
	}
}

/** Return the server's message, with its reasons in the page's language as far as the page has them. @param {Protocol.Push} push */
export function inOwnWords(push) {
	if (push.type === "error") return { ...push, message: describe(`refused ${push.code}`, push.data) ?? push.message };
	if (push.type === "announcement") return { ...push, text: describe(`announced ${push.code}`, {}) ?? push.text };
	return push.type === "closed" ? { ...push, reason: describe(`closed ${push.code}`, push.data) ?? push.reason } : push;
}
