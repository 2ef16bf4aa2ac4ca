/** Detects an unresponsive server: pings after a silence, gives up after a longer one. */

const CHECK_MS = 1000;
/** After a longer pause between two checks, the page itself stood still. */
const LATE_MS = 3 * CHECK_MS;
/** The server is pinged after a silence of this length, and counts as silent after another. */
const QUIET_MS = 1900;
/** If there is no other server to try, the connection is given up after this time without an answer. */
const SILENCE_MS = 12_000;

export class Pulse {
	isSilent = false;
	#heard = 0;
	/** When the server was pinged, 0 if it has sent something since. */
	#askedAt = 0;
	#checkedAt = 0;

	/** @param {PulseEars} ears @param {AbortSignal} signal ends it */
	constructor(ears, signal) {
		this.ears = ears;
		const timer = setInterval(() => this.#check(), CHECK_MS);
		signal.addEventListener("abort", () => clearInterval(timer));
	}

	hear() {
		this.#heard = performance.now();
		this.#askedAt = 0;
		this.#setSilent(false);
	}

	ask() {
		if (!this.ears.isOn() || this.#askedAt) return;
		this.#askedAt = performance.now();
		this.ears.ask();
	}

	reset() {
		this.#askedAt = 0;
		this.isSilent = false;
	}

	#check() {
		const now = performance.now();
		if (this.#askedAt && now - this.#checkedAt > LATE_MS) this.#askedAt = now; // an answer may have come meanwhile
		this.#checkedAt = now;
		if (document.hidden || !this.ears.isOn()) return;
		const waited = this.#askedAt ? now - this.#askedAt : 0;
		if (!this.#askedAt && now - this.#heard > QUIET_MS) this.ask();
		else if (waited > (this.ears.isAlone() ? SILENCE_MS : QUIET_MS)) this.ears.giveUp();
		else if (this.#askedAt) this.#setSilent(waited > QUIET_MS);
	}

	#setSilent(isSilent = false) {
		if (this.isSilent === isSilent) return;
		this.isSilent = isSilent;
		this.ears.onChange();
	}
}
