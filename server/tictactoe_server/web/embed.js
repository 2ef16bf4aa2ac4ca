/** A board or a table in a page of another site: one watches, without a socket or a name, and nothing is kept. */

import { Board } from "./board.js";
import { h, setText, show } from "./dom.js";
import { Table } from "./events/table.js";
import { describeStanding } from "./events/tournaments.js";
import { learnLanguage } from "./language.js";
import { prepare, prepareEvents } from "./later.js";
import { lookOf } from "./look.js";
import { showPlayed } from "./replay.js";
import { sceneOf } from "./scene.js";
import { Timeline } from "./timeline.js";
import { clean } from "./words.js";

/** How long until it is asked again after the stream ended. */
const AGAIN_MS = 3000;
/** @type {Choices} */
const MAY_NOTHING = { deeds: [], questions: [], reasons: {} };

const main = /** @type {HTMLElement} */ (document.querySelector("main"));
const head = h("h1");
const told = h("p.turn");
const [, kind = "", id = ""] = location.pathname.slice(1).split("/");
const path = id ? `/${kind}/${id}` : `/${kind}`;
const link = h("a", { href: path, target: "_blank", rel: "noopener" }, "tictactoe");

/** A game, with its steps where all of its moves are known. */
class EmbeddedGame {
	/** @type {ShownGame | null} */
	game = null;
	/** @type {Board | null} */
	#board = null;
	#place = h("div.place");
	/** What a board and its steps ask of a page: here nothing is played. */
	#page = /** @type {any} */ ({ controls: { play: () => undefined }, stage: { drawConfirm: () => undefined }, look: () => this.draw() });
	timeline = new Timeline(this.#page);

	/** @param {ShownGame} game */
	show(game) {
		this.game = game;
		const { state, isLive } = game;
		if (!state) return;
		if (!this.#board || JSON.stringify(this.#board.rules) !== JSON.stringify(state.rules)) {
			this.#board = new Board(this.#page, state.rules, lookOf(state.rules));
			show(this.#place, this.#board.element);
			show(main, head, this.#place, told, !isLive && this.timeline.steps, link);
		}
		this.draw();
	}

	draw() {
		const { game } = this;
		if (!game?.state) return;
		if (!game.isLive) this.timeline.draw(game.state, game.moves, "");
		const view = { here: this.timeline.here, typed: "", confirming: "", passed: 0, isOffline: false, onlyWatches: true };
		const scene = sceneOf(game, game.state, MAY_NOTHING, /** @type {View} */ (view));
		setText(head, scene.head);
		setText(told, scene.turn.text);
		this.#board?.draw(scene.board);
	}
}

/** Give each line of a stream to `hear`, from now on, until there is no such thing any more. @param {string} url @param {(line: any) => void} hear */
async function follow(url, hear) {
	for (;;) {
		const answer = await fetch(url).catch(() => null);
		if (answer?.status === 404) return;
		if (answer?.ok && answer.body) await readLines(answer.body, hear).catch(() => undefined);
		await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
	}
}

/** @param {ReadableStream<Uint8Array>} body @param {(line: any) => void} hear */
async function readLines(body, hear) {
	const [reader, decoder] = [body.getReader(), new TextDecoder()];
	let rest = "";
	for (let part = await reader.read(); !part.done; part = await reader.read()) {
		const lines = (rest + decoder.decode(part.value, { stream: true })).split("\n");
		rest = lines.pop() ?? "";
		for (const line of lines.filter(Boolean)) hear(JSON.parse(line));
	}
}

/** @param {State} state @returns {ShownGame} */
const gameOf = (state) => ({ code: state.room, state, moves: [], viewer: "", seat: null, plays: false, receivedAt: performance.now(), pending: null, ended: "", isLive: true });

async function showEvent() {
	await prepareEvents();
	const table = new Table();
	show(main, head, told, h("div.event", table.element), link);
	follow(`/api/events/${id}/stream`, (whole) => {
		setText(head, clean(whole.title));
		setText(told, describeStanding({ ...whole, head: { rounds: whole.rounds ?? 0 } }));
		table.draw(/** @type {any} */ ({ rows: whole.table, player: "", timeAway: () => "" }));
	});
}

async function showReplay() {
	const game = new EmbeddedGame();
	game.show(showPlayed(await (await fetch(`/replay/${id}.json`)).json(), ""));
	game.timeline.play();
}

async function start() {
	await learnLanguage();
	await prepare("later");
	if (kind === "e") return showEvent();
	if (kind === "replay") return showReplay();
	const game = new EmbeddedGame();
	return follow(`/api/rooms/${kind}/stream`, (state) => state.type === "room" && game.show(gameOf(state)));
}

start();
