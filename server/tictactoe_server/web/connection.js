/** One player's connection: hello, requests and their answers, coming back. */

import { inOwnWords } from "./refusals.js";
import { HOME, isForbidden, isHere, takeSocket } from "./socket.js";

const WAITS_MS = [400, 800, 1600, 3200, 4000];
const PATIENCE_MS = 600_000;
const ANSWER_MS = 8000;
/** How long a server has for its welcome where another one can be asked instead. */
const WELCOME_MS = 4000;
const TICK_MS = 1000;
/** After so long a silence the server is asked for a word; where that takes as long again, it is silent. */
const QUIET_MS = 1900;
/** A line on which nothing has come for so long since then is dead, where there is no other server to go to. */
const SILENCE_MS = 12_000;
/** How many tokens of other clusters are tried where the newest one is refused. */
const MOST_TOKENS = 3;
/** What this page understands beyond version 1.0. */
const FEATURES = ["abort", "analysis", "boards", "chat", "moved", "repeat", "seq", "share", "wall"];

/** The server refused a request; the message is a sentence for people. */
export class Refused extends Error {
	/** @param {Protocol.Error} error */
	constructor(error) {
		super(error.message);
		this.code = error.code;
		this.url = error.url;
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
	/** Where to connect next, in turn. @type {string[]} */
	#ways;
	/** Tokens to try where the one is refused, the best last. @type {string[]} */
	#tokens;
	/** @type {{resolve: () => void, reject: (why: Error) => void}[]} */
	#waiting = [];
	#closing = new AbortController();

	/** @param {{name: string, token: string, tokens?: Kept["tokens"]}} identity @param {ConnectionEars} ears */
	constructor({ name, token, tokens = {} }, ears, url = HOME) {
		this.name = name;
		this.token = token;
		this.ears = ears;
		this.url = url;
		this.#ways = [...new Set([url, HOME])];
		this.#tokens = Object.values(tokens).filter((other) => other !== token).slice(-MOST_TOKENS);
		const { signal } = this.#closing;
		const timer = setInterval(() => this.#check(), TICK_MS);
		signal.addEventListener("abort", () => clearInterval(timer));
		addEventListener("offline", () => this.#ping(), { signal });
		addEventListener("online", () => this.#return(), { signal });
		document.addEventListener("visibilitychange", () => document.hidden || this.#return(), { signal });
	}

	/** Whether an attempt has failed: the first one, and that of a new name, are no trouble yet. */
	get isTroubled() {
		return this.phase !== "on" && (this.phase === "ended" || this.attempt > 1 || this.nextAttemptAt > 0);
	}

	/** Whether there is one server alone to connect to. */
	get #isAlone() {
		return this.#ways.length === 1;
	}

	/** Whether another server sent us here and this one has not let us in. */
	get #isLed() {
		return !this.welcome && !this.#isAlone;
	}

	/** Whether to go where this server says: to one of its cluster, from TLS to TLS, where this page may. */
	leadsTo(url = "") {
		const isSafe = url.startsWith("wss:") || !this.#socket?.url.startsWith("wss:");
		return isSafe && !!this.welcome?.servers?.includes(url) && !isForbidden(url);
	}

	/** Wait for a welcome; rejects with `Lost` where the server that we were sent to does not let us in. @returns {Promise<void>} */
	arrive() {
		if (this.phase === "on") return Promise.resolve();
		return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
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
		this.#drop();
		this.#open(this.url);
	}

	/** Say hello again, to be told of servers that have come since. */
	greetAgain() {
		this.attempt = 0;
		this.#drop();
		this.#open(this.url);
		return this.arrive();
	}

	/** End it for good. */
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

	#open(url = this.#turn()) {
		const socket = takeSocket(url);
		this.url = url;
		this.#socket = socket;
		this.phase = this.welcome ? "away" : "connecting";
		this.attempt += 1;
		this.nextAttemptAt = 0;
		this.#features = FEATURES;
		const isOurs = () => socket === this.#socket;
		socket.onopen = () => this.#greet();
		socket.onmessage = (event) => isOurs() && this.#hear(inOwnWords(JSON.parse(event.data)));
		socket.onclose = (event) => isOurs() && this.#lose(event.code);
		// What the policy of the page forbids is not closed: it never was open.
		socket.onerror = () => isOurs() && this.#lose(1006);
		this.#timer = setTimeout(() => isOurs() && this.#abandon(), this.#isAlone ? ANSWER_MS : WELCOME_MS);
		this.ears.onPhase();
		if (socket.readyState === WebSocket.OPEN) this.#greet();
	}

	/** The next of the ways, from then on the last. */
	#turn() {
		const [url, ...others] = this.#ways;
		this.#ways = [...others, url];
		return url;
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
			if (push.code === "bad_token" && this.#isLed) return this.close();
			if (push.code === "bad_token" && this.token) {
				this.token = this.#tokens.pop() ?? "";
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
		this.#learnServers(welcome.servers ?? []);
		this.ears.onIdentity(this);
		this.ears.onPhase();
		this.ears.onWelcome();
		for (const { resolve } of this.#waiting.splice(0)) resolve();
		this.#ping();
	}

	/** @param {string[]} servers those of the cluster, this one first */
	#learnServers([own, ...others]) {
		if (isHere(own) && this.leadsTo(own)) this.url = own;
		const open = others.filter((url) => this.leadsTo(url)).sort(() => Math.random() - 0.5);
		this.#ways = [...new Set([...open, HOME])];
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
		if (this.#isLed) return this.close();
		clearTimeout(this.#timer);
		this.#forget();
		const now = performance.now();
		this.#lostAt ||= now;
		const isFinal = code >= 4500 && code <= 4999;
		const isLong = now - this.#lostAt > Math.max(PATIENCE_MS, this.welcome?.hold_ms ?? 0);
		const backInMs = this.#isAlone ? this.#backInMs : 0;
		if (isFinal || isLong || backInMs === Infinity) {
			this.phase = "ended";
			if (!isFinal || !this.reason) this.reason = isLong ? "The server could not be reached for a long time." : "The server has stopped.";
		} else {
			const usual = WAITS_MS[code === 1008 ? 4 : Math.min(this.attempt, 4)] * (0.5 + Math.random() / 2);
			const wait = backInMs ? backInMs * (1 + Math.random()) : usual;
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
		else if (this.#pingedAt && now - this.#pingedAt > (this.#isAlone ? SILENCE_MS : QUIET_MS)) this.#abandon();
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
