/** An event on a projector: first how to enter, then the table and the boards, finally the winner. */

import { say, sayTitle } from "../catalogue.js";
import { h, setText, show } from "../dom.js";
import { Lobby, layOut } from "../lobby.js";
import { drawQr } from "../qr.js";
import { formatDuration } from "../words.js";
import { Following } from "./following.js";
import { fit, makeBracket } from "./table.js";
import { describeScore, describeStanding, describeTerms, describeWon, formatPoints, listNotes, sidesOf, wonOf } from "./tournaments.js";

const MOST_BOARDS = 100;
const MOST_ROWS = 20;
/** Up to this many rows, there is room under the table for the QR code. */
const MOST_BESIDE_QR = 6;
const MOST_NAMES = 60;
const [MOST_PODIUM, MOST_ROUNDS] = [4, 4];
const SHAPE = 1.6;

export class EventWall {
	#head = h("header.wall-head");
	#main = h("div.wall-main");
	#clock = h("b.wall-clock");
	#awaited = h("span");
	#foot = h("footer.wall-foot");
	title = say("page event wall");

	/** @param {App} app @param {string} hash the ticket of the event, which the wall shows, or `key=` and the wall key, which it does not */
	constructor(app, code = "", hash) {
		const [, key = ""] = /^key=(.*)/.exec(hash) ?? [];
		const ticket = key ? "" : hash;
		const link = app.linkTo(`e/${code}${ticket && `#${ticket}`}`);
		const address = link.replace(/^https?:\/\//, "");
		this.code = h("p.wall-code", code);
		this.address = h("p.wall-address", { "--length": address.length }, address);
		this.qr = drawQr(app, link);
		this.following = new Following(app, code, () => this.draw(), key || ticket);
		this.lobby = new Lobby(app, MOST_BOARDS, () => this.draw());
		this.element = h("div.event-wall", this.#head, this.#main, this.#foot);
		this.follows = [this.following, this.lobby];
	}

	draw() {
		const { state, refused } = this.following;
		if (!state) return show(this.#main, refused && h("p.wall-note", refused));
		const hasBegun = state.status !== "open";
		this.element.className = `event-wall ${state.status}`;
		const { title } = state.head;
		const heading = h("h1", { "--length": title.length }, title);
		this.following.app.retitle(title);
		show(this.#head, heading, hasBegun && h("p", describeStanding(state)));
		show(this.#main, state.status === "over" ? this.#drawEnd() : hasBegun ? [this.#drawTable(), this.#drawBoards()] : this.#drawEntry());
		show(this.#foot, this.#clock, this.#awaited, hasBegun && !this.#hasRoom && this.#drawWay());
		return this.tick();
	}

	get #hasRoom() {
		const { state, whole } = this.following;
		return !whole?.bracket && (state?.table.length ?? 0) <= MOST_BESIDE_QR;
	}

	#drawWay() {
		return h("div.wall-come", this.#hasRoom && this.qr, h("div", this.code, this.address));
	}

	#drawEntry() {
		const { state, rows, presence } = this.following;
		const names = h("ul", { "--names": rows.length }, rows.slice(0, MOST_NAMES).map(({ name, player, status }) => h("li", { class: this.following.timeAway(player) ? "gone" : status }, name)));
		const [way, label] = state?.head.entry === "roster" ? ["page event come by card", "page event"] : ["page wall join", "invitation code"];
		return [
			h("div.wall-entry", h("p.note", state && describeTerms(state)), h("p", say(way)), this.address, h("p", say(label)), this.code),
			this.qr,
			h("div.wall-in", h("h2", presence), names),
		];
	}

	/** @param {EventRow[]} [rows] */
	#drawTable(rows = (this.following.state?.table ?? []).slice(0, MOST_ROWS)) {
		const { bracket } = this.following.whole ?? {};
		if (bracket) return h("div.wall-side", makeBracket(bracket, "", MOST_ROUNDS));
		const cells = rows.map(({ place, name, status = "in", ...won }) =>
			h("tr", { class: `place-${place} ${status}` }, h("td.rank", String(place)), h("th.name", { scope: "row" }, fit(name)), h("td.points", formatPoints(wonOf(won)))));
		return h("div.wall-side", makeTable("table.wall-table", say("page event table"), cells), this.#hasRoom && this.#drawWay());
	}

	#drawEnd() {
		const { state, whole } = this.following;
		const others = (state?.table ?? []).filter(({ place }) => place > 3).slice(0, MOST_ROWS);
		const podium = h("div.wall-end", this.#drawPodium(), h("p", state && listNotes(state).join(" ")));
		return [podium, (whole?.bracket || others.length > 0) && this.#drawTable(others)];
	}

	#drawBoards() {
		const { state } = this.following;
		const rooms = new Set(state?.pairings.map(({ room }) => room));
		let count = 0;
		for (const [room, { item, live }] of this.lobby.cards) {
			item.hidden = !rooms.has(room);
			item.style.setProperty("--length", String(Math.max(1, ...Object.values(live.names).map((name) => name.length))));
			count += Number(!item.hidden);
		}
		if (!count) return this.#drawResults();
		layOut(this.lobby.element, count, SHAPE);
		return this.lobby.element;
	}

	#drawResults() {
		const rows = (this.following.state?.pairings ?? []).slice(0, MOST_ROWS).map((one) => {
			const names = sidesOf(one).map(([, , name]) => name).join(" – ");
			return h("tr", h("th.name", { scope: "row" }, fit(names)), h("td.points", fit(describeScore(one))));
		});
		return makeTable("table.wall-table.wall-results", say("page event pairings"), rows);
	}

	#drawPodium() {
		const rows = this.following.state?.table.filter(({ place, points, played }) => place <= 3 && (points || played)) ?? [];
		return h("ol.podium", rows.slice(0, MOST_PODIUM).map(({ place, name, ...won }) =>
			h(`li.place-${place}`, h("b", String(place)), h("div.name", fit(name)), h("span", describeWon(won)))));
	}

	tick() {
		const { waiting, left, app: { connection } } = this.following;
		setText(this.#clock, left === null || connection.isTroubled ? "" : formatDuration(left));
		setText(this.#awaited, connection.isTroubled ? connection.reason || sayTitle("banner lost") : waiting);
	}
}

/** A table whose rows shrink if there are many. @param {Element[]} rows */
const makeTable = (tag = "", label = "", rows) => h(tag, { "aria-label": label, "--rows": Math.max(rows.length, 10) }, h("tbody", rows));
