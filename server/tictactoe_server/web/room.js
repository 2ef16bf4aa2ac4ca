/** The rooms that this page is in, each at the server that has it: state, moves, requests. */

import { Lost, Refused } from "./connection.js";
import { BLOCKED, FREE } from "./rules.js";
import { clean, messageOf, seatOf } from "./words.js";

/** @type {RoomEars} */
const DEAF = { onUpdate() {}, onChat() {}, onEnd() {}, onMoved() {}, onRefusal() {} };
/** How often in a row we go where a server says before the first is asked again. */
const MOST_MOVES = 3;
/** How long to wait before that, at least. */
const MOMENT_MS = 500;
/** For how long we look for a room on which the servers do not agree. */
const PATIENCE_MS = 20_000;

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
	/** The server at which we entered. */
	url = "";
	/** Ends when we have entered again. @type {Promise<void> | null} */
	following = null;
	#seq = -1;
	/** Moves that the server told. @type {readonly number[]} */
	#told = [];
	#isAsking = false;
	#afterLoss = false;

	/** @param {Rooms} rooms @param {Connection} connection @param {string} code */
	constructor(rooms, connection, code) {
		this.rooms = rooms;
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

	/** @param {Protocol.Ok} reply the answer that let us in @param {Connection} connection */
	enter(reply, connection) {
		this.connection = connection;
		this.url = connection.url;
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

	/** Rejects as a request does; where the room has moved it is followed and the same asked there. @param {Ask} request */
	async request(request) {
		try {
			return await this.connection.request(request);
		} catch (error) {
			if (!isMoved(error)) throw error;
			await this.rooms.follow(this, error.url);
			return this.connection.request(request);
		}
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
			if (isMoved(error)) return void this.rooms.follow(this, error.url);
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
		return this.request(request).then(() => true, refuse);
	}

	/** @param {Offered} type @param {Action} action */
	offer(type, action) {
		return this.ask({ type, room: this.code, action });
	}

	rematch() {
		return this.ask({ type: "rematch", room: this.code });
	}

	async leave() {
		await this.request({ type: "leave", room: this.code }).catch(() => undefined);
		this.end("left");
		this.rooms.release(this.connection);
	}
}

/** The rooms of all connections, entered again whenever one comes back. */
export class Rooms {
	/** The room that is on the page. @type {Room | null} */
	table = null;
	/** @type {Map<string, Room>} */
	#rooms = new Map();
	/** The connections beside the first one. @type {Set<Connection>} */
	#others = new Set();
	#connect;

	/** @param {Connection} home the first connection @param {(url: string) => Connection} connect */
	constructor(home, connect) {
		this.home = home;
		this.#connect = connect;
	}

	find(code = "") {
		const room = this.#rooms.get(code);
		return room?.ended ? undefined : room;
	}

	/** The seats that one may go back to. @returns {Protocol.HeldSeat[]} */
	get held() {
		const welcomed = (this.home.welcome?.rooms ?? []).filter(({ room }) => !this.#rooms.has(room));
		const open = [...this.#rooms.values()].flatMap(({ code, seat, ended, state }) => {
			if (!seat || ended || !state || state.status === "over") return [];
			const names = Object.entries(state.seats).flatMap(([mark, one]) => (one ? [[mark, one.name]] : []));
			return [{ room: code, seat, rules: state.rules, names: Object.fromEntries(names), turn: state.turn }];
		});
		return [...welcomed, ...open];
	}

	/** Leave a room for good, which this page may not have entered. @param {string} code */
	async giveUp(code) {
		const { welcome } = this.home;
		if (welcome) welcome.rooms = welcome.rooms.filter(({ room }) => room !== code);
		const room = this.find(code) ?? (await this.enter({ type: "join", room: code }));
		await room.leave();
	}

	/** Enter a room; rejects as a request does. @param {Entry} request @param {string} [url] the server that has it, if known */
	async enter(request, url) {
		const at = "room" in request ? this.find(request.room) : undefined;
		const [ok, connection] = await this.#ask(request, at?.connection ?? this.home, url);
		const code = ok.room ?? "";
		const room = this.#rooms.get(code) ?? new Room(this, connection, code);
		this.#rooms.set(code, room);
		room.enter(ok, connection);
		return room;
	}

	/** Enter a room again at the server that has it, perhaps this one; a refusal ends it. @param {Room} room @param {string} [url] */
	follow(room, url) {
		if (this.find(room.code) !== room) return Promise.resolve();
		room.following ??= this.#follow(room, url).finally(() => (room.following = null));
		return room.following;
	}

	/** @param {Room} room @param {string} [url] */
	async #follow(room, url) {
		const before = { url: room.url, connection: room.connection };
		try {
			await this.enter(room.wayBack(), before.connection.leadsTo(url) ? url : "");
			if (room.url !== before.url) room.ears.onMoved();
			if (room.connection !== before.connection) room.connection.ears.onPhase();
			this.release(before.connection);
		} catch (why) {
			if (why instanceof Refused) room.end(isMoved(why) ? "moved" : "closed", why.message);
		}
	}

	/**
	 * Ask a server, and the one to which it sends us; the first again where nobody is there, or after too many.
	 * @param {Entry} request @param {Connection} first @param {string} [url] @returns {Promise<[Protocol.Ok, Connection]>}
	 */
	async #ask(request, first, url = "") {
		const end = performance.now() + PATIENCE_MS;
		let told = null;
		let asked = first;
		let isAnew = false;
		for (let moves = url ? 1 : 0; ; moves += 1) {
			try {
				if (url) asked = await this.#reach(url);
				return [await asked.request(request), asked];
			} catch (error) {
				if (isMoved(error) && !asked.leadsTo(error.url) && !isAnew) {
					isAnew = true;
					await asked.greetAgain();
				}
				if (isMoved(error) && asked.leadsTo(error.url)) [told, url] = [error, error.url ?? ""];
				else if (error instanceof Lost && moves) url = "";
				else throw error;
				if (performance.now() > end) throw told ?? error;
			}
			if (url && moves < MOST_MOVES) continue;
			await new Promise((resolve) => setTimeout(resolve, MOMENT_MS * (1 + Math.random())));
			[asked, url, moves] = [first, "", -1];
		}
	}

	/** The connection to a server, made where there is none; rejects with `Lost`. @param {string} url */
	async #reach(url) {
		let connection = [this.home, ...this.#others].find((one) => one.url === url && one.phase !== "ended");
		if (!connection) {
			connection = this.#connect(url);
			this.#others.add(connection);
			connection.retry();
		}
		await connection.arrive().catch((why) => {
			this.#others.delete(connection);
			throw why;
		});
		return connection;
	}

	/** Leave a page's room: a seat is kept, as one may come back; a watcher is let go. @param {Room} room */
	close(room) {
		room.ears = DEAF;
		this.table = null;
		if (room.isWatching || room.ended) {
			this.#rooms.delete(room.code);
			if (!room.ended) room.leave();
		}
		this.release(room.connection);
	}

	/** Close a connection that has no rooms any more and is not the first. @param {Connection} connection */
	release(connection) {
		if (connection === this.home || this.#roomsOf(connection).some(({ ended }) => !ended)) return;
		this.#others.delete(connection);
		connection.close();
	}

	/** @param {News} news @param {Connection} connection */
	hear(news, connection) {
		const room = "room" in news ? this.#rooms.get(news.room ?? "") : undefined;
		if (room?.connection !== connection) return;
		if (news.type === "moved") this.follow(room, news.url);
		else room.hear(news);
	}

	/** @param {Connection} connection */
	lose(connection) {
		for (const room of this.#roomsOf(connection)) room.lose();
	}

	/** @param {Connection} connection */
	resume(connection) {
		for (const room of this.#roomsOf(connection)) this.follow(room);
	}

	/** @param {Connection} connection */
	#roomsOf(connection) {
		return [...this.#rooms.values()].filter((room) => room.connection === connection);
	}
}

/** Whether a server said that another one has the room. @param {unknown} error @returns {error is Refused} */
function isMoved(error) {
	return error instanceof Refused && error.code === "moved";
}

/** @type {Fits} */
function fits(moves, { ply, last, board }) {
	const isWhole = moves.length === ply && (moves.at(-1) ?? null) === last && new Set(moves).size === ply;
	return isWhole && moves.every((cell) => board[cell] !== FREE && board[cell] !== BLOCKED);
}
