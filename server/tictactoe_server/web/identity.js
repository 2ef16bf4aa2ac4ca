/** Who says hello: a name, and the secrets that prove to a server who it is. */

/** How many refused tokens, and how many of other clusters, are tried beside the newest one. */
const MOST_TOKENS = 3;
/** How long a refused token is kept and tried again. */
const REFUSED_MS = 7 * 86_400_000;

/** Whether a name is one that servers give to those who choose none. */
export const isGuest = (name = "") => name.startsWith("guest-");

export class Identity {
	/** The new name that was refused. @type {string | null} */
	refused = null;
	/** What the next hello says in place of all that is known. @type {Codes | null} */
	codes = null;
	/** Why the codes were refused that were said last, or an empty text. */
	refusedCode = "";
	/** The name before one that is being tried. @type {string | null} */
	#before = null;
	/** Who was refused since the last welcome, or an empty text. */
	unknown = "";
	/** The player of the last welcome. */
	#own;
	/** Tokens to try where the one is refused, the best last. @type {string[]} */
	#tokens;

	/** @param {Known} known */
	constructor({ name, token, tokens = {}, aside = [] }) {
		this.name = name;
		this.#own = { name, token };
		/** Players that a server does not know although it should, each tried first by every visit of a week. */
		this.aside = aside.filter(({ at }) => Date.now() - at < REFUSED_MS);
		const tries = [...this.aside.map((one) => one.token), token, ...Object.values(tokens).slice(-MOST_TOKENS).reverse()];
		this.#tokens = [...new Set(tries)].filter(Boolean).reverse();
		this.token = this.#tokens.pop() ?? "";
	}

	/** What a hello says: beside a token a name renames, so it is there where it is new; without one it is a newcomer's. */
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

	/** Go on as before where codes are refused; whether there were any. */
	refuseCodes(why = "") {
		if (!this.codes) return false;
		[this.codes, this.refusedCode] = [null, why];
		return true;
	}

	/** Set the token aside and go on with another one; whether there was one to refuse. */
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

	/** Go on with the name before; whether there was one to refuse. */
	refuseName() {
		if (!this.name) return false;
		[this.refused, this.name, this.#before] = [this.name, this.#before ?? "", null];
		return true;
	}
}
