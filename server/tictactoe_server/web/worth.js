/** The signs of values for the mark that moves next. */

/** Estimates this close to 0 are not significant. */
const EVEN = 0.15;

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
