/** The frame of every page: its header with the connection, language, looks, sound, rules and keys; and the page of a URL. */

import { App } from "./app.js";
import { say, sayTitle } from "./catalogue.js";
import { button, h, isForControl, select, setText, show, urlOf } from "./dom.js";
import { chooseLanguage, learnLanguage } from "./later.js";
import { parse } from "./text.js";
import { MOST_SENT } from "./words.js";

const THEMES = ["system", "light", "dark", "contrast"];

function makeTools() {
	const link = h("span.link");
	const again = button(sayTitle("key retry"), () => app.connection.retry(), { hidden: true });
	const sound = button("♪", toggle, { "aria-label": say("page sound"), title: say("page sound") });
	const theme = button("☾", nextTheme);
	const there = JSON.parse(document.documentElement.dataset.languages ?? "{}");
	const languages = select(Object.keys(there), (one) => there[one], { "aria-label": say("setting language"), change: () => chooseLanguage(languages.value) });
	languages.value = document.documentElement.lang;
	const rules = button(sayTitle("column rules"), () => app.showRules());
	const keys = button("?", () => showKeys(), { "aria-label": say("view keys"), title: say("view keys") });
	const games = h("a.wide", { href: "/#games" }, say("history title"));
	const element = h("div.row", link, again, games, rules, languages, theme, sound, keys);
	draw();
	return { element, draw };

	function toggle() {
		app.keep({ sound: !app.kept.sound });
		if (app.kept.sound) app.sound.play("turn");
		draw();
	}

	function nextTheme() {
		app.keep({ theme: THEMES[(THEMES.indexOf(app.kept.theme) + 1) % THEMES.length] });
		draw();
		app.say(theme.title);
	}

	function draw() {
		const { isOn, isTroubled, isSilent } = app.connection;
		const answers = isOn && !isSilent;
		link.className = answers ? "link on" : "link";
		setText(link, say(answers ? "page connected" : "page offline"));
		again.hidden = !isTroubled;
		theme.ariaLabel = theme.title = say("page theme", { name: say(`page theme ${app.kept.theme}`) });
		sound.setAttribute("aria-pressed", String(app.kept.sound));
	}
}

const [main, header, news] = ["main", "#tools", "#news"].map((name) => /** @type {HTMLElement} */ (document.querySelector(name)));
const TICK_MS = 250;
/** @type {Page | null} */
let page = null;
/** @type {ReturnType<typeof makeTools> | null} */
let tools = null;
/** The number of navigations; a page that finishes loading after a newer one is not shown. */
let asked = 0;
const app = new App(news, { navigate, onPhase: showPhase, onWelcome, onNews: (one) => each((part) => part.onNews?.(one)) });

/** @param {(part: PagePart) => unknown} does @param {Page | null | undefined} [of] by default the one that is shown */
function each(does, of = page) {
	for (const part of of ? [of, ...(of.follows ?? [])] : []) does(part);
}

async function loadPage() {
	const [first = "", second = "", third = ""] = location.pathname.slice(urlOf().length).split("/");
	const hash = location.hash.slice(1);
	if (first === "e") return loadEvent(decode(second), third, hash);
	if (first === "ladder" || first === "player") return (await import("./ladders/pages.js")).openPage(app, first, decode(second));
	if (first === "wall") return (await import("./wall.js")).makeWall(app);
	if (first === "replay") return openGame({ load: () => fetchShared(second), shared: second });
	if (first) return openGame({ code: decode(first), onlyWatches: /^watch\b/.test(hash) });
	if (hash === "games") return (await import("./history.js")).makeHistory(app);
	const [link, past] = ["link=", "game/"].map((kind) => (hash.startsWith(kind) ? decode(hash.slice(5)) : ""));
	if (past) return openGame({ load: async () => /** @type {PlayedGame} */ ((await app.read({ type: "record", game_id: past })).played), past });
	const own = hash.startsWith("own=") ? hash : "";
	// The code of another device is secret, and rules of one's own may be changed now.
	if (link || own) history.replaceState(null, "", urlOf());
	const { makeHome } = await import("./home.js");
	if (link) (await import("./names.js")).showNames(app, link);
	return makeHome(app, own);
}

const showKeys = async () => (await import("./help.js")).showKeys();

/** @param {Source} source */
const openGame = async (source) => new (await import("./game.js")).GamePage(app, source);

/** Return the end of a decoded part of the URL, as much as the server accepts in a message. */
function decode(text = "") {
	try {
		return decodeURIComponent(text).slice(-MOST_SENT);
	} catch {
		app.say(say("page nothing address"));
		return "";
	}
}

async function loadEvent(code = "", part = "", ticket = "") {
	await app.arrive();
	if (part === "cards") return (await import("./events/cards.js")).makeCards(app, code);
	if (part === "wall") return (await import("./events/wall.js")).makeEventWall(app, code, ticket);
	return (await import("./events/event.js")).makeEventPage(app, code, ticket);
}

async function fetchShared(id = "") {
	const answer = await fetch(urlOf(`/replay/${id}.json`));
	if (!answer.ok) throw new Error(say("page nothing shared"));
	return parse(await answer.text());
}

async function open() {
	const own = ++asked;
	each((part) => part.close?.());
	page = null;
	news.textContent = "";
	const next = await loadPage().catch((why) => {
		if (asked === 1) throw why;
		app.say(say("view connection unreachable"));
	});
	if (!next || own !== asked) return each((part) => part.close?.(), next || null);
	page = next;
	app.retitle(page.title);
	show(main, page.element);
	showPhase();
	if (app.connection.isOn) onWelcome();
}

async function move() {
	await open();
	scrollTo(0, 0);
	const head = main.querySelector("h1");
	if (!head || document.activeElement !== document.body) return;
	head.tabIndex = -1;
	head.focus({ preventScroll: true });
}

function navigate(url = "") {
	history.pushState(null, "", url);
	return move();
}

function showPhase() {
	tools?.draw();
	each((part) => part.onPhase?.());
}

function onWelcome() {
	each((part) => part.onWelcome?.());
}

addEventListener("click", (event) => {
	const at = event.target instanceof Element ? event.target.closest("a") : null;
	if (!at || at.target || at.origin !== location.origin || event.ctrlKey || event.metaKey || event.shiftKey) return;
	event.preventDefault();
	navigate(at.href);
});
addEventListener("popstate", move);
addEventListener("keydown", (event) => {
	if (event.defaultPrevented || document.querySelector("dialog")) return;
	if (event.key === "Escape" && !page?.element.matches(".game")) app.navigate("/");
	else if (event.key === "?" && !isForControl(event)) showKeys();
	else if (event.key === "." && !isForControl(event)) app.openNextTurn();
	else page?.onKey?.(event);
});

async function start() {
	await learnLanguage();
	tools = makeTools();
	// The address in the page is relative to the first path.
	/** @type {HTMLAnchorElement} */ (document.querySelector(".brand")).href = urlOf();
	show(header, tools.element);
	app.connection.retry();
	await open();
	setInterval(() => each((part) => part.tick?.()), TICK_MS);
}

start();
