/** What becomes of a choice: requests about the room, another room, a link. */

import { takeOf } from "./choices.js";

/** Ask the server for what concerns the room alone. @param {Room} room @param {Deed & {hand?: Room}} deed */
export async function askFor(room, { id, argument, hand = room }) {
	const { state, others } = room;
	if (id === "undo" && others.length) hand = room.handOf(state?.board[state.last ?? 0]);
	switch (id) {
		case "draw":
		case "undo":
			await room.ask({ type: id, action: /** @type {"offer" | "accept" | "decline"} */ (argument === "withdraw" ? "decline" : argument) }, hand);
			// Who shares a keyboard need not be asked.
			return id === "undo" && others.length && room.ask({ type: id, action: "accept" }, hand === room ? others[0] : room);
		case "claim":
			return room.ask({ type: id, as: argument === "draw" ? "draw" : "win" }, hand);
		case "choose":
			return state && room.ask({ type: id, take: takeOf(state, argument), ply: state.ply }, hand);
		case "rematch":
			return [room, ...others].map((one) => room.ask({ type: id }, one));
		case "resign":
			return room.ask({ type: id }, hand);
		default:
			return id === "leave" && room.leave();
	}
}

/**
 * Open a room with the same terms: with the computer, for whom one invites, or for whoever comes.
 * @param {App} app @param {Room} room @param {State} state @param {string | null | undefined} bot the computer's level
 */
export async function openAnother(app, room, { rules: { preset, ...fields }, time_control, visibility }, bot) {
	const game = { rules: preset ?? fields, clock: time_control ?? null };
	const bots = bot ? Array(fields.marks.length - 1).fill(bot) : [];
	const isOurs = bot || visibility === "private";
	const next = await app.play(isOurs ? { type: "create", ...game, bots, visibility: "private" } : { type: "match", ...game });
	if (next && !room.ended) room.leave();
}

/** The id of a room's game in one's history, or null. @param {App} app @param {string} room @param {number} game */
export async function findPast(app, room, game) {
	const { games = [] } = await app.connection.request({ type: "history", limit: 100 }).catch(() => ({ games: [] }));
	return games.find((one) => one.room === room && one.game === game)?.id ?? null;
}
