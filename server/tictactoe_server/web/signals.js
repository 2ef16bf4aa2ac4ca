/** Signals for users who look elsewhere when it is their turn: the page's icon and notifications. */

import { sayTitle } from "./catalogue.js";
import { urlOf } from "./dom.js";

const ICON = urlOf("./favicon.svg");
const LIGHT = `<circle cx="25" cy="7" r="6" fill="#f2c14e"/></svg>`;
/** The icon with a light, made in advance because it is also needed without a connection. */
let iconOfTurn = ICON;
fetch(ICON).then((answer) => answer.text()).then((text) => (iconOfTurn = `data:image/svg+xml,${encodeURIComponent(text.replace("</svg>", LIGHT))}`), () => undefined);

/** Whether notifications are allowed, cached because asking takes long. */
let permission = "";
const whenTold = navigator.permissions?.query({ name: "notifications" });
whenTold?.then((status) => {
	const learn = () => (permission = "Notification" in globalThis ? status.state : "");
	status.addEventListener("change", learn);
	learn();
}, () => undefined);

export const mayAsk = () => permission === "prompt" && isSecureContext;

export const askToNotify = () => Notification.requestPermission();

export class Signals {
	#isOurs = false;
	/** @type {Notification | null} */
	#shown = null;

	draw(isOurs = false, text = "") {
		if (isOurs === this.#isOurs) return;
		this.#isOurs = isOurs;
		document.querySelector("link[rel=icon]")?.setAttribute("href", isOurs ? iconOfTurn : ICON);
		this.#shown?.close();
		this.#shown = null;
		if (!isOurs || !document.hidden || permission !== "granted") return;
		this.#shown = new Notification(sayTitle("page your move"), { body: text, tag: "tictactoe" });
		this.#shown.onclick = () => globalThis.focus();
	}

	close() {
		this.draw();
	}
}
