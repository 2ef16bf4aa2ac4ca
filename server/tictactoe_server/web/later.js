/** The language of the page, and lazy loading of sentences and styles. */

import { learn, speak } from "./catalogue.js";
import { h, urlOf } from "./dom.js";

const YEAR_SECONDS = 31_536_000;
const RELOADED = "tictactoe-reloaded";
const RELOAD_PAUSE_MS = 60_000;
const STYLES = { later: "./later.css", events: "./events.css", ladders: "./ladders.css" };
/** @type {Record<string, Promise<unknown>>} */
const loading = {};

/** @param {"languages" | "sentences"} what */
const toldBy = (what) => JSON.parse(document.documentElement.dataset[what] ?? "{}");

export const languagesThere = () => toldBy("languages");

const read = async (part = "") => (await fetch(urlOf(toldBy("sentences")[part]))).json();

export const learnLanguage = async () => speak(document.documentElement.lang, await read());

export function chooseLanguage(language = "") {
	document.cookie = `language=${language}; path=${urlOf()}; max-age=${YEAR_SECONDS}; samesite=lax`;
	location.reload();
}

const loadStyle = (href = "") => new Promise((resolve, reject) => document.head.append(h("link", { rel: "stylesheet", href, load: resolve, error: reject })));

/**
 * Reload the page if something cannot be loaded any more because the server was upgraded: at most once a minute,
 * and only while the server answers.
 * @param {unknown} why
 */
async function reloadOnce(why) {
	const last = Number(sessionStorage.getItem(RELOADED) ?? 0);
	const { ok } = await fetch(urlOf("/healthz"));
	if (!ok || Date.now() - last < RELOAD_PAUSE_MS) throw why;
	sessionStorage.setItem(RELOADED, String(Date.now()));
	location.reload();
	return new Promise(() => undefined);
}

/** @param {keyof typeof STYLES} part */
export function prepare(part) {
	return (loading[part] ??= Promise.all([read(part).then(learn), loadStyle(STYLES[part])]).catch((why) => {
		delete loading[part];
		throw why;
	}));
}

/** Resolve to a module when its part is loaded, too. The server puts this around every `import()` of the page. @param {Promise<unknown>} module @param {keyof typeof STYLES} part */
const loadLater = (module, part) => Promise.all([module, prepare("later"), prepare(part)]).then(() => module).catch(reloadOnce);
Object.assign(globalThis, { loadLater });
