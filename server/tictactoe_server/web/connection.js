/** A player's connection: hello, requests and answers, reconnecting. */

import { say } from "./catalogue.js";
import { urlOf } from "./dom.js";
import { Identity } from "./identity.js";
import { makePulse } from "./pulse.js";
import { Lost, makeRequests } from "./requests.js";
import { HOME, makeWays, takeSocket } from "./socket.js";
import { parse } from "./text.js";

/** The time for a welcome: longer if there is no other server to try. */
const [WELCOME_MS, LONG_WELCOME_MS] = [4000, 8000];
const FIRST_WAIT_MS = 400;
const LONGEST_WAIT_MS = 4000;
/** The longest wait while the page is hidden, or after many attempts, which take some minutes. */
const LONGEST_RARE_WAIT_MS = 30_000;
const MANY_ATTEMPTS = 60;
/** The close code for a client that has sent too much. */
const TOO_MUCH = 1008;

export class Connection {
	/** @type {"connecting" | "on" | "ended"} */
	phase = "connecting";
	reason = "";
	/** @type {Welcome | null} */ welcome = null;
	/** When the next attempt is made, by `performance.now()`. */
	nextAttemptAt = 0;
	/** @type {WebSocket | null} */ #socket = null;
	#requests = makeRequests();
	#attempt = 0;
	/** When a stopping server said it would be back: Infinity for never, 0 if it did not say. */
	#backInMs = 0;
	#timer = 0;
	/** @type {{resolve: () => void, reject: (why: Error) => void}[]} */
	#waiting = [];
	#closing = new AbortController();
	#pulse = makePulse(this, this.#closing.signal);

