/** What the page of a game shows: worked out of the game, of what may be done and of what one looks at; no element in it. */

import { say } from "./catalogue.js";
import { describeQuestion, findDeed } from "./choices.js";
import { nextMark, placerOf } from "./opening.js";
import { boardAfter, nameCell } from "./rules.js";
import { describeChoicesAt, describeResult, describeVerdict } from "./telling.js";
import * as words from "./words.js";

/** @typedef {Protocol.RoomState} State */

/**
 * A game as it is shown: that of a live room, or one that was kept. `pending` is a move that is on its way.
 * @typedef {object} ShownGame
 * @property {string} code @property {State | null} state @property {readonly number[]} moves @property {string} viewer
 * @property {string | null} seat @property {boolean} plays @property {number} receivedAt
 * @property {{cell: number, ply: number} | null} pending
 * @property {"" | "left" | "closed" | "moved" | "replaced"} ended @property {boolean} isLive
 */

/**
 * What one looks at and has begun: `here` is how many moves are looked at, null for the newest moment, and `confirming`
 * the name of a deed that one is asked about before it is done.
 * @typedef {object} View
 * @property {number | null} here @property {string} typed @property {string} confirming
 * @property {boolean} isOffline whether nothing reaches the server @property {boolean} onlyWatches
 * @property {import("./worth.js").Worths | null} values @property {boolean} isReviewing
 * @property {boolean} maySharePast whether a game that was kept is one's own
 * @property {boolean} mayReview whether the server says what positions are worth
 * @property {boolean} mayNotify whether one can be asked to allow notifications
 */

/** A button, by the name of what it does. @typedef {{name: string, label: string, isMain?: boolean}} Answer */
/** What waits for an answer. @typedef {{id: string, text: string, answers: Answer[]}} Asked */

/** Deeds that stand as buttons under the board; the others are answers, or done at the board or in the talk. */
const BUTTONS = ["draw offer", "undo offer", "resign", "rematch ask", "new", "computer", "review", "share", "copy", "leave"];
/** Of these, what has time until a review is closed. */
const ASIDE = ["share", "copy", "leave"];
/** Of a game that was kept. */
const PAST_BUTTONS = ["review"];
/** @type {readonly number[]} */
const NO_LINE = [];

/** @param {ShownGame} game @param {View} view */
const isLookingBack = ({ moves }, { here }) => here !== null && here < moves.length;

/** Whether the viewer is to make a move at the board as it is shown. @param {ShownGame} game @param {View} view */
function isToMove(game, view) {
	const { plays, state, seat, pending, ended } = game;
	return plays && state?.turn === seat && !pending && !ended && !isLookingBack(game, view);
}

/** @param {ShownGame} game @param {State} state @param {Choices} may @param {View} view */
export function sceneOf(game, state, may, view) {
	const isMine = isToMove(game, view);
	const isBack = isLookingBack(game, view);
	return {
		state,
		isMine,
		isBack,
		head: headOf(state),
		terms: termsOf(game, state),
		title: titleOf(game, state, isMine),
		board: boardOf(game, state, view, isMine),
		isLost: words.endFor(state, game.viewer) === "lose",
		isFaint: game.isLive && (view.isOffline || !!game.ended),
		turn: turnOf(game, state, view, isMine),
		card: cardOf(game, state, view),
		deeds: deedsOf(game, state, may, view),
		questions: questionsOf(game, state, may, view),
	};
}

/** @param {State} state */
function headOf(state) {
	if (state.status === "waiting") return words.nameGame(state.rules);
	return say("view room head", { players: words.namePlayers(state), game: words.nameGame(state.rules) });
}

/** What is agreed about the game, and how many look on. @param {ShownGame} game @param {State} state */
function termsOf({ isLive, seat }, state) {
	const terms = [words.describeRules(state.rules)];
	if (state.event) terms.push(say("record event", { name: words.clean(state.event) }));
	if (!isLive) return terms;
	terms.push(words.describeClock(state.time_control), ...words.describeManners(state));
	if (state.visibility === "private") terms.push(say("form private"));
	if (state.game > 1) terms.push(say("record game", { n: state.game }));
	if (!seat) terms.push(say("view room watching"));
	if (state.watchers) terms.push(say("head watchers", { n: state.watchers }));
	return terms;
}

/** @param {ShownGame} game @param {State} state @param {boolean} isMine */
function titleOf({ viewer }, state, isMine) {
	const players = words.namePlayers(state);
	if (isMine && viewer) return say("view room title yours", { players });
	const said = state.status === "over" ? describeVerdict(state, viewer) : words.describeTurn(state, viewer);
	return say("view room title", { said, players });
}

