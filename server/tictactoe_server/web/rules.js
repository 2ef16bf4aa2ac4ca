/** Boards and legal moves, including openings. A cell is a number, row by row from 0 at the top left. */

export const FREE = ".";
export const BLOCKED = "#";
/** The directions of lines, as rows down and columns right. */
export const DIRECTIONS = [[0, 1], [1, 0], [1, 1], [1, -1]];
/** The moves of the arrow keys, likewise. @type {Record<string, [down: number, right: number]>} */
export const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** @type {(Rules & { preset: string })[]} */
const GAMES = JSON.parse(document.documentElement.dataset.games ?? "[]");
export const PRESETS = GAMES.map(({ preset }) => preset);
export const OWN = "custom";

export const rulesOf = (name = "") => /** @type {Rules} */ (GAMES.find(({ preset }) => preset === name));

/** @param {Pick<Kept, "game" | "own">} kept @returns {Rules} */
export const chosenRules = ({ game, own }) =>
	game === OWN ? { preset: null, ...own } : rulesOf(game);

/** @type {(rules: Rules) => boolean} */
export const hasSingleKeys = ({ rows, columns }) => rows === 3 && columns === 3;

/** Return the cell where a mark placed in a cell lands, or -1. @param {Rules} rules */
export function landingCell(rules, board = "", cell = 0) {
	if (!rules.gravity) return board[cell] === FREE ? cell : -1;
	let at = board.length - rules.columns + (cell % rules.columns);
	while (at >= 0 && board[at] !== FREE) at -= rules.columns;
	return at;
}

/** Return the cell this many rows and columns away, or -1 if it is off the board. @param {Rules} rules */
export function neighbour(rules, cell = 0, down = 0, right = 0) {
	return cellAt(rules, Math.floor(cell / rules.columns) + down, (cell % rules.columns) + right);
}

/** @param {Rules} rules */
function cellAt({ rows, columns }, row = 0, column = 0) {
	return row >= 0 && row < rows && column >= 0 && column < columns ? row * columns + column : -1;
}

/** Split cells into straight runs of at least `rules.line` cells. @param {Rules} rules @param {Moves} cells */
export function splitLines(rules, cells) {
	const found = [];
	for (const cell of [...cells].sort((one, two) => one - two)) {
		for (const [down, right] of DIRECTIONS) {
			if (cells.includes(neighbour(rules, cell, -down, -right))) continue;
			const run = [];
			for (let at = cell; cells.includes(at); at = neighbour(rules, at, down, right)) run.push(at);
			if (run.length >= rules.line) found.push(run);
		}
	}
	return found;
}

/** @param {Rules} rules @param {Moves} moves */
export function boardAfter(rules, board = "", moves) {
	const cells = Array(rules.rows * rules.columns).fill(FREE);
	for (const cell of rules.blocked) cells[cell] = BLOCKED;
	for (const cell of moves) cells[cell] = board[cell];
	return cells.join("");
}

/** @returns {string} */
export function nameColumn(column = 0) {
	const letter = String.fromCharCode(65 + (column % 26));
	return column < 26 ? letter : nameColumn(Math.floor(column / 26) - 1) + letter;
}

/** Return the number of a row: from 1 at the top, or at the bottom with gravity. @param {number} row @param {Rules} rules */
export const numberRow = (row, { rows, gravity }) => (gravity ? rows - row : row + 1);

/** @type {(cell: number, rules: Rules) => string} */
export const nameCell = (cell, rules) => nameColumn(cell % rules.columns) + numberRow(Math.floor(cell / rules.columns), rules);

/** Return the cell of `b2`, `2,3`, a digit on 3x3, or with gravity a column; else -1. @param {Rules} rules */
export function parseCell(text = "", rules) {
	const word = text.trim().toUpperCase();
	if (hasSingleKeys(rules) && /^[1-9]$/.test(word)) return Number(word) - 1;
	const pair = /^(\d+)[\s,]+(\d+)$/.exec(word);
	const row = (number = "") => numberRow(Number(number) - 1, rules) - 1;
	if (pair) return cellAt(rules, row(pair[1]), Number(pair[2]) - 1);
	const name = /^([A-Z]{1,2})(\d*)$/.exec(word);
	if (!name || (!name[2] && !rules.gravity)) return -1;
	const column = [...name[1]].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
	return cellAt(rules, row(name[2] || "1"), column);
}

/** Return the current mark of the player who made a move of the opening, or "" for later moves. @param {State} state */
export const placerOf = ({ placed = "" }, ply = 0) => placed[ply] ?? "";

/** Return the mark that is placed next; in an opening, the player on turn may place either mark. @param {State} state */
export const nextMark = ({ opening, turn }) => (opening ? opening.places : turn);
