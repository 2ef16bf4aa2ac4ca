/** The language of the page, and lazy loading of sentences and styles. */

import { learn, speak } from "./catalogue.js";
import { h, urlOf } from "./dom.js";

const YEAR_SECONDS = 31_536_000;
const RELOADED = "tictactoe-reloaded";
const RELOAD_PAUSE_MS = 60_000;
const STYLES = { later: "./later.css", events: "./events.css", ladders: "./ladders.css" };
/** Parts that are loaded or loading. @type {Record<string, Promise<unknown>>} */
const loading = {};

/** Read a value that the server has written into the page. @param {"languages" | "sentences"} what */
const toldBy = (what) => JSON.parse(document.documentElement.dataset[what] ?? "{}");

export const languagesThere = () => toldBy("languages");

/** Fetch the sentences of a part, by default those needed to start a game. */
const read = async (part = "") => (await fetch(urlOf(toldBy("sentences")[part]))).json();

export const learnLanguage = async () => speak(document.documentElement.lang, await read());

/** Switch to another language on all pages of this server. */
export function chooseLanguage(language = "") {
	document.cookie = `language=${language}; path=${urlOf()}; max-age=${YEAR_SECONDS}; samesite=lax`;
	location.reload();
}

const loadStyle = (href = "") => new Promise((resolve, reject) => document.head.append(h("link", { rel: "stylesheet", href, load: resolve, error: reject })));

/**
 * Reload the page if a module cannot be loaded any more because the server was upgraded: at most once a minute,
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
Object.assign(globalThis, { reloadOnce });

/** Load the sentences and the style of a part, once. @param {keyof typeof STYLES} part */
export async function prepare(part) {
	loading[part] ??= Promise.all([read(part).then(learn), loadStyle(STYLES[part])]);
	await loading[part].catch((why) => {
		delete loading[part];
		return reloadOnce(why);
	});
}

export const prepareEvents = () => Promise.all([prepare("later"), prepare("events")]);
export const prepareLadders = () => Promise.all([prepare("later"), prepare("ladders")]);

/** Await a lazily loaded module and its sentences. @template T @param {Promise<T>} module */
export async function prepared(module) {
	await prepare("later");
	return module;
}
