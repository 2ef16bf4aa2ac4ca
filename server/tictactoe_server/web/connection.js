/** One player's connection: hello, requests and their answers, coming back. */

import { takeSocket } from "./socket.js";

const WAITS_MS = [400, 800, 1600, 3200, 4000];
const PATIENCE_MS = 600_000;
const ANSWER_MS = 8000;
const PING_MS = 5000;
const SILENCE_MS = 12_000;
/** What this page understands beyond version 1.0. */
const FEATURES = ["abort", "analysis", "boards", "chat", "repeat", "seq", "share", "wall"];

/** The server refused a request; the message is a sentence for people. */
export class Refused extends Error {
	/** @param {Protocol.Error} error */
	constructor(error) {
		super(error.message);
		this.code = error.code;
		this.retryMs = error.retry_ms ?? 0;
	}
}

/** The connection broke before the answer came. */
export class Lost extends Error {
	message = "The connection was lost.";
}

export class Connection {
	/** @type {"connecting" | "on" | "away" | "ended"} */
	phase = "connecting";
	reason = "";
	/** @type {Protocol.Welcome | null} */
	welcome = null;
	/** The new name that was refused. @type {string | null} */
	refused = null;
	attempt = 0;
	/** When the next attempt is made, by `performance.now()`. */
	nextAttemptAt = 0;
	/** @type {WebSocket | null} */
	#socket = null;
	/** @type {Map<string, {resolve: (ok: Protocol.Ok) => void, reject: (why: Error) => void, timer: number}>} */
	#asked = new Map();
	#number = 0;
	#heard = 0;
	#lostAt = 0;
	#timer = 0;
	/** When a server that goes will be back, infinite for never; 0 for nothing said. */
	#backInMs = 0;
	/** The name before one that is being tried. @type {string | null} */
	#nameBefore = null;
	/** What the hello names: nothing at a server up to 1.2, which refuses the field. @type {string[]} */
	#features = [];

