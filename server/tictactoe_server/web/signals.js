/** Signs for who looks elsewhere that it is their turn: the icon of the page, and a notification where it was allowed. */

import { say } from "./catalogue.js";

const ICON = "./favicon.svg";
/** The same with a light, in the page itself: it is wanted also where there is no connection. */
const ICON_OF_TURN = `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#1b1f27"/><g fill="none" stroke-width="3.4" stroke-linecap="round"><path d="M6 6l9 9m0-9l-9 9" stroke="#7fdbff"/><circle cx="21.5" cy="21.5" r="5" stroke="#ff8fd0"/></g><circle cx="25" cy="7" r="6" fill="#f2c14e"/></svg>`)}`;

/** Whether notifications are allowed, as it was told last: to ask for it each time takes long. */
let permission = "";
const whenTold = navigator.permissions?.query({ name: "notifications" });
whenTold?.then((status) => {
	const learn = () => (permission = "Notification" in globalThis ? status.state : "");
	status.addEventListener("change", learn);
	learn();
}, () => undefined);

/** Whether one may be asked to allow notifications. */
export const mayAsk = () => permission === "prompt" && isSecureContext;

export const askToNotify = () => Notification.requestPermission();

export class Signals {
	#isOurs = false;
	/** @type {Notification | null} */
	#shown = null;

	/** @param {boolean} isOurs whether we are to move @param {string} text what there is to know */
	draw(isOurs, text) {
		if (isOurs === this.#isOurs) return;
		this.#isOurs = isOurs;
		document.querySelector("link[rel=icon]")?.setAttribute("href", isOurs ? ICON_OF_TURN : ICON);
		this.#shown?.close();
		this.#shown = null;
		if (!isOurs || !document.hidden || permission !== "granted") return;
		this.#shown = new Notification(say("view signal turn"), { body: text, tag: "tictactoe" });
		this.#shown.onclick = () => globalThis.focus();
	}

	close() {
		this.draw(false, "");
	}
}
