/** Lists of names as people paste them from spreadsheets: the twin of `tictactoe_words.rosters`. */

const GIVEN = [
	"vorname", "vornamen", "rufname", "first name", "firstname", "given name", "name", "names", "namen",
	"name, vorname", "nachname, vorname", "last name, first name", "schüler", "schülerin", "schüler/in", "student", "pupil",
];
const FAMILY = ["nachname", "familienname", "last name", "lastname", "surname", "family name", "name"];
const MOST_ABOVE = 5;

/** Return the names in a list: one a line, or in columns separated by tabs, semicolons or commas. */
export function readRoster(text = "") {
	const people = readPeople(text);
	const names = people.map(({ name, family }) => {
		const families = [...new Set(people.filter((one) => isSame(one.name, name)).map((one) => one.family))];
		const longest = Math.max(...families.map((one) => [...one].length));
		let enough = 1;
		while (enough < longest && new Set(families.map((one) => start(one, enough))).size < families.length) enough++;
		return family && families.length > 1 ? `${name} ${start(family, enough)}${enough < [...family].length ? "." : ""}` : name;
	});
	return names.map((name, at) => (countOf(names, name) > 1 ? `${name} ${countOf(names.slice(0, at + 1), name)}` : name));
}

/** Return the given and family names in a list; a family name may be missing. */
function readPeople(text = "") {
	const separator = ["\t", ";", ","].find((one) => text.includes(one)) ?? "\n";
	let rows = text.split(/\r\n|\r|\n/).map((line) => line.split(separator).map((cell) => cell.trim().replace(/^"+|"+$/g, "").trim()));
	rows = rows.filter((row) => row.some(Boolean));
	const heads = rows.slice(0, MOST_ABOVE).map((row) => row.map((cell) => cell.toLowerCase()));
	const above = rows.length > 1 ? heads.findIndex(isHeader) : -1;
	const head = heads[above] ?? [];
	let given = Math.max(0, head.indexOf(GIVEN.find((one) => head.includes(one)) ?? "\n"));
	let family = head.indexOf(FAMILY.find((one) => head.includes(one) && head.indexOf(one) !== given) ?? "\n");
	rows = rows.length === 1 && above < 0 ? (rows[0] ?? []).map((cell) => [cell]) : rows.slice(above + 1);
	const isSpaced = separator === "," && text.split(", ").length === text.split(",").length;
	const isPaired = rows.some((row) => row.length > 1) && rows.every((row) => row.length < 3);
	if (isSpaced && head.length < 2 && isPaired) [given, family] = [1, 0];
	return rows.flatMap((row) => {
		const [name, ...others] = [...row.slice(given), ...row.slice(0, given)].filter(isName);
		if (!name) return [];
		const [, last, first] = /^(.*?), (.+)$/.exec(name) ?? [];
		const other = (row.length < 2 || row[family] === undefined ? others : [row[family]]).find((cell) => /^\p{L}./u.test(cell)) ?? "";
		return [first && last !== undefined ? { name: first, family: last } : { name, family: other }];
	});
}

/** Headers of a table, or a header alone, which only a title may precede. @param {string[]} head @param {number} at */
const isHeader = (head, at) => (at < 2 || head.length > 1) && head.some((cell) => GIVEN.includes(cell) || FAMILY.includes(cell));

const isName = (cell = "") => !cell.includes("@") && !/^[0-9. ]*$/.test(cell);

const isSame = (name = "", other = "") => name.toLowerCase() === other.toLowerCase();

const start = (text = "", length = 0) => [...text].slice(0, length).join("");

/** @param {string[]} names @param {string} name */
const countOf = (names, name) => names.filter((one) => isSame(one, name)).length;
