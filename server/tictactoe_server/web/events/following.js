/** An event as it goes on: its state as the server pushes it, and all that has been played in it. */

import { Refused } from "../requests.js";
import { eventChoices } from "./tournaments.js";

/** @typedef {Protocol.EventState} EventState */
/** All rounds, as `/e/CODE.json` has them. @typedef {{seq: number, table: Protocol.EventRow[], pairings: Omit<Protocol.EventPairing, "names">[]}} Whole */
/** A request that is about this event, without its code. @typedef {{type: "event_join" | "event_leave" | "event_ready" | "event_run" | "event_watch"} & Record<string, unknown>} AboutIt */

/** How long we wait for more changes before all rounds are read again, at least; longer where many play, as many read. */
const [SOON_MS, LATER_MS, MOST_READ_SOON] = [700, 10_000, 24];

export class Following {
	/** @type {EventState | null} */ state = null;
	/** @type {Whole | null} */ whole = null;
	receivedAt = 0;
	/** Whether one came in by a card. */
	hasCard = false;
	/** Why there is nothing to follow, if so. */
	refused = "";
	/** @type {Protocol.Welcome | null} */ #asked = null;
	#timer = 0;
	/** @type {(heard: unknown) => void} */
	#whenHeard = () => undefined;

	/** @param {App} app @param {string} code @param {() => void} onChange */
	constructor(app, code, onChange) {
		this.app = app;
		this.code = code;
		this.onChange = onChange;
	}

	get player() {
		return this.app.connection.welcome?.player ?? "";
	}

	/** What one may do. */
	get choices() {
		return this.state ? eventChoices(this.state, this.player, this.hasCard) : { deeds: [], reasons: {} };
	}

	/** The table, as far as it is known; the newest rows are those that were pushed. */
	get rows() {
		const { table = [] } = this.state ?? {};
		const pushed = new Map(table.map((row) => [row.player, row]));
		return this.whole && this.whole.table.length > table.length ? this.whole.table.map((row) => pushed.get(row.player) ?? row) : table;
	}

	/** The pairings of this round: all of them, or where they are too many to be pushed as they were read last. */
	get pairings() {
		const { pairings = [], round } = this.state ?? {};
		const read = this.whole?.pairings.filter((one) => one.round === round) ?? [];
		return read.length > pairings.length ? read : pairings;
	}

	get isOrganiser() {
		return !!this.state?.head.organisers.includes(this.player);
	}

	/** How long until what is due, in ms, or null. */
	get left() {
		const due = this.state?.due_ms ?? null;
		return due === null ? null : Math.max(0, due - (performance.now() - this.receivedAt));
	}

	/** Subscribe, on each connection anew. */
	async follow() {
		const { connection } = this.app;
		if (connection.phase !== "on" || this.#asked === connection.welcome) return;
		this.#asked = connection.welcome;
		await this.ask({ type: "event_watch", on: true }).catch((why) => {
			if (!(why instanceof Refused)) return;
			this.refused = why.message;
			this.onChange();
		});
	}

	/** Have the newest state sent again, and wait for it. */
	async renew() {
		const heard = new Promise((resolve) => (this.#whenHeard = resolve));
		await this.ask({ type: "event_watch", on: true });
		await heard;
	}

	close() {
		clearTimeout(this.#timer);
		this.ask({ type: "event_watch", on: false }).catch(() => undefined);
	}

	/** Rejects as a request does. @param {AboutIt} request */
	ask(request) {
		return this.app.connection.request(/** @type {Ask} */ ({ ...request, event: this.code }));
	}

	/** @param {News} news */
	hear(news) {
		if ((news.type !== "event" && news.type !== "event_rows") || news.event !== this.code) return;
		if (news.type === "event") this.state = news;
		else if (!this.state) return; // rows that the page before has asked for
		else this.state = update(this.state, news);
		this.receivedAt = performance.now();
		this.#whenHeard(null);
		this.onChange();
		this.#read();
	}

	/** Read all rounds, at once or a while after they have changed. */
	#read() {
		const { seq, head } = /** @type {EventState} */ (this.state);
		if (this.#timer || (this.whole && this.whole.seq >= seq)) return;
		const wait = !this.whole ? 0 : head.players > MOST_READ_SOON ? LATER_MS : SOON_MS;
		this.#timer = setTimeout(async () => {
			const answer = await fetch(`/e/${this.code}.json`).catch(() => null);
			this.#timer = 0;
			if (!answer?.ok) return;
			this.whole = await answer.json();
			this.onChange();
			this.#read();
		}, wait * (1 + Math.random()));
	}
}

/** @param {EventState} state @param {Protocol.EventRows} news @returns {EventState} */
function update(state, news) {
	const { seq, status, round, due_ms, present, rows, pairings } = news;
	const changed = new Map(rows.map((row) => [row.player, row]));
	const table = [...state.table.filter(({ player }) => !changed.has(player)), ...rows].sort((one, other) => one.place - other.place);
	const played = new Map([...state.pairings, ...pairings].filter((one) => one.round === round).map((one) => [one.id, one]));
	return { ...state, seq, status, round, due_ms, head: { ...state.head, present }, table, pairings: [...played.values()] };
}
