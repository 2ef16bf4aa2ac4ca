/** An event on a projector: before it begins how one comes in, then the table and the boards, in the end who won. */

import { say } from "../catalogue.js";
import { h, setText, show } from "../dom.js";
import { Lobby } from "../lobby.js";
import { clean, formatDuration, joinWords } from "../words.js";
import { Following } from "./following.js";
import { drawQr } from "./qr.js";
import { describeStanding, describeWord, formatPoints, isOpen, sidesOf } from "./tournaments.js";
import { describeTerms } from "./words.js";

const MOST_BOARDS = 100;
const MOST_ROWS = 20;
/** Up to so many rows there is room under the table for the link to follow it all. */
const MOST_BESIDE_QR = 6;
const MOST_NAMES = 60;
/** For how many games it is said by name who is waited for. */
const MOST_AWAITED = 4;
const TICK_MS = 250;
/** About how much wider than high the place for the boards is, by the shape of one of them. */
const SHAPE = 1.6;

/** @param {App} app @param {string} code @param {string} ticket @returns {Page} */
export const makePage = (app, code, ticket) => new EventWall(app, code, ticket);

class EventWall {
	#head = h("header.wall-head");
	#main = h("div.wall-main");
	#clock = h("b.wall-clock");
	#awaited = h("span");
	#foot = h("footer.wall-foot");
	title = say("page event wall");

	/** @param {App} app @param {string} code @param {string} ticket with which one enters, if the wall may show it */
	constructor(app, code, ticket) {
		const link = app.linkTo(`e/${code}${ticket && `#${ticket}`}`);
		const address = link.replace(/^https?:\/\//, "");
		this.code = h("p.wall-code", {}, code);
		this.address = h("p.wall-address", { "--length": address.length }, address);
		this.qr = drawQr(link, say("page event qr"));
		this.following = new Following(app, code, () => this.draw());
		this.lobby = new Lobby(app, MOST_BOARDS, () => this.draw());
		this.element = h("div.event-wall", {}, this.#head, this.#main, this.#foot);
		this.ticker = setInterval(() => this.tick(), TICK_MS);
		this.onPhase();
	}

	onPhase() {
		this.following.follow();
		this.lobby.follow();
		this.tick();
	}

	/** @param {News} news */
	onNews(news) {
		this.following.hear(news);
		this.lobby.hear(news);
	}

	close() {
		clearInterval(this.ticker);
		this.following.close();
		this.lobby.close();
	}

	draw() {
		const { state, refused } = this.following;
		if (!state) return show(this.#main, refused && h("p.wall-note", {}, refused));
		const hasBegun = state.status !== "open";
		this.element.className = `event-wall ${state.status}`;
		const title = clean(state.head.title);
		const heading = h("h1", { tabindex: -1, "--length": title.length }, title);
		document.title = title;
		show(this.#head, heading, hasBegun && h("p", {}, describeStanding(state)));
		show(this.#main, hasBegun ? [this.#drawTable(), this.#drawBoards()] : this.#drawEntry());
		show(this.#foot, this.#clock, this.#awaited, hasBegun && !this.#hasRoom && this.#drawWay());
		return this.tick();
	}

	/** Whether there is room under the table for the way in. */
	get #hasRoom() {
		return (this.following.state?.table.length ?? 0) <= MOST_BESIDE_QR;
	}

	/** How one comes in or looks on once it has begun. */
	#drawWay() {
		return h("div.wall-come", {}, this.#hasRoom && this.qr, h("div", {}, this.code, this.address));
	}

	/** Address, code and QR as large as they go, and who is in. */
	#drawEntry() {
		const { state, rows } = this.following;
		const names = h("ul", { "--names": rows.length }, rows.slice(0, MOST_NAMES).map(({ name }) => h("li", {}, clean(name))));
		return [
			h("div.wall-entry", {}, h("p.note", {}, state && describeTerms(state)), h("p", {}, say("page event come")), this.address, h("p", {}, say("page event or code")), this.code),
			this.qr,
			h("div.wall-in", {}, h("h2", {}, say("page event in", { n: state?.head.players ?? 0 })), names),
		];
	}

	#drawTable() {
		const rows = (this.following.state?.table ?? []).slice(0, MOST_ROWS);
		const cells = rows.map(({ place, name, status = "in", ...won }) =>
			h("tr", { class: `place-${place} ${status}` }, h("td.rank", {}, String(place)), h("th.name", { scope: "row" }, clean(name)), h("td.points", {}, formatPoints(wonOf(won)))));
		const table = h("table.wall-table", { "aria-label": say("page event table"), "--rows": Math.max(rows.length, 10) }, h("tbody", {}, cells));
		return h("div.wall-side", {}, table, this.#hasRoom && this.#drawWay());
	}

	/** The boards of this round, and those of the one before as long as they are shown; at the end who won. */
	#drawBoards() {
		const { state } = this.following;
		const rooms = new Set(state?.pairings.map(({ room }) => room));
		let count = 0;
		for (const [room, { item }] of this.lobby.cards) {
			item.hidden = !rooms.has(room);
			count += Number(!item.hidden);
		}
		const rows = Math.ceil(count / Math.ceil(Math.sqrt(count * SHAPE)));
		const { element } = this.lobby;
		// As many columns as these rows need, so that no place stays empty.
		element.style.setProperty("--columns", String(Math.ceil(count / rows)));
		element.style.setProperty("--rows", String(rows));
		const names = state?.pairings.flatMap((pairing) => sidesOf(pairing).map(([, , name]) => name.length)) ?? [];
		element.style.setProperty("--length", String(Math.max(1, ...names)));
		return count && state?.status !== "over" ? element : this.#drawPodium();
	}

	/** The first three, large; at the end, and where there are no boards to be seen. */
	#drawPodium() {
		const rows = this.following.state?.table.filter(({ place, points, played }) => place <= 3 && (points || played)) ?? [];
		return h("ol.podium", {}, rows.slice(0, 3).map(({ place, name, ...won }) =>
			h(`li.place-${place}`, {}, h("b", {}, String(place)), h("span.name", {}, clean(name)), h("span", {}, formatPoints(wonOf(won))))));
	}

	/** Have the clocks run. */
	tick() {
		this.lobby.tick();
		const { state, left, app: { connection } } = this.following;
		setText(this.#clock, left === null || connection.isTroubled ? "" : formatDuration(left));
		setText(this.#awaited, connection.isTroubled ? connection.reason || say("page lost") : state ? this.#describeWaiting(state) : "");
	}

	/** For whom the round waits, by name: who is to move where that is known. @param {Protocol.EventState} state */
	#describeWaiting({ status, pairings, head }) {
		const all = this.following.pairings;
		if (status === "open") return say(head.entry === "roster" ? "page event by card" : "page event soon");
		if (status === "over") return "";
		const open = pairings.filter(isOpen);
		if (status !== "running" || !pairings.length) return describeWord("status", status);
		if (!open.length) return say("page event round over");
		if (open.length > MOST_AWAITED) return say("page event games on", { n: all.filter(isOpen).length, all: all.length });
		const names = open.flatMap((pairing) => {
			const turn = this.lobby.cards.get(pairing.room ?? "")?.live.turn;
			return sidesOf(pairing).flatMap(([mark, , name]) => (turn && mark !== turn ? [] : name));
		});
		return say("page event waits", { names: joinWords(names) });
	}
}

/** What ranks a row before all else: the matches won of a knock-out, else the points. @param {Pick<Protocol.EventRow, "points" | "tie">} row */
const wonOf = ({ points, tie }) => tie.find(([name]) => name === "matches")?.[1] ?? points;
