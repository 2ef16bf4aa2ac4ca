/** The pages of a ladder and of a player. */

import { say, sayTitle } from "../catalogue.js";
import { button, h, setText, urlOf } from "../dom.js";
import { makeGame } from "../history.js";
import { linkTo, nameLadder, playRated } from "../rated.js";
import { setEmblem } from "../shapes.js";
import { messageOf } from "../words.js";
import { askForGame, setBlocked } from "./challenges.js";
import { listCells, listStanding, nameColumns } from "./words.js";

const MOST_LISTED = 50;

/** @param {App} app */
export async function openPage(app, kind = "", id = "") {
	await app.arrive();
	if (kind === "ladder" && !id) {
		const keys = app.connection.welcome?.ladders ?? [];
		id = keys.find((key) => key === app.kept.game) ?? keys[0] ?? "";
		history.replaceState(null, "", urlOf(`/ladder/${id}`));
	}
	try {
		return await (kind === "ladder" ? makeLadder(app, id) : makePlayer(app, id));
	} catch (error) {
		return app.makeNothing(messageOf(error));
	}
}

/** @param {App} app */
async function makeLadder(app, key = "") {
	const { connection } = app;
	/** @param {{around?: string, top?: number}} rows */
	const ask = async (rows) => /** @type {Protocol.LadderState} */ ((await app.read({ type: "ratings", rules: key, ...rows })).ladder);
	const [best, { rows: near }] = await Promise.all([ask({ top: MOST_LISTED }), ask({ around: connection.player })]);
	const [measured, closed] = best.text ?? [];
	const title = say("page ladder title", { name: nameLadder(key) });
	const links = (connection.welcome?.ladders ?? []).map((one) => h("a", { href: `/ladder/${one}`, "aria-current": one === key && "page" }, nameLadder(one)));
	const element = h("div.ladders",
		h("div.hero", h("h1", title), h("nav.row", { "aria-label": say("ladder title") }, links)),
		!closed && h("div.row", button(say("page ladder play"), () => playRated(app, key), { class: "primary" })),
		h("p.note", measured), closed && h("p.ladder-closed", closed),
		// A player among the first is already in the list of the best.
		near[0] && near[0].place !== 1 && (near[0].place !== null || near[0].player !== best.rows[0]?.player) && h("section.card", h("h2", say("page ladder around")), makeRows(near)),
		h("section.card", h("h2", say("page ladder best")), best.rows.length ? makeRows(best.rows) : !best.games && h("p.note", say("ladder no games"))),
	);
	return { title, element };

	/** @param {Protocol.LadderRow[]} rows */
	function makeRows(rows) {
		const low = Math.min(...rows.map(({ rating, deviation }) => rating - 2 * deviation));
		const part = 100 / (Math.max(...rows.map(({ rating, deviation }) => rating + 2 * deviation)) - low || 1);
		const lines = rows.map((row) => {
			const [[place, name, rating, games, trend], { player, deviation }] = [listCells(row), row];
			const bar = h("span.deviation", { "aria-hidden": "true", "--from": `${part * (row.rating - 2 * deviation - low)}%`, "--wide": `${part * 4 * deviation}%` });
			return h("tr", { class: player === connection.player && "own" }, h("td", place), h("th", { scope: "row" }, linkTo(app, player, name)), h("td", rating, bar), h("td", games), h("td", trend));
		});
		return h("table.ladder", h("thead", h("tr", nameColumns("ladder").map((one) => h("th", { scope: "col" }, one)))), h("tbody", lines));
	}
}

/** @param {App} app */
async function makePlayer(app, asked = "") {
	const { connection } = app;
	const hasChallenges = !!connection.welcome?.challenges;
	const { blocks = [] } = hasChallenges ? await app.read({ type: "block" }) : {};
	// A player without a place in any ladder can be challenged too.
	const { profile = { player: asked, name: app.names.get(asked) ?? "", ladders: [], games: [] } } = await app.read({ type: "profile", player: asked }).catch((error) => {
		if (!hasChallenges || !app.names.has(asked)) throw error;
		return /** @type {Ok} */ ({});
	});
	const [{ player: id, ladders, games }, title] = [profile, profile.name];
	const [block, mayMeet] = [button("", () => setBlocked(app, id, !isBlocked).then(drawBlock)), hasChallenges && id !== connection.player];
	let isBlocked = false;
	drawBlock(blocks.includes(id));
	const standings = ladders.map((standing) => {
		const [[key, ...cells], [, ...columns]] = [listStanding(standing), nameColumns("player")];
		const terms = columns.flatMap((column, at) => (cells[at] && `${column} ${cells[at]}`) || []);
		return h("li", h("span.names", h("a", { href: `/ladder/${key}` }, nameLadder(key))), h("span.note", terms.join(" · ")));
	});
	const head = h("h1", title);
	setEmblem(head, id);
	app.names.set(id, title);
	const element = h("div.ladders",
		h("div.hero", head, mayMeet && h("div.row", button(sayTitle("type challenge"), () => askForGame(app, id), { class: "primary" }), block)),
		h("p", profile.text),
		h("section.card", h("h2", say("ladder title")), ladders.length ? h("ul.rooms", standings) : h("p.note", say("ladder no games"))),
		games.length > 0 && h("section.card", h("h2", say("page player games", { name: title })), h("ul.rooms", games.map((game) => makeGame(game, id)))),
	);
	return { title, element };

	function drawBlock(is = false) {
		isBlocked = is;
		setText(block, isBlocked ? say("page unblock") : sayTitle("key block"));
	}
}