/** @param {ShownGame} game @param {State} state @param {View} view @param {boolean} isMine @returns {import("./board.js").BoardView} */
function boardOf(game, state, view, isMine) {
	const { moves, pending } = game;
	const here = view.here ?? moves.length;
	const isBack = isLookingBack(game, view);
	return {
		board: isBack ? boardAfter(state.rules, state.board, moves.slice(0, here)) : state.board,
		last: isBack ? (moves[here - 1] ?? null) : state.last,
		line: (!isBack && state.result?.line) || NO_LINE,
		isWon: words.endFor(state, game.viewer) === "win",
		turn: nextMark(state),
		isMine: isMine && nextMark(state) !== null,
		pending: isBack ? null : (pending?.cell ?? null),
		values: view.values,
	};
}

/** The line under the board, and in an opening the mark that is placed next. @param {ShownGame} game @param {State} state @param {View} view @param {boolean} isMine */
function turnOf(game, state, view, isMine) {
	const isNow = !isLookingBack(game, view) && !view.typed && !game.pending;
	const kind = isMine ? "mine" : isNow && state.status === "over" ? "over" : "";
	return { text: describeMoment(game, state, view, isMine), kind, places: (isNow && state.opening?.places) || "" };
}

/** @param {ShownGame} game @param {State} state @param {View} view @param {boolean} isMine */
function describeMoment(game, state, view, isMine) {
	const { pending, viewer, moves } = game;
	if (view.typed) return say("view room typed", { text: view.typed });
	if (pending) return say("view room on its way", { cell: nameCell(pending.cell, state.rules) });
	if (isLookingBack(game, view)) return view.here ? describeMove(state, moves, view.here, viewer) : say("the start");
	if (isMine && viewer && !state.opening) return say("view room your move", { mark: state.turn ?? "" });
	return state.status === "over" ? describeResult(state, viewer) : words.describeTurn(state, viewer);
}

/** @param {State} state @param {readonly number[]} moves @param {number} ply @param {string} viewer */
function describeMove(state, moves, ply, viewer) {
	const cell = moves[ply - 1];
	const mark = state.board[cell];
	const placer = placerOf(state, ply - 1);
	const places = { n: ply, all: state.ply, name: words.nameOf(state, placer || mark), mark, cell: words.describeCell(cell, state.rules) };
	return [say(placer ? "move of, placing" : "move of", places), describeChoicesAt(state, ply, viewer)].join(" ").trim();
}

/** What stands in the board's place while somebody is missing. @param {ShownGame} game @param {State} state @param {View} view */
function cardOf({ isLive, seat, ended }, state, { onlyWatches }) {
	if (state.status !== "waiting" || ended || !isLive) return "";
	const isFree = Object.values(state.seats).includes(null);
	return seat ? "invitation" : isFree && !onlyWatches ? "door" : "empty";
}

/** @param {ShownGame} game @param {State} state @param {Choices} may @param {View} view @returns {Answer[]} */
function deedsOf({ isLive, ended, seat }, state, may, view) {
	const home = { name: "home", label: say("key to home") };
	const event = { name: "event", label: say("page event to"), isMain: true };
	// By a card another has the seat.
	if (ended === "replaced") return [state.event ? event : { name: "back", label: say("view room take back") }, home];
	if (ended) return [home];
	const wanted = isLive ? BUTTONS : PAST_BUTTONS;
	/** @type {Answer[]} */
	const made = may.deeds.flatMap(({ id, name, label }) => {
		if (!wanted.includes(name) && !wanted.includes(id)) return [];
		if (state.event && (id === "new" || id === "computer")) return [];
		if (id === "review" && (!view.mayReview || state.status === "waiting")) return [];
		if (view.isReviewing && ASIDE.includes(id)) return [];
		if ((id === "leave" && !seat) || (id === "copy" && state.status !== "playing")) return [];
		const isShown = name === "review" && view.isReviewing;
		const told = isShown ? "view room review off" : name === "rematch ask" ? "view room again" : label;
		return [{ name, label: say(told), isMain: name === "rematch ask" || name === "computer" }];
	});
	if (view.mayNotify && state.status === "playing" && seat) made.push({ name: "notify", label: say("view signal ask") });
	if (state.event && (state.status === "over" || !seat)) made.unshift(event);
	if (view.maySharePast) made.push({ name: "share", label: say("deed share") });
	return seat && state.status !== "waiting" ? made : [...made, home];
}

/** @param {ShownGame} game @param {State} state @param {Choices} may @param {View} view @returns {Asked[]} */
export function questionsOf({ ended, moves }, state, may, view) {
	if (ended || view.isOffline) return [];
	const deed = findDeed(may, view.confirming);
	const confirm = deed?.cost && {
		id: "confirm",
		text: say(deed.cost === "abort" ? "view room confirm abort" : "view room confirm"),
		answers: [{ name: "confirm", label: say(deed.cost === "abort" ? "deed abort" : deed.label), isMain: true }, { name: "play on", label: say("key play on") }],
	};
	const asked = may.questions.map((question) => {
		const answers = question.deeds.map(({ id, name, label }, index) => ({ name, label: say(label), isMain: !index && id !== "choose" }));
		return { id: question.id, text: describeQuestion(question, state, moves), answers };
	});
	return confirm ? [confirm, ...asked] : asked;
}
