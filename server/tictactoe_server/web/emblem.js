/** A sign and a colour for each player, by id, as in the terminal. */

const SIGNS = "★◆■✚✦✿❖";

/** @param {string} player @returns {[sign: string, colour: number]} the colour is one of six, those of the marks */
export function emblemOf(player) {
	let hash = 0;
	for (const letter of player) hash = (hash * 31 + letter.charCodeAt(0)) % 2 ** 32;
	return [SIGNS[hash % SIGNS.length], Math.floor(hash / SIGNS.length) % 6];
}

/** Show the emblem before a name, or none without a player. @param {HTMLElement} element @param {string} [player] */
export function setEmblem({ dataset, style }, player) {
	const [sign, colour] = emblemOf(player ?? "");
	dataset.sign = player ? sign : "";
	style.setProperty("--e", `var(--m${colour})`);
}
