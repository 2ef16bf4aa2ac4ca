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
	const { viewer, isLive, ended, pending, seat: own } = game;
	const { rules, status, seats, moves, event } = state;
	const here = view.here ?? moves.length;
	const isBack = here < moves.length;
	const isOver = status === "over";
	const turn = describeLine();
	const banner = describeBanner();
	const [players, name] = [namePlayers(state), nameGame(rules)];
	const said = isOver ? describeVerdict(state, viewer) : ended ? banner : describeTurn(state, viewer);
	return {
		state,
		isBack,
		head: status === "waiting" ? name : `${players} · ${name}`,
		terms: listTerms(),
		title: turn.kind === "mine" && viewer ? say("scene title yours", { players }) : say("scene title", { said, players }),
		board: {
			board: isBack ? boardAfter(rules, state.board, moves.slice(0, here)) : state.board,
			last: isBack ? (moves[here - 1] ?? null) : state.last,
			line: (!isBack && state.result?.line) || NO_LINE,
			isWon: endFor(state, viewer) === "win",
			turn: nextMark(state),
			isMine: turn.kind === "mine" && nextMark(state) !== null,
			pending: isBack ? null : (pending?.cell ?? null),
			values: view.values ?? null,
		},
		isLost: endFor(state, viewer) === "lose",
		isFaint: isLive && (view.isOffline || !!ended),
		banner,
		turn,
		players: [...rules.marks].map(describePlayer),
		card: chooseCard(),
		deeds: listDeeds(),
		questions: listQuestions(),
	};

	function listTerms() {
		const terms = [describeRules(rules)];
		if (event) terms.push(say("record event", { name: event }));
		if (!isLive) return terms;
		const manners = describeManners(state);
		if (state.rated) terms.unshift(...manners.splice(0, 1)); // first, as the rest is cut on a telephone
		terms.push(describeClock(state.time_control), ...manners);
		const owners = new Set(Object.values(seats).map((one) => one && ownerOf(one.player)));
		if (state.visibility === "private" && owners.size > 1) terms.push(say("form private")); // nobody else is invited to one keyboard
		if (state.game > 1) terms.push(say("record game", { n: state.game }));
		if (!own) terms.push(say("head watching"));
		if (state.watchers) terms.push(say("count watcher", { n: state.watchers }));
		return terms;
	}

	function describeBanner() {
		if (ended === "card") return say("taken over by card");
		if (ended === "replaced") return say("taken over");
		const reason = (game.closedReason ?? "").replace(/\.$/, "");
		if (ended) return ended === "closed" ? say("room closed", { room: state.room, reason }) : reason;
		return view.trouble || describeUnanswered(state.room, view.unanswered);
	}

	function describeLine() {
		const isMine = game.plays && state.turn === own && !pending && !ended && !isBack;
		const isNow = !isBack && !view.typed && !pending;
		const kind = isMine ? "mine" : isNow && isOver ? "over" : "";
		const why = kind === "over" ? describeCause(state, viewer) : "";
		return { text: describeMoment(), why, kind, places: (isNow && state.opening?.places) || "" };
	}

	function describeMoment() {
		if (view.typed) return say("scene typed", { text: view.typed });
		if (pending) return say("scene on its way", { cell: nameCell(pending.cell, rules) });
		if (isBack) return here ? describeMove() : say("the start");
		if (isOver) return describeVerdict(state, viewer);
		return ended ? "" : describeTurn(state, viewer); // the banner says where the game goes on
	}

	function describeMove() {
		const cell = moves[here - 1];
		const mark = state.board[cell];
		const placer = placerOf(state, here - 1);
		const places = { n: here, all: state.ply, name: nameOf(state, placer || mark), mark: nameMark(state, mark), cell: describeCell(cell, rules) };
		return [say(placer ? "move of, placing" : "move of", places), describeChoicesAt(state, here, viewer)].join(" ").trim();
	}

	function describePlayer(mark = "") {
		const seat = seats[mark];
		const [runs, left] = [state.clock?.running === mark, state.clock?.remaining_ms[mark] ?? null];
		const hasScore = !!seat && isLive && (state.game > 1 || isOver);
		return {
			mark,
			name: seat?.name ?? say("player free"),
			note: seat ? describeSeat(mark, seat) : "",
			clock_ms: runs && left !== null ? Math.max(0, Math.round(left - view.passed)) : left,
			moves: state.turn === mark,
			is_own: !!viewer && seat?.player === viewer,
			is_away: !seat?.online,
			has_won: state.result?.winner === mark,
			player: isServerBot(seat) ? "" : (seat?.player ?? ""),
			score: hasScore ? (state.score[seat.player] ?? 0) : null,
		};
	}

	/** @param {string} mark @param {SeatState} seat */
	function describeSeat(mark, { left, out, online, hold_ms, bot }) {
		if (left || out) return say(left ? "player gone" : "player out");
		const due = state.turn === mark ? firstMoveIn() : null;
		if (!online && !(event && due !== null)) {
			if (status !== "playing" || hold_ms === undefined) return say("player absent");
			const time = Math.round(hold_ms - view.passed);
			return time > 0 ? say("player held until", { time: formatDuration(time) }) : say("player gone too long");
		}
		if (due !== null) return say("player first move", { time: formatDuration(due) });
		return bot ? say("player computer", { level: describeLevel(bot) }) : "";
	}

	/** Return the ms left for a first move, or null; outside events, they wait while a seat is held. */
	function firstMoveIn() {
		const [start_ms, seat] = [state.clock?.start_ms, seats[state.turn ?? ""]];
		if (start_ms === undefined || !seat) return null;
		return !event && (seat.hold_ms ?? 0) > view.passed ? start_ms : Math.max(0, Math.round(start_ms - view.passed));
	}

	function chooseCard() {
		if (status !== "waiting" || ended || !isLive) return "";
		const isFree = Object.values(seats).includes(null);
		return own ? "invitation" : isFree && !view.onlyWatches ? "door" : "empty";
	}

	function listDeeds() {
		const seat = isLive && own;
		const hasMenu = isLive && !ended && isOver && !view.isReviewing && !!(own || seatOf(state, viewer));
		const home = { name: "home", label: say("key to home"), is_more: hasMenu };
		const toEvent = { name: "event", label: say("page event to"), is_main: true };
		const back = { name: "back", label: say("scene take back") };
		if (ended) return [...(ended === "replaced" ? [back] : []), ...(event ? [toEvent] : []), home];
		/** @type {Answer[]} */
		const made = may.filter((deed) => BUTTONS.test(deed.name)).flatMap((deed) => {
			const isReview = deed.name === "review";
			const isApart = event && /^(new|computer)/.test(deed.name);
			const isAside = deed.name === "leave" && (view.isReviewing || !seat);
			if ((!isLive && !isReview) || isApart || isAside || (isReview && status === "waiting")) return [];
			const label = isReview && view.isReviewing ? say("scene review off") : describeDeed(deed, state);
			const is_main = ["rematch ask", "challenge", "computer"].includes(deed.name);
			return [{ name: deed.name, label, is_main, is_more: hasMenu && !is_main }];
		});
		if (view.mayNotify && status === "playing" && seat) made.push({ name: "notify", label: say("page notify title") });
		if (event && (isOver || !seat)) made.unshift(toEvent);
		if (view.maySharePast || (isLive && status !== "waiting" && !view.isReviewing && findDeed(may, "copy"))) made.push({ name: "share", label: sayTitle("key share"), is_more: hasMenu });
		return seat ? made : [...made, home];
	}

	function listQuestions() {
		/** @type {Asked[]} */
		const asked = [];
		if (ended || view.isOffline) return asked;
		/** @type {(id: string, marks: readonly string[], ...deeds: string[]) => unknown} */
		const add = (id, marks, ...deeds) => {
			const [mark] = marks;
			const isChoice = id === "choose";
			const answers = may.filter((deed) => deeds.includes(deed.name)).map((deed, index) => ({ name: deed.name, label: describeDeed(deed, state), is_main: !index && !isChoice }));
			const names = isChoice ? nameOf(state, rules.marks.replace(mark, "")) : joinWords(marks.map((one) => nameOf(state, one)));
			const sentence = isChoice ? `choose ${rules.opening}${state.chosen?.length ? " again" : ""}` : id;
			const places = { name: names, names, n: marks.length, mark: nameMark(state, mark), moves: id.endsWith("undo") ? describeTakeBack(state, mark) : "" };
			asked.push({ id, text: say(`waits ${sentence}`, places), answers });
		};
		if (own && findDeed(may, "choose")) add("choose", [own], "choose swap", "choose stay", "choose more");
		for (const kind of /** @type {const} */ (["draw", "undo"])) {
			const by = state.offers[kind];
			if (by && findDeed(may, `${kind} accept`)) add(kind, [by], `${kind} accept`, `${kind} decline`);
			else if (by && by === own && viewer) add(`own ${kind}`, [by], `${kind} withdraw`);
		}
		const { rematch = [] } = state.offers;
		const left = Object.keys(seats).filter((mark) => seats[mark]?.left);
		if (own && left.length && isOver) add("deserted", left);
		else if (own && rematch.includes(own) && viewer) add("own rematch", [own]);
		else if (findDeed(may, "rematch accept")) add("rematch", rematch, "rematch accept");
		const gone = Object.keys(seats).filter((mark) => mark !== own && !seats[mark]?.out && (seats[mark]?.hold_ms ?? Infinity) <= view.passed);
		if (findDeed(may, "claim")) add("claim", gone, "claim win", "claim draw");
		return asked;
	}
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
