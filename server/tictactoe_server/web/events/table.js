/** The tables of an event: the standings with their tie-break sums, the cross-table, and the bracket of a knock-out. */

import { say, sayTitle } from "../catalogue.js";
import { h, isStale, setText, show, showKeyed } from "../dom.js";
import { describeTie, formatPoints, namePresence, nameTie, scoreOf, wonOf } from "./tournaments.js";

const COLUMNS = [["rank", "column place"], ["name", "column player"], ["points", ""], ["played", "column games"], ["ties", "page event ties"]];

export function makeStandings() {
	const body = h("tbody");
	const head = h("th.points", { scope: "col" });
	const element = h("table.standings", { "aria-label": say("page event table") },
		h("thead", h("tr", COLUMNS.map(([name, id]) => (id ? h(`th.${name}`, { scope: "col" }, say(id)) : head)))),
		body,
	);
	return { element, draw };

	/** @param {Following} following @param {(row: EventRow) => Element | false} [deedsOf] */
	function draw(following, deedsOf) {
		const { rows, player: own } = following;
		element.classList.toggle("fresh", rows.every(({ played, points }) => !played && !points));
		// A knock-out counts the matches won: their scores are in its bracket.
		const isKnockOut = rows.some(({ tie }) => tie[0]?.[0] === "matches");
		element.classList.toggle("untied", isKnockOut || rows.every(({ tie }) => !tie.length));
		setText(head, say(isKnockOut ? "tournament tie matches" : "column points"));
		showKeyed(body, rows, ({ player }) => player, () => {
			const ties = h("td.ties", h("details", h("summary"), h("dl")));
			return h("tr", h("td.rank"), h("th.name", { scope: "row" }), h("td.points"), h("td.played"), ties);
		}, (line, row) => {
			const [away, { bot, status = "in" }] = [following.timeAway(row.player), row];
			line.className = `place-${row.place} ${away ? "gone" : status}${row.player === own ? " own" : ""}`;
			const [place, name, points, played, ties] = line.children;
			setText(place, String(row.place));
			if (isStale(name, `${row.name}${status}${!!deedsOf}`)) show(name, h("span", row.name), h("small.badge"), deedsOf?.(row));
			setText(name.children[1], bot ? say("tournament is bot") : status !== "in" ? namePresence(status) : away && say("tournament gone", { time: away }));
			setText(points, formatPoints(wonOf(row)));
			setText(played, String(row.played));
			const details = ties.firstElementChild;
			details.hidden = !row.tie.length;
			if (!isStale(details, JSON.stringify(row.tie))) return;
			setText(details.firstElementChild, row.tie.map(([, value]) => formatPoints(value)).join(" · "));
			show(details.lastElementChild, row.tie.map((one) => h("div", h("dt", nameTie(one[0])), h("dd", describeTie(one)))));
		});
	}
}

/** @param {Pairing[]} pairings */
export function crossScores(pairings) {
	/** @type {Map<string, string[]>} */
	const scores = new Map();
	for (const pairing of pairings) {
		const [[one, a], [two, b] = ["", ""]] = Object.entries(pairing.players);
		if (pairing.state !== "scored" || !b || !pairing.result) continue;
		for (const [mark, key] of [[one, `${a} ${b}`], [two, `${b} ${a}`]]) scores.set(key, [...(scores.get(key) ?? []), formatPoints(scoreOf(pairing, mark))]);
	}
	return scores;
}

/** @param {EventState} state */
export function makeCrossTable({ table, pairings }, own = "") {
	const scores = crossScores(pairings);
	const rows = table.map(({ player, name, points }, at) => h(player === own ? "tr.own" : "tr",
		h("td", String(at + 1)),
		h("th.name", { scope: "row" }, name),
		table.map((other) => h(other.player === player ? "td.self" : "td", {}, (scores.get(`${player} ${other.player}`) ?? []).join(" "))),
		h("td.points", formatPoints(points)),
	));
	const heads = ["", sayTitle("column player"), ...table.map((_, at) => String(at + 1)), say("column points")];
	return h("div.scrolls", { tabindex: 0, role: "region", "aria-label": say("page event cross") },
		h("table.standings.against", h("thead", h("tr", heads.map((head, at) => (head ? h(at === 1 ? "th.name" : "th", { scope: "col" }, head) : h("td"))))), h("tbody", rows)),
	);
}

const ROUNDS = ["final", "semifinals", "quarterfinals"];

/** Return the name of the round that leaves this many players of all. */
export const nameRound = (left = 0, all = 0) => ROUNDS[left] ? say(`tournament ${ROUNDS[left]}`) : say("tournament now", { round: all - left });

/** @param {EventMatch[][]} rounds @param {string} own the player who looks */
export const makeBracket = (rounds, own, most = rounds.length) =>
	h("ol.bracket", { "aria-label": say("tournament bracket") }, rounds.slice(-most).map((matches, at, { length }) => {
		const name = nameRound(length - 1 - at, rounds.length);
		return h("li", h("h3", name), h("ol", matches.map(({ players, names, points = [], goes_on: winner, by }) => {
			const sides = players.map((player, side) =>
				h("p", { class: `${player && player === winner ? "won" : ""} ${player && player === own ? "own" : ""}` },
					fit(names[side] ?? "–"), h("b", players[1] && points[side] !== undefined && formatPoints(points[side]))));
			const why = by === "draw" && h("p.why", `${points.map(formatPoints).join(":")}, ${say("tournament by draw")}`);
			return h("li.match", sides, players.length < 2 && h("p", say("tournament bye")), why);
		})));
	}));

/** A name that shrinks if it is too long for its place. */
export const fit = (name = "") => h("div.fit", h("span", { "--length": name.length }, name));
