/** What is not loaded at once: what the modules say that only some open, and how they look. */

import { h } from "./dom.js";
import { learnMore } from "./language.js";

/** The style of each part. */
const STYLES = { later: "./later.css", events: "./events.css" };
/** What is there, or on its way. @type {Record<string, Promise<unknown>>} */
const loading = {};

/** Load, once, the sentences and the style of a part. @param {keyof typeof STYLES} part */
export async function prepare(part) {
	loading[part] ??= Promise.all([learnMore(part), loadStyle(STYLES[part])]);
	await loading[part].catch((why) => {
		delete loading[part];
		throw why;
	});
}

/** @param {string} href */
const loadStyle = (href) => new Promise((resolve, reject) => document.head.append(h("link", { rel: "stylesheet", href, load: resolve, error: reject })));

/** Load what all pages of events need. */
export const prepareEvents = () => Promise.all([prepare("later"), prepare("events")]);

/** A module that is not loaded at once, with what belongs to it. @template T @param {Promise<T>} module */
export async function prepared(module) {
	await prepare("later");
	return module;
}
