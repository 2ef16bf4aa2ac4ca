/** Texts from the network, without characters that are invisible or disturb their surroundings. */

const HIDDEN = /(?![\u200c\u200d\n])[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb]/gu;

/** Parse JSON and clean its texts, so that nobody else has to. @returns {any} */
export const parse = (json = "") => JSON.parse(json, (_, value) => (typeof value === "string" ? value.replace(HIDDEN, "") : value));
