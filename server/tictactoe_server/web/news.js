/** What a state of a room tells whoever looks on: in the talk, aloud, and as a sound. */

import { say } from "./catalogue.js";
import { happened } from "./happened.js";
import { announce, announceStanding } from "./telling.js";
import { describePlayers, describeRules, describeTurn, endFor, seatOf } from "./words.js";

/** @param {Room} room at its state @param {State | null} old the one before @param {Moves} before its moves @param {boolean} afterLoss */
export function newsOf(room, old, before, afterLoss) {
	const { viewer, seat } = room;
	const state = /** @type {State} */ (room.state);
	if (!old || (viewer && seat && !seatOf(old, viewer))) return { notes: [], told: introduce(room, state), tone: "", isEnd: false };
	const changes = happened(old, state, room.moves, before);
	const told = announce(changes, viewer, afterLoss);
	const beside = changes.filter(({ type }) => type !== "Moved" && type !== "Ended");
	if (afterLoss && !told.length) told.push(say("nothing missed"));
	if (state.turn === seat && room.plays && (told.length || old.turn !== seat)) told.push(describeTurn(state, viewer));
	const isEnd = !!state.result && !old.result;
	return { notes: announce(beside, viewer, afterLoss), told, tone: (isEnd && endFor(state, viewer)) || toneOf(old, state, seat), isEnd };
}

/** @param {Room} room @param {State} state */
function introduce({ code, viewer, moves, seat }, state) {
	const places = { room: code, rules: describeRules(state.rules) };
	const first = say(seat ? "view room entered" : "view room entered watching", places);
	return [first, describePlayers(state, viewer), ...announceStanding(state, moves, viewer), describeTurn(state, viewer)];
}

/** @param {State} old @param {State} state @param {string | null} seat */
function toneOf(old, state, seat) {
	if (state.ply === old.ply && state.chosen?.length === old.chosen?.length) return "";
	return state.turn === seat ? "turn" : "move";
}
