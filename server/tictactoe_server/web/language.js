/** The language that the page speaks, where its sentences are, and the others that there are. */

import { learn, speak } from "./catalogue.js";

const YEAR_SECONDS = 31_536_000;

/** What the server has written into the page. @param {"languages" | "sentences"} what */
const toldBy = (what) => JSON.parse(document.documentElement.dataset[what] ?? "{}");

/** What each language is called by those who speak it. */
export const languagesThere = () => toldBy("languages");

/** The sentences that the modules of a part say, those on the way to a game for none. @param {string} part */
const read = async (part) => (await fetch(toldBy("sentences")[part])).json();

/** Read the sentences, and speak them from now on. */
export async function learnLanguage() {
	speak(document.documentElement.lang, await read(""));
}

/** Read more sentences, those of a part of the page. @param {string} part */
export const learnMore = async (part) => learn(await read(part));

/** Speak another language on this server's pages from now on. @param {string} language */
export function chooseLanguage(language) {
	document.cookie = `language=${language}; path=/; max-age=${YEAR_SECONDS}; samesite=lax`;
	location.reload();
}
