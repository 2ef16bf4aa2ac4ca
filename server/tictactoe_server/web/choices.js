/** What one may still do in a room, and what it costs. */

import { seatOf } from "./words.js";

/** Whether all who played are still there. @type {(state: State) => boolean} */
export const canPlayAgain = ({ seats }) => Object.values(seats).every((seat) => seat && !seat.left);

/** @type {CostOfGoing} */
export function costOfGoing({ seats, status, board }, viewer) {
	const own = seatOf({ seats }, viewer);
	const playing = Object.keys(seats).filter((mark) => seats[mark] && !seats[mark]?.out);
	if (status !== "playing" || !own || !playing.includes(own)) return "";
	return playing.length === 2 && playing.some((mark) => !board.includes(mark)) ? "abort" : "lose";
}

/** @type {GoneOpponents} */
export function goneOpponents({ seats, status }, viewer, passed) {
	const own = seatOf({ seats }, viewer);
	if (!own || status !== "playing" || seats[own]?.out) return [];
	return Object.keys(seats).filter((mark) => {
		const seat = seats[mark];
		return seat && mark !== own && !seat.online && !seat.left && !seat.out && (seat.hold_ms ?? Infinity) <= passed;
	});
}
