/** What the page of a game shows, as tictactoe_words/scene.py says it, of a live room or a stored game; no element in it. */

import { say, sayTitle } from "./catalogue.js";
import { describeDeed, findDeed, isServerBot } from "./choices.js";
import { boardAfter, nameCell, nextMark, placerOf } from "./rules.js";
import { describeCause, describeChoicesAt, describeTakeBack, describeVerdict } from "./telling.js";
import { describeCell, describeClock, describeLevel, describeManners, describeRules, describeTurn, describeUnanswered, endFor, formatDuration, joinWords, nameGame, nameMark, nameOf, namePlayers, ownerOf, seatOf } from "./words.js";

/** The actions that are buttons under the board; the others are answers, or done elsewhere. */
const BUTTONS = /^(draw offer|undo offer|resign|rematch ask|challenge|new .*|computer|review|leave)$/;
/** @type {Moves} */
const NO_LINE = [];

/** @param {ShownGame} game @param {State} state @param {readonly Deed[]} may @param {View} view */
export function sceneOf(game, state, may, view) {
	const isBack = view.here !== null && view.here < state.moves.length;
	const moment = { game, state, may, view, isBack };
	const turn = turnOf(moment);
	const { viewer } = game;
	const [players, name] = [namePlayers(state), nameGame(state.rules)];
	const said = state.status === "over" ? describeVerdict(state, viewer) : game.ended ? bannerOf(moment) : describeTurn(state, viewer);
	return {
		state,
		isBack,
		head: state.status === "waiting" ? name : `${players} · ${name}`,
		terms: termsOf(moment),
		title: turn.kind === "mine" && viewer ? say("scene title yours", { players }) : say("scene title", { said, players }),
		board: boardOf(moment, turn.kind === "mine"),
		isLost: endFor(state, viewer) === "lose",
		isFaint: game.isLive && (view.isOffline || !!game.ended),
		banner: bannerOf(moment),
		turn,
		players: playersOf(moment),
		card: cardOf(moment),
		deeds: deedsAt(moment),
		questions: questionsOf(moment),
	};
}

/** @param {Moment} moment */
function termsOf({ game: { isLive, seat }, state }) {
	const terms = [describeRules(state.rules)];
	if (state.event) terms.push(say("record event", { name: state.event }));
	if (!isLive) return terms;
	const manners = describeManners(state);
	if (state.rated) terms.unshift(...manners.splice(0, 1)); // first, as the rest is cut on a telephone
	terms.push(describeClock(state.time_control), ...manners);
	const owners = new Set(Object.values(state.seats).map((one) => one && ownerOf(one.player)));
	if (state.visibility === "private" && owners.size > 1) terms.push(say("form private")); // nobody else is invited to one keyboard
	if (state.game > 1) terms.push(say("record game", { n: state.game }));
	if (!seat) terms.push(say("head watching"));
	if (state.watchers) terms.push(say("count watcher", { n: state.watchers }));
	return terms;
}

/** @param {Moment} moment */
function boardOf({ game, state, view, isBack }, isMine = false) {
	const { pending } = game;
	const { moves } = state;
	const here = view.here ?? moves.length;
	return {
		board: isBack ? boardAfter(state.rules, state.board, moves.slice(0, here)) : state.board,
		last: isBack ? (moves[here - 1] ?? null) : state.last,
		line: (!isBack && state.result?.line) || NO_LINE,
		isWon: endFor(state, game.viewer) === "win",
		turn: nextMark(state),
		isMine: isMine && nextMark(state) !== null,
		pending: isBack ? null : (pending?.cell ?? null),
		values: view.values ?? null,
	};
}

/** @param {Moment} moment */
function bannerOf({ game: { ended, closedReason = "" }, state, view: { trouble = "", unanswered } }) {
	if (ended === "replaced") return say(state.event ? "taken over by card" : "taken over");
	const reason = closedReason.replace(/\.$/, "");
	return ended ? (ended === "closed" ? say("room closed", { room: state.room, reason }) : reason) : trouble || describeUnanswered(state.room, unanswered);
}

