/** One player's connection: hello, requests and their answers, coming back. */

import { takeSocket } from "./socket.js";

const WAITS_MS = [400, 800, 1600, 3200, 4000];
const PATIENCE_MS = 600_000;
const ANSWER_MS = 8000;
const TICK_MS = 1000;
/** After so long a silence the server is asked for a word; where that takes as long again, it is silent. */
const QUIET_MS = 1900;
/** A line on which nothing has come for so long since then is dead. */
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
	/** Whether the server owes us an answer for long enough to say so. */
	isSilent = false;
	attempt = 0;
	/** When the next attempt is made, by `performance.now()`. */
	nextAttemptAt = 0;
	/** @type {WebSocket | null} */
	#socket = null;
	/** @type {Map<string, {resolve: (ok: Protocol.Ok) => void, reject: (why: Error) => void, timer: number}>} */
	#asked = new Map();
	#number = 0;
	#heard = 0;
	/** When the server was asked whether it is there, 0 where it has said something since. */
	#pingedAt = 0;
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
		setInterval(() => this.#check(), TICK_MS);
		addEventListener("offline", () => this.#ping());
		addEventListener("online", () => this.#return());
		document.addEventListener("visibilitychange", () => document.hidden || this.#return());
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
		this.#pingedAt = 0;
		this.#setSilent(false);
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
			if (push.code === "bad_token" && this.token) {
				this.token = "";
				return this.#greet();
			}
			if (push.code === "bad_name" && this.name) {
				[this.refused, this.name, this.#nameBefore] = [this.name, this.#nameBefore ?? "", null];
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
		this.#pingedAt = 0;
		this.isSilent = false;
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
		if (this.phase !== "on" || this.#pingedAt) return;
		this.#pingedAt = performance.now();
		this.request({ type: "ping" }).catch(() => undefined);
	}

	#check() {
		const now = performance.now();
		if (document.hidden || this.phase !== "on") return;
		if (!this.#pingedAt && now - this.#heard > QUIET_MS) this.#ping();
		else if (this.#pingedAt && now - this.#pingedAt > SILENCE_MS) this.#abandon();
		else if (this.#pingedAt) this.#setSilent(now - this.#pingedAt > QUIET_MS);
	}

	/** Come back without waiting any longer, where the way may be open again. */
	#return() {
		if (this.isSilent) this.#abandon();
		if (this.phase === "away") this.retry();
		else this.#ping();
	}

	/** @param {boolean} isSilent */
	#setSilent(isSilent) {
		if (this.isSilent === isSilent) return;
		this.isSilent = isSilent;
		this.ears.onPhase();
	}
}
