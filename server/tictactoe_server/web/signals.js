/** Signs for who looks elsewhere that it is their turn: the icon of the page, and a notification where it was allowed. */

import { say } from "./catalogue.js";

const ICON = "./favicon.svg";
const ICON_OF_TURN = "./turn.svg";

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
