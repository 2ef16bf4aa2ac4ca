/** Why no connection opens, as far as a page can find out: loaded once there is a fault. */

import { say } from "./catalogue.js";
import { urlOf } from "./dom.js";
import { prepare } from "./later.js";

/** A sentence if the server answers requests, but opens no WebSocket, else "". */
export async function findFault() {
	const answer = await fetch(urlOf("/healthz"));
	if (!answer.ok) return "";
	await prepare("later");
	return say("page no websocket");
}
