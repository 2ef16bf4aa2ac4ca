/** What the positions of a room's game are worth, asked of the server once each. */

import { Refused } from "./connection.js";

export class Review {
	isOn = false;
	/** @type {Map<string, Promise<Analysis>>} */
	#found = new Map();

	/** @param {Room} room */
	constructor(room) {
		this.room = room;
	}

	/** The worth of the position after so many moves; rejects as requests do. @param {number} ply */
	analyse(ply) {
		const key = `${this.room.state?.game} ${this.room.moves.slice(0, ply)}`;
		const found = this.#found.get(key) ?? this.#ask(ply);
		this.#found.set(key, found);
		found.catch(() => this.#found.delete(key));
		return found;
	}

	/** @param {number} ply @returns {Promise<Analysis>} */
	async #ask(ply) {
		try {
			const { analysis } = await this.room.request({ type: "analyse", room: this.room.code, ply });
			return /** @type {Analysis} */ (analysis);
		} catch (error) {
			if (!(error instanceof Refused) || error.code !== "rate_limited") throw error;
			const { retryMs } = error;
			await new Promise((resolve) => setTimeout(resolve, retryMs + 50));
			return this.#ask(ply);
		}
	}
}
