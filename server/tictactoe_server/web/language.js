/** The language that the page speaks, where its sentences are, and the others that there are. */

import { learn, speak } from "./catalogue.js";

/** @type {Promise<unknown> | null} */
let later = null;
const YEAR_SECONDS = 31_536_000;

/** What the server has written into the page. @param {"languages" | "sentences"} what */
const toldBy = (what) => JSON.parse(document.documentElement.dataset[what] ?? "{}");

/** What each language is called by those who speak it. */
export const languagesThere = () => toldBy("languages");

/** The sentences that the modules of a folder say, those on the way to a game for none. @param {string} folder */
const read = async (folder) => (await fetch(toldBy("sentences")[folder])).json();

/** Read the sentences, and speak them from now on. */
export async function learnLanguage() {
	speak(document.documentElement.lang, await read(""));
}

/** Read more sentences, those that the modules of a folder say alone. @param {string} folder */
export const learnMore = async (folder) => learn(await read(folder));

/** Read, once, what only those modules say that are not loaded at once. */
export async function learnLater() {
	later ??= learnMore("later");
	await later.catch((why) => {
		later = null;
		throw why;
	});
}

/** A module that is not loaded at once, with its sentences. @template T @param {Promise<T>} loading */
export const withSentences = async (loading) => {
	await learnLater();
	return loading;
};

/** Speak another language on this server's pages from now on. @param {string} language */
export function chooseLanguage(language) {
	document.cookie = `language=${language}; path=/; max-age=${YEAR_SECONDS}; samesite=lax`;
	location.reload();
}
