/** The public rooms as they come and go, and boards of those that are on. */

import { h, setText } from "./dom.js";
import { MiniBoard } from "./mini.js";
import { clean } from "./words.js";

export class Lobby {
	/** @type {Map<string, Protocol.RoomSummary>} */
	rooms = new Map();
	element = h("ul.live-boards");
	/** @type {Map<string, {item: HTMLElement, draw(live: Protocol.LiveBoard): void}>} */
	#cards = new Map();
	/** @type {Protocol.Welcome | null} */
	#asked = null;

	/** @param {App} app @param {number} boards how many are wanted @param {() => void} onChange */
	constructor({ connection }, boards, onChange) {
		this.connection = connection;
		this.boards = boards;
		this.onChange = onChange;
	}

	get count() {
		return this.#cards.size;
	}

	/** Subscribe, on each connection anew. */
	async follow() {
		const { connection, boards } = this;
		if (connection.phase !== "on" || this.#asked === connection.welcome) return;
		this.#asked = connection.welcome;
		const { rooms = [] } = await connection.request({ type: "lobby", on: true, boards }).catch(() => ({ rooms: [] }));
		this.rooms = new Map(rooms.map((row) => [row.room, row]));
		this.onChange();
	}

	close() {
		this.connection.request({ type: "lobby", on: false }).catch(() => undefined);
	}

	/** @param {News} news */
	hear(news) {
		if (news.type === "boards") this.#draw(news.boards);
		else if (news.type === "lobby") {
			for (const code of news.closed) this.rooms.delete(code);
			for (const row of news.changed) this.rooms.set(row.room, row);
		} else return;
		this.onChange();
	}

	/** @param {Protocol.LiveBoard[]} boards all that are shown from now on */
	#draw(boards) {
		for (const [room, { item }] of this.#cards) {
			if (boards.some((live) => live.room === room)) continue;
			item.remove();
			this.#cards.delete(room);
		}
		boards.forEach((live, index) => {
			const card = this.#cards.get(live.room) ?? makeCard(live);
			const after = this.element.children[index];
			if (after !== card.item) this.element.insertBefore(card.item, after ?? null);
			this.#cards.set(live.room, card);
			card.draw(live);
		});
	}
}

/** @param {Protocol.LiveBoard} live */
function makeCard({ room, rows, columns, names }) {
	const board = new MiniBoard(rows, columns, Object.keys(names).join(""));
	const [players, note] = [h("span.names"), h("span.note")];
	/** @param {Protocol.LiveBoard} live */
	const draw = ({ board: cells, last, names, turn, result }) => {
		board.draw(cells, last, result?.line ?? []);
		setText(players, Object.entries(names).map(([mark, name]) => `${clean(name)} (${mark})`).join(" v "));
		setText(note, result ? `${result.winner ? clean(names[result.winner]) : "nobody"} wins` : `${turn} to move`);
	};
	return { item: h("li", {}, h("a", { href: `/${room}#watch` }, board.element, players, note)), draw };
}

/** All public games at once, for a projector. @type {MakePage} */
export function makeWall(app) {
	const note = h("p.note", {}, "No public game is on. It shows here as soon as one begins.");
	const lobby = new Lobby(app, 100, () => {
		note.hidden = lobby.count > 0;
		element.style.setProperty("--columns", String(Math.ceil(Math.sqrt(lobby.count * 1.6)) || 1));
	});
	const element = h("div.wall", {}, h("h1", { tabindex: -1, class: "unseen" }, "Watch wall"), note, lobby.element);
	lobby.follow();
	return { title: "Watch wall", element, onPhase: () => lobby.follow(), onNews: (news) => lobby.hear(news), close: () => lobby.close() };
}
