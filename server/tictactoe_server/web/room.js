/** A room of this page: its state and its requests. */

import { Lost, isMoved } from "./requests.js";
import { messageOf, ownerOf, seatOf } from "./words.js";

export class Room {
	/** @type {State | null} */
	state = null;
	isLive = true;
	isWatching = false;
	/** @type {ShownGame["ended"]} */
	ended = "";
	closedReason = "";
	receivedAt = 0;
	/** @type {ShownGame["pending"]} */
	pending = null;
	/** @type {RoomEars | null} */
	ears = null;
	/** @type {ChatLine[]} */
	talk = [];
	url = "";
	/** Resolves when we have entered again. @type {Promise<void> | null} */
	following = null;
	#afterLoss = false;
	/** Resolves when a returning player's request for their seat is answered. @type {Promise<unknown> | null} */
	#joining = null;

	/** @param {Rooms} rooms @param {Connection} connection */
	constructor(rooms, connection, code = "") {
		this.rooms = rooms;
		this.connection = connection;
		this.code = code;
	}

	get player() {
		return this.connection.player;
	}

	get players() {
		const { player, state } = this;
		const seated = Object.values(state?.seats ?? {}).flatMap((seat) => (seat && !seat.left && ownerOf(seat.player) === player ? [seat.player] : []));
		return [...new Set([player, ...seated.sort()])];
	}

	/** The player whom sentences call "you", or "" if several play at one keyboard. */
	get viewer() {
		const { players } = this;
		return players.length > 1 ? "" : players[0];
	}

	get isLocal() {
		return !this.viewer && Object.values(this.state?.seats ?? {}).every((seat) => seat && this.players.includes(seat.player));
	}

	/** Return who plays a mark on this connection, or the player. @param {string | null} [mark] by default the one on turn */
	actorOf(mark = this.state?.turn) {
		const holder = (mark && this.state?.seats[mark]?.player) || "";
		return this.players.includes(holder) ? holder : this.player;
	}

	/** Our mark in the current game, with guests the mark on turn; null for a watcher. */
	get seat() {
		return this.isWatching || !this.state ? null : seatOf(this.state, this.actorOf());
	}

	get plays() {
		return this.state?.status === "playing" && !!this.seat && !this.state.seats[this.seat]?.out;
	}

	/** @returns {WayIn} */
	wayBack() {
		return { type: this.isWatching ? "watch" : "join", room: this.code, seq: this.state?.seq };
	}

	/** @param {Ok} reply the answer that let us in @param {Connection} connection */
	enter(reply, connection) {
		this.connection = connection;
		this.url = connection.url;
		this.isWatching = !reply.seat;
		this.ended = "";
		if (this.pending) this.#send(this.pending);
	}

	lose() {
		this.#afterLoss = true;
	}

	/** @param {State} state */
	#take(state) {
		const { state: old, pending } = this;
		if (this.ended || (old && state.seq < old.seq)) return;
		Object.assign(this, { state, receivedAt: performance.now() });
		const own = this.isLocal && Object.values(state.seats).find((seat) => seat?.player === this.player);
		if (own) own.name = this.rooms.app.kept.here ?? own.name;
		if (state.game !== old?.game || state.ply !== pending?.ply || state.turn !== this.seat) this.pending = null;
		this.ears?.onUpdate(old, this.#afterLoss);
		if (!this.ears && old?.status === "waiting" && this.plays) this.rooms.app.announce(this).catch(() => undefined);
		this.#afterLoss = false;
	}

	/** Take a state; a player who came to watch, because the welcome lists no finished games, first takes their own seat back. @param {State} state */
	#receive(state) {
		if (!this.isWatching || this.#joining || !seatOf(state, this.player)) this.#take(state);
		else this.#joining = this.rooms.enter({ type: "join", room: this.code }).catch(() => this.#take(state)).finally(() => (this.#joining = null));
	}

	/** @param {News} news of this room */
	hear(news) {
		if (news.type === "room") this.#receive(/** @type {State} */ (news));
		else if (news.type === "replaced") this.end(news.by_card ? "card" : "replaced");
		else if (news.type === "closed") this.end("closed", news.reason);
		else if (news.type === "chat") {
			if (this.talk.some(({ at, player, text }) => at === news.at && player === news.player && text === news.text)) return;
			this.talk.push(news);
			this.ears?.onChat(news);
		}
	}

	/** @param {ShownGame["ended"]} how */
	end(how, reason = "") {
		this.ended = how;
		this.closedReason = reason;
		this.pending = null;
		// Nobody is to move any more, and the clocks keep what they show.
		if (how === "closed" && this.state?.status === "playing") this.state = { ...this.state, status: how, turn: null, clock: null };
		this.ears?.onEnd();
	}

	/** @param {AskHere} request @param {string} [actor] the id of who asks, by default the player */
	#ask(request, actor = this.player) {
		const player = actor === this.player ? undefined : actor;
		return this.connection.request(/** @type {Ask} */ ({ ...request, room: this.code, player }));
	}

	/** @param {AskHere} request @param {string} [actor] */
	async request(request, actor) {
		try {
			return await this.#ask(request, actor);
		} catch (error) {
			if (!isMoved(error)) throw error;
			await this.rooms.follow(this, error.url);
			return this.#ask(request, actor);
		}
	}

	/** Play a cell; without a connection, the move is sent after reconnecting. */
	move(cell = 0) {
		this.pending = { cell, ply: this.state?.ply ?? 0 };
		this.#send(this.pending);
	}

	/** @param {{cell: number, ply: number}} move */
	async #send(move) {
		try {
			await this.#ask({ type: "move", ...move }, this.actorOf());
		} catch (error) {
			if (error instanceof Lost && !this.connection.isOn) return;
			if (isMoved(error)) return void (await this.rooms.follow(this, error.url));
			if (this.pending === move) this.pending = null;
			this.ears?.onRefusal(messageOf(error), move.cell);
		}
	}

	/** @param {AskHere} request @param {string} [actor] */
	ask(request, actor) {
		return this.request(request, actor).then(() => true, (error) => {
			this.ears?.onRefusal(messageOf(error), null);
			return false;
		});
	}

	async leave() {
		await this.request({ type: "leave" }).catch(() => undefined);
		this.end("left");
		this.rooms.release(this.connection);
	}
}
