/** What people are told, by id: sentences with named places, with forms for numbers by Unicode's CLDR. */

/** @type {Record<string, string | Record<string, string>>} */
let sentences = {};
let plural = new Intl.PluralRules("en");

/** Say everything in a language from now on. @param {string} spoken @param {Record<string, any>} said its catalogue */
export function speak(spoken, said) {
	sentences = said;
	plural = new Intl.PluralRules(spoken);
}

/** Know more sentences of the language that is spoken. @param {Record<string, any>} more */
export const learn = (more) => void (sentences = { ...sentences, ...more });

/** A sentence with its places filled, in the form for `n` where it has several. @param {string} id @param {Record<string, string | number>} [places] */
export function say(id, places = {}) {
	const found = sentences[id];
	if (found === undefined) throw new RangeError(`There is no sentence "${id}".`);
	const sentence = typeof found === "string" ? found : found[plural.select(Number(places.n))] ?? found.other;
	return sentence.replace(/\{(\w+)\}/g, (_, name) => {
		if (name in places) return String(places[name]);
		throw new RangeError(`The sentence "${id}" needs ${name}.`);
	});
}
