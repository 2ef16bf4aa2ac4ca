/** Detects an unresponsive server: pings after a silence, gives up after a longer one. */

const CHECK_MS = 1000;
/** After a longer pause between two checks, the page itself stood still. */
const LATE_MS = 3 * CHECK_MS;
/** The server is pinged after a silence of this length, and counts as silent after another. */
const QUIET_MS = 1900;
/** If there is no other server to try, the connection is given up after this time without an answer. */
const SILENCE_MS = 12_000;

/** @param {Connection} connection @param {AbortSignal} signal ends it */
export function makePulse(connection, signal) {
	/** When the server was pinged, 0 if it has sent something since. */
	let askedAt = 0;
	let [isSilent, heardAt, checkedAt] = [false, 0, 0];
	const timer = setInterval(check, CHECK_MS);
	signal.addEventListener("abort", () => clearInterval(timer));
	return { hear, ask, reset, get isSilent() { return isSilent; } };

	function hear() {
		heardAt = performance.now();
		askedAt = 0;
		setSilent(false);
	}

	function ask() {
		if (!connection.isOn || askedAt) return;
		askedAt = performance.now();
		connection.request({ type: "ping" }).catch(() => undefined);
	}

	function reset() {
		askedAt = 0;
		isSilent = false;
	}

	function check() {
		const now = performance.now();
		if (askedAt && now - checkedAt > LATE_MS) askedAt = now; // an answer may have come meanwhile
		checkedAt = now;
		if (document.hidden || !connection.isOn) return;
		const waited = askedAt ? now - askedAt : 0;
		if (!askedAt && now - heardAt > QUIET_MS) ask();
		else if (waited > (connection.ways.isAlone() ? SILENCE_MS : QUIET_MS)) connection.abandon();
		else if (askedAt) setSilent(waited > QUIET_MS);
	}

	function setSilent(isNow = false) {
		if (isSilent === isNow) return;
		isSilent = isNow;
		connection.ears.onPhase();
	}
}
