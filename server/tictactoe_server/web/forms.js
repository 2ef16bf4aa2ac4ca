/** Parts of forms: a checkbox with its label, and an error next to its field. */

import { h, setText } from "./dom.js";
import { Refused } from "./requests.js";
import { messageOf } from "./words.js";

/** A checkbox with its label beside it. @param {string} label @param {HTMLElement} box @param {string} note */
export const checkField = (label, box, note = "") => h("label.switch", box, h("span", h("b", label), " ", h("small", note)));

/** @param {Element} place after which a fault without a field stands @param {Record<string, HTMLElement>} [fields] by their names in requests */
export function makeFault(place, fields = {}) {
	const element = h("p.fault", { role: "alert" });
	/** @type {HTMLElement | undefined} */
	let faulty;
	return { element, blame, refuse };

	/** Show an error, or none. @param {string} message @param {HTMLElement} [control] */
	function blame(message, control) {
		faulty?.removeAttribute("aria-invalid");
		faulty = control;
		setText(element, message);
		if (!control) return void (message && place.after(element));
		control.closest("details")?.setAttribute("open", "");
		(control.closest("label") ?? control.closest("fieldset") ?? control).append(element);
		control.setAttribute("aria-invalid", "true");
		control.focus();
		control.scrollIntoView({ block: "nearest" });
	}

	/** Show why a request was refused. @param {unknown} error */
	function refuse(error) {
		const [name = ""] = (error instanceof Refused && error.path?.replace("rules.", "").split(/[.[]/)) || [];
		blame(messageOf(error), fields[name]);
	}
}
