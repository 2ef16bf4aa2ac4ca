/** The pages of a ladder and of a player. */

import { say } from "../catalogue.js";
import { button, h, setText } from "../dom.js";
import { setEmblem } from "../emblem.js";
import { makeGame } from "../history.js";
import { prepareLadders } from "../later.js";
import { makeNothing } from "../nothing.js";
import { Lost } from "../requests.js";
import { clean, messageOf } from "../words.js";
import { setBlocked } from "./challenges.js";
import { weighCheckpoint } from "./checkpoints.js";
import { linkTo, listLadders, nameLadder } from "./rated.js";
import { describeLadder, describeMeetings, listCells, listStanding, nameColumns } from "./words.js";

const MOST_LISTED = 50;

/** The page of a ladder or a player, or why there is none. @param {App} app @param {string} kind @param {string} id @returns {Promise<Page>} */
export async function openPage(app, kind, id) {
	await Promise.all([prepareLadders(), app.arrive()]);
	try {
		return await (kind === "ladder" ? makeLadder : makePlayer)(app, id);
	} catch (error) {
		return error instanceof Lost ? openPage(app, kind, id) : makeNothing(app, messageOf(error));
	}
}

/** @param {App} app @param {string} key */
async function makeLadder(app, key) {
	/** @param {{around?: string, top?: number}} rows */
	const ask = async (rows) => /** @type {Protocol.LadderState} */ ((await app.connection.request({ type: "ratings", rules: key, ...rows })).ladder);
	const [best, { rows: near }] = await Promise.all([ask({ top: MOST_LISTED }), ask({ around: app.connection.welcome?.player })]);
	const [title, fault, [measured, closed]] = [say("page ladder title", { name: nameLadder(key) }), h("p.fault", { role: "alert" }), describeLadder(best)];
	weighCheckpoint(fault, best.checkpoint);
	const links = listLadders(app).map((one) => h("a", { href: `/ladder/${one}`, "aria-current": one === key && "page" }, nameLadder(one)));
	const element = h("div.ladders",
		h("div.hero", h("h1", title), h("nav.row", { "aria-label": say("page ladders") }, links)),
		fault, h("p.note", measured), closed && h("p.ladder-closed", closed),
		// Who is among the first stands in the list of the best.
		near[0]?.place > 1 && h("section.card", h("h2", say("page ladder around")), makeRows(app, near)),
		h("section.card", h("h2", say("page ladder best")), best.rows.length ? makeRows(app, best.rows) : h("p.note", say("page ladder nobody"))),
	);
	return { title, element };
}

/** A table in which each row leads to its player. @param {App} app @param {Protocol.LadderRow[]} rows */
function makeRows(app, rows) {
	const low = Math.min(...rows.map(({ rating, deviation }) => rating - 2 * deviation));
	const part = 100 / (Math.max(...rows.map(({ rating, deviation }) => rating + 2 * deviation)) - low || 1);
	const makeLine = (/** @type {Protocol.LadderRow} */ row) => {
		const [[place, name, rating, games, trend], { player, deviation }] = [listCells(row), row];
		const bar = h("span.deviation", { "aria-hidden": "true", "--from": `${part * (row.rating - 2 * deviation - low)}%`, "--wide": `${part * 4 * deviation}%` });
		return h("tr", { class: player === app.connection.welcome?.player && "own" }, h("td", place), h("th", { scope: "row" }, linkTo(app, player, name)), h("td", rating, bar), h("td", games), h("td", trend));
	};
	return h("table.ladder", h("thead", h("tr", nameColumns("ladder").map((one) => h("th", { scope: "col" }, one)))), h("tbody", rows.map(makeLine)));
}

/** @param {App} app @param {string} id */
async function makePlayer(app, id) {
	const { connection } = app;
	const mayMeet = connection.knows("challenges") && id !== connection.welcome?.player;
	const { blocks = [] } = mayMeet ? await connection.request({ type: "block" }) : {};
	// Of whom no ladder tells can be challenged all the same.
	const { profile = { player: id, name: app.names.get(id) ?? "", ladders: [], games: [] } } = await connection.request({ type: "profile", player: id }).catch((error) => {
		if (error instanceof Lost || !mayMeet || !app.names.has(id)) throw error;
		return /** @type {Ok} */ ({});
	});
	const [{ ladders, games }, title, block] = [profile, clean(profile.name), button("", () => setBlocked(app, id, !isBlocked).then(drawBlock))];
	let isBlocked = false;
	drawBlock(blocks.includes(id));
	const head = h("h1", title);
	setEmblem(head, id);
	app.names.set(id, title);
	const challenge = async () => (await import("./terms.js")).askForGame(app, id);
	const element = h("div.ladders",
		h("div.hero", head, mayMeet && h("div.row", button(say("page challenge"), challenge, { class: "primary" }), block)),
		h("p", describeMeetings(profile)),
		h("section.card", h("h2", say("page ladders")), ladders.length ? h("ul.rooms", ladders.map(makeStanding)) : h("p.note", say("page player unrated"))),
		games.length > 0 && h("section.card", h("h2", say("page player games")), h("ul.rooms", games.map((game) => makeGame(game, id)))),
	);
	return { title, element };

	function drawBlock(is = false) {
		isBlocked = is;
		setText(block, say(isBlocked ? "page unblock" : "page block"));
	}
}

/** @param {Protocol.LadderStanding} standing */
function makeStanding(standing) {
	const [[key, ...cells], [, ...columns]] = [listStanding(standing), nameColumns("player")];
	const terms = columns.flatMap((column, at) => (cells[at] ? `${column} ${cells[at]}` : []));
	return h("li", h("span.names", h("a", { href: `/ladder/${key}` }, nameLadder(key))), h("span.note", terms.join(" · ")));
}
