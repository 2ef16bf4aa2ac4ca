/** What a search found about positions and moves, in few words. Values are for the mark that moves next. */

import { nameCell, nameCells } from "./rules.js";

const MOST_NAMED = 6;
/** An estimate that is no further from 0 says nothing. */
const EVEN = 0.15;

/** @type {Lean} */
function lean({ estimate = 0 }, [good, bad, even]) {
	return estimate > EVEN ? good : estimate < -EVEN ? bad : even;
}

/** @type {DescribeValue} */
function describeValue(value, solved) {
	const { kind, plies } = value;
	if (kind === "draw") return "a draw";
	if (kind !== "win" && kind !== "loss") return `unclear, looks ${lean(value, ["good", "bad", "even"])}`;
	const soon = plies === 1 ? "at once" : plies ? `${solved ? "in" : "within"} ${plies}` : "";
	return `${kind === "win" ? "wins" : "loses"} ${soon}`.trim();
}

/** @type {WorthOf} */
export function worthOf({ cells, best }) {
	const told = Object.entries(cells).map(([name, value]) => {
		const { kind, plies } = value;
		let sign = lean(value, ["~+", "~−", "~"]);
		if (kind === "draw") sign = "=";
		else if (kind === "win" || kind === "loss") sign = `${kind === "win" ? "+" : "−"}${plies ?? ""}`;
		const cell = Number(name);
		return /** @type {[number, Worth]} */ ([cell, { sign, kind, best: best.includes(cell) }]);
	});
	return new Map(told);
}

/** @type {DescribePosition} */
export function describePosition({ turn, value, best, cells, solved }, rules) {
	if (!turn) return "The game is over here.";
	const told = describeValue(value, solved);
	const others = rules.marks.replace(turn, "");
	let verdict = `${turn} to move: ${told}`;
	if (value.kind === "draw") verdict += others.length > 1 ? " against all the others" : " with best play";
	else if (value.kind === "win") verdict = `${turn} ${told}`;
	else if (value.kind === "loss") verdict = others.length > 1 ? `${verdict} to the others together` : `${turn} to move: ${others} ${told.replace("loses", "wins")}`;
	if (best.length > 1 && best.length === Object.keys(cells).length) return `${verdict}. All moves are equal.`;
	return `${verdict}. Best: ${nameCells(best.slice(0, MOST_NAMED), rules).join(", ")}.`;
}

/** @type {ComparePlayed} */
export function comparePlayed(cell, { turn, cells, best, solved }, rules) {
	if (!cells[cell] || !turn) return "";
	const head = `${turn} played ${nameCell(cell, rules)}`;
	const worth = describeValue(cells[cell], solved);
	if (best.length === Object.keys(cells).length) return `${head}: ${worth}, like any move.`;
	if (best.includes(cell)) return `${head}, ${best.length === 1 ? "the best" : "one of the best"}: ${worth}.`;
	const better = describeValue(cells[best[0]], solved);
	const name = nameCell(best[0], rules);
	return `${head}: ${worth}; ${better === worth ? `better ${name}` : `best ${name}: ${better}`}.`;
}
