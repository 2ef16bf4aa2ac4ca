/** An event as it goes on: its state as the server pushes it, and all that has been played in it. */

import { Refused } from "../requests.js";

/** @typedef {Protocol.EventState} EventState */
/** All rounds, as `/e/CODE.json` has them. @typedef {{table: Protocol.EventRow[], pairings: Omit<Protocol.EventPairing, "names">[]}} Whole */
/** A request that is about this event, without its code. @typedef {{type: "event_join" | "event_leave" | "event_ready" | "event_run" | "event_watch"} & Record<string, unknown>} AboutIt */

/** How long we wait for more changes before all rounds are read again, at least: not all readers ask at once. */
const SOON_MS = 700;

export class Following {
	/** @type {EventState | null} */ state = null;
	/** @type {Whole | null} */ whole = null;
	receivedAt = 0;
	/** Why there is nothing to follow, if so. */
	refused = "";
	/** @type {Protocol.Welcome | null} */ #asked = null;
	/** Up to what all rounds were read. */
	#version = "";
	#timer = 0;

	/** @param {import("../app.js").App} app @param {string} code @param {() => void} onChange */
	constructor(app, code, onChange) {
		this.app = app;
		this.code = code;
		this.onChange = onChange;
	}

	get player() {
		return this.app.connection.welcome?.player ?? "";
	}

	/** One's own row of the table, undefined for who does not play. */
	get own() {
		return this.state?.table.find(({ player }) => player === this.player);
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

	close() {
		clearTimeout(this.#timer);
		this.ask({ type: "event_watch", on: false }).catch(() => undefined);
	}

	/** Rejects as a request does. @param {AboutIt} request */
	ask(request) {
		return this.app.connection.request(/** @type {import("../requests.js").Ask} */ ({ ...request, event: this.code }));
	}

	/** @param {import("../app.js").News} news */
	hear(news) {
		if ((news.type !== "event" && news.type !== "event_rows") || news.event !== this.code) return;
		if (news.type === "event") this.state = news;
		else if (this.state) this.state = update(this.state, news);
		this.receivedAt = performance.now();
		this.onChange();
		this.#read();
	}

	/** Read all rounds, at once or a moment after they have changed; in a large event after each round. */
	#read() {
		const { seq, status, round, head } = /** @type {EventState} */ (this.state);
		const version = head.kind === "round_robin" || status === "open" ? `${seq}` : `${status} ${round}`;
		if (version === this.#version) return;
		clearTimeout(this.#timer);
		this.#timer = setTimeout(async () => {
			const answer = await fetch(`/e/${this.code}.json`).catch(() => null);
			if (!answer?.ok) return;
			this.#version = version;
			this.whole = await answer.json();
			this.onChange();
		}, this.whole ? SOON_MS * (1 + Math.random()) : 0);
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
