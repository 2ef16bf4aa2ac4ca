/** Follows an event: its state, all games played in it, and the players it waits for. */

import { say } from "../catalogue.js";
import { urlOf } from "../dom.js";
import { Refused } from "../requests.js";
import { parse } from "../text.js";
import { formatDuration } from "../words.js";
import { isOpen, isOver, nameSome, nameStatus, rowOf, sidesOf } from "./tournaments.js";

/** The minimum delay before all rounds are read again; with many players it is longer, because many browsers read. */
const [SOON_MS, LATER_MS, MOST_READ_SOON] = [700, 10_000, 24];
const MOST_AWAITED = 4;

export class Following {
	/** @type {EventState | null} */ state = null;
	/** The state with all rounds, as `/e/CODE.json` has it. @type {EventState | null} */ whole = null;
	receivedAt = 0;
	hasCard = false;
	refused = "";
	#timer = 0;
	/** @type {(heard: unknown) => void} */
	#whenHeard = () => undefined;

	/** @param {App} app @param {() => void} onChange */
	constructor(app, code = "", onChange, key = "") {
		this.app = app;
		this.code = code;
		this.onChange = onChange;
		this.key = key;
	}

	get player() {
		return this.app.connection.player;
	}

	get deeds() {
		const { state, player, hasCard, isOrganiser } = this;
		const row = state && rowOf(state, player);
		const role = row ? (row.status ?? "in") : hasCard ? "card" : "";
		return [role, ...(isOrganiser ? ["organiser"] : [])].flatMap((one) => state?.may?.[one] ?? []);
	}

	get rows() {
		const { table = [], status, expected = [] } = this.state ?? {};
		const pushed = new Map(table.map((row) => [row.player, row]));
		const known = this.whole && this.whole.table.length > table.length ? this.whole.table.map((row) => pushed.get(row.player) ?? row) : table;
		return status === "open" ? [...known, ...expected.map((name) => ({ place: 0, player: ` ${name}`, name, bot: null, points: 0, played: 0, tie: [], status: "expected" }))] : known;
	}

	get pairings() {
		const { pairings = [], round } = this.state ?? {};
		const read = this.whole?.pairings.filter((one) => one.round === round) ?? [];
		return read.length > pairings.length ? read : pairings;
	}

