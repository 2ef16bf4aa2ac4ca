/** The rooms that this page is in: state, moves, requests. */

import { Lost, Refused } from "./connection.js";
import { BLOCKED, FREE } from "./rules.js";
import { clean, messageOf, seatOf } from "./words.js";

/** @type {RoomEars} */
const DEAF = { onUpdate() {}, onChat() {}, onEnd() {}, onRefusal() {} };

export class Room {
	/** @type {State | null} */
	state = null;
	/** @type {readonly number[]} */
	moves = [];
	isWatching = false;
	/** @type {Table["ended"]} */
	ended = "";
	closedReason = "";
	receivedAt = 0;
	/** @type {Table["pending"]} */
	pending = null;
	ears = DEAF;
	/** @type {Protocol.ChatLine[]} */
	talk = [];
	#seq = -1;
	/** Moves that the server told. @type {readonly number[]} */
	#told = [];
	#isAsking = false;
	#afterLoss = false;

	/** @param {Connection} connection @param {string} code */
	constructor(connection, code) {
		this.connection = connection;
		this.code = code;
	}

	get viewer() {
		return this.connection.welcome?.player ?? "";
	}

	/** Our mark in the current game, null for a watcher. */
	get seat() {
		return this.isWatching || !this.state ? null : seatOf(this.state, this.viewer);
	}

	/** Whether we still play a game that is on. */
	get plays() {
		return this.state?.status === "playing" && !!this.seat && !this.state.seats[this.seat]?.out;
	}

	/** The request that leads back here on a new connection. @returns {{type: "watch" | "join", room: string}} */
	wayBack() {
		const seen = this.#seq >= 0 ? { seq: this.#seq } : {};
		return { type: this.isWatching ? "watch" : "join", room: this.code, ...seen };
	}

	/** @param {Protocol.Ok} reply the answer that let us in */
	enter(reply) {
		this.isWatching = !reply.seat;
		this.#told = reply.moves ?? [];
		this.ended = "";
		if (this.pending) this.#send(this.pending);
	}

	lose() {
		this.#afterLoss = true;
	}

	/** @param {State} state */
	async #take(state) {
		if (this.ended || state.seq < this.#seq) return;
		this.#seq = state.seq;
		const moves = this.#follow(state);
		if (moves) this.#keep(state, moves);
		else if (!this.#isAsking) {
			// The answer is followed by the state, which then finds its moves told.
			this.#isAsking = true;
			const ok = await this.connection.request({ type: "sync", room: this.code }).catch(() => null);
			this.#isAsking = false;
			this.#told = ok?.moves ?? [];
		}
	}

	/** @param {State} state */
	#follow(state) {
		const { state: old } = this;
		const told = this.#told.slice(0, state.ply);
		if (fits(told, state)) return told;
		if (old && state.seq > old.seq + 1 && state.ply > 0) return null;
		const kept = old?.game === state.game ? this.moves.filter((cell) => state.board[cell] === old.board[cell]) : [];
		const moves = state.ply > kept.length && state.last !== null ? [...kept, state.last] : kept;
		return fits(moves, state) ? moves : null;
	}

	/** @param {State} state @param {readonly number[]} moves */
	#keep(state, moves) {
		const { state: old, moves: before, pending } = this;
		Object.assign(this, { state, moves, receivedAt: performance.now() });
		if (state.game !== old?.game || state.ply !== pending?.ply || state.turn !== this.seat) this.pending = null;
		this.ears.onUpdate(old, before, this.#afterLoss);
		this.#afterLoss = false;
	}

	/** @param {News} news of this room */
	hear(news) {
		if (news.type === "room") this.#take(news);
		else if (news.type === "replaced") this.end("replaced");
		else if (news.type === "closed") this.end("closed", news.reason);
		else if (news.type === "chat") {
			this.talk.push(news);
			this.ears.onChat(news);
		}
	}

	/** @param {Table["ended"]} how @param {string} [reason] */
	end(how, reason = "") {
		this.ended = how;
		this.closedReason = clean(reason);
		this.pending = null;
		this.ears.onEnd();
	}

	/** Play a cell; what finds no connection goes out on the return. */
	move(cell = 0) {
		this.pending = { cell, ply: this.state?.ply ?? 0 };
		this.#send(this.pending);
	}

	/** @param {{cell: number, ply: number}} move */
	async #send(move) {
		try {
			await this.connection.request({ type: "move", room: this.code, ...move });
		} catch (error) {
			if (error instanceof Lost && this.connection.phase !== "on") return;
			if (this.pending === move) this.pending = null;
			this.ears.onRefusal(messageOf(error), move.cell);
		}
	}

	/** Resolves to whether it was carried out; a refusal is told. @param {Ask} request */
	ask(request) {
		const refuse = (/** @type {unknown} */ error) => {
			this.ears.onRefusal(messageOf(error), null);
			return false;
		};
		return this.connection.request(request).then(() => true, refuse);
	}

	/** @param {Offered} type @param {Action} action */
	offer(type, action) {
		return this.ask({ type, room: this.code, action });
	}

	rematch() {
		return this.ask({ type: "rematch", room: this.code });
	}

	async leave() {
		await this.connection.request({ type: "leave", room: this.code }).catch(() => undefined);
		this.end("left");
	}
}

