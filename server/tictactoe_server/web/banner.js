/** Banners above every page, which stay until they are answered or expire. */

import { say } from "./catalogue.js";
import { button, h, setText } from "./dom.js";
import { formatDuration } from "./words.js";

const TICK_MS = 250;
/** How long a banner ignores clicks after it has moved to where the user was about to click. */
const FRESH_MS = 800;
const place = h("aside.banners");
let settling = 0;
new MutationObserver(() => {
	clearTimeout(settling);
	place.classList.add("fresh");
	settling = setTimeout(() => place.classList.remove("fresh"), FRESH_MS);
}).observe(place, { childList: true });

/** Show a banner, which is announced to screen readers. Only the first is visible; lasting ones come before ones that expire. @param {Part} more what can be done @param {number} [until] a time that runs out beside it @param {() => unknown} [isOver] asked at each tick whether to remove it */
export function showBanner(told = "", more, until, isOver) {
	const time = h("b.clock", { "aria-hidden": "true" });
	const banner = h(until ? "div.notice" : "div.notice.lasting", h("p", { role: "alert" }, told), until ? time : null, more);
	const ticker = setInterval(tick, TICK_MS);
	place.insertBefore(banner, until ? place.querySelector(".lasting") : null);
	if (!place.isConnected) document.querySelector("main")?.before(place);
	if (document.hidden && globalThis.Notification?.permission === "granted") new Notification(told);
	tick();
	return banner;

	function tick() {
		if (!banner.isConnected) return clearInterval(ticker);
		if (until) setText(time, formatDuration(until - performance.now()));
		if (isOver?.()) banner.remove();
	}
}

/** Show a banner until one of its buttons is pressed. @param {...HTMLButtonElement} answers to it, beside that which closes it */
export function showNotice(told = "", ...answers) {
	const notice = showBanner(told, h("div.row", ...answers, button(say("page close"), () => undefined)));
	notice.addEventListener("click", ({ target }) => target instanceof HTMLButtonElement && notice.remove());
}
