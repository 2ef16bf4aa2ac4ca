/** The pages of a ladder and of a player. */

import { say } from "../catalogue.js";
import { button, field, h, setText, submitting } from "../dom.js";
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

/** The page of a ladder or a player, or why there is none. @param {App} app @param {string} kind @param {string} id @param {string} bots by which rules they play whose ladder it is @returns {Promise<Page>} */
export async function openPage(app, kind, id, bots) {
	await Promise.all([prepareLadders(), app.arrive()]);
	if (kind === "ladder" && !id) {
		const keys = listLadders(app);
		id = keys.find((key) => key === app.kept.game) ?? keys[0] ?? "";
		history.replaceState(null, "", `/ladder/${id}${location.search}`);
	}
	try {
		return await (kind === "ladder" ? makeLadder(app, bots || id, !!bots) : makePlayer(app, id));
	} catch (error) {
		return error instanceof Lost ? openPage(app, kind, id, bots) : makeNothing(app, messageOf(error));
	}
}

/** What there is under a path in plain HTTP. @param {string} path */
async function fetchLadder(path) {
	const answer = await fetch(`/api/ladders/${path}`);
	const found = await answer.json();
	if (!answer.ok) throw new Error(found.message);
	return found;
}

/** A ladder as it is now. @param {App} app @param {string} key @returns {Promise<ShownLadder>} */
async function askNow({ connection }, key) {
	/** @param {{around?: string, top?: number}} rows */
	const ask = async (rows) => /** @type {Protocol.LadderState} */ ((await connection.request({ type: "ratings", rules: key, ...rows })).ladder);
	const [best, { rows: near }] = await Promise.all([ask({ top: MOST_LISTED }), ask({ around: connection.welcome?.player })]);
	const [measured, closed] = describeLadder(best);
	return { ...best, near, measured, closed };
}

/** A season of one, or bots, as far as there is such a thing. @param {string} path @returns {Promise<ShownLadder>} */
async function askSeason(path) {
	try {
		/** @type {{games: number, rows: (LadderRow & {error: number})[]}} */
		const { games: n, rows } = await fetchLadder(path);
		return { measured: say("count game", { n }), rows: rows.map((row) => ({ ...row, deviation: row.error / 2 })) };
	} catch (error) {
		return { refused: messageOf(error), rows: [] };
	}
}

/** @param {App} app @param {string} key @param {boolean} isOfBots */
async function makeLadder(app, key, isOfBots) {
	const [days, path] = [new URLSearchParams(location.search), isOfBots ? `bots/${key}` : key];
	const isNow = !isOfBots && !days.get("from") && !days.get("to");
	/** @type {[ShownLadder, {ladders: string[]}]} */
	const [{ rows, near = [], measured, closed, refused, checkpoint }, { ladders: bots }] = await Promise.all([
		isNow ? askNow(app, key) : askSeason(path + location.search),
		fetchLadder("bots").catch(() => ({ ladders: [] })),
	]);
	const fault = h("p.fault", { role: "alert" }, refused);
	weighCheckpoint(fault, checkpoint);
	const title = say(isOfBots ? "page ladder bots" : "page ladder title", { name: nameLadder(key) });
	const lead = (/** @type {string} */ to, /** @type {string} */ name) => h("a", { href: `/ladder/${to}`, "aria-current": to === path && "page" }, name);
	const links = [...listLadders(app).map((one) => lead(one, nameLadder(one))), ...bots.map((one) => lead(`bots/${one}`, say("page ladder bots", { name: nameLadder(one) })))];
	const element = h("div.ladders",
		h("div.hero", h("h1", title), h("nav.row", { "aria-label": say("page ladders") }, links)),
		!isOfBots && makeDays(app, days), fault, measured && h("p.note", measured), closed && h("p.ladder-closed", closed),
		// Who is among the first stands in the list of the best.
		near[0]?.place > 1 && h("section.card", h("h2", say("page ladder around")), makeRows(app, near)),
		(isNow || rows.length > 0) && h("section.card", h("h2", say("page ladder best")), rows.length ? makeRows(app, rows, isOfBots) : h("p.note", say("page ladder nobody"))),
	);
	return { title, element };
}

/** The form in which one chooses a season. @param {App} app @param {URLSearchParams} days */
function makeDays(app, days) {
	const [from, to] = ["from", "to"].map((name) => h("input", { type: "date", name, value: days.get(name) }));
	const choose = () => app.navigate(`${location.pathname}?${new URLSearchParams({ from: from.value, to: to.value })}`);
	return h("form.row", { submit: submitting(choose) }, field(say("page season from"), from), field(say("page season to"), to), h("button", say("page season show")));
}

/** A table in which each row leads to its player, if that is none of bots. @param {App} app @param {LadderRow[]} rows @param {boolean} [isOfBots] */
function makeRows(app, rows, isOfBots) {
	const low = Math.min(...rows.map(({ rating, deviation }) => rating - 2 * deviation));
	const part = 100 / (Math.max(...rows.map(({ rating, deviation }) => rating + 2 * deviation)) - low || 1);
	const makeLine = (/** @type {LadderRow} */ row) => {
		const [[place, name, rating, games, trend], { player, deviation }] = [listCells(row), row];
		const bar = h("span.deviation", { "aria-hidden": "true", "--from": `${part * (row.rating - 2 * deviation - low)}%`, "--wide": `${part * 4 * deviation}%` });
		return h("tr", { class: player === app.connection.welcome?.player && "own" }, h("td", place), h("th", { scope: "row" }, isOfBots ? name : linkTo(app, player, name)), h("td", rating, bar), h("td", games), trend && h("td", trend));
	};
	return h("table.ladder", h("thead", h("tr", nameColumns("ladder").slice(0, listCells(rows[0]).length).map((one) => h("th", { scope: "col" }, one)))), h("tbody", rows.map(makeLine)));
}

/** @param {App} app @param {string} asked the id or a claimed name */
async function makePlayer(app, asked) {
	const { connection } = app;
	const hasChallenges = connection.knows("challenges");
	const { blocks = [] } = hasChallenges ? await connection.request({ type: "block" }) : {};
	// Of whom no ladder tells can be challenged all the same.
	const { profile = { player: asked, name: app.names.get(asked) ?? "", ladders: [], games: [] } } = await connection.request({ type: "profile", player: asked }).catch((error) => {
		if (error instanceof Lost || !hasChallenges || !app.names.has(asked)) throw error;
		return /** @type {Ok} */ ({});
	});
	const [{ player: id, ladders, games }, title] = [profile, clean(profile.name)];
	const [block, mayMeet] = [button("", () => setBlocked(app, id, !isBlocked).then(drawBlock)), hasChallenges && id !== connection.welcome?.player];
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
		games.length > 0 && h("section.card", h("h2", say("page player games", { name: title })), h("ul.rooms", games.map((game) => makeGame(game, id)))),
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
	// How far somebody is from a rating says by itself what it is.
	const terms = columns.flatMap((column, at) => (at || !standing.to_rank ? cells[at] && `${column} ${cells[at]}` : cells[at]) || []);
	return h("li", h("span.names", h("a", { href: `/ladder/${key}` }, nameLadder(key))), h("span.note", terms.join(" · ")));
}
