/** Lists of names as people paste them from spreadsheets: the twin of `tictactoe_protocol.rosters`. */

const FIRST = ["vorname", "vornamen", "rufname", "first name", "firstname", "given name", "name", "names"];
const HEADERS = [...FIRST, "nachname", "familienname", "last name", "lastname", "surname", "family name", "namen"];

/** Return the names in a list: one a line, or in columns separated by tabs, semicolons or commas. */
export function readRoster(text = "") {
	const separator = ["\t", ";", ","].find((one) => text.includes(one)) ?? "\n";
	let rows = text.split(/\r\n|\r|\n/).map((line) => line.split(separator).map((cell) => cell.trim().replace(/^"+|"+$/g, "").trim()));
	rows = rows.filter((row) => row.some(Boolean));
	let first = 0;
	const head = (rows[0] ?? []).map((cell) => cell.toLowerCase());
	if (head.some((cell) => HEADERS.includes(cell))) {
		first = Math.max(0, head.indexOf(FIRST.find((one) => head.includes(one)) ?? ""));
		rows = rows.slice(1);
	} else if (rows.length === 1) rows = (rows[0] ?? []).map((cell) => [cell]);
	const found = rows.map((row) => [...row.slice(first), ...row.slice(0, first)].filter((cell) => !cell.includes("@") && !/^[0-9. ]*$/.test(cell)));
	const named = found.flatMap(([name, next]) => (name ? [[name, next ? `${name} ${[...next][0]}.` : name]] : []));
	const names = named.map(([name = "", longer = ""]) => (countOf(named.map(([one = ""]) => one), name) > 1 ? longer : name));
	return names.map((name, at) => (countOf(names, name) > 1 ? `${name} ${countOf(names.slice(0, at + 1), name)}` : name));
}

/** @param {string[]} names @param {string} name */
const countOf = (names, name) => names.filter((one) => one.toLowerCase() === name.toLowerCase()).length;
