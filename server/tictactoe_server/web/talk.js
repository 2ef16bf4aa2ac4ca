/** What is said in a room; behind a slash or colon a command. */

import { h, submitting } from "./dom.js";
import { clean } from "./words.js";

/** @type {MakeTalk} */
export function makeTalk({ onSay, onCommand, onDone }) {
	const lines = h("ol.lines", { "aria-label": "Talk", tabindex: 0 });
	const input = h("input", { maxlength: 200, placeholder: "say something, or /help", "aria-label": "Say something", autocomplete: "off" });
	const form = h("form.row", { submit: submitting(submit) }, input, h("button", {}, "Say"));
	const element = h("section.talk", { "aria-label": "Talk" }, lines, form);
	return {
		element,
		hear: ({ from, seat, text }) => add(h("li", {}, h("b", {}, clean(from)), h("small", {}, seat ? "" : " (watching)"), ` ${clean(text)}`)),
		note: (text) => add(h("li.note", {}, text)),
		look() {
			element.scrollIntoView({ block: "center" });
			lines.focus({ preventScroll: true });
		},
		begin(text) {
			input.focus();
			input.value = text;
		},
	};

	async function submit() {
		const text = input.value.trim();
		input.value = "";
		if (/^[/:]/.test(text)) onCommand(text.slice(1).trim());
		else if (text && !(await onSay(text))) input.value ||= text;
		if (!text) onDone();
	}

	/** @param {HTMLElement} item */
	function add(item) {
		lines.append(item);
		lines.scrollTop = lines.scrollHeight;
	}
}
