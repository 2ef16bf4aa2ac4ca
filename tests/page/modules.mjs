// Tests of the page's modules that touch no element: node modules.mjs FOLDER CATALOGUES
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

Object.assign(globalThis, { location: { href: "http://localhost" } });
const [folder, catalogues] = process.argv.slice(2);
const [{ speak }, { choices }, { sceneOf }, { Review, nextMistake }, { deedOfKey }, { showPlayed }, { rulesOf }, { newsOf }, { Following }, { crossScores }, { Room }] =
	await Promise.all(["catalogue", "choices", "scene", "review", "keyboard", "scene", "rules", "telling", "events/following", "events/table", "room"].map((name) => import(`${folder}/${name}.js`)));

const use = (language) => speak(language, JSON.parse(readFileSync(`${catalogues}/${language}.json`, "utf8")));
const seat = (player, more = {}) => ({ player, name: player, online: true, bot: null, out: false, left: false, ...more });
const WELCOME = { sharing: true };
const MAY = ["resign", "draw offer", "undo offer", "leave lose"];
const MAY_AFTER = { X: ["rematch", "leave"], O: ["rematch", "leave"] };
use("en");

function stateOf(more = {}) {
	return {
		type: "room", room: "K7M4PQ", seq: 1, status: "playing", visibility: "public", game: 1, rules: rulesOf("classic"), board: "X...O....",
		ply: 2, turn: "X", last: 4, seats: { X: seat("ana"), O: seat("bo") }, result: null, offers: { draw: null, undo: null, rematch: [] },
		clock: null, watchers: 0, score: {}, moves: [0, 4], may: { X: ["move", ...MAY], O: MAY }, news: [], ...more,
	};
}

function gameOf(state, viewer = "ana", more = {}) {
	const own = Object.keys(state.seats).find((mark) => state.seats[mark]?.player === viewer) ?? null;
	const plays = state.status === "playing" && own !== null;
	return { code: "K7M4PQ", state, viewer, seat: own, plays, receivedAt: 0, pending: null, ended: "", isLive: true, ...more };
}

function scene(state, { viewer = "ana", game = {}, ...view } = {}) {
	const shown = gameOf(state, viewer, game);
	const base = { here: null, typed: "", isOffline: false, onlyWatches: false, values: null, isReviewing: false };
	const may = choices(state, viewer, true, WELCOME);
	return sceneOf(shown, state, may, { ...base, maySharePast: false, mayNotify: false, ...view });
}

const reviewOf = (known, moves) => Object.assign(new Review(), { known, moves });
const names = (answers) => answers.map(({ name }) => name);

test("whoever is to move sees it in the line, in the title and on the board", () => {
	const { turn, title, board, head, deeds } = scene(stateOf());
	assert.deepEqual(turn, { text: "Your move, X.", why: "", kind: "mine", places: "" });
	assert.equal(title, "● Your move · ana v bo");
	assert.equal(head, "ana v bo · Tic-tac-toe");
	assert.equal(board.isMine, true);
	assert.deepEqual(names(deeds), ["resign", "draw offer", "undo offer", "leave", "share"]);
});

test("a move that is on its way is nobody's turn yet", () => {
	const { turn, board } = scene(stateOf(), { game: { pending: { cell: 8, ply: 2 } } });
	assert.deepEqual([turn.text, board.pending, turn.kind], ["C3 is on its way…", 8, ""]);
});

test("looking back shows the board of then, and nothing to be played", () => {
	const { board, turn, isBack } = scene(stateOf(), { here: 1 });
	assert.deepEqual([board.board, board.last, board.isMine, isBack], ["X........", 0, false, true]);
	assert.equal(turn.text, "Move 1 of 2: ana plays A1, top left.");
});

const opened = (board, moves, turn, opening, more = {}) =>
	stateOf({ rules: rulesOf("four-pie"), board: board.padEnd(16, "."), ply: moves.length, moves, last: moves.at(-1) ?? null, turn, opening: { rule: "pie", places: null, left: 0, options: [], ...opening }, ...more });
const PLACING = { step: "place", places: "O", left: 2 };
const TAKEN = { opening: undefined, chosen: ["X"], choices: [{ ply: 1, by: "X", mark: "O", take: "X" }], placed: "O" };
const CHOOSING = { step: "choose", options: ["X", "O", "more"] };

