/** The language that the page speaks: the one that was chosen here, else the first of the browser's that there is. */

import { learn, speak } from "./catalogue.js";

/** @type {Record<string, string>} */
const FILES = { en: "./en.json", de: "./de.json" };
/** @type {Record<string, string>} */
const LATER = { en: "./later/en.json", de: "./later/de.json" };
/** @type {Promise<unknown> | null} */
let later = null;
/** What each is called by those who speak it: `Intl.DisplayNames` knows too, and takes its time. @type {Record<string, string>} */
export const LANGUAGES = { en: "English", de: "Deutsch" };
const CHOSEN = /\blanguage=(\w+)/;
const YEAR_SECONDS = 31_536_000;

/** What the server, too, reads of a request, to send the page in this language. */
function findLanguage() {
	const wanted = [CHOSEN.exec(document.cookie)?.[1] ?? "", ...navigator.languages].map((tag) => tag.split("-")[0].toLowerCase());
	return wanted.find((tag) => tag in FILES) ?? "en";
}

/** Read the sentences, and speak them from now on. */
export async function learnLanguage() {
	const language = findLanguage();
	const answer = await fetch(FILES[language]);
	document.documentElement.lang = language;
	speak(language, await answer.json());
}

/** Read more sentences, those that the modules of a folder say alone. @param {Record<string, string>} files by language */
export async function learnMore(files) {
	const answer = await fetch(files[document.documentElement.lang]);
	learn(await answer.json());
}

/** Read, once, what only those modules say that are not loaded at once. */
export async function learnLater() {
	later ??= learnMore(LATER);
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
