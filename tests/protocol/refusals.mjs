// Prints what the page says otherwise of refusals: node refusals.mjs FOLDER CATALOGUES LANGUAGE... < pushes with words
import { readFileSync } from "node:fs";

const [folder, catalogues, ...languages] = process.argv.slice(2);
const { speak } = await import(`${folder}/catalogue.js`);
const { inOwnWords } = await import(`${folder}/requests.js`);

for (const { push, said } of JSON.parse(readFileSync(0, "utf8"))) {
	for (const language of languages) {
		speak(language, JSON.parse(readFileSync(`${catalogues}/${language}.json`, "utf8")));
		const { message, reason } = inOwnWords(push);
		const found = message ?? reason;
		if (found !== said[language]) console.log(`${language}: ${JSON.stringify(push)}: ${found} not ${said[language]}`);
	}
}
