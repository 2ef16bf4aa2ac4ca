/** The first page: which game, against whom, and what is going on here. */

import { say } from "./catalogue.js";
import { button, h, nameInput, setText, show, submitting } from "./dom.js";
import { setEmblem } from "./emblem.js";
import { Lobby } from "./lobby.js";
import { makePlayCard } from "./playcard.js";
import { makeResume } from "./resume.js";
import { makeRoomRows } from "./roomlist.js";
import { OWN, makeTiles } from "./tiles.js";
import { clean, readCode } from "./words.js";

const LIVE_BOARDS = 3;

/** @param {App} app */
export function makeHome(app) {
	const { connection, kept } = app;
	const name = nameInput({ change: () => app.bear(name.value) });
	const playing = h("span.name", say("home playing as"));
	const banner = h("p.banner", { hidden: true });
	const [title, greeting] = [h("h1", { tabindex: -1 }), h("p.greeting")];
	const play = makePlayCard(app, () => app.bear(name.value));
	const resume = makeResume(app);
	const side = makeSide(app);
	const tiles = makeTiles(kept.game, (preset) => {
		if (preset === OWN) return app.navigate("/#new");
		app.keep({ game: preset });
		return play.describe();
	});
	const element = h("div.home",
		h("div.hero", title, h("div.row", h("label.row", playing, name), button(say("page name keep"), () => showNames()))),
		greeting,
		banner,
		resume.element,
		h("div.choose", tiles.element, play.element),
		side.element,
	);
	onPhase();
	return { title: document.querySelector(".brand")?.textContent ?? "", element, onPhase, onNews: side.hear, close: side.close };

	async function showNames() {
		if (await app.bear(name.value)) (await import("./names.js")).showNames(app);
	}

	function onPhase() {
		const { welcome } = connection;
		setText(title, welcome?.title ?? say("page home title"));
		setText(greeting, [welcome?.greeting, welcome?.chat && say(`page chat ${welcome.chat}`), welcome?.names === "given" && say("page names given")].filter(Boolean).join("\n"));
		setEmblem(playing, welcome?.player);
		if (document.activeElement !== name) name.value = connection.identity.refused ?? connection.name;
		const other = welcome?.claimed === false && say("name others", { name: clean(connection.name) });
		setText(banner, connection.isTroubled ? connection.reason || say("page unreachable") : other || "");
		banner.hidden = !banner.textContent;
		side.follow();
		resume.draw();
	}
}

/** What is going on, and the ways to what one has already. @param {App} app */
function makeSide(app) {
	const lobby = new Lobby(app, LIVE_BOARDS, draw, true);
	const [title, list] = [h("h2"), h("ul.rooms")];
	const nothing = h("p.note");
	const code = h("input", { placeholder: say("page code short"), "aria-label": say("page code"), autocomplete: "off" });
	const wall = h("a", { href: "/wall" }, say("page all games wall"));
	const events = h("section", { hidden: true });
	const games = h("a", { href: "/#games" }, say("history title"));
	const element = h("div.side-cards",
		h("section.card", { "aria-label": say("page on now") }, h("div.card-head", h("h2", say("page on now")), wall), nothing, lobby.element),
		h("section.card", { "aria-label": say("page rooms") }, h("div.card-head", title, games), list, h("form.row", { submit: submitting(join) }, code, h("button", say("page join"))), events),
	);
	draw();
	return { element, follow, hear: (/** @type {News} */ news) => lobby.hear(news), close: () => lobby.close() };

	async function follow() {
		lobby.follow();
		if (!app.connection.knows("events")) return;
		const { drawEvents } = await import("./events/list.js");
		drawEvents(app, events);
	}

	function draw() {
		const rows = makeRoomRows(lobby.rooms.values());
		setText(nothing, say(lobby.isDemo ? "page demo" : "page nothing on"));
		nothing.hidden = lobby.cards.size > 0 && !lobby.isDemo;
		setText(title, say("page rooms count", { n: rows.length }));
		show(list, rows.length ? rows : h("li.note", say("page no room")));
	}

	function join() {
		const room = readCode(code.value);
		if (room) app.navigate(`/${room}`);
		else app.say(say("page no code"));
	}
}
