/** What is kept between visits, as far as the browser keeps anything. */

const STORE = "tictactoe";

/**
 * The name and secret of the player, and what one prefers. `tokens` are those of all clusters that were met here, by
 * their ids, the newest last; that of a server of no cluster is under "".
 * @typedef {{name: string, token: string, tokens: Record<string, string>, sound: boolean, game: string, clock: string}} Kept
 */

/** @returns {Kept} */
export function readKept() {
	let found;
	try {
		found = JSON.parse(localStorage.getItem(STORE) ?? "{}");
	} catch {
		found = {};
	}
	// Who comes from before there were clusters has the one token alone.
	const tokens = found.token ? { "": found.token } : {};
	return { name: "", token: "", tokens, sound: true, game: "", clock: "", ...found };
}

/** @param {Kept} kept */
export function writeKept(kept) {
	try {
		localStorage.setItem(STORE, JSON.stringify(kept));
	} catch {
		// Where the browser keeps nothing, it counts for this visit.
	}
}
