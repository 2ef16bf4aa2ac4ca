/** Whether what a server signed of its rated games goes on from what it signed before, as far as this browser has seen it. */

import { say } from "../catalogue.js";
import { button, show } from "../dom.js";
import { read, write } from "../kept.js";

const STORE = "checkpoint";

/**
 * Why a checkpoint does not go on from one that was seen, as the id of a sentence; empty where nothing is known against it.
 * @param {Protocol.Checkpoint | null} seen @param {Protocol.Checkpoint} newest @param {(after: number) => Promise<string[]>} askLinks of the checkpoints after a number, each the hash of what came since the one before
 */
export async function findFork(seen, newest, askLinks) {
	if (!seen) return "";
	if (newest.key !== seen.key) return "checkpoint other key";
	const missing = newest.number - seen.number;
	if (missing < 0) return "checkpoint behind";
	const links = missing && globalThis.crypto?.subtle ? await askLinks(seen.number) : [];
	let { chain } = seen;
	for (const link of links.slice(0, missing)) {
		const bytes = Uint8Array.from(`${chain}${link}`.match(/../g) ?? [], (figures) => parseInt(figures, 16));
		chain = [...new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
	}
	return links.length >= missing && chain !== newest.chain ? "checkpoint fork" : "";
}

/** Remember the newest checkpoint, or say why it does not go on from the one before. @param {Element} place where that stands @param {Protocol.Checkpoint | undefined} newest */
export async function weighCheckpoint(place, newest) {
	const seen = read(STORE, (text) => JSON.parse(text ?? "null"));
	if (!newest) return;
	const fork = await findFork(seen, newest, async (after) => (await (await fetch(`/api/ladders/checkpoints?after=${after}`)).json()).links ?? []).catch(() => "");
	const trust = () => void (write(STORE, JSON.stringify(newest)), show(place));
	if (fork) show(place, say(fork, { n: newest.number, earlier: seen.number }), " ", button(say("page checkpoint trust"), trust));
	else trust();
}
