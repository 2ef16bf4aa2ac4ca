/** QR codes, which the server draws. */

import { say } from "./catalogue.js";
import { h } from "./dom.js";

/** @param {App} app */
export function drawQr(app, text = "") {
	const image = h("img.qr", { alt: say("page invite qr") });
	app.read({ type: "qr", text }, () => false).then(({ qr = "" }) => (image.src = qr), () => image.remove());
	return image;
}
