/** Openings that even out the first move: who has placed and chosen what; as tictactoe_engine.opening. */

/** The stages of each rule: the seat that places, how many marks lie there then, who chooses. @type {Record<string, [number, number, number][]>} */
const STAGES = { pie: [[0, 1, 1]], swap2: [[0, 3, 1], [1, 5, 0]] };

export const MORE = "more";

/** What was chosen, in order. @param {Opened} game */
export function choicesOf({ rules, chosen = [] }) {
	const stages = STAGES[rules.opening ?? ""] ?? [];
	return chosen.slice(0, stages.length).map((take, at) => ({ ply: stages[at][1], mark: rules.marks[stages[at][2]], take }));
}

/** Where somebody sits now who sat at a mark when the game began. @param {Opened} game @param {string} mark */
export function sitsNow(game, mark) {
	const last = choicesOf(game).at(-1);
	return last && last.take !== MORE && last.take !== last.mark ? game.rules.marks.replace(mark, "") : mark;
}

/** Where the player sits now who made a move of the opening; empty for moves of the game proper. @param {Opened} game @param {number} ply */
export function placerOf(game, ply) {
	const before = choicesOf(game).filter((choice) => choice.ply <= ply);
	const stage = (STAGES[game.rules.opening ?? ""] ?? [])[before.length];
	const isOpen = stage && (before.at(-1)?.take ?? MORE) === MORE;
	return isOpen ? sitsNow(game, game.rules.marks[stage[0]]) : "";
}

/** Where the player sits now who made the last move; null before the first. @param {State} state */
export const moverOf = (state) => (state.last === null ? null : placerOf(state, state.ply - 1) || state.board[state.last]);

/** The mark that is placed next, in an opening whoever places it. @param {State} state */
export const nextMark = ({ opening, turn }) => (opening ? opening.places : turn);
