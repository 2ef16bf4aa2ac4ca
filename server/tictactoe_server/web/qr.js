/** QR codes, which the server draws. */

import { say } from "./catalogue.js";
import { h } from "./dom.js";
import { Lost, Refused } from "./requests.js";

/** Return a picture of a link, which appears when the server has drawn it. @param {App} app */
export function drawQr(app, text = "") {
	const image = h("img.qr", { alt: say("page invite qr") });
	ask();
	return image;

	/** @returns {Promise<void>} */
	async function ask() {
		try {
			await app.arrive();
			image.src = (await app.connection.request({ type: "qr", text })).qr ?? "";
		} catch (error) {
			if (error instanceof Lost) return ask();
			if (!(error instanceof Refused) || !error.retryMs) return image.remove();
			setTimeout(ask, error.retryMs);
		}
	}
}