test("in an opening the board shows the mark that is placed next, whoever places it", () => {
	const state = opened("X", [0], "X", PLACING);
	const { turn, board, title } = scene(state);
	assert.deepEqual(turn, { text: "Place O: 2 to go, then bo chooses a side.", why: "", kind: "mine", places: "O" });
	assert.deepEqual([board.turn, board.isMine, title], ["O", true, "● Your move · ana v bo"]);
	assert.deepEqual(scene(state, { viewer: "bo" }).turn, { text: "ana places O: 2 to go, then you choose a side.", why: "", kind: "", places: "O" });
});

test("where a choice is due it stands as a question, no answer before the others, and nothing is placed", () => {
	const { turn, board, questions } = scene(opened("X", [0], "O", CHOOSING, { may: { X: [], O: ["choose"] } }), { viewer: "bo" });
	assert.deepEqual([turn.text, turn.kind, board.isMine], ["Choose your side.", "mine", false]);
	assert.deepEqual(questions.map(({ id, answers }) => [id, names(answers), answers.some(({ is_main }) => is_main)]), [["choose", ["choose swap", "choose stay", "choose more"], false]]);
});

test("a choice is heard, and the move before it is told with it and with who placed it", () => {
	const before = opened("X", [0], "O", CHOOSING);
	const news = [{ type: "chose", mark: "O", take: "X" }];
	const after = { ...before, seq: 2, news, ...TAKEN, seats: { X: before.seats.O, O: before.seats.X } };
	const room = { viewer: "ana", seat: "O", state: after, plays: true };
	assert.deepEqual(newsOf(room, before, false), { notes: ["bo takes X: you are O now."], told: ["bo takes X: you are O now.", "Your move, O."], tone: "turn" });
	const { turn } = scene({ ...after, board: `XO${".".repeat(14)}`, ply: 2, last: 1, moves: [0, 1] }, { here: 1 });
	assert.equal(turn.text, "Move 1 of 2: ana places X on A1. bo takes X: you are O now.");
});

test("before sides are taken the graph is even", () => {
	const state = opened("XO", [0, 1], null, {}, { ...TAKEN, status: "over", result: { winner: "X", reason: "resigned", line: [] } });
	assert.deepEqual(reviewOf(KNOWN, [0, 1]).pointsOf(state).map((point) => point?.worth), [0, -0, 1]);
});

test("a question stands with its answers, yes first", () => {
	const may = { X: ["move", "resign", "draw accept", "draw decline", "draw offer", "leave lose"], O: ["draw decline"] };
	const { questions } = scene(stateOf({ may, offers: { draw: "O", undo: null, rematch: [] } }));
	assert.deepEqual(questions.map(({ id, answers }) => [id, names(answers)]), [["draw", ["draw accept", "draw decline"]]]);
	assert.deepEqual(scene(stateOf({ offers: { draw: "O" } }), { isOffline: true }).questions, []);
});

test("the end is told in one line, for who lost without a burst", () => {
	const result = { winner: "X", reason: "line", line: [0, 1, 2] };
	const news = [{ type: "moved", mark: "X", cell: 2 }, { type: "ended", result }];
	const over = stateOf({ seq: 2, status: "over", board: "XXXOO....", ply: 5, last: 2, turn: null, result, moves: [0, 3, 1, 4, 2], may: MAY_AFTER, news });
	const { turn, isLost, board, questions, deeds } = scene(over, { viewer: "bo" });
	assert.deepEqual([turn.text, turn.why, isLost, board.isWon, questions], ["You lose.", "Row 1 is X X X.", true, false, []]);
	assert.deepEqual(deeds.filter(({ is_more }) => !is_more).map(({ label }) => label), ["play again"]);
	assert.deepEqual([scene(over).isLost, scene(over).board.isWon], [false, true]);
	const told = newsOf({ viewer: "bo", seat: "O", state: over }, stateOf({ board: "XX.OO....", ply: 4, last: 4 }), false);
	assert.deepEqual(told, { notes: [], told: ["ana plays C1. You lose. Row 1 is X X X."], tone: "lose" });
});

