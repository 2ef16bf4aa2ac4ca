/** Who says hello: a name, and the secrets that prove to a server who it is. */

/** How many tokens of other clusters are tried where the newest one is refused. */
const MOST_TOKENS = 3;

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
	/** Tokens to try where the one is refused, the best last. @type {string[]} */
	#tokens;

	/** @param {Known} known */
	constructor({ name, token, tokens = {} }) {
		this.name = name;
		this.token = token;
		this.#tokens = Object.values(tokens).filter((other) => other !== token).slice(-MOST_TOKENS);
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
		if (this.codes) [this.codes, this.refusedCode] = [null, ""];
		Object.assign(this, { name, token });
		this.#before = null;
	}

	/** Go on as before where codes are refused; whether there were any. */
	refuseCodes(why = "") {
		if (!this.codes) return false;
		[this.codes, this.refusedCode] = [null, why];
		return true;
	}

	/** Go on with another token; whether there was one to refuse. */
	refuseToken() {
		const hadToken = this.token !== "";
		this.token = this.#tokens.pop() ?? "";
		return hadToken;
	}

	/** Go on with the name before; whether there was one to refuse. */
	refuseName() {
		if (!this.name) return false;
		[this.refused, this.name, this.#before] = [this.name, this.#before ?? "", null];
		return true;
	}
}