	get #age() {
		return performance.now() - this.receivedAt;
	}

	timeAway(player = "") {
		const ms = this.state?.away?.[player];
		return ms === undefined ? "" : formatDuration(ms + this.#age);
	}

	/** @param {Side[]} sides */
	#nameAll(sides) {
		return nameSome(sides.map(([, player, name]) => {
			const time = this.timeAway(player);
			return time ? say("name with mark", { name, mark: say("tournament gone", { time }) }) : name;
		}));
	}

	get missing() {
		const rows = this.rows.filter(({ player, status }) => status === "expected" || this.timeAway(player));
		return { n: rows.length, names: this.#nameAll(rows.map(({ player, name }) => ["", player, name])) };
	}

	get presence() {
		const { players = 0, present = 0, expected = 0 } = this.state?.head ?? {};
		return `${say("tournament here", { n: players + expected, present })}.`;
	}

	/** Name the players that the event waits for, as tictactoe_words.attendance.describe_waiting; "" if none. */
	describeWaiting() {
		const { state, pairings: all, missing: { n, names } } = this;
		if (!state || isOver(state)) return "";
		if (state.needed) return say("tournament deserted", { n: state.needed });
		const { status, pairings, games } = state;
		if (status === "open") return n ? say("tournament waits for", { names }) : "";
		const open = pairings.filter(isOpen);
		const isFew = open.length <= MOST_AWAITED;
		const sides = open.flatMap((one) => sidesOf(one).filter(([mark, player]) => this.timeAway(player) || (isFew && (games?.[one.id]?.turn ?? mark) === mark)));
		return [!isFew && say("tournament games on", { n: all.filter(isOpen).length, all: all.length }), sides[0] && say("tournament waits for", { names: this.#nameAll(sides) })].filter(Boolean).join(" ");
	}

	get waiting() {
		const { status = "over", pairings = [], head, needed } = this.state ?? {};
		if (status === "over") return "";
		if (!needed && status !== "open" && (status !== "running" || !pairings.length)) return nameStatus(status);
		return this.describeWaiting() || say(status !== "open" ? "page event round over" : head?.entry === "roster" ? "page event by card" : "page event soon");
	}

	/** @param {Pairing} pairing */
	describeGame(pairing) {
		const { ply, turn, clock } = this.state?.games?.[pairing.id] ?? {};
		if (ply === undefined) return "";
		const sides = sidesOf(pairing);
		const clocks = clock && sides.map(([mark]) => formatDuration(clock.remaining_ms[mark] - (clock.running === mark ? this.#age : 0))).join(" – ");
		const mover = sides.filter(([mark]) => mark === turn).map(([, , name]) => say("page to move", { name }));
		return [say("count move", { n: ply }), ...mover, clocks, this.#nameAll(sides.filter(([, player]) => this.timeAway(player)))].filter(Boolean).join(" · ");
	}

	get isOrganiser() {
		return !!this.state?.head.organisers.includes(this.player);
	}

	get left() {
		const due = this.state?.due_ms ?? null;
		return due === null ? null : Math.max(0, due - this.#age);
	}

	async onWelcome() {
		await this.#watch().catch((why) => {
			if (!(why instanceof Refused)) return;
			this.refused = why.message;
			this.onChange();
		});
	}

	async renew() {
		const heard = new Promise((resolve) => (this.#whenHeard = resolve));
		await this.#watch();
		await heard;
	}

	#watch() {
		return this.ask({ type: "event_watch", on: true, key: this.key || undefined });
	}

	close() {
		clearTimeout(this.#timer);
		this.ask({ type: "event_watch", on: false }).catch(() => undefined);
	}

	/** @param {AboutIt} request */
	ask(request) {
		return this.app.connection.request(/** @type {Ask} */ ({ ...request, event: this.code }));
	}

	/** @param {News} news */
	onNews(news) {
		if ((news.type !== "event" && news.type !== "event_rows") || news.event !== this.code) return;
		if (news.type === "event") this.state = news;
		else if (!this.state) return; // rows that the previous page has requested
		else this.state = update(this.state, news);
		this.receivedAt = performance.now();
		this.#whenHeard(null);
		this.onChange();
		this.#read();
	}

	#read() {
		const { seq, head, key = this.key } = /** @type {EventState} */ (this.state);
		if (this.#timer || (this.whole && this.whole.seq >= seq)) return;
		const wait = !this.whole ? 0 : head.players > MOST_READ_SOON ? LATER_MS : SOON_MS;
		this.#timer = setTimeout(async () => {
			const answer = await fetch(urlOf(`/e/${this.code}.json${key && `?key=${encodeURIComponent(key)}`}`)).catch(() => null);
			this.#timer = 0;
			if (!answer?.ok) return;
			this.whole = parse(await answer.text());
			this.onChange();
			this.#read();
		}, wait * (1 + Math.random()));
	}
}

/** @param {EventState} state @param {Protocol.EventRows} news */
function update(state, news) {
	const { seq, status, round, due_ms, present, rows, pairings, away, games, needed, may = state.may } = news;
	const changed = new Map(rows.map((row) => [row.player, row]));
	const table = [...state.table.filter(({ player }) => !changed.has(player)), ...rows].sort((one, other) => one.place - other.place);
	const played = new Map([...state.pairings, ...pairings].filter((one) => one.round === round).map((one) => [one.id, one]));
	return { ...state, seq, status, round, due_ms, head: { ...state.head, present }, table, pairings: [...played.values()], away, games, needed, may };
}
