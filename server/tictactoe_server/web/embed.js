/** A board or a table embedded in a page of another site: read-only, without a socket, a name or storage. */

import { makeBoard } from "./board.js";
import { h, setText, show } from "./dom.js";
import { Following } from "./events/following.js";
import { drawPairings } from "./events/pairings.js";
import { makeStandings } from "./events/table.js";
import { describeStanding } from "./events/tournaments.js";
import { lookOf } from "./kept.js";
import { learnLanguage, prepare } from "./later.js";
import { sceneOf, showPlayed, watched } from "./scene.js";
import { parse } from "./text.js";
import { makeTimeline } from "./timeline.js";

const AGAIN_MS = 3000;

const main = /** @type {HTMLElement} */ (document.querySelector("main"));
const [head, told] = [h("h1"), h("p.turn")];
/** The server's path, which may share its host with others, and what to show. */
const [server, path = ""] = location.pathname.split("/embed/");
const [kind, id] = path.split("/");
const link = h("a", { href: `/${path}`, target: "_blank" }, "tictactoe");

function makeGame() {
	/** @type {ShownGame & { state: State }} */
	let game;
	/** @type {Board | null} */
	let board = null;
	const place = h("div.place");
	/** A stand-in for the page that the board and its steps expect; nothing can be played. */
	const page = /** @type {any} */ ({ controls: { play: () => undefined }, stage: { drawConfirm: () => undefined }, look: draw });
	const timeline = makeTimeline(page);
	return { timeline, take };

	/** @param {typeof game} next */
	function take(next) {
		game = next;
		const { state: { rules }, isLive } = next;
		if (JSON.stringify(board?.rules) !== JSON.stringify(rules)) {
			board = makeBoard(page, rules, lookOf(rules));
			show(place, board.element);
			show(main, head, place, told, !isLive && timeline.steps, link);
		}
		draw();
	}

	function draw() {
		const { state, isLive } = game;
		if (!isLive) timeline.draw(state, "");
		const view = { here: timeline.here, typed: "", passed: 0, isOffline: false, isReviewing: false };
		const scene = sceneOf(game, state, [], view);
		setText(head, scene.head);
		setText(told, `${scene.turn.text} ${scene.turn.why}`);
		board?.draw(scene.board);
	}
}

/** @param {(line: any) => void} hear */
async function follow(what = "", hear) {
	for (;;) {
		const answer = await fetch(`${server}/api/${what}/stream`, { redirect: "manual" }).catch(() => null);
		// The room is on another server now, to which this page may not connect; redirect there.
		if (answer?.type === "opaqueredirect") return location.reload();
		if (answer?.status === 404) return undefined;
		if (answer?.ok && answer.body) await readLines(answer.body, hear).catch(() => undefined);
		await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
	}
}

/** @param {ReadableStream<Uint8Array<ArrayBuffer>>} body @param {(line: any) => void} hear */
async function readLines(body, hear) {
	const reader = body.pipeThrough(new TextDecoderStream()).getReader();
	let rest = "";
	for (let part = await reader.read(); !part.done; part = await reader.read()) {
		const lines = (rest + part.value).split("\n");
		rest = lines.pop() ?? "";
		for (const line of lines.filter(Boolean)) hear(parse(line));
	}
}

function showEvent() {
	const following = new Following(/** @type {any} */ ({ connection: {} }), id, () => undefined);
	const [table, on] = [makeStandings(), h("ul.pairings")];
	show(main, head, told, h("div.event", on, table.element), link);
	follow(`events/${id}`, (/** @type {EventState} */ whole) => {
		following.state = whole;
		following.receivedAt = performance.now();
		setText(head, whole.head.title);
		setText(told, describeStanding(whole));
		table.draw(following);
		drawPairings(on, whole.pairings.filter(({ state }) => state === "open"), "", null, false, following);
	});
}

async function start() {
	await learnLanguage();
	await prepare();
	if (kind === "e") return showEvent();
	const { take, timeline } = makeGame();
	if (kind !== "replay") return follow(`rooms/${kind}`, (state) => state.type === "room" && take(watched(state, "", true)));
	take(showPlayed(parse(await (await fetch(`${server}/${path}.json`)).text()), ""));
	return timeline.play();
}

start();
