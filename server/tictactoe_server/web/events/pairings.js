/** Pairings as rows: the players, the score, a link to the board, and the organiser's actions. */

import { say, sayTitle } from "../catalogue.js";
import { button, h, isStale, setText, show, showKeyed } from "../dom.js";
import { describeReason } from "../words.js";
import { describeScore, formatPoints, scoreOf, sidesOf } from "./tournaments.js";

/** @param {Element} list @param {readonly Pairing[]} pairings @param {string} own the player who looks @param {Run | null} run for the organiser @param {Following} [following] that tells how far games are */
export function drawPairings(list, pairings, own, run, showsRound = false, following) {
	showKeyed(list, pairings, ({ id }) => `${id}${!!run}`, (pairing) => {
		const row = h("li", h("span.pairing"));
		const sides = sidesOf(pairing);
		if (!run || sides.length < 2) return row;
		const forfeits = sides.map(([, player, name]) => sure(say("page event forfeit", { name }), () => run("forfeit", { pairing: pairing.id, player })));
		row.append(h("details.deeds-of", h("summary", say("page event decide")), h("div.row", forfeits, sure(say("page event void"), () => run("void", { pairing: pairing.id })))));
		return row;
	}, (row, pairing) => {
		if (isStale(row, JSON.stringify(pairing))) drawRow(row, pairing);
		if (following && pairing.state === "open") setText(row.querySelector(".note"), following.describeGame(pairing));
	});

	/** @param {Element} row @param {Pairing} pairing */
	function drawRow(row, pairing) {
		const { state, room, result, reason, by, round } = pairing;
		const [one, two] = sidesOf(pairing);
		const isOwn = [one, two].some((side) => side?.[1] === own);
		const names = two ? [one, two].map(([mark, , name]) => h(result === mark ? "b.won" : "b", name)) : [h("b", one[2])];
		const score = two && result ? [one, two].map(([mark]) => formatPoints(scoreOf(pairing, mark))).join(" : ") : describeScore(pairing);
		const note = by === "game" ? reason && describeReason(reason) : (by === "forfeit" || by === "organiser") && say(`tournament by ${by}`);
		const link = state === "open" && room && h("a.go", { href: isOwn ? `/${room}` : `/${room}#watch` }, isOwn ? say("page event board") : sayTitle("key watch"));
		row.classList.toggle("own", isOwn && !showsRound);
		show(/** @type {Element} */ (row.firstElementChild),
			h("span.sides", names[0], two && " – ", names[1], showsRound && h("small", say("tournament now", { round }))),
			link || h("span.result", score),
			h("span.note", note),
		);
	}
}

/** A button for a final action, which asks for confirmation. @param {() => unknown} does @param {Attributes} [attributes] */
export function sure(label = "", does, attributes = {}) {
	const question = say("page event sure", { deed: String(attributes["aria-label"] ?? label) });
	return button(label, () => confirm(question) && does(), attributes);
}
