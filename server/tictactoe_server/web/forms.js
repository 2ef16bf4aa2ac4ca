/** Parts of forms: a checkbox with its label, a choice of clocks, and an error next to its field. */

import { say } from "./catalogue.js";
import { h, select, setText } from "./dom.js";
import { Refused } from "./requests.js";
import { describeClock, messageOf } from "./words.js";

export const checkbox = (attributes = {}) => h("input", { type: "checkbox", ...attributes });

/** @param {HTMLElement} box */
export const checkField = (label = "", box, note = "") => h("label.switch", box, h("span", h("b", label), " ", h("small", note)));

/** @param {Element} place after which a fault without a field stands @param {Record<string, HTMLElement>} [fields] by their names in requests */
export function makeFault(place, fields = {}) {
	const element = h("p.fault", { role: "alert" });
	/** @type {HTMLElement | undefined} */
	let faulty;
	return { element, blame, refuse };

	/** @param {HTMLElement} [control] */
	function blame(message = "", control) {
		faulty?.removeAttribute("aria-invalid");
		faulty = control;
		setText(element, message);
		if (!message) return;
		control?.closest("details")?.setAttribute("open", "");
		control?.setAttribute("aria-invalid", "true");
		control?.focus();
		if (control) (control.closest("label") ?? control.closest("fieldset") ?? control).append(element);
		else place.after(element);
		element.scrollIntoView({ block: "nearest" }); // the pressed button may be far below
	}

	/** @param {unknown} error */
	function refuse(error) {
		const [name = ""] = (error instanceof Refused && error.path?.replace("rules.", "").split(/[.[]/)) || [];
		blame(messageOf(error), fields[name]);
	}
}

const CLOCKS = ["", "1+1", "3+2", "10/move", "1d", "3d"];
export const RATED_CLOCK = "3+2";

export function makeClock(kept = "") {
	const values = CLOCKS.includes(kept) ? CLOCKS : [...CLOCKS, kept];
	const clock = select(values, (value) => {
		const terms = parseClock(value);
		if (terms?.initial_ms === undefined) return describeClock(terms);
		return say("page clock seat", { minutes: terms.initial_ms / 60_000, seconds: (terms.increment_ms ?? 0) / 1000 });
	});
	clock.value = kept;
	return clock;
}

/** Return the terms of `3+2`, `10/move` or `3d+2d`, null for "", and undefined for text that is no clock. @returns {Protocol.ClockFields | null | undefined} */
export function parseClock(text = "") {
	const [, days, bank = "0"] = /^(\d+)\s*d(?:\s*\+\s*(\d+)\s*d?)?$/i.exec(text.trim()) ?? [];
	if (days) return { days: Number(days), bank_days: Number(bank) };
	const found = /^(\d+(?:\.\d+)?)(?:\s*\/\s*(move)|\s*\+\s*(\d+(?:\.\d+)?))?$/.exec(text.trim());
	if (!found) return text.trim() ? undefined : null;
	const [, first, move, more = "0"] = found;
	if (move) return { move_ms: Math.round(Number(first) * 1000) };
	return { initial_ms: Math.round(Number(first) * 60_000), increment_ms: Math.round(Number(more) * 1000) };
}
