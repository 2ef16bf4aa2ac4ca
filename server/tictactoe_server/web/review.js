/** The values of a game's positions, each requested once, and what they say about the moves. */

import { Refused } from "./requests.js";
import { placerOf } from "./rules.js";
import { judge, lossOf, rate } from "./worth.js";

const MOMENT_MS = 50;

export class Review {
	/** The known values by the number of moves made. @type {Analysis[]} */
	known = [];
	/** @type {Moves} */
	moves = [];
	/** @type {Map<number, Promise<Analysis>>} */
	#asked = new Map();
	#game = 0;
	#isEnded = false;

	/** @param {Analyse} ask */
	constructor(ask) {
		this.ask = ask;
	}

	/** Follow a game, keeping the values of positions that it still contains. @param {number} game @param {Moves} moves */
	follow(game, moves) {
		let kept = game === this.#game ? 0 : -1;
		while (kept >= 0 && kept < moves.length && moves[kept] === this.moves[kept]) kept++;
		this.known.length = Math.min(this.known.length, kept + 1);
		for (const ply of [...this.#asked.keys()]) if (ply > kept) this.#asked.delete(ply);
		this.#game = game;
		this.moves = moves;
	}

	/** Request the value of the position after `ply` moves; rejects as requests do. */
	analyse(ply = 0) {
		const found = this.#asked.get(ply) ?? this.#askPatiently(ply);
		const isStill = () => this.#asked.get(ply) === found;
		this.#asked.set(ply, found);
		found.then((analysis) => isStill() && (this.known[ply] = analysis), () => isStill() && this.#asked.delete(ply));
		return found;
	}

	/** @param {number} ply @returns {Promise<Analysis>} */
	async #askPatiently(ply) {
		try {
			return await this.ask(ply);
		} catch (error) {
			if (this.#isEnded || !(error instanceof Refused) || !error.retryMs) throw error;
			await new Promise((resolve) => setTimeout(resolve, error.retryMs + MOMENT_MS));
			return this.#askPatiently(ply);
		}
	}

	/** Request all values from the last to the first, until `end`; then retry those still unknown. @param {() => void} onKnown hears of each */
	async analyseAll(onKnown) {
		const last = this.moves.length;
		for (let step = 0; step <= 2 * last && !this.#isEnded; step++) {
			const ply = Math.abs(last - step);
			if (step > last && this.known[ply]?.value.kind === "unknown") this.#asked.delete(ply);
			await this.analyse(ply);
			onKnown();
		}
	}

	get kinds() {
		return this.moves.map((cell, ply) => (this.known[ply] ? judge(cell, this.known[ply]) : ""));
	}

	/** Return the number of moves at the turning point: the move that gave away most, the last of several; 0 for none. */
	get turningPoint() {
		const lost = this.moves.map((cell, ply) => (this.known[ply] ? lossOf(cell, this.known[ply]) : 0));
		const most = Math.max(0, ...lost);
		return most && lost.lastIndexOf(most) + 1;
	}

	/** The points of the graph of a two-player game. @param {State} state */
	pointsOf(state) {
		const { known, moves, kinds } = this;
		const [first] = state.rules.marks;
		return [0, ...moves].map((_, ply) => {
			const kind = kinds[ply - 1] ?? "";
			const analysis = known[ply];
			if (ply === moves.length && state.result) {
				const { winner } = state.result;
				return { worth: winner === null ? 0 : winner === first ? 1 : -1, kind };
			}
			// Before sides are chosen, neither side is ahead.
			if (analysis && placerOf(state, ply)) return { worth: 0, kind };
			return analysis?.turn ? { worth: rate(analysis.value) * (analysis.turn === first ? 1 : -1), kind } : undefined;
		});
	}

	end() {
		this.#isEnded = true;
	}
}

/** Return the number of moves at the next mistake, from the start again after the last one; 0 for none. @param {readonly string[]} kinds @param {number} here */
export function nextMistake(kinds, here) {
	const all = kinds.flatMap((kind, at) => (/mistake|slip/.test(kind) ? [at + 1] : []));
	return all.find((ply) => ply > here) ?? all[0] ?? 0;
}
