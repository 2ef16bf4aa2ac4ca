/** Tones for events, and signals for users who look elsewhere when it is their turn: the page's icon and notifications. */

import { sayTitle } from "./catalogue.js";

/** @type {Record<string, [hertz: number, start: number, seconds: number][]>} */
const TONES = {
	move: [[420, 0, 0.07]],
	turn: [[520, 0, 0.08], [700, 0.09, 0.11]],
	win: [[523, 0, 0.14], [659, 0.13, 0.14], [784, 0.26, 0.28]],
	lose: [[392, 0, 0.18], [311, 0.17, 0.3]],
};
const LOUDNESS = 0.12;

export class Sound {
	isOn = false;
	/** @type {AudioContext | null} */
	#context = null;

	play(name = "") {
		if (!this.isOn || !navigator.userActivation?.hasBeenActive) return;
		const context = (this.#context ??= new AudioContext());
		for (const [hertz, start, seconds] of TONES[name]) {
			const at = context.currentTime + start;
			const tone = new OscillatorNode(context, { type: "triangle", frequency: hertz });
			const volume = new GainNode(context, { gain: LOUDNESS });
			volume.gain.setTargetAtTime(0, at, seconds / 3);
			tone.connect(volume).connect(context.destination);
			tone.start(at);
			tone.stop(at + seconds);
		}
	}
}

const ICON = new URL("./favicon.svg", import.meta.url).href;
const LIGHT = `<circle cx="25" cy="7" r="6" fill="#f2c14e"/></svg>`;
/** The icon with a light, made in advance because it is also needed without a connection. */
let iconOfTurn = ICON;
fetch(ICON).then((answer) => answer.text()).then((text) => (iconOfTurn = `data:image/svg+xml,${encodeURIComponent(text.replace("</svg>", LIGHT))}`), () => undefined);

/** Whether notifications are allowed, cached because asking takes long. */
let permission = "";
navigator.permissions?.query({ name: "notifications" }).then((status) => {
	const learn = () => (permission = "Notification" in globalThis ? status.state : "");
	status.addEventListener("change", learn);
	learn();
}, () => undefined);

export const mayAsk = () => permission === "prompt" && isSecureContext;

export function makeSignals() {
	let wasOurs = false;
	/** @type {Notification | null} */
	let shown = null;
	return (isOurs = false, text = "") => {
		if (isOurs === wasOurs) return;
		wasOurs = isOurs;
		document.querySelector("link[rel=icon]")?.setAttribute("href", isOurs ? iconOfTurn : ICON);
		shown?.close();
		shown = null;
		if (!isOurs || !document.hidden || permission !== "granted") return;
		shown = new Notification(sayTitle("page your move"), { body: text, tag: "tictactoe" });
		shown.onclick = () => globalThis.focus();
	};
}