test("whoever missed states hears how many moves they missed and what is so now, and each state's news once", () => {
	const state = stateOf({ seq: 5, ply: 4, board: "XX.OO....", last: 3, moves: [0, 4, 1, 3], offers: { draw: "O", undo: null, rematch: [] }, news: [{ type: "offered", mark: "O", kind: "draw" }] });
	const hear = (old, now = state, afterLoss = false) => newsOf({ viewer: "ana", seat: "X", state: now, plays: true }, old, afterLoss).told;
	assert.deepEqual(hear(stateOf()), ["You missed 2 moves: B1 and A2.", "bo offers a draw.", "Your move, X."]);
	assert.deepEqual(hear(stateOf({ seq: 4, ply: 4 })), ["bo offers a draw.", "Your move, X."]);
	assert.deepEqual(hear(stateOf({ seq: 5, ply: 4 })), []);
	assert.deepEqual(hear(stateOf({ seq: 5, ply: 4 }), state, true), ["You missed nothing.", "Your move, X."]);
	assert.deepEqual(hear(stateOf({ seq: 4, ply: 3 }), { ...state, offers: {}, news: [] }), ["You missed a move: A2.", "Your move, X."]);
});

test("while a seat is free its host sees an invitation, and others the door", () => {
	const waiting = stateOf({ may: { X: ["leave"], O: [] }, status: "waiting", turn: null, board: ".........", ply: 0, last: null, seats: { X: seat("ana"), O: null } });
	assert.equal(scene(waiting).card, "invitation");
	assert.equal(scene(waiting, { viewer: "eve" }).card, "door");
	assert.equal(scene(waiting, { viewer: "eve", onlyWatches: true }).card, "empty");
	assert.equal(scene(waiting).head, "Tic-tac-toe");
	assert.deepEqual(names(scene(waiting).deeds), ["computer", "leave"]);
	assert.deepEqual(names(scene(waiting, { viewer: "eve" }).deeds), ["home"]);
});

test("a private room says so, unless all play at one keyboard", () => {
	const isCalledPrivate = (...players) => scene(stateOf({ visibility: "private", seats: { X: seat(players[0]), O: seat(players[1]) } })).terms.includes("private");
	assert.deepEqual([isCalledPrivate("ana", "bo"), isCalledPrivate("ana", "ana.1")], [true, false]);
});

test("a room that has ended leads home, and back where another connection has the seat", () => {
	assert.deepEqual(names(scene(stateOf(), { game: { ended: "closed" } }).deeds), ["home"]);
	assert.deepEqual(names(scene(stateOf({ event: "E4NT22" }), { game: { ended: "closed" } }).deeds), ["event", "home"]);
	assert.deepEqual(names(scene(stateOf(), { game: { ended: "replaced" } }).deeds), ["back", "home"]);
	assert.deepEqual(names(scene(stateOf({ event: "E4NT22" }), { game: { ended: "replaced" } }).deeds), ["back", "event", "home"]);
	assert.deepEqual(names(scene(stateOf({ event: "E4NT22" }), { game: { ended: "card" } }).deeds), ["event", "home"]);
});

test("a finished game can be reviewed, and its player can share it", () => {
	const played = { room: "K7M4PQ", game: 1, at: 0, rules: rulesOf("classic"), players: { X: { player: "ana", name: "ana" }, O: { player: "bo", name: "bo" } } };
	const shown = showPlayed({ ...played, board: "XXXOO....", moves: [0, 3, 1, 4, 2], result: { winner: "X", reason: "line", line: [0, 1, 2] } }, "ana");
	assert.equal(shown.state.status, "over");
	const look = (view) => names(scene(shown.state, { game: shown, ...view }).deeds);
	assert.deepEqual(look({ maySharePast: true }), ["review", "share", "home"]);
});

const worth = (kind) => ({ kind, plies: null, estimate: { win: 1, draw: 0, loss: -1 }[kind] });
const analysis = (ply, turn, value, cells, best) => ({
	ply, turn, value: worth(value), cells: Object.fromEntries(Object.entries(cells).map(([cell, kind]) => [cell, worth(kind)])), best, solved: true,
});
const KNOWN = [
	{ ...analysis(0, "X", "draw", { 0: "draw", 4: "draw" }, [0, 4]), played: { kind: "fine", lost: 0, text: "" } },
	{ ...analysis(1, "O", "draw", { 1: "loss", 4: "draw" }, [4]), played: { kind: "mistake", lost: 1, text: "" } },
	{ ...analysis(2, "X", "win", { 2: "win", 8: "draw" }, [2]), played: { kind: "mistake", lost: 1, text: "" } },
];
const PLAYED = [0, 1, 8];

test("the greatest loss is where the game turned", () => {
	assert.deepEqual(reviewOf(KNOWN, PLAYED).kinds, ["fine", "mistake", "mistake"]);
	assert.equal(reviewOf(KNOWN, PLAYED).turningPoint, 3);
	assert.equal(reviewOf(KNOWN, [0]).turningPoint, 0);
	assert.deepEqual([nextMistake(["fine", "mistake", "slip"], 0), nextMistake(["fine", "mistake", "slip"], 2), nextMistake(["fine", "mistake"], 2), nextMistake(["best"], 0)], [2, 3, 2, 0]);
});

