/** The way from an address to its page. */

import { App } from "./app.js";
import { speak } from "./catalogue.js";
import { button, setText, show } from "./dom.js";
import { makeGame } from "./game.js";
import { makeHistory, makeHome, readCode } from "./home.js";
import { isForControl, showKeys } from "./keys.js";
import { makeWall } from "./lobby.js";
import { makeNewRoom } from "./newroom.js";
import { makeNothing } from "./nothing.js";

const [main, link, tools, news] = ["main", "#link", "#tools", "#news"].map((name) => /** @type {HTMLElement} */ (document.querySelector(name)));
const sentences = await fetch("./en.json");
speak("en", await sentences.json());
/** @type {Page | null} */
let page = null;
const app = new App(news, { navigate, onPhase: showLink, onNews: (one) => page?.onNews?.(one) });
const again = button("Try now", () => app.connection.retry(), { hidden: true });
const sound = button("♪", () => choose({ sound: !app.kept.sound }), { "aria-label": "Sound" });

/** @returns {Page} */
function findPage() {
	const [first = "", second = ""] = location.pathname.slice(1).split("/");
	const hash = location.hash.slice(1);
	if (first === "wall") return makeWall(app);
	if (first === "replay") return makeGame(app, { load: () => fetchShared(second) });
	const code = readCode(first);
	if (code) return makeGame(app, { code, onlyWatches: hash === "watch" });
	if (first) return makeNothing(app, "There is no page under this address.");
	if (hash === "new") return makeNewRoom(app);
	if (hash === "games") return makeHistory(app);
	const past = hash.startsWith("game/") ? decodeURIComponent(hash.slice(5)) : "";
	return past ? makeGame(app, { load: () => fetchPast(past), past }) : makeHome(app);
}

async function fetchShared(id = "") {
	const answer = await fetch(`/replay/${id}.json`);
	if (!answer.ok) throw new Error("Nobody shares such a game, or not any more.");
	return answer.json();
}

async function fetchPast(game = "") {
	await app.arrive();
	const { played } = await app.connection.request({ type: "record", game });
	return /** @type {Protocol.PlayedGame} */ (played);
}

function open() {
	page?.close?.();
	page = findPage();
	document.title = page.title;
	document.body.className = location.pathname === "/wall" ? "on-wall" : "";
	show(main, page.element);
	scrollTo(0, 0);
	requestAnimationFrame(() => document.activeElement === document.body && main.querySelector("h1")?.focus({ preventScroll: true }));
}

function navigate(path = "") {
	history.pushState(null, "", path);
	open();
}

function showLink() {
	const { phase, isTroubled, isSilent } = app.connection;
	const isOn = phase === "on" && !isSilent;
	link.className = isOn ? "link on" : "link";
	setText(link, isOn ? "connected" : "offline");
	again.hidden = !isTroubled;
	page?.onPhase?.();
}

/** @param {Partial<Kept>} changed */
function choose(changed) {
	app.keep(changed);
	sound.setAttribute("aria-pressed", String(app.kept.sound));
	if (changed.sound) app.sound.play("turn");
}

addEventListener("click", (event) => {
	const at = event.target instanceof Element ? event.target.closest("a") : null;
	if (!at || event.ctrlKey || event.metaKey || event.shiftKey) return;
	event.preventDefault();
	navigate(at.getAttribute("href") ?? "/");
});
addEventListener("popstate", open);
addEventListener("keydown", (event) => {
	if (event.defaultPrevented || document.querySelector("dialog")) return;
	if (event.key === "Escape" && !page?.element.matches(".game")) navigate("/");
	else if (event.key === "?" && !isForControl(event)) showKeys();
	else page?.onKey?.(event);
});
show(tools, again, sound, button("?", showKeys, { "aria-label": "Keys" }));
choose({});
open();
app.connection.retry();
