/** Clocks to choose from, and as they are typed. */

import { say } from "./catalogue.js";
import { select } from "./dom.js";
import { describeClock } from "./words.js";

const CLOCKS = ["", "1+1", "3+2", "10/move"];
/** The clock of rated games if none is chosen. */
export const USUAL_CLOCK = "3+2";

/** A select of the usual clocks and the one that was chosen last. @param {string} kept @param {() => void} onChange */
export function makeClock(kept, onChange) {
	const values = CLOCKS.includes(kept) ? CLOCKS : [...CLOCKS, kept];
	const clock = select(values, labelClock, { change: onChange });
	clock.value = kept;
	return clock;
}

function labelClock(value = "") {
	const terms = parseClock(value);
	if (terms?.initial_ms === undefined) return describeClock(terms);
	return say("page clock seat", { minutes: terms.initial_ms / 60_000, seconds: (terms.increment_ms ?? 0) / 1000 });
}

/** Return the terms of `3+2` or `10/move`, null for "", and undefined for text that is no clock. */
export function parseClock(text = "") {
	const found = /^(\d+(?:\.\d+)?)(?:\s*\/\s*(move)|\s*\+\s*(\d+(?:\.\d+)?))?$/.exec(text.trim());
	if (!found) return text.trim() ? undefined : null;
	const [, first, move, more = "0"] = found;
	if (move) return { move_ms: Math.round(Number(first) * 1000) };
	return { initial_ms: Math.round(Number(first) * 60_000), increment_ms: Math.round(Number(more) * 1000) };
}
