/** The public rooms as they change, as rows and as cards of the running games. */

import { say, sayOr, sayTitle } from "./catalogue.js";
import { h, setText, showKeyed } from "./dom.js";
import { seatIcon } from "./shapes.js";
import { makeSmallBoard } from "./smallboard.js";
import { describeClock, describeManners, formatDuration, isDraw, nameGame, nameMark, namePlayers } from "./words.js";

/** @param {App} app @param {number} boards how many are wanted @param {() => void} onChange @param {true} [demo] whether computers play where nobody does */
export function makeLobby({ connection }, boards, onChange, demo) {
	const element = h("ul.live-boards");
	const lobby = {
		element,
		/** @type {Map<string, Protocol.RoomSummary>} */
		rooms: new Map(),
		/** By room code, in the order of display. @type {Map<string, LiveCard>} */
		cards: new Map(),
		isDemo: false,
		/** The number of people online, 0 until the server has sent it. */
		online: 0,
		onWelcome, onNews, tick, close,
	};
	return lobby;

	async function onWelcome() {
		const { rooms = [], online = 0 } = await connection.request({ type: "lobby", on: true, boards, demo }).catch(() => /** @type {Partial<Ok>} */ ({}));
		lobby.online = online;
		lobby.rooms = new Map(rooms.map((row) => [row.room, row]));
		onChange();
	}

	function close() {
		connection.request({ type: "lobby", on: false }).catch(() => undefined);
	}

	/** @param {News} news */
	function onNews(news) {
		if (news.type === "boards") {
			lobby.isDemo = !!news.demo;
			draw(news.demo ? [news.demo] : news.boards);
		} else if (news.type === "lobby") {
			for (const code of news.closed) lobby.rooms.delete(code);
			for (const row of news.changed) lobby.rooms.set(row.room, row);
		} else return;
		onChange();
	}

	function tick() {
		for (const card of lobby.cards.values()) card.tick();
	}

	/** @param {LiveBoard[]} all that are shown from now on */
	function draw(all) {
		const cards = all.map((live) => lobby.cards.get(keyOf(live)) ?? makeCard(live));
		cards.forEach((card, index) => card.draw(all[index]));
		lobby.cards = new Map(cards.map((card) => [keyOf(card.live), card]));
		showKeyed(element, cards, ({ live }) => keyOf(live), ({ item }) => item);
	}
}

/** Set the columns and rows of boards for a place with this ratio of width to height, with no empty row. @param {HTMLElement} element */
export function layOut({ style }, places = 1, shape = 1, leastRows = 1, leastColumns = 1) {
	const rows = Math.max(leastRows, Math.ceil(places / Math.ceil(Math.sqrt(places * shape))));
	style.setProperty("--columns", String(Math.max(leastColumns, Math.ceil(places / rows))));
	style.setProperty("--rows", String(rows));
}

/** The key of a card; demonstration games have no room and are told apart by their kind. @param {LiveBoard} live */
const keyOf = ({ room, game }) => room || `${game}`;

/** @param {LiveBoard} live */
function makeCard(live) {
	const marks = Object.keys(live.names).join("");
	const board = makeSmallBoard({ ...live, marks });
	const rows = [...marks].map((mark) => h("span.live-player", seatIcon(board.look, marks, mark), h("span.unseen", nameMark({ rules: { ...live, marks, gravity: board.look === "discs" } }, mark)), h("span.name"), h("span.clock")));
	const note = h("p.note");
	const link = h("a", { href: live.room ? `/${live.room}#watch` : null }, h("p.live-title", sayOr(`name of ${live.preset}`, `${live.rows}x${live.columns}`)), board.element, h("div.live-players", rows), note);
	let receivedAt = 0;
	const card = { item: h("li", link), live, draw, tick };
	return card;

	/** @param {LiveBoard} next */
	function draw(next) {
		card.live = next;
		receivedAt = performance.now();
		const { board: cells, last, names, turn, result } = next;
		board.draw(cells, last, result?.line);
		rows.forEach((row, index) => {
			const own = marks[index];
			setText(row.children[2], names[own] ?? "");
			row.className = `live-player m${index}${turn === own ? " moving" : ""}${result?.winner === own ? " winner" : ""}`;
		});
		card.item.classList.toggle("over", !!result);
		const mark = result ? result.winner : turn;
		const name = names[mark ?? ""] ?? mark ?? "";
		if (!result) setText(note, say("page to move", { name }));
		else setText(note, mark ? say("verdict wins", { name }) : say(isDraw(result) ? "column drawn" : "column ended"));
		tick();
	}

	function tick() {
		const { remaining_ms = {}, running } = card.live.clock ?? {};
		const passed = performance.now() - receivedAt;
		rows.forEach(({ lastElementChild: shown }, index) => {
			const left = remaining_ms[marks[index]];
			if (shown && left !== undefined) setText(shown, formatDuration(left - (running === marks[index] ? passed : 0)));
		});
	}
}

const MOST_LISTED = 40;

/** Make a row with `what` it is, or how it went, and a link. @param {string[]} terms */
export function makeRow(names = "", terms, what = "", verb = "", href = "", kind = "") {
	const link = h("a.go", { href, "aria-label": `${verb}: ${names}, ${[what, ...terms].join(", ")}` }, verb);
	return h("li", { class: kind }, h("span.names", names), h("span.note", terms.join(" · ")), h("span.what", what), link);
}

/** @param {Iterable<Protocol.RoomSummary>} rooms */
export function makeRoomRows(rooms) {
	const isWaiting = (/** @type {Protocol.RoomSummary} */ { status }) => status === "waiting";
	const open = [...rooms].filter(({ status }) => status !== "over");
	const sorted = open.sort((one, other) => Number(isWaiting(other)) - Number(isWaiting(one)));
	return sorted.slice(0, MOST_LISTED).map((row) => {
		const { room, rules, ply, clock } = row;
		const terms = [nameGame(rules), describeClock(clock), ...describeManners(row)];
		if (isWaiting(row)) return makeRow(namePlayers(row), terms, room, say("page join"), `/${room}`, "open");
		return makeRow(namePlayers(row), [...terms, say("count move", { n: ply })], room, sayTitle("key watch"), `/${room}#watch`);
	});
}
