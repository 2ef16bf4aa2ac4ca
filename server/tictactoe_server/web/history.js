/** Our finished games, newest first. */

import { say, sayTitle } from "./catalogue.js";
import { button, h, localeOf, setText } from "./dom.js";
import { makeRow } from "./lobby.js";
import { describeReason, isDraw, messageOf, nameGame, namePlayers } from "./words.js";

const PAGE = 30;

/** @param {App} app */
export function makeHistory(app) {
	const [note, list] = [h("p.note", { role: "status" }), h("ul.rooms")];
	const more = button(say("page games more"), load, { hidden: true });
	const element = h("div.card.games",
		h("h1", say("history title")),
		note, list,
		h("div.row", more, button(sayTitle("key to home"), () => app.navigate("/"))),
	);
	/** @type {string | undefined} */
	let before;
	load();
	return { title: say("history title"), element };

	async function load() {
		try {
			const { games = [] } = await app.read({ type: "history", limit: PAGE, before });
			before = games.at(-1)?.game_id;
			more.hidden = games.length < PAGE;
			list.append(...games.map((game) => makeGame(game, app.connection.player)));
			setText(note, list.firstChild ? "" : say("page games none"));
		} catch (error) {
			setText(note, messageOf(error));
		}
	}
}

/** @param {PastGame} game */
export function makeGame({ game_id, at, rules, players, result, moves, event }, viewer = "") {
	const winner = players[result.winner ?? ""]?.player;
	const went = winner ? (winner === viewer ? "won" : "lost") : isDraw(result) ? "drawn" : "ended";
	const date = new Date(at).toLocaleString(localeOf(), { dateStyle: "medium", timeStyle: "short" });
	const terms = [nameGame(rules), describeReason(result.reason), say("count move", { n: moves }), ...(event ? [say("record event", { name: event })] : []), date];
	return makeRow(namePlayers({ seats: players }), terms, say(`column ${went}`), sayTitle("key replay"), `/#game/${game_id}`, went);
}
