/** The sentences of the page by id, with placeholders and plural forms by Unicode's CLDR. */

/** @type {Record<string, string | Record<string, string>>} */
let sentences = {};
let plural = new Intl.PluralRules("en");

/** @param {Record<string, any>} said its catalogue */
export function speak(spoken = "", said) {
	sentences = said;
	plural = new Intl.PluralRules(spoken);
}

/** @param {Record<string, any>} more */
export const learn = (more) => void (sentences = { ...sentences, ...more });

/** Return a sentence with its placeholders filled, in the plural form for `n` if it has several. @param {Record<string, string | number>} [places] */
export function say(id = "", places = {}) {
	const found = sentences[id];
	if (found === undefined) throw new RangeError(`There is no sentence "${id}".`);
	const sentence = typeof found === "string" ? found : found[plural.select(Number(places.n))] ?? found.other;
	return sentence.replace(/\{(\w+)\}/g, (_, name) => {
		if (name in places) return String(places[name]);
		throw new RangeError(`The sentence "${id}" needs ${name}.`);
	});
}

/** Return a sentence, or the other text if there is none, as for a word that only a newer server knows. @param {Record<string, string | number>} [places] */
export const sayOr = (id = "", other = "", places) => (Object.hasOwn(sentences, id) ? say(id, places) : other);

/** The sentence as a title or the label of a button: with a capital letter. @param {Record<string, string | number>} [places] */
export const sayTitle = (id = "", places) => say(id, places).replace(/^./u, (letter) => letter.toLocaleUpperCase());
