/** The home page: choice of game and opponent, and the running games. */

import { say, sayTitle } from "./catalogue.js";
import { button, h, nameInput, setText, show, showKeyed } from "./dom.js";
import { isGuest } from "./identity.js";
import { makeLobby, makeRoomRows } from "./lobby.js";
import { readOwn } from "./owngame.js";
import { makePlayCard } from "./playcard.js";
import { OWN } from "./rules.js";
import { setEmblem } from "./shapes.js";
import { makeTiles } from "./smallboard.js";
import { cutPasted, formatDuration, joinWords, keepTogether, messageOf, nameGame } from "./words.js";

const LIVE_BOARDS = 3;
/** The name whose notice "belongs to somebody else" was closed. */
let closedFor = "";

/** @param {App} app */
export function makeHome(app, fragment = "") {
	const { connection, kept } = app;
	const shared = readOwn(fragment);
	if (fragment) app.keep({ game: OWN, own: shared ?? kept.own });
	const name = nameInput({
		change: () => app.bear(name.value),
		click: () => isGuest(name.value) && name.value === connection.name && name.select(),
	});
	const playing = h("span.name", say("home playing as"));
	const notice = h("span");
	const close = button(say("page close"), () => {
		closedFor = connection.name;
		onPhase();
	});
	const banner = h("div.banner", { hidden: true }, notice, close);
	const [title, greeting] = [h("h1"), h("p.greeting")];
	const play = makePlayCard(app, () => app.bear(name.value));
	if (fragment && !shared) play.blame(say("page own bad link"));
	const [turns, resume] = [makeTurns(app), makeResume(app)];
	const side = makeSide(app, play);
	const tiles = makeTiles(app, play.describe);
	const keep = button("", showNames);
	const element = h("div.home",
		h("div.hero", title, h("div.row", h("label.row", playing, name), keep)),
		greeting,
		turns.element,
		resume.element,
		h("div.choose", tiles, play.element),
		side.element,
		banner,
	);
	return { title: document.querySelector(".brand")?.textContent ?? "", element, onPhase, onNews: resume.draw, follows: [turns, side.lobby, side] };

	async function showNames() {
		if (await app.bear(name.value)) (await import("./names.js")).showNames(app);
	}

	function onPhase() {
		const { welcome } = connection;
		setText(title, welcome?.title ?? say("page home title"));
		setText(greeting, [welcome?.greeting, welcome?.chat && say(`refused not_allowed chat ${welcome.chat}`), app.isNamed && say("page names given")].filter(Boolean).join("\n"));
		setEmblem(playing, welcome?.player);
		name.readOnly = keep.hidden = app.isNamed;
		setText(keep, say(welcome?.claimed ? "name title" : "page name keep"));
		if (document.activeElement !== name) name.value = connection.identity.refused ?? connection.name;
		const other = welcome?.claimed === false && closedFor !== connection.name && say("name others", { name: connection.name });
		setText(notice, connection.isTroubled ? connection.reason || say("view connection unreachable") : other || "");
		banner.hidden = !notice.textContent;
		close.hidden = connection.isTroubled;
		resume.draw();
	}
}