/** The rooms of one connection, entered again whenever it comes back. */
export class Rooms {
	/** @type {Map<string, Room>} */
	#rooms = new Map();

	/** @param {Connection} connection */
	constructor(connection) {
		this.connection = connection;
	}

	find(code = "") {
		const room = this.#rooms.get(code);
		return room?.ended ? undefined : room;
	}

	/** The seats that one may go back to. @returns {Protocol.HeldSeat[]} */
	get held() {
		const welcomed = (this.connection.welcome?.rooms ?? []).filter(({ room }) => !this.#rooms.has(room));
		const open = [...this.#rooms.values()].flatMap(({ code, seat, ended, state }) => {
			if (!seat || ended || !state || state.status === "over") return [];
			const names = Object.entries(state.seats).flatMap(([mark, one]) => (one ? [[mark, one.name]] : []));
			return [{ room: code, seat, rules: state.rules, names: Object.fromEntries(names), turn: state.turn }];
		});
		return [...welcomed, ...open];
	}

	/** Leave a room for good, which this page may not have entered. @param {string} code */
	async giveUp(code) {
		const { welcome } = this.connection;
		if (welcome) welcome.rooms = welcome.rooms.filter(({ room }) => room !== code);
		const room = this.find(code) ?? (await this.enter({ type: "join", room: code }));
		await room.leave();
	}

	/** Enter a room; rejects as a request does. @param {Entry} request */
	async enter(request) {
		const ok = await this.connection.request(request);
		const code = ok.room ?? "";
		const room = this.#rooms.get(code) ?? new Room(this.connection, code);
		this.#rooms.set(code, room);
		room.enter(ok);
		return room;
	}

	/** Leave a page's room: a seat is kept, as one may come back; a watcher is let go. @param {Room} room */
	close(room) {
		room.ears = DEAF;
		if (!room.isWatching && !room.ended) return;
		this.#rooms.delete(room.code);
		if (!room.ended) room.leave();
	}

	/** @param {News} news */
	hear(news) {
		if ("room" in news) this.#rooms.get(news.room ?? "")?.hear(news);
	}

	lose() {
		for (const room of this.#rooms.values()) room.lose();
	}

	resume() {
		for (const room of this.#rooms.values()) {
			const gone = (/** @type {unknown} */ why) => why instanceof Refused && room.end("closed", why.message);
			if (!room.ended) this.connection.request(room.wayBack()).then((ok) => room.enter(ok), gone);
		}
	}
}

/** @type {Fits} */
function fits(moves, { ply, last, board }) {
	const isWhole = moves.length === ply && (moves.at(-1) ?? null) === last && new Set(moves).size === ply;
	return isWhole && moves.every((cell) => board[cell] !== FREE && board[cell] !== BLOCKED);
}