/** The line under the board, at the end with why it ended; in an opening with the mark that is placed next. @param {Moment} moment */
function turnOf(moment) {
	const { game, state, view, isBack } = moment;
	const { plays, seat, pending, ended } = game;
	const isMine = plays && state.turn === seat && !pending && !ended && !isBack;
	const isNow = !isBack && !view.typed && !pending;
	const kind = isMine ? "mine" : isNow && state.status === "over" ? "over" : "";
	const why = kind === "over" ? describeCause(state, game.viewer) : "";
	return { text: describeMoment(moment), why, kind, places: (isNow && state.opening?.places) || "" };
}

/** @param {Moment} moment */
function describeMoment({ game: { pending, viewer, ended }, state, view: { typed, here }, isBack }) {
	if (typed) return say("scene typed", { text: typed });
	if (pending) return say("scene on its way", { cell: nameCell(pending.cell, state.rules) });
	if (isBack) return here ? describeMove(state, here, viewer) : say("the start");
	if (state.status === "over") return describeVerdict(state, viewer);
	return ended ? "" : describeTurn(state, viewer); // the banner says where the game goes on
}

/** @param {State} state */
function describeMove(state, ply = 0, viewer = "") {
	const cell = state.moves[ply - 1];
	const mark = state.board[cell];
	const placer = placerOf(state, ply - 1);
	const name = nameOf(state, placer || mark);
	const places = { n: ply, all: state.ply, name, mark: nameMark(state, mark), cell: describeCell(cell, state.rules) };
	return [say(placer ? "move of, placing" : "move of", places), describeChoicesAt(state, ply, viewer)].join(" ").trim();
}

/** @param {Moment} moment */
function playersOf({ game: { viewer, isLive }, state, view: { passed } }) {
	return [...state.rules.marks].map((mark) => {
		const seat = state.seats[mark];
		const [runs, left] = [state.clock?.running === mark, state.clock?.remaining_ms[mark] ?? null];
		const hasScore = !!seat && isLive && (state.game > 1 || state.status === "over");
		return {
			mark,
			name: seat?.name ?? say("player free"),
			note: seat ? noteOf(state, mark, seat, passed) : "",
			clock_ms: runs && left !== null ? Math.max(0, Math.round(left - passed)) : left,
			moves: state.turn === mark,
			is_own: !!viewer && seat?.player === viewer,
			is_away: !seat?.online,
			has_won: state.result?.winner === mark,
			player: isServerBot(seat) ? "" : (seat?.player ?? ""),
			score: hasScore ? (state.score[seat.player] ?? 0) : null,
		};
	});
}

/** @param {State} state @param {string} mark @param {SeatState} seat */
function noteOf(state, mark, { left, out, online, hold_ms, bot }, passed = 0) {
	if (left || out) return say(left ? "player gone" : "player out");
	const due = state.turn === mark ? firstMoveOf(state, passed) : null;
	if (!online && !(state.event && due !== null)) {
		if (state.status !== "playing" || hold_ms === undefined) return say("player absent");
		const time = Math.round(hold_ms - passed);
		return time > 0 ? say("player held until", { time: formatDuration(time) }) : say("player gone too long");
	}
	if (due !== null) return say("player first move", { time: formatDuration(due) });
	return bot ? say("player computer", { level: describeLevel(bot) }) : "";
}

/** How long there still is for a first move, null where none is due; outside events it waits while a seat is held. @param {State} state */
function firstMoveOf({ clock, seats, turn, event }, passed = 0) {
	const seat = seats[turn ?? ""];
	if (clock?.start_ms === undefined || !seat) return null;
	return !event && (seat.hold_ms ?? 0) > passed ? clock.start_ms : Math.max(0, Math.round(clock.start_ms - passed));
}

/** @param {Moment} moment */
function cardOf({ game: { isLive, seat, ended }, state, view: { onlyWatches } }) {
	if (state.status !== "waiting" || ended || !isLive) return "";
	const isFree = Object.values(state.seats).includes(null);
	return seat ? "invitation" : isFree && !onlyWatches ? "door" : "empty";
}