	/** @param {{name: string, token: string}} identity @param {ConnectionEars} ears */
	constructor(identity, ears) {
		this.name = identity.name;
		this.token = identity.token;
		this.ears = ears;
		setInterval(() => this.#check(), PING_MS);
		addEventListener("online", () => this.retry());
		document.addEventListener("visibilitychange", () => document.hidden || this.#check());
	}

	/** Whether an attempt has failed: the first one, and that of a new name, are no trouble yet. */
	get isTroubled() {
		return this.phase !== "on" && (this.phase === "ended" || this.attempt > 1 || this.nextAttemptAt > 0);
	}

	/** Open the connection, or try again at once. */
	retry() {
		if (this.#socket) return;
		if (this.phase === "ended") this.#lostAt = 0;
		clearTimeout(this.#timer);
		this.#open();
	}

	/** Rejects with `Refused` or `Lost`. @param {Ask} request @returns {Promise<Protocol.Ok>} */
	request(request) {
		if (this.phase !== "on") return Promise.reject(new Lost());
		const id = String(++this.#number);
		return new Promise((resolve, reject) => {
			const timer = setTimeout(() => this.#settle(id)?.reject(new Lost()), ANSWER_MS);
			this.#asked.set(id, { resolve, reject, timer });
			this.#socket?.send(JSON.stringify({ ...request, id }));
		});
	}

	/** The server takes a name with a hello alone, so this connects anew. @param {string} name */
	rename(name) {
		this.#nameBefore ??= this.name;
		this.name = name;
		this.refused = null;
		this.attempt = 0;
		const socket = this.#socket;
		this.#forget();
		socket?.close(1000);
		clearTimeout(this.#timer);
		this.#open();
	}

	#open() {
		const socket = takeSocket();
		this.#socket = socket;
		this.phase = this.welcome ? "away" : "connecting";
		this.attempt += 1;
		this.nextAttemptAt = 0;
		this.#features = FEATURES;
		const isOurs = () => socket === this.#socket;
		socket.onopen = () => this.#greet();
		socket.onmessage = (event) => isOurs() && this.#hear(JSON.parse(event.data));
		socket.onclose = (event) => isOurs() && this.#lose(event.code);
		this.#timer = setTimeout(() => isOurs() && this.#abandon(), ANSWER_MS);
		this.ears.onPhase();
		if (socket.readyState === WebSocket.OPEN) this.#greet();
	}

	#greet() {
		// Beside a token a name renames, so it is sent where it is new; without one it is a newcomer's.
		const name = (this.#nameBefore !== null || !this.token) && this.name ? { name: this.name } : {};
		const token = this.token ? { token: this.token } : {};
		const features = this.#features.length ? { features: this.#features } : {};
		this.#socket?.send(JSON.stringify({ type: "hello", client: "tictactoe-page", ...name, ...token, ...features }));
	}

	/** @param {Protocol.Push} push */
	#hear(push) {
		this.#heard = performance.now();
		if (push.type === "welcome") return this.#arrive(push);
		if (push.type === "ok") return this.#settle(push.id)?.resolve(push);
		if (push.type === "error" && push.id !== undefined) return this.#settle(push.id)?.reject(new Refused(push));
		if (push.type === "notice") this.#backInMs = push.code === "stopping" ? Infinity : push.retry_ms;
		if (push.type === "error") {
			if (push.path === "features" && this.#features.length) {
				this.#features = [];
				return this.#greet();
			}
			this.reason = push.message;
			if (push.code === "bad_token") {
				this.token = "";
				return this.#greet();
			}
			if (push.code === "bad_name") {
				[this.refused, this.name] = [this.name, this.#nameBefore ?? ""];
				this.#greet();
			}
		}
		return this.ears.onNews(push);
	}

	/** @param {Protocol.Welcome} welcome */
	#arrive(welcome) {
		clearTimeout(this.#timer);
		this.welcome = welcome;
		this.name = welcome.name;
		this.token = welcome.token;
		this.phase = "on";
		this.reason = "";
		this.#nameBefore = null;
		this.attempt = this.nextAttemptAt = this.#lostAt = this.#backInMs = 0;
		this.ears.onIdentity(this);
		this.ears.onPhase();
		this.ears.onWelcome();
		this.#ping();
	}

	#settle(id = "") {
		const asked = this.#asked.get(id);
		clearTimeout(asked?.timer);
		this.#asked.delete(id);
		return asked;
	}

	#forget() {
		this.#socket = null;
		this.phase = this.welcome ? "away" : "connecting";
		for (const id of [...this.#asked.keys()]) this.#settle(id)?.reject(new Lost());
	}

	#abandon() {
		const socket = this.#socket;
		this.#lose(1006);
		socket?.close();
	}

	/** @param {number} code why the socket closed */
	#lose(code) {
		clearTimeout(this.#timer);
		this.#forget();
		const now = performance.now();
		this.#lostAt ||= now;
		const isFinal = code >= 4500 && code <= 4999;
		const isLong = now - this.#lostAt > Math.max(PATIENCE_MS, this.welcome?.hold_ms ?? 0);
		if (isFinal || isLong || this.#backInMs === Infinity) {
			this.phase = "ended";
			if (!isFinal || !this.reason) this.reason = isLong ? "The server could not be reached for a long time." : "The server has stopped.";
		} else {
			const usual = WAITS_MS[code === 1008 ? 4 : Math.min(this.attempt, 4)] * (0.5 + Math.random() / 2);
			const wait = this.#backInMs ? this.#backInMs * (1 + Math.random()) : usual;
			this.#backInMs = 0;
			this.nextAttemptAt = now + wait;
			this.#timer = setTimeout(() => this.#open(), wait);
		}
		this.ears.onPhase();
	}

	#ping() {
		this.request({ type: "ping" }).catch(() => undefined);
	}

	#check() {
		if (document.hidden) return;
		const asked = this.#asked.size > 0;
		if (this.phase === "away" && this.#lostAt && performance.now() - this.#lostAt > SILENCE_MS) this.retry();
		if (this.phase !== "on") return;
		if (asked && performance.now() - this.#heard > SILENCE_MS) this.#abandon();
		else this.#ping();
	}
}
