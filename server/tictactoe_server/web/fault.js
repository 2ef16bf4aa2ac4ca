/** Finds out why no connection opens; loaded only after a failure. */

import { say } from "./catalogue.js";
import { urlOf } from "./dom.js";
import { prepare } from "./later.js";

/** Return a sentence if the server answers requests but opens no WebSocket, else "". */
export async function findFault() {
	const answer = await fetch(urlOf("/healthz"));
	if (!answer.ok) return "";
	await prepare("later");
	return say("page no websocket");
}
