/** The rooms that this page is in, each on the server that has it. */

import { Lost, Refused, isMoved } from "./requests.js";
import { Room } from "./room.js";
import { describeUnanswered, messageOf } from "./words.js";

const MOST_REDIRECTS = 3;
const MOMENT_MS = 500;
/** How long to look for a room while servers disagree about its owner. */
const RETRY_FOR_MS = 20_000;
/** How often a server is asked to take over a room whose own server does not answer. */
const ASKED_MS = 60_000;

export class Rooms {
	/** @type {Room | null} */
	shown = null;
	/** @type {Map<string, Room>} */
	#rooms = new Map();
	/** @type {Set<Connection>} */
	#others = new Set();
	/** @type {Map<string, Unanswered>} */
	unanswered = new Map();
	/** @type {Map<string, number>} */
	#askedAt = new Map();

	/** @param {App} app */
	constructor(app) {
		this.app = app;
	}

	find(code = "") {
		const room = this.#rooms.get(code);
		return room?.ended ? undefined : room;
	}

	get held() {
		const welcomed = (this.app.home.welcome?.rooms ?? []).filter(({ room }) => !this.#rooms.has(room));
		const open = [...this.#rooms.values()].flatMap(({ code, seat, ended, state }) => {
			if (!seat || ended || !state || state.status === "over") return [];
			const names = Object.entries(state.seats).flatMap(([mark, one]) => (one ? [[mark, one.name]] : []));
			return [{ room: code, seat, rules: state.rules, names: Object.fromEntries(names), turn: state.turn }];
		});
		return [...welcomed, ...open];
	}

	async giveUp(code = "") {
		const { welcome } = this.app.home;
		if (welcome) welcome.rooms = welcome.rooms.filter(({ room }) => room !== code);
		const room = this.find(code) ?? (await this.enter({ type: "join", room: code }));
		await room.leave();
	}

	/** @param {WayIn} request */
	async enter(request, url = "") {
		const at = "room" in request ? this.find(request.room) : undefined;
		const [ok, connection] = await this.#ask(request, at?.connection ?? this.app.home, url);
		const code = ok.room ?? "";
		const room = this.#rooms.get(code) ?? new Room(this, connection, code);
		this.#rooms.set(code, room);
		this.unanswered.delete(code);
		room.enter(ok, connection);
		return room;
	}

	/** Re-enter a room at the server that has it, perhaps this one; a refusal ends the room. @param {Room} room */
	follow(room, url = "") {
		if (this.find(room.code) !== room) return Promise.resolve();
		room.following ??= this.#follow(room, url).finally(() => (room.following = null));
		return room.following;
	}

	/** @param {Room} room */
	async #follow(room, url = "") {
		const before = { url: room.url, connection: room.connection };
		try {
			await this.enter(room.wayBack(), before.connection.ways.leadsTo(url) ? url : "");
			if (room.url !== before.url) room.ears?.onMoved();
			if (room.connection !== before.connection) room.connection.ears.onPhase();
			this.release(before.connection);
		} catch (why) {
			if (why instanceof Refused) room.end(isMoved(why) ? "moved" : "closed", why.message);
		}
	}

	/** Send a request, following redirects. Ask the first server again if a server does not answer, or after too many redirects. @param {WayIn} request @param {Connection} first @returns {Promise<[Ok, Connection]>} */
	async #ask(request, first, url = "") {
		const code = "room" in request ? request.room : "";
		const end = performance.now() + RETRY_FOR_MS;
		/** The refusal to report in the end. @type {Refused | null} */
		let told = null;
		let [asked, isAnew, silent] = [first, false, ""];
		for (let moves = url ? 1 : 0; ; moves += 1) {
			const unreachable = silent;
			silent = "";
			try {
				if (url) asked = await this.#reach(url);
				return [await asked.request(unreachable ? /** @type {Ask} */ ({ ...request, unreachable }) : request), asked];
			} catch (error) {
				const isRefused = !!unreachable && error instanceof Refused && !isMoved(error);
				if (isMoved(error) && !asked.ways.leadsTo(error.url) && !isAnew) {
					isAnew = true;
					await asked.greetAgain();
				}
				if (isMoved(error) && asked.ways.leadsTo(error.url)) [told, url] = [error, error.url ?? ""];
				else if (error instanceof Lost && moves) {
					if (this.#mayReport(request, first)) silent = url;
					this.#note(code, { url, step: silent && "asked" });
					if (told) told.message = describeUnanswered(code, { url, step: "" });
					url = "";
				} else if (isRefused) this.#note(code, { url: unreachable, step: "refused", why: messageOf(error) });
				else throw error;
				if (performance.now() > end) throw told ?? error;
			}
			if (url && moves < MOST_REDIRECTS) continue;
			if (!silent) await new Promise((resolve) => setTimeout(resolve, MOMENT_MS * (1 + Math.random())));
			[asked, url, moves] = [first, "", -1];
		}
	}

	/** @param {WayIn} request @param {Connection} first */
	#mayReport(request, { welcome }) {
		const code = request.type === "join" ? request.room : "";
		if (!this.find(code) && !welcome?.rooms.some(({ room }) => room === code)) return false;
		if (performance.now() - (this.#askedAt.get(code) ?? -ASKED_MS) < ASKED_MS) return false;
		this.#askedAt.set(code, performance.now());
		return true;
	}

	/** @param {Unanswered} there */
	#note(code = "", there) {
		if (!code || (!there.step && this.unanswered.get(code)?.url === there.url)) return;
		this.unanswered.set(code, there);
		this.app.say(describeUnanswered(code, there), this.shown?.code === code);
	}

	/** Rejects with `Lost`. */
	async #reach(url = "") {
		let connection = [this.app.home, ...this.#others].find((one) => one.url === url && one.phase !== "ended");
		if (!connection) {
			const { name, token } = this.app.home.identity;
			connection = this.app.connect({ name, token }, url);
			this.#others.add(connection);
			connection.retry();
		}
		await connection.arrive().catch((why) => {
			this.#others.delete(connection);
			throw why;
		});
		return connection;
	}

	/** @param {Room} room */
	close(room) {
		room.ears = null;
		this.shown = null;
		if (room.isWatching || room.ended) {
			this.#rooms.delete(room.code);
			if (!room.ended) room.leave();
		}
		this.release(room.connection);
	}

	/** @param {Connection} connection */
	release(connection) {
		if (connection === this.app.home || this.of(connection).some(({ ended }) => !ended)) return;
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
	of(connection) {
		return [...this.#rooms.values()].filter((room) => room.connection === connection);
	}
}
