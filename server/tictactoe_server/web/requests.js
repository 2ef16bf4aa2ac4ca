/** Pending requests, and the two ways in which they fail. */

import { say } from "./catalogue.js";

const ANSWER_MS = 8000;
const RETRY_PAUSE_MS = 50;

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

/** Ask until there is an answer: again after a loss, and after the time for which the server asks to wait. @template T @param {() => Promise<T>} ask @param {(error: unknown) => boolean} isOver whether to give up after this error @returns {Promise<T>} */
export async function patiently(ask, isOver) {
	try {
		return await ask();
	} catch (error) {
		const wait = error instanceof Refused ? error.retryMs : 0;
		if (isOver(error) || !(wait || error instanceof Lost)) throw error;
		await new Promise((resolve) => setTimeout(resolve, wait + RETRY_PAUSE_MS));
		return patiently(ask, isOver);
	}
}

export function makeRequests() {
	/** @type {Map<string, Waiting>} */
	const waiting = new Map();
	let number = 0;
	return { ask, settle, lose };

	/** @param {Ask} request @param {(text: string) => void} send @returns {Promise<Ok>} */
	function ask(request, send) {
		const id = String(++number);
		return new Promise((resolve, reject) => {
			const timer = setTimeout(() => take(id)?.reject(new Lost()), ANSWER_MS);
			waiting.set(id, { resolve, reject, timer });
			send(JSON.stringify({ ...request, id }));
		});
	}

	/** @param {Ok | Protocol.Error} answer */
	function settle(answer) {
		const asked = take(answer.id);
		if (answer.type === "ok") asked?.resolve(answer);
		else asked?.reject(new Refused(answer));
	}

	function lose() {
		for (const id of [...waiting.keys()]) take(id)?.reject(new Lost());
	}

	function take(id = "") {
		const asked = waiting.get(id);
		clearTimeout(asked?.timer);
		waiting.delete(id);
		return asked;
	}
}
