/** The results of a search about positions and moves. Values are for the mark that moves next. */

import { say } from "./catalogue.js";
import { MORE, nameCell, nameCells } from "./rules.js";
import { nameMark } from "./words.js";

const MOST_NAMED = 6;
/** Estimates this close to 0 are not significant. */
const EVEN = 0.15;
/** The values of the best move and of a mistake for the player. */
const GIVEN_AWAY = ["win draw", "win loss", "draw loss"];
/** How much worse a move may be and still count as equally good. */
const SLIP = 0.2;

/** @param {CellValue} value @param {[good: string, bad: string, even: string]} words */
const lean = ({ estimate = 0 }, [good, bad, even]) => (estimate > EVEN ? good : estimate < -EVEN ? bad : even);

/** Return a value as a number: 1 is won, -1 lost, 0 a draw; unknown values are estimated. @param {CellValue} value */
export function rate({ kind, estimate = 0 }) {
	return { win: 1, draw: 0, loss: -1 }[kind] ?? estimate;
}

/** @param {Analysis} analysis @param {boolean} isAll @returns {Omit<Worths, "draw">} */
export function worthsOf({ cells, best }, isAll) {
	const told = Object.entries(cells).map(([name, value]) => {
		const { kind, plies } = value;
		const sign = { win: `+${plies ?? ""}`, draw: "=", loss: `−${plies ?? ""}` }[kind] ?? lean(value, ["~+", "~−", "~"]);
		const cell = Number(name);
		return /** @type {[number, Worth]} */ ([cell, { sign, kind, best: best.includes(cell) && best.length < Object.keys(cells).length }]);
	});
	return { cells: new Map(told), isAll, better: null };
}

/** The end of a sentence's id for the distance to the end of the game. @param {CellValue["plies"]} plies @param {boolean} solved */
function soon(plies, solved) {
	if (!plies) return "";
	return plies === 1 ? " at once" : solved ? " in" : " within";
}

/** Describe the value of a move for the player who makes it. @param {CellValue} value @param {boolean} solved */
function describeValue(value, solved) {
	if (value.kind === "unknown") return say(lean(value, ["worth good", "worth bad", "worth even"]));
	return say(`worth ${value.kind}${soon(value.plies, solved)}`, { n: value.plies ?? "" });
}

/** Describe who is ahead, and the best moves. @param {Analysis} analysis @param {Rules} rules @returns {string} */
export function describePosition(analysis, rules) {
	const { turn, best, cells, before } = analysis;
	if (before) {
		const [chosen, told] = [before, analysis].map((one) => describePosition({ ...one, before: undefined }, rules));
		return say("before the choice", { chosen, told });
	}
	if (!turn) return say("game is over here");
	if (analysis.options) return describeOptions(analysis, turn, rules);
	const verdict = describeStanding(analysis, turn, rules);
	if (!best.length) return say("nothing decides yet", { verdict });
	if (best.length > 1 && best.length === Object.keys(cells).length) return say("all moves equal", { verdict });
	const named = nameCells(best.slice(0, MOST_NAMED), rules).join(", ");
	const n = best.length - MOST_NAMED;
	return say("best moves", { verdict, cells: n > 0 ? say("cells and more", { cells: named, n }) : named });
}

/** Describe the choices of an opening, and the best one. @param {Analysis} analysis @param {string} turn @param {Rules} rules */
function describeOptions({ options = {}, best_options = [], solved }, turn, rules) {
	const mark = nameSide(rules, turn);
	const name = (/** @type {string} */ option) => (option === MORE ? say("option more") : nameMark({ rules }, option));
	const told = Object.entries(options).map(([option, value]) => say("chat of", { name: name(option), text: describeValue(value, solved) }));
	return say("stands to choose", { mark, options: told.join("; "), best: best_options.map(name).join(", ") });
}

/** The name of a mark at the beginning of a sentence. @param {Rules} rules @param {string} mark */
function nameSide(rules, mark) {
	const name = nameMark({ rules }, mark);
	return name[0].toUpperCase() + name.slice(1);
}

/** @param {Analysis} analysis @param {string} turn @param {Rules} rules */
function describeStanding({ value, solved }, turn, rules) {
	const { marks } = rules;
	const mark = nameSide(rules, turn);
	const worth = describeValue(value, solved);
	const isSeveral = marks.length > 2;
	switch (value.kind) {
		case "win":
			return say(isSeveral ? "stands against all" : "stands", { mark, worth });
		case "draw":
			return say(isSeveral ? "stands draw of several" : "stands draw", { mark });
		case "loss":
			if (isSeveral) return say("stands to move, together", { mark, worth });
			return say("stands to move, others win", { mark, other: nameMark({ rules }, marks.replace(turn, "")), worth: say(`worth win${soon(value.plies, solved)}`, { n: value.plies ?? "" }) });
		default:
			return say(lean(value, ["stands to move, guess", "stands to move, guess", "stands to move"]), { mark, worth });
	}
}

/** Describe the value of a cell, or say that it cannot be played. @param {number} cell @param {Analysis} analysis @param {Rules} rules */
export function describeCellWorth(cell, { cells, solved }, rules) {
	const value = cells[cell];
	const name = nameCell(cell, rules);
	if (!value) return say("no move there", { cell: name });
	const worth = describeValue(value, solved);
	return value.kind === "win" || value.kind === "loss" ? say("stands", { mark: name, worth }) : say("chat of", { name, text: worth });
}

/** Compare the played move with the best, or return "" if its value is unknown. @param {number} cell @param {Analysis} analysis @param {Rules} rules */
export function comparePlayed(cell, { turn, cells, best, solved }, rules) {
	const value = cells[cell];
	const { marks } = rules;
	if (!value || !turn) return "";
	const places = { mark: nameSide(rules, turn), cell: nameCell(cell, rules), worth: describeValue(value, solved), best: "", better: "" };
	if (best.length === Object.keys(cells).length) return say("played like any", places);
	if (best.includes(cell)) return say(best.length === 1 ? "played the best" : "played one of the best", places);
	if (!best.length) return say("played", places);
	places.best = nameCell(best[0], rules);
	const { kind } = cells[best[0]];
	if (value.plies !== 1 && marks.length === 2 && GIVEN_AWAY.includes(`${kind} ${value.kind}`)) {
		const other = nameMark({ rules }, marks.replace(turn, ""));
		const plies = value.plies && value.plies - 1;
		const now = say(`now ${value.kind === "draw" ? "draw" : "win"}${soon(plies, solved)}`, { other, n: plies ?? "" });
		return say(`gave away ${kind}`, { ...places, now });
	}
	places.better = describeValue(cells[best[0]], solved);
	return say(places.better === places.worth ? "played, better" : "played, best", places);
}

/** Return how much a move gave away, from 0 to 2; 0 if unknown. @param {number} cell @param {Analysis} before */
export function lossOf(cell, { cells, value }) {
	const lost = cells[cell] ? rate(value) - rate(cells[cell]) : 0;
	return lost > SLIP ? lost : 0;
}

/** Judge a move: a mistake gives away a win or a draw, a slip something less. @param {number} cell @param {Analysis} before */
export function judge(cell, before) {
	const { cells, best } = before;
	if (!cells[cell]) return "";
	const lost = lossOf(cell, before);
	if (lost) return lost >= 0.75 ? "mistake" : "slip";
	return best.includes(cell) && best.length < Object.keys(cells).length ? "best" : "fine";
}
