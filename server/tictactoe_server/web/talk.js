/** The chat of a room. */

import { say, sayOr } from "./catalogue.js";
import { button, h, isStale, setText, show } from "./dom.js";

const SENTENCES = /** @type {const} */ (["hello", "luck", "nice", "well_played", "thanks", "oops", "moment", "again"]);

/** @param {GamePage} page */
export function makeTalk(page) {
	let unread = 0;
	/** The button that opens the chat if there is no room for it next to the board, with the number of unread lines. */
	const heard = button(say("view talk"), toggle, { class: "heard", "aria-expanded": "false" });
	const lines = h("ol.lines", { "aria-label": say("view talk"), tabindex: 0 });
	const input = h("input", { maxlength: 200, placeholder: say("view talk hint"), "aria-label": say("view talk hint"), autocomplete: "off" });
	const form = h("form.row", { submit }, input, h("button", say("view talk send")));
	const element = h("section.talk", { "aria-label": say("view talk") }, lines, form);
	new ResizeObserver(() => (lines.scrollTop = lines.scrollHeight)).observe(lines);
	return { heard, element, draw, hear, note };

	function draw() {
		const { chat = "on" } = page.app.connection.welcome ?? {};
		form.hidden = chat === "off" || !!page.room?.ended;
		if (!isStale(form, chat)) return;
		if (chat === "sentences") show(form, SENTENCES.map((id) => button(say(`sentence ${id}`), () => page.room?.ask({ type: "chat", sentence: id }))));
	}

	/** @param {ChatLine} line */
	function hear({ from, seat, ...line }) {
		if (!lines.clientHeight) tellUnread(unread + 1);
		add(h("li", h("b", from), h("small", seat ? "" : ` ${say("view talk watching")}`), ` ${wordsOf(line)}`));
	}

	function note(text = "") {
		add(h("li.note", text));
	}

	function toggle() {
		const isOpen = element.classList.toggle("open");
		heard.ariaExpanded = String(isOpen);
		if (isOpen) lines.focus();
		element.scrollIntoView({ block: "nearest" });
		tellUnread(0);
	}

	function tellUnread(count = 0) {
		unread = count;
		setText(heard, `${say("view talk")}${count ? ` ${count}` : ""}`);
	}

	async function submit() {
		const { room, board } = page;
		const text = input.value.trim();
		input.value = "";
		if (text && !(await room?.ask({ type: "chat", text }))) input.value ||= text;
		if (!text) board?.focus();
	}

	/** @param {HTMLElement} item */
	function add(item) {
		lines.append(item);
		lines.scrollTop = lines.scrollHeight;
	}
}

/** @param {Pick<ChatLine, "text" | "sentence">} line */
const wordsOf = ({ text, sentence }) => sayOr(`sentence ${sentence}`, text);

/** @param {ChatLine} line */
export function describeLine({ from, seat, ...line }) {
	const name = seat ? from : `${from} ${say("view talk watching")}`;
	return say("chat of", { name, text: wordsOf(line) });
}
