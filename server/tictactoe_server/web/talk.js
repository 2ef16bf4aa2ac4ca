/** The chat of a room. */

import { say, sayOr } from "./catalogue.js";
import { button, h, isStale, setText, show } from "./dom.js";

const SENTENCES = /** @type {const} */ (["hello", "luck", "nice", "well_played", "thanks", "oops", "moment", "again"]);

export class Talk {
	#unread = 0;
	/** The button that opens the chat if there is no room for it next to the board, with the number of unread lines. */
	heard = button(say("view talk"), () => this.toggle(), { class: "heard", "aria-expanded": "false" });
	#lines = h("ol.lines", { "aria-label": say("view talk"), tabindex: 0 });
	#input = h("input", { maxlength: 200, placeholder: say("view talk hint"), "aria-label": say("view talk hint"), autocomplete: "off" });
	#form = h("form.row", { submit: () => this.#submit() }, this.#input, h("button", say("view talk send")));
	element = h("section.talk", { "aria-label": say("view talk") }, this.#lines, this.#form);

	/** @param {GamePage} page */
	constructor(page) {
		this.page = page;
		new ResizeObserver(() => (this.#lines.scrollTop = this.#lines.scrollHeight)).observe(this.#lines);
	}

	draw() {
		const { chat = "on" } = this.page.app.connection.welcome ?? {};
		if (!isStale(this.#form, chat)) return;
		this.#form.hidden = chat === "off";
		if (chat === "sentences") show(this.#form, SENTENCES.map((id) => button(say(`sentence ${id}`), () => this.page.room?.ask({ type: "chat", sentence: id }))));
	}

	/** @param {ChatLine} line */
	hear({ from, seat, ...line }) {
		const text = wordsOf(line);
		if (!this.#lines.clientHeight) this.#tellUnread(this.#unread + 1);
		this.#add(h("li", h("b", from), h("small", seat ? "" : ` ${say("view talk watching")}`), ` ${text}`));
	}

	note(text = "") {
		this.#add(h("li.note", text));
	}

	toggle() {
		const isOpen = this.element.classList.toggle("open");
		this.heard.ariaExpanded = String(isOpen);
		if (isOpen) this.#lines.focus();
		this.element.scrollIntoView({ block: "nearest" });
		this.#tellUnread(0);
	}

	#tellUnread(count = 0) {
		this.#unread = count;
		setText(this.heard, `${say("view talk")}${count ? ` ${count}` : ""}`);
	}

	async #submit() {
		const { room, board } = this.page;
		const text = this.#input.value.trim();
		this.#input.value = "";
		if (text && !(await room?.ask({ type: "chat", text }))) this.#input.value ||= text;
		if (!text) board?.focus();
	}

	/** @param {HTMLElement} item */
	#add(item) {
		this.#lines.append(item);
		this.#lines.scrollTop = this.#lines.scrollHeight;
	}
}

/** @param {Pick<ChatLine, "text" | "sentence">} line */
const wordsOf = ({ text, sentence }) => sayOr(`sentence ${sentence}`, text);

/** @param {ChatLine} line */
export function describeLine({ from, seat, ...line }) {
	const name = seat ? from : `${from} ${say("view talk watching")}`;
	return say("chat of", { name, text: wordsOf(line) });
}
