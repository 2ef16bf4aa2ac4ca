/** Ladders, players and challenges in words, as tictactoe_words.ladders. A viewer is the id of whoever reads. */

import { say, sayOr } from "../catalogue.js";
import { describeClock, describeRules } from "../words.js";

const COLUMNS = { ladder: ["place", "player", "rating", "games", "trend"], player: ["rules", "rating", "place", "won", "drawn", "lost"] };

/** Describe a rating with its 95 % error, or with a question mark if it is provisional. */
const describeRating = (rating = 0, deviation = 0, isProvisional = false) => (isProvisional ? `${Math.round(rating)}?` : `${Math.round(rating)} ±${Math.round(2 * deviation)}`);
const signed = (points = 0) => `${points < 0 ? "" : "+"}${points}`;
const nameSomebody = (name = "") => name || say("challenge somebody");

/** Describe how a game changed the players' ratings, the reader's own first. @param {Protocol.Rated} push @param {Record<string, string>} names by the ids */
export function describeRated({ players }, names, viewer = "") {
	const rows = Object.entries(players).sort(([one], [other]) => Number(other === viewer) - Number(one === viewer));
	return rows.map(([id, { before, after, expected, provisional }]) => {
		const points = Math.round(expected * 100);
		const told = say("decimal", { whole: Math.floor(points / 100), hundredths: String(points % 100).padStart(2, "0") });
		const places = { after: `${Math.round(after)}${provisional ? "?" : ""}`, change: signed(Math.round(after) - Math.round(before)), expected: told };
		return id === viewer ? say("rated you", places) : say("rated other", { name: names[id] ?? id, ...places });
	});
}

/** @param {keyof typeof COLUMNS} of */
export const nameColumns = (of) => COLUMNS[of].map((title) => say(`column ${title}`));
/** @param {Protocol.LadderRow} row */
export const listCells = ({ place, name, rating, deviation, games, trend }) =>
	[place ?? "", name, describeRating(rating, deviation, place === null), games, signed(Math.round(trend))].map(String);
/** @param {Protocol.LadderStanding} standing */
export const listStanding = ({ rules, rating, deviation, provisional, place, wins, draws, losses }) =>
	[rules, describeRating(rating, deviation, provisional), place, wins, draws, losses].map((cell) => String(cell ?? ""));

/** @param {Protocol.OpenChallenge} challenge */
export function describeChallenge({ player, name, rules, clock, rated, side }, viewer = "", other = "") {
	const terms = [describeRules(rules), describeClock(clock), rated && say("rated"), side && say("challenge side", { name, mark: side })].filter(Boolean).join(", ");
	return player === viewer ? say("challenge by you", { name: nameSomebody(other), terms }) : say("challenge you", { name, terms });
}

/** @param {Without<Protocol.ChallengeOver, "type">} over @param {Protocol.OpenChallenge} challenge */
export function describeChallengeEnd({ how, room = "" }, { player, name }, viewer = "", other = "") {
	const isOwn = player === viewer;
	const [reader, places] = [isOwn ? "asker" : "asked", { name: isOwn ? nameSomebody(other) : name, room }];
	return sayOr(`challenge ${how} ${reader}`, say(`challenge over ${reader}`, places), places);
}
