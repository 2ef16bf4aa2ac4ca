/** An event on a projector: first how to enter, then the table and the boards, finally the winner. */

import { say, sayTitle } from "../catalogue.js";
import { h, setText, show } from "../dom.js";
import { layOut, makeLobby } from "../lobby.js";
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

/** @param {App} app @param {string} hash the ticket of the event, which the wall shows, or `key=` and the wall key, which it does not */
export function makeEventWall(app, code = "", hash) {
	const head = h("header.wall-head");
	const main = h("div.wall-main");
	const clock = h("b.wall-clock");
	const awaited = h("span");
	const foot = h("footer.wall-foot");
	const [, key = ""] = /^key=(.*)/.exec(hash) ?? [];
	const ticket = key ? "" : hash;
	const link = app.linkTo(`e/${code}${ticket && `#${ticket}`}`);
	const address = link.replace(/^https?:\/\//, "");
	const codeLine = h("p.wall-code", code);
	const addressLine = h("p.wall-address", { "--length": address.length }, address);
	const qr = drawQr(app, link);
	const following = new Following(app, code, draw, key || ticket);
	const lobby = makeLobby(app, MOST_BOARDS, draw);
	const element = h("div.event-wall", head, main, foot);
	return { element, title: say("page event wall"), follows: [following, lobby], tick };

	function draw() {
		const { state, refused } = following;
		if (!state) return show(main, refused && h("p.wall-note", refused));
		const hasBegun = state.status !== "open";
		element.className = `event-wall ${state.status}`;
		const { title } = state.head;
		const heading = h("h1", { "--length": title.length }, title);
		app.retitle(title);
		show(head, heading, hasBegun && h("p", describeStanding(state)));
		show(main, state.status === "over" ? drawEnd() : hasBegun ? [drawTable(), drawBoards()] : drawEntry());
		show(foot, clock, awaited, hasBegun && !hasRoom() && drawWay());
		return tick();
	}

	function hasRoom() {
		const { state, whole } = following;
		return !whole?.bracket && (state?.table.length ?? 0) <= MOST_BESIDE_QR;
	}

	function drawWay() {
		return h("div.wall-come", hasRoom() && qr, h("div", codeLine, addressLine));
	}

	function drawEntry() {
		const { state, rows, presence } = following;
		const names = h("ul", { "--names": rows.length }, rows.slice(0, MOST_NAMES).map(({ name, player, status }) => h("li", { class: following.timeAway(player) ? "gone" : status }, name)));
		const [way, label] = state?.head.entry === "roster" ? ["page event come by card", "page event"] : ["page wall join", "invitation code"];
		return [
			h("div.wall-entry", h("p.note", state && describeTerms(state)), h("p", say(way)), addressLine, h("p", say(label)), codeLine),
			qr,
			h("div.wall-in", h("h2", presence), names),
		];
	}

	/** @param {EventRow[]} [rows] */
	function drawTable(rows = (following.state?.table ?? []).slice(0, MOST_ROWS)) {
		const { bracket } = following.whole ?? {};
		if (bracket) return h("div.wall-side", makeBracket(bracket, "", MOST_ROUNDS));
		const cells = rows.map(({ place, name, status = "in", ...won }) =>
			h("tr", { class: `place-${place} ${status}` }, h("td.rank", String(place)), h("th.name", { scope: "row" }, fit(name)), h("td.points", formatPoints(wonOf(won)))));
		return h("div.wall-side", makeTable("table.wall-table", say("page event table"), cells), hasRoom() && drawWay());
	}

	function drawEnd() {
		const { state, whole } = following;
		const others = (state?.table ?? []).filter(({ place }) => place > 3).slice(0, MOST_ROWS);
		const podium = h("div.wall-end", drawPodium(), h("p", state && listNotes(state).join(" ")));
		return [podium, (whole?.bracket || others.length > 0) && drawTable(others)];
	}

	function drawBoards() {
		const { state } = following;
		const rooms = new Set(state?.pairings.map(({ room }) => room));
		let count = 0;
		for (const [room, { item, live }] of lobby.cards) {
			item.hidden = !rooms.has(room);
			item.style.setProperty("--length", String(Math.max(1, ...Object.values(live.names).map((name) => name.length))));
			count += Number(!item.hidden);
		}
		if (!count) return drawResults();
		layOut(lobby.element, count, SHAPE);
		return lobby.element;
	}

	function drawResults() {
		const rows = (following.state?.pairings ?? []).slice(0, MOST_ROWS).map((one) => {
			const names = sidesOf(one).map(([, , name]) => name).join(" – ");
			return h("tr", h("th.name", { scope: "row" }, fit(names)), h("td.points", fit(describeScore(one))));
		});
		return makeTable("table.wall-table.wall-results", say("page event pairings"), rows);
	}

	function drawPodium() {
		const rows = following.state?.table.filter(({ place, points, played }) => place <= 3 && (points || played)) ?? [];
		return h("ol.podium", rows.slice(0, MOST_PODIUM).map(({ place, name, ...won }) =>
			h(`li.place-${place}`, h("b", String(place)), h("div.name", fit(name)), h("span", describeWon(won)))));
	}

	function tick() {
		const { waiting, left } = following;
		const { connection } = app;
		setText(clock, left === null || connection.isTroubled ? "" : formatDuration(left));
		setText(awaited, connection.isTroubled ? connection.reason || sayTitle("banner lost") : waiting);
	}
}

/** A table whose rows shrink if there are many. @param {Element[]} rows */
const makeTable = (tag = "", label = "", rows) => h(tag, { "aria-label": label, "--rows": Math.max(rows.length, 10) }, h("tbody", rows));
