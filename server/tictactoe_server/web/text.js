/** Texts from the network, without characters that are invisible or disturb their surroundings, as in tictactoe_protocol.text. */

const HIDDEN = /(?![\u200c\u200d])[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb]/gu;

// Joiners, allowed only between letters of scripts that need them: the same ranges as in `tictactoe_protocol.text`.
const JOINED = "\\u0620-\\u064a\\u066e-\\u066f\\u0671-\\u06d3\\u06d5\\u06fa-\\u06fc\\u0750-\\u077f\\u0904-\\u0939\\u0985-\\u09b9\\u0a05-\\u0a39\\u0a85-\\u0ab9\\u0b05-\\u0b39\\u0b85-\\u0bb9\\u0c05-\\u0c39\\u0c85-\\u0cb9\\u0d05-\\u0d3a\\u0d85-\\u0dc6";
const VIRAMAS = "\\u094d\\u09cd\\u0a4d\\u0acd\\u0b4d\\u0bcd\\u0c4d\\u0ccd\\u0d4d\\u0dca";
const LOOSE_JOINER = new RegExp(`[\\u200c\\u200d](?![${JOINED}])|(?<![${JOINED}${VIRAMAS}])[\\u200c\\u200d]`, "gu");

export const clean = (text = "") => text.replace(HIDDEN, "").replace(LOOSE_JOINER, "").replace(/(\p{M}{4})\p{M}+/gu, "$1");

/** Parse JSON and clean every line of its texts, so that nobody else has to. @returns {any} */
export const parse = (json = "") => JSON.parse(json, (_, value) => (typeof value === "string" && /[^ -~]/.test(value) ? value.split("\n").map(clean).join("\n") : value));