	/** @param {Known} known @param {ConnectionEars} ears */
	constructor(known, ears, url = HOME) {
		this.identity = new Identity(known);
		this.ears = ears;
		this.url = url;
		this.ways = makeWays(url);
		const { signal } = this.#closing;
		addEventListener("offline", () => this.#pulse.ask(), { signal });
		addEventListener("online", () => this.#return(), { signal });
		document.addEventListener("visibilitychange", () => document.hidden || this.#return(), { signal });
	}

	get name() {
		return this.identity.name;
	}

	get player() {
		return this.welcome?.player ?? "";
	}

	get isOn() {
		return this.phase === "on";
	}

	get isSilent() {
		return this.#pulse.isSilent;
	}

	/** Whether connecting has failed; the first attempt, and that of a new name, do not count as trouble. */
	get isTroubled() {
		return !this.isOn && (this.phase === "ended" || this.#attempt > 1 || this.nextAttemptAt > 0);
	}

	/** Whether another server sent us here and this one has not accepted us yet. */
	get #isLed() {
		return !this.welcome && !this.ways.isAlone();
	}

	/** Wait for a welcome; reject with `Lost` if the server to which we were sent does not accept us. @returns {Promise<void>} */
	arrive() {
		if (this.isOn) return Promise.resolve();
		return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
	}

	retry() {
		if (this.#socket) return;
		clearTimeout(this.#timer);
		this.#open();
	}

	/** @param {Ask} request */
	request(request) {
		if (!this.isOn) return Promise.reject(new Lost());
		return this.#requests.ask(request, (text) => this.#send(text));
	}

	greetAgain() {
		this.#attempt = 0;
		this.#drop();
		this.#open(this.url);
		return this.arrive();
	}

	close() {
		this.#closing.abort();
		this.#drop();
		this.phase = "ended";
		for (const { reject } of this.#waiting.splice(0)) reject(new Lost());
	}

	#drop() {
		const socket = this.#socket;
		this.#forget();
		socket?.close(1000);
		clearTimeout(this.#timer);
	}

	#open(url = this.ways.next()) {
		const socket = takeSocket(url);
		this.url = url;
		this.#socket = socket;
		this.phase = "connecting";
		this.#attempt += 1;
		this.nextAttemptAt = 0;
		const isOurs = () => socket === this.#socket;
		socket.onopen = () => isOurs() && this.#greet();
		socket.onmessage = (event) => isOurs() && this.#hear(parse(event.data));
		socket.onclose = (event) => isOurs() && this.#lose(event.code);
		// A connection that the page's policy forbids fires only `error`, since it never opened.
		socket.onerror = () => isOurs() && this.#lose(1006);
		this.#timer = setTimeout(() => isOurs() && this.abandon(), this.ways.isAlone() ? LONG_WELCOME_MS : WELCOME_MS);
		this.ears.onPhase();
		if (socket.readyState === WebSocket.OPEN) this.#greet();
	}

	#greet() {
		this.#send(JSON.stringify({ type: "hello", client: `tictactoe-page/${navigator.platform}`, language: document.documentElement.lang, ...this.identity.hello }));
	}

	/** Send a text unless the socket is closing; its loss is handled a moment later. */
	#send(text = "") {
		if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(text);
	}

	/** @param {Protocol.Push} push */
	#hear(push) {
		this.#pulse.hear();
		if (push.type === "welcome") return this.#arrive(push);
		if (push.type === "ok" || (push.type === "error" && push.id !== undefined)) return this.#requests.settle(push);
		if (push.type === "notice") this.#backInMs = push.code === "stopping" ? Infinity : push.retry_ms;
		if (push.type === "error" && this.#isSettled(push)) return;
		this.ears.onNews(push);
	}

	/** Handle an error about our hello; return whether it is settled, so that nobody else needs to hear of it. @param {Protocol.Error} error */
	#isSettled({ message, code }) {
		this.reason = message;
		if (code === "bad_token" && this.#isLed) {
			this.close();
			return true;
		}
		const isAnother = this.identity.refuseCodes(message) || (code === "bad_token" && this.identity.refuseToken());
		if (isAnother || (code === "bad_name" && this.identity.refuseName())) this.#greet();
		return isAnother;
	}

	/** @param {Welcome} welcome */
	#arrive(welcome) {
		clearTimeout(this.#timer);
		this.welcome = welcome;
		this.identity.accept(welcome);
		this.phase = "on";
		this.reason = "";
		this.nextAttemptAt = 0;
		this.#attempt = this.#backInMs = 0;
		this.url = this.ways.learn(welcome.servers ?? [], this.url);
		this.ears.onIdentity(this);
		this.ears.onPhase();
		this.ears.onWelcome();
		for (const { resolve } of this.#waiting.splice(0)) resolve();
		this.#pulse.ask();
	}

	#forget() {
		this.#socket = null;
		this.#pulse.reset();
		this.phase = "connecting";
		this.#requests.lose();
	}

	abandon() {
		const socket = this.#socket;
		this.#lose(1006);
		socket?.close();
	}

	#lose(code = 0) {
		if (this.#isLed) return this.close();
		clearTimeout(this.#timer);
		this.#forget();
		if (!this.welcome && this.#attempt > 1) this.#findFault();
		const isFinal = code >= 4500 && code <= 4999;
		const wait = this.#waitAfter(code);
		if (isFinal || wait === Infinity) {
			this.phase = "ended";
			if (!isFinal || !this.reason) this.reason = say("view connection stopped");
		} else {
			this.nextAttemptAt = performance.now() + wait;
			this.#timer = setTimeout(() => this.#open(), wait);
		}
		this.ears.onPhase();
	}

	/** Return how many ms to wait before the next attempt; Infinity to give up. */
	#waitAfter(code = 0) {
		const backInMs = this.ways.isAlone() ? this.#backInMs : 0;
		this.#backInMs = 0;
		if (backInMs) return backInMs * (1 + Math.random());
		const longest = document.hidden || this.#attempt > MANY_ATTEMPTS ? LONGEST_RARE_WAIT_MS : LONGEST_WAIT_MS;
		const wait = code === TOO_MUCH ? LONGEST_WAIT_MS : Math.min(FIRST_WAIT_MS * 2 ** this.#attempt, longest);
		return wait * (0.5 + Math.random() / 2);
	}

	async #findFault() {
		const answer = await fetch(urlOf("/healthz")).catch(() => null);
		if (!answer?.ok || this.welcome || this.phase === "ended") return;
		this.reason = say("page no websocket");
		this.ears.onPhase();
	}

	/** Reconnect without waiting any longer, because the network may be back. */
	#return() {
		if (this.isSilent) this.abandon();
		if (this.isOn) this.#pulse.ask();
		else if (this.phase !== "ended") this.retry();
	}
}
