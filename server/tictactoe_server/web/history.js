/** Our finished games, newest first, and the totals. */

import { say, sayTitle } from "./catalogue.js";
import { button, h, setText, show } from "./dom.js";
import { makeRow } from "./lobby.js";
import { Lost } from "./requests.js";
import { describeReason, isDraw, messageOf, nameGame, namePlayers } from "./words.js";

const PAGE = 100;
/** The maximum number of games to count; older ones are left out. */
const MOST_COUNTED = 1000;
const SHOWN_FIRST = 30;
const KINDS = /** @type {const} */ (["won", "drawn", "lost"]);

/** @param {App} app */
export function makeHistory(app) {
	const [totals, note, list] = [h("div"), h("p.note", { role: "status" }), h("ul.rooms")];
	const more = button(say("page games more"), () => draw(list.children.length + PAGE), { hidden: true });
	const element = h("div.card.games",
		h("h1", say("history title")),
		totals, note, list,
		h("div.row", more, button(sayTitle("key to home"), () => app.navigate("/"))),
	);
	/** @type {PastGame[]} */
	let games = [];
	const viewer = () => app.connection.player;
	load();
	return { title: say("history title"), element };

	async function load() {
		await app.arrive();
		try {
			games = await fetchGames(app);
		} catch (error) {
			if (error instanceof Lost) return load();
			return setText(note, messageOf(error));
		}
		show(totals, games.length > 0 && makeTotals(games, viewer()));
		if (!games.length) setText(note, say("page games none"));
		return draw();
	}

	function draw(shown = SHOWN_FIRST) {
		show(list, games.slice(0, shown).map((game) => makeGame(game, viewer())));
		more.hidden = games.length <= shown;
	}
}

/** @param {App} app */
async function fetchGames(app) {
	/** @type {PastGame[]} */
	const found = [];
	while (found.length < MOST_COUNTED) {
		const last = found.at(-1);
		const { games = [] } = await app.connection.request({ type: "history", limit: PAGE, before: last?.game_id });
		found.push(...games);
		if (games.length < PAGE) break;
	}
	return found;
}

/** @param {PastGame} game */
function howItWent({ players, result }, viewer = "") {
	const winner = players[result.winner ?? ""]?.player;
	if (winner) return winner === viewer ? "won" : "lost";
	return isDraw(result) ? "drawn" : "ended";
}

/** @param {PastGame[]} games */
function makeTotals(games, viewer = "") {
	const went = games.map((game) => howItWent(game, viewer));
	const numbers = KINDS.map((kind) => went.filter((one) => one === kind).length);
	const cells = KINDS.map((kind, index) => h(`div.total.${kind}`, h("b", String(numbers[index])), " ", h("span", say(`column ${kind}`))));
	const all = h("div.total", h("b", String(games.length)), " ", h("span", say("page total games", { n: games.length })));
	const bar = h("div.bar", { "aria-hidden": "true" }, KINDS.map((kind, index) => numbers[index] > 0 && h(`span.${kind}`, { "--parts": numbers[index] })));
	return h("div", h("div.totals", all, cells), bar);
}

/** @param {PastGame} game */
export function makeGame(game, viewer = "") {
	const { game_id, at, rules, players, result, moves, event } = game;
	const went = howItWent(game, viewer);
	const date = new Date(at).toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
	const terms = [nameGame(rules), describeReason(result.reason), say("count move", { n: moves }), ...(event ? [say("record event", { name: event })] : []), date];
	return makeRow(namePlayers({ seats: players }), terms, say(`column ${went}`), sayTitle("key replay"), `/#game/${game_id}`, went);
}
