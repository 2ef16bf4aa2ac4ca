/** The language that the page speaks, and what is loaded later: the sentences of what only some open, and how it looks. */

import { learn, speak } from "./catalogue.js";
import { h, urlOf } from "./dom.js";

const YEAR_SECONDS = 31_536_000;
const RELOADED = "tictactoe-reloaded";
const RELOAD_PAUSE_MS = 60_000;
/** The style of each part. */
const STYLES = { later: "./later.css", events: "./events.css", ladders: "./ladders.css" };
/** What is there, or on its way. @type {Record<string, Promise<unknown>>} */
const loading = {};

/** What the server has written into the page. @param {"languages" | "sentences"} what */
const toldBy = (what) => JSON.parse(document.documentElement.dataset[what] ?? "{}");

/** What each language is called by those who speak it. */
export const languagesThere = () => toldBy("languages");

/** The sentences that the modules of a part say, by default those on the way to a game. */
const read = async (part = "") => (await fetch(urlOf(toldBy("sentences")[part]))).json();

/** Read the sentences, and speak them from now on. */
export const learnLanguage = async () => speak(document.documentElement.lang, await read());

/** Speak another language on this server's pages from now on. */
export function chooseLanguage(language = "") {
	document.cookie = `language=${language}; path=${urlOf()}; max-age=${YEAR_SECONDS}; samesite=lax`;
	location.reload();
}

const loadStyle = (href = "") => new Promise((resolve, reject) => document.head.append(h("link", { rel: "stylesheet", href, load: resolve, error: reject })));

/**
 * Reload the page if a part of it cannot be loaded any more, because the server was upgraded meanwhile; at most once a
 * minute, and only while the server answers. @param {unknown} why
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

/** Load, once, the sentences and the style of a part. @param {keyof typeof STYLES} part */
export async function prepare(part) {
	loading[part] ??= Promise.all([read(part).then(learn), loadStyle(STYLES[part])]);
	await loading[part].catch((why) => {
		delete loading[part];
		return reloadOnce(why);
	});
}

export const prepareEvents = () => Promise.all([prepare("later"), prepare("events")]);
export const prepareLadders = () => Promise.all([prepare("later"), prepare("ladders")]);

/** A module that is not loaded at once, with what belongs to it. @template T @param {Promise<T>} module */
export async function prepared(module) {
	await prepare("later");
	return module;
}
