/** A stored game, shown like a room without people. */

/** @param {PlayedGame} played @param {string} viewer the public id of whoever looks */
export function showPlayed(played, viewer) {
	const { room, game, rules, players, board, moves, result, chosen, event, passed = [] } = played;
	const out = new Set(passed.map(([, mark]) => mark));
	const seats = Object.entries(players).map(([mark, { player, name }]) => {
		return [mark, { player, name, online: true, bot: null, out: out.has(mark), left: false }];
	});
	/** @type {State} */
	const state = {
		type: "room", room, seq: 0, status: "over", visibility: "private", game, rules, board, ply: moves.length, turn: null,
		last: moves.at(-1) ?? null, seats: Object.fromEntries(seats), result, offers: {}, clock: null, watchers: 0, score: {}, moves, chosen, event,
	};
	return watched(state, viewer, false);
}

/** Return a game as a watcher sees it. @param {State} state @param {string} viewer @param {boolean} isLive */
export const watched = (state, viewer, isLive) =>
	({ code: state.room, state, viewer, seat: null, plays: false, receivedAt: performance.now(), pending: null, ended: /** @type {const} */ (""), isLive });
