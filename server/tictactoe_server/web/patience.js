/** When a connection that was lost is tried again, and when it is given up. */

const WAITS_MS = [400, 800, 1600, 3200, 4000];
const PATIENCE_MS = 600_000;
/** The code with which a socket is closed that said too much. */
const TOO_MUCH = 1008;

export class Patience {
	/** How many attempts there were since the last success. */
	attempt = 0;
	/** When a server that goes said that it will be back, infinite for never; 0 for nothing said. */
	backInMs = 0;
	#lostAt = 0;

	/** There is a connection. */
	succeed() {
		this.attempt = this.backInMs = this.#lostAt = 0;
	}

	/** Begin anew, as somebody asks for it. */
	renew() {
		this.#lostAt = 0;
	}

	/** How many milliseconds to wait, infinite for ever where the server could not be reached for long. @param {number} code why the socket closed @param {number} holdMs how long a seat is held @param {boolean} isAlone whether there is one server alone */
	wait(code, holdMs, isAlone) {
		const now = performance.now();
		this.#lostAt ||= now;
		const backInMs = isAlone ? this.backInMs : 0;
		if (now - this.#lostAt > Math.max(PATIENCE_MS, holdMs) || backInMs === Infinity) return Infinity;
		this.backInMs = 0;
		if (backInMs) return backInMs * (1 + Math.random());
		return WAITS_MS[code === TOO_MUCH ? 4 : Math.min(this.attempt, 4)] * (0.5 + Math.random() / 2);
	}
}
