/** The identity in a hello: a name, and the tokens that prove it to a server. */

/** How many refused tokens, and how many of other clusters, are tried besides the newest one. */
const MOST_TOKENS = 3;
const REFUSED_MS = 7 * 86_400_000;

export const isGuest = (name = "") => name.startsWith("guest-");

export class Identity {
	/** The new name that was refused. @type {string | null} */
	refused = null;
	/** Codes that the next hello sends instead of a token. @type {Codes | null} */
	codes = null;
	refusedCode = "";
	/** The name before the one being tried. @type {string | null} */
	#before = null;
	/** The name refused with its token since the last welcome, or "". */
	unknown = "";
	#own;
	/** Tokens to try if the current one is refused, the best last. @type {string[]} */
	#tokens;

	/** @param {Known} known */
	constructor({ name, token, tokens = {}, aside = [] }) {
		this.name = name;
		this.#own = { name, token };
		/** Players that a server unexpectedly did not know; each visit tries them first, for a week. */
		this.aside = aside.filter(({ at }) => Date.now() - at < REFUSED_MS);
		const tries = [...this.aside.map((one) => one.token), token, ...Object.values(tokens).slice(-MOST_TOKENS).reverse()];
		this.#tokens = [...new Set(tries)].filter(Boolean).reverse();
		this.token = this.#tokens.pop() ?? "";
	}

	/** The fields of a hello. With a token, a name renames the player, so a name is sent only if it is new or there is no token. */
	get hello() {
		if (this.codes) return this.codes;
		const isNew = this.#before !== null || !this.token;
		return { name: (isNew && this.name) || undefined, token: this.token || undefined };
	}

	rename(name = "") {
		this.#before ??= this.name;
		this.name = name;
		this.refused = null;
	}

	/** @param {Welcome} welcome */
	accept({ name, token }) {
		if (this.codes) [this.codes, this.refusedCode, this.aside] = [null, "", []];
		this.aside = this.aside.filter((one) => one.token !== token);
		Object.assign(this, { name, token });
		this.#own = { name, token };
		this.#before = null;
	}

	/** Drop refused codes and go on as before; return whether there were any. */
	refuseCodes(why = "") {
		if (!this.codes) return false;
		[this.codes, this.refusedCode] = [null, why];
		return true;
	}

	/** Set the refused token aside and take the next one; return whether there was one to refuse. */
	refuseToken() {
		const { token } = this;
		if (!token) return false;
		const known = this.aside.find((one) => one.token === token) ?? { ...this.#own, at: Date.now() };
		if (known.token === token) {
			this.unknown = known.name;
			this.aside = [...this.aside.filter((one) => one !== known), known].slice(-MOST_TOKENS);
		}
		this.token = this.#tokens.pop() ?? "";
		return true;
	}

	/** Return to the previous name; return whether there was a name to refuse. */
	refuseName() {
		if (!this.name) return false;
		[this.refused, this.name, this.#before] = [this.name, this.#before ?? "", null];
		return true;
	}
}