/** @param {App} app @param {ReturnType<typeof makePlayCard>} play */
function makeSide(app, play) {
	const lobby = makeLobby(app, LIVE_BOARDS, draw, true);
	const [title, list] = [h("h2"), h("ul.rooms")];
	const nothing = h("p.note");
	const code = h("input", { placeholder: sayTitle("page code"), "aria-label": say("page code"), autocomplete: "off" });
	const wall = h("a", { href: "/wall" }, say("page all games wall"));
	const events = h("section", { hidden: true });
	const games = h("a", { href: "/#games" }, say("history title"));
	const notify = button(say("page notify title"), async () => (await import("./notify.js")).openNotify(app), { hidden: true });
	const element = h("div.side-cards",
		h("section.card", { "aria-label": say("page on now") }, h("div.card-head", h("h2", say("page on now")), wall), nothing, lobby.element),
		h("section.card", { "aria-labelledby": (title.id = "rooms") }, h("div.card-head", title, games), list, h("form.row", { submit: join }, code, h("button", say("page join"))), notify, events),
	);
	draw();
	return { element, lobby, onPhase, onWelcome };

	function onPhase() {
		notify.hidden = !app.connection.welcome?.turns;
	}

	async function onWelcome() {
		(await import("./events/list.js")).drawEvents(app, events);
	}

	function draw() {
		const rows = makeRoomRows(lobby.rooms.values());
		play.count(lobby.online);
		setText(nothing, say(lobby.isDemo ? "page demo" : "watch nothing"));
		nothing.hidden = lobby.cards.size > 0 && !lobby.isDemo;
		setText(title, say("page rooms count", { n: rows.length }));
		show(list, rows.length ? rows : h("li.note", say("page no room")));
	}

	function join() {
		const [, link] = code.value.match(/#link=(\w+)/) ?? code.value.replace(/[\s-]/g, "").match(/^(\w{8})$/) ?? [];
		if (link) return app.navigate(`/#link=${link}`); // of another device
		const [pasted, ticket] = code.value.split(/#\s*([\w-]{12,})/); // a ticket is secret, so it stays in the fragment
		const text = cutPasted(pasted);
		if (text) app.navigate(`/${encodeURIComponent(text)}${ticket ? `#${ticket}` : ""}`);
		else code.focus();
	}
}

/** @param {App} app */
function makeResume(app) {
	const { connection, rooms } = app;
	const element = h("div.resume");
	return { element, draw };

	function draw() {
		const held = rooms.held.filter(({ room }) => !app.turns.some((turn) => turn.room === room));
		showKeyed(element, held, ({ room }) => room, ({ room }) => {
			const back = button(say("page resume"), () => app.navigate(`/${room}`), { class: "primary", "aria-label": `${say("page resume")} ${room}` });
			const away = button(say("page give up"), () => giveUp(room), { "aria-label": say("page give up room", { room }) });
			return h("div.ask", h("p", h("span"), " ", h("small")), back, away);
		}, (row, { room, seat, rules, names = {}, turn }) => {
			const [title, note] = row.querySelectorAll("span,small");
			const others = Object.entries(names).flatMap(([mark, other]) => (mark === seat ? [] : other));
			setText(title, others.length ? say("page resume with", { names: joinWords(others) }) : say("page resume room", { room }));
			const left = connection.welcome?.held_ms?.[room];
			const terms = [keepTogether(nameGame(rules))];
			if (turn && (turn === seat || names[turn])) terms.push(turn === seat ? say("page your move") : say("page to move", { name: names[turn] ?? "" }));
			else if (turn === null) terms.push(say("status waiting"));
			if (left) terms.push(say("page time left", { time: formatDuration(left) }));
			else if (left === 0) terms.push(say("page until claimed"));
			setText(note, terms.join(" · "));
		});
	}

	function giveUp(room = "") {
		if (confirm(say("page give up question", { room }))) rooms.giveUp(room).catch((error) => app.say(messageOf(error))).finally(draw);
	}
}

/** @param {App} app */
function makeTurns(app) {
	const [title, list] = [h("h2"), h("ul.rooms")];
	const next = button(sayTitle("page next"), () => app.openNextTurn(), { class: "primary", "aria-keyshortcuts": "." });
	const element = h("section.card.turns", { "aria-labelledby": (title.id = "turns") }, h("div.card-head", title, next), list);
	return { element, onPhase: draw, tick: draw };

	function draw() {
		const { turns } = app;
		element.hidden = !turns.length;
		setText(title, say("turns await", { n: turns.length }));
		showKeyed(list, turns, ({ room }) => room, ({ room, rules }) => {
			const link = h("a", { href: `/${room}` }, keepTogether(nameGame(rules)), " · ", h("code", room));
			return h("li", link, h("span.note"));
		}, (row, { until }) => {
			setText(row.lastChild, say("page time left", { time: formatDuration(until - performance.now()) }));
		});
	}
}
