/** Whether the other end still answers: asked after a silence, given up after a longer one. */

const TICK_MS = 1000;
/** After so long a silence the server is asked for a word; where that takes as long again, it is silent. */
const QUIET_MS = 1900;
/** A line on which nothing has come for so long since then is dead, where there is no other server to go to. */
const SILENCE_MS = 12_000;

export class Pulse {
	/** Whether the server owes us an answer for long enough to say so. */
	isSilent = false;
	#heard = 0;
	/** When the server was asked whether it is there, 0 where it has said something since. */
	#askedAt = 0;

	/** @param {PulseEars} ears @param {AbortSignal} signal ends it */
	constructor(ears, signal) {
		this.ears = ears;
		const timer = setInterval(() => this.#check(), TICK_MS);
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

	/** Forget a line that is gone. */
	reset() {
		this.#askedAt = 0;
		this.isSilent = false;
	}

	#check() {
		if (document.hidden || !this.ears.isOn()) return;
		const now = performance.now();
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