/** @param {Moment} moment */
function deedsAt({ game: { isLive, ended, seat: own, viewer }, state, may, view }) {
	const seat = isLive && own;
	const hasMenu = isLive && !ended && state.status === "over" && !view.isReviewing && !!(own || seatOf(state, viewer));
	const home = { name: "home", label: say("key to home"), is_more: hasMenu };
	const event = { name: "event", label: say("page event to"), is_main: true };
	if (ended && state.event) return [event, home]; // the event goes on, or by a card another has the seat
	if (ended) return ended === "replaced" ? [{ name: "back", label: say("scene take back") }, home] : [home];
	/** @type {Answer[]} */
	const made = may.filter(({ name }) => BUTTONS.test(name)).flatMap((deed) => {
		const { name } = deed;
		const isReview = name === "review";
		const isApart = state.event && /^(new|computer)/.test(name);
		const isAside = name === "leave" && (view.isReviewing || !seat);
		if ((!isLive && !isReview) || isApart || isAside || (isReview && state.status === "waiting")) return [];
		const label = isReview && view.isReviewing ? say("scene review off") : describeDeed(deed, state);
		const is_main = ["rematch ask", "challenge", "computer"].includes(name);
		return [{ name, label, is_main, is_more: hasMenu && !is_main }];
	});
	if (view.mayNotify && state.status === "playing" && seat) made.push({ name: "notify", label: say("page notify title") });
	if (state.event && (state.status === "over" || !seat)) made.unshift(event);
	if (view.maySharePast || (isLive && state.status !== "waiting" && !view.isReviewing && findDeed(may, "copy"))) made.push({ name: "share", label: sayTitle("key share"), is_more: hasMenu });
	return seat ? made : [...made, home];
}

/** @param {readonly string[]} marks @param {State} state */
function describeQuestion(id = "", marks, state) {
	const [mark] = marks;
	if (id === "choose") {
		const names = nameOf(state, state.rules.marks.replace(mark, ""));
		return say(`waits choose ${state.rules.opening}${state.chosen?.length ? " again" : ""}`, { names, mark: nameMark(state, mark) });
	}
	const names = joinWords(marks.map((one) => nameOf(state, one)));
	return say(`waits ${id}`, { name: names, names, n: marks.length, moves: id.endsWith("undo") ? describeTakeBack(state, mark) : "" });
}

/** @param {Moment} moment */
function questionsOf({ game: { ended, seat: own, viewer }, state, may, view }) {
	/** @type {Asked[]} */
	const asked = [];
	if (ended || view.isOffline) return asked;
	const { seats, offers } = state;
	/** @type {(id: string, marks: readonly string[], ...names: string[]) => unknown} */
	const add = (id, marks, ...names) => {
		const answers = may.filter(({ name }) => names.includes(name)).map((deed, index) => ({ name: deed.name, label: describeDeed(deed, state), is_main: !index && id !== "choose" }));
		asked.push({ id, text: describeQuestion(id, marks, state), answers });
	};
	if (own && findDeed(may, "choose")) add("choose", [own], "choose swap", "choose stay", "choose more");
	for (const kind of /** @type {const} */ (["draw", "undo"])) {
		const by = offers[kind];
		if (by && findDeed(may, `${kind} accept`)) add(kind, [by], `${kind} accept`, `${kind} decline`);
		else if (by && by === own && viewer) add(`own ${kind}`, [by], `${kind} withdraw`);
	}
	const { rematch = [] } = offers;
	const left = Object.keys(seats).filter((mark) => seats[mark]?.left);
	if (own && left.length && state.status === "over") add("deserted", left);
	else if (own && rematch.includes(own) && viewer) add("own rematch", [own]);
	else if (findDeed(may, "rematch accept")) add("rematch", rematch, "rematch accept");
	const gone = Object.keys(seats).filter((mark) => mark !== own && !seats[mark]?.out && (seats[mark]?.hold_ms ?? Infinity) <= view.passed);
	if (findDeed(may, "claim")) add("claim", gone, "claim win", "claim draw");
	return asked;
}

/** @param {PlayedGame} played */
export function showPlayed({ game_id: _, players, passed = [], ...played }, viewer = "") {
	const out = passed.map(([, mark]) => mark);
	const seats = Object.entries(players).map(([mark, { player, name }]) => [mark, { player, name, online: true, bot: null, out: out.includes(mark), left: false }]);
	/** @type {State} */
	const state = {
		...played, type: "room", seq: 0, status: "over", visibility: "private", ply: played.moves.length, turn: null, last: played.moves.at(-1) ?? null,
		seats: Object.fromEntries(seats), offers: {}, clock: null, watchers: 0, score: {},
	};
	return watched(state, viewer, false);
}

/** @param {State} state */
export const watched = (state, viewer = "", isLive = false) =>
	({ code: state.room, state, viewer, seat: null, plays: false, receivedAt: performance.now(), pending: null, ended: /** @type {const} */ (""), isLive });