test("the graph is drawn for the first player, to the result at its end", () => {
	const state = stateOf({ status: "over", result: { winner: "O", reason: "resigned", line: [] } });
	assert.deepEqual(reviewOf(KNOWN, PLAYED).pointsOf(state).map((point) => point?.worth), [0, -0, 1, -1]);
	assert.deepEqual(reviewOf([], [0]).pointsOf(state).map((point) => point?.worth), [undefined, -1]);
});

test("each position is asked for once, and what was taken back is asked for anew", async () => {
	const asked = [];
	const review = new Review(async (ply) => (asked.push(ply), KNOWN[ply]));
	review.follow(1, PLAYED);
	await review.analyseAll(() => undefined);
	await review.analyse(2);
	assert.deepEqual(asked, [3, 2, 1, 0]);
	review.follow(1, [0, 4]);
	await review.analyse(1);
	await review.analyse(2);
	assert.deepEqual(asked, [3, 2, 1, 0, 1, 2]); // an answer also judges the next move, which is another one now
	review.follow(2, [0, 4]);
	await review.analyse(1);
	assert.deepEqual(asked, [3, 2, 1, 0, 1, 2, 1]);
});

test("what is not known is asked for again when all the rest is", async () => {
	const asked = [];
	const review = new Review(async (ply) => (asked.push(ply), { value: { kind: ply % 2 ? "win" : "unknown" } }));
	review.follow(1, PLAYED);
	await review.analyseAll(() => undefined);
	assert.deepEqual(asked, [3, 2, 1, 0, 2]);
});

test("a key stands for the first of its deeds that may be done", () => {
	const over = stateOf({ status: "over", turn: null, may: MAY_AFTER, result: { winner: "X", reason: "line", line: [] } });
	const may = (state) => choices(state, "ana", true, WELCOME);
	assert.equal(deedOfKey(may(over), "r", false), "rematch ask");
	assert.equal(deedOfKey(may({ ...over, offers: { rematch: ["O"] } }), "r", false), "rematch accept");
	assert.equal(deedOfKey(may(stateOf()), "r", false), "");
	assert.equal(deedOfKey(may(stateOf()), "w", true), "");
});

test("a table is in the order of its places also when a few rows of it change", () => {
	const following = new Following({}, "E2E2E2", () => undefined);
	const row = (player, place) => ({ player, place });
	following.onNews({ type: "event", event: "E2E2E2", seq: 1, head: { players: 3 }, table: [row("ana", 1), row("bo", 2), row("cy", 3)], pairings: [] });
	following.onNews({ type: "event_rows", event: "E2E2E2", seq: 2, rows: [row("bo", 3), row("cy", 2)], pairings: [] });
	assert.deepEqual(following.rows.map(({ player }) => player), ["ana", "cy", "bo"]);
});

test("rows that come before the event itself, as another page has asked for them, are passed over", () => {
	let changes = 0;
	const following = new Following({}, "E2E2E2", () => changes++);
	following.onNews({ type: "event_rows", event: "E2E2E2", seq: 2, rows: [{ player: "ana", place: 1 }], pairings: [] });
	assert.deepEqual([following.state, following.rows, changes], [null, [], 0]);
});

test("a cross-table has halves of a draw, and nothing yet of a game that is on", () => {
	const pairing = (X, O, state, result) => ({ round: 1, state, result, players: { X, O } });
	const scores = crossScores([pairing("ana", "bo", "scored", "draw"), pairing("ana", "cy", "open", null), pairing("bo", "cy", "scored", "O"), pairing("bo", "ana", "scored", "X")]);
	assert.deepEqual([...scores], [["ana bo", ["½", "0"]], ["bo ana", ["½", "1"]], ["bo cy", ["0"]], ["cy bo", ["1"]]]);
});

test("a returning player asks for their seat once, and what comes before the answer is shown", () => {
	const asked = [];
	const rooms = { enter: (request) => new Promise(() => asked.push(request.type)) };
	const room = Object.assign(new Room(rooms, { player: "ana" }, "K7M4PQ"), { isWatching: true });
	for (const seq of [1, 2]) room.hear(stateOf({ seq }));
	assert.deepEqual([asked, room.state.seq], [["join"], 2]);
});
