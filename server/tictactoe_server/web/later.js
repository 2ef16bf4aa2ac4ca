/** The language of the page, and lazy loading of sentences and styles. */

import { learn, speak } from "./catalogue.js";
import { h, urlOf } from "./dom.js";

const YEAR_SECONDS = 31_536_000;
const RELOADED = "tictactoe-reloaded";
const RELOAD_PAUSE_MS = 60_000;
let loading = null;

const readSentences = async (part = "") => (await fetch(new URL(`./${part}${document.documentElement.lang}.json`, import.meta.url))).json();

export const learnLanguage = async () => speak(document.documentElement.lang, await readSentences());

export function chooseLanguage(language = "") {
	document.cookie = `language=${language}; path=${urlOf()}; max-age=${YEAR_SECONDS}; samesite=lax`;
	location.reload();
}

const loadStyle = (href = "") => new Promise((resolve, reject) => document.head.append(h("link", { rel: "stylesheet", href, load: resolve, error: reject })));

/** Reload the page if something cannot be loaded any more because the server was upgraded: at most once a minute, and only while the server answers. @param {unknown} why */
async function reloadOnce(why) {
	const last = Number(sessionStorage.getItem(RELOADED) ?? 0);
	const { ok } = await fetch(urlOf("/healthz"));
	if (!ok || Date.now() - last < RELOAD_PAUSE_MS) throw why;
	sessionStorage.setItem(RELOADED, String(Date.now()));
	location.reload();
	return new Promise(() => undefined);
}

export function prepare() {
	return (loading ??= Promise.all([readSentences("more.").then(learn), loadStyle(new URL("./more.css", import.meta.url).href)]).catch((why) => {
		loading = null;
		throw why;
	}));
}

/** Resolve to a module when what it needs is loaded, too. The server puts this around every `import()` of another file. @param {Promise<unknown>} module */
const loadLater = (module) => Promise.all([module, prepare()]).then(() => module).catch(reloadOnce);
Object.assign(globalThis, { loadLater });
