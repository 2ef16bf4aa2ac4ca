/** The page of a game: board, players, moves, talk, and everything that one can do there. */

import { makeBoard } from "./board.js";
import { Lost } from "./connection.js";
import { button, field, h, setText, show, submitting } from "./dom.js";
import { happened } from "./happened.js";
import { isForControl, showKeys } from "./keys.js";
import { canPlayAgain, costOfGoing, goneOpponents } from "./choices.js";
import { makeNothing } from "./nothing.js";
import { makePanel } from "./panel.js";
import { parseRecord } from "./record.js";
import { Review } from "./review.js";
import { FREE, boardAfter, hasSingleKeys, nameCell, parseCell } from "./rules.js";
import { makeTalk } from "./talk.js";
import { announce, announceStanding, describeOffer, describeVerdict } from "./telling.js";
import { makeTimeline } from "./timeline.js";
import * as words from "./words.js";
import { comparePlayed, describePosition, worthOf } from "./worth.js";

const TICK_MS = 250;
/** @type {number[]} */
const NO_LINE = [];

/** @type {MakeGame} */
export function makeGame(app, source) {
	const { rooms } = app;
	/** @type {Table | null} */
	let table = null;
	/** The live room, null for a replay. @type {Room | null} */
	let room = null;
	/** @type {Board | null} */
	let board = null;
	/** @type {Review | null} */
	let review = null;
	/** @type {Deed[]} */
	let deeds = [];
	/** @type {Question[]} */
	let questions = [];
	/** @type {Map<number, Worth> | null} */
	let values = null;
	let typed = "";
	/** What is asked about before it is done. @type {"" | "resign" | "leave"} */
	let confirming = "";
	let isClosed = false;
	const drawn = { deeds: "", questions: "", card: "" };
	const panel = makePanel();
	const timeline = makeTimeline(look);
	const talk = makeTalk({ onSay: say, onCommand: command, onDone: () => board?.focus() });
	const [head, sub] = [h("h1", { tabindex: -1 }), h("p.sub")];
	const banner = h("p.banner", { hidden: true });
	const [card, place, asks] = [h("div"), h("div"), h("div")];
	const confirmBar = h("div.confirm-bar", { hidden: true });
	/** What was said while the talk is out of sight; it leads there. */
	const heard = button("", () => talk.look(), { class: "heard", hidden: true });
	let isTalkSeen = false;
	const sight = new IntersectionObserver(([{ isIntersecting }]) => {
		isTalkSeen = isIntersecting;
		heard.hidden ||= isTalkSeen;
	}, { rootMargin: "0px 0px -60px", threshold: 0.6 });
	sight.observe(talk.element);
	const [turnLine, worthLine] = [h("p"), h("p.worth-line")];
	const buttons = h("div.deeds", { role: "group", "aria-label": "What you can do" });
	const element = h("div.game", {},
		h("div.game-head", {}, head, sub),
		h("div.middle", {}, banner, card, place, confirmBar, heard),
		h("div.below", {}, turnLine, worthLine, asks, buttons),
		h("div.side", {}, panel.element, timeline.steps, timeline.list, "code" in source && talk.element),
	);
	const ticker = setInterval(tick, TICK_MS);
	enter();
	return { title: "tictactoe", element, onPhase: draw, onKey, close };

	// Coming and going.

	async function enter() {
		try {
			if ("load" in source) {
				const { state, moves, date } = parseRecord(await source.load());
				table = { code: date, state, moves, viewer: "", seat: null, plays: false, receivedAt: 0, pending: null, ended: "" };
				draw();
				return timeline.look(0);
			}
			const { code } = source;
			await app.arrive();
			const isHeld = app.connection.welcome?.rooms.some((held) => held.room === code);
			return sit(rooms.find(code) ?? (await rooms.enter({ type: isHeld ? "join" : "watch", room: code })));
		} catch (error) {
			if (error instanceof Lost && !isClosed) return void enter();
			const message = words.messageOf(error);
			app.say(message);
			element.className = "";
			return show(element, makeNothing(app, message).element);
		}
	}

	/** @param {Room} entered */
	function sit(entered) {
		if (isClosed) return;
		if (room !== entered) {
			table = room = rooms.table = entered;
			review = new Review(room);
			for (const line of room.talk) talk.hear(line);
		}
		room.ears = { onUpdate, onChat, onEnd, onMoved, onRefusal };
		if (room.state) onUpdate(null, [], false);
	}

	function close() {
		isClosed = true;
		clearInterval(ticker);
		sight.disconnect();
		if (room) rooms.close(room);
	}

	/** @param {string} [name] */
	async function join(name) {
		if (!room) return;
		try {
			if (!(await app.bear(name ?? ""))) return;
			sit(await rooms.enter(name === undefined ? room.wayBack() : { type: "join", room: room.code }));
			draw();
			board?.focus();
		} catch (error) {
			onRefusal(words.messageOf(error), null);
		}
	}

	// What happens.

	/** @type {RoomEars["onUpdate"]} */
	function onUpdate(old, before, afterLoss) {
		const state = room?.state;
		if (!room || !state) return;
		const { viewer, moves, seat } = room;
		const turn = words.describeTurn(state, viewer);
		if (!old || (seat && !words.seatOf(old, viewer))) {
			const what = `${seat ? "Room" : "Watching room"} ${room.code}: ${words.describeRules(state.rules)}.`;
			app.say([what, words.describePlayers(state, viewer), ...announceStanding(state, moves, viewer), turn].join(" "));
		} else {
			if (old.game !== state.game) beginAnew();
			const changes = happened(old, state, moves, before);
			const beside = changes.filter(({ type }) => type !== "Moved");
			for (const sentence of announce(beside, viewer, { afterLoss })) talk.note(sentence);
			const told = announce(changes, viewer, { afterLoss });
			if (afterLoss && !told.length) told.push("Nothing was missed.");
			if (state.turn === seat && room.plays && (told.length || old.turn !== seat)) told.push(turn);
			if (told.length) app.say(told.join(" "));
			sound(old, state);
		}
		if (review?.isOn && !timeline.isBack()) weigh();
		draw();
	}

	function beginAnew() {
		timeline.reset();
		typed = confirming = "";
		values = null;
		setText(worthLine, "");
		if (review) review.isOn = false;
	}

	/** @param {State} old @param {State} state */
	function sound(old, state) {
		const winner = state.result?.winner;
		if (state.result && !old.result) app.sound.play(winner === room?.seat ? "win" : "lose");
		else if (state.ply !== old.ply) app.sound.play(state.turn === room?.seat ? "turn" : "move");
	}

	/** @param {Protocol.ChatLine} line */
	function onChat(line) {
		talk.hear(line);
		const text = `${words.clean(line.from)}${line.seat ? "" : " (watching)"}: ${words.clean(line.text)}`;
		app.say(text);
		if (line.player === room?.viewer) return;
		app.sound.play("move");
		setText(heard, text);
		heard.hidden = isTalkSeen;
	}

	/** @type {RoomEars["onRefusal"]} */
	function onRefusal(message, cell) {
		app.say(message);
		draw();
		if (cell !== null) board?.refuse(cell, message);
	}

	function onMoved() {
		const sentence = `The room is at ${words.clean(room?.url ?? "").replace(/^wss?:\/\//, "")} now.`;
		talk.note(sentence);
		app.say(sentence);
	}

	function onEnd() {
		if (room?.ended === "left") return app.navigate("/");
		draw();
		return app.say(banner.textContent ?? "");
	}

	// Drawing.

	function draw() {
		drawBanner();
		const state = table?.state;
		if (!table || !state || isClosed) return;
		if (JSON.stringify(board?.rules) !== JSON.stringify(state.rules)) {
			board = makeBoard(state.rules, `Board, ${words.describeRules(state.rules)}`, { onPlay: play, onChoose: showConfirm });
			show(place, board.element);
		}
		const terms = [words.describeRules(state.rules), room ? words.describeClock(state.time_control) : table.code];
		terms.push(...words.describeManners(state));
		if (room && state.visibility === "private") terms.push("private");
		if (state.game > 1) terms.push(`game ${state.game}`);
		if (state.watchers) terms.push(`${state.watchers} watching`);
		setText(head, room ? `${table.seat ? "" : "Watching "}${state.room}` : words.namePlayers(state));
		setText(sub, terms.join(" · "));
		document.title = `${isMine() ? "● " : ""}${words.namePlayers(state)} · ${state.room}`;
		panel.draw(table);
		timeline.draw(state, table.moves);
		drawBoard(table, state);
		drawTurn(table, state);
		drawCard(state);
		drawDeeds(state);
		drawQuestions();
	}

	function isMine() {
		return !!table?.plays && table.state?.turn === table.seat && !table.pending && !table.ended && !timeline.isBack();
	}

	/** @type {DrawBoard} */
	function drawBoard({ moves, pending, ended }, state) {
		const [here, isBack] = [timeline.here(), timeline.isBack()];
		board?.draw({
			board: isBack ? boardAfter(state.rules, state.board, moves.slice(0, here)) : state.board,
			last: isBack ? (moves[here - 1] ?? null) : state.last,
			line: (!isBack && state.result?.line) || NO_LINE,
			turn: state.turn,
			isMine: isMine(),
			pending: isBack ? null : (pending?.cell ?? null),
			values,
		});
		board?.element.classList.toggle("offline", !!room && (app.connection.isTroubled || !!ended));
		board?.element.classList.toggle("past", isBack);
	}

	/** @type {DrawTurn} */
	function drawTurn({ viewer, pending }, state) {
		const [here, isBack] = [timeline.here(), timeline.isBack()];
		const isOver = state.status === "over";
		let text = isOver ? describeVerdict(state, viewer) : words.describeTurn(state, viewer);
		if (isMine()) text = `Your move (${state.turn})`;
		if (state.result?.reason === "aborted") text = "Aborted: it doesn't count.";
		if (isBack) text = here ? describeMove(state, here) : "The start.";
		if (pending) text = `${nameCell(pending.cell, state.rules)} is on its way…`;
		if (typed) text = `move: ${typed}_`;
		if (board) board.isTyping = !!typed;
		setText(turnLine, text);
		turnLine.className = `turn${isMine() ? " mine" : ""}${isOver && !isBack ? " over" : ""}`;
	}

	/** @type {DescribeMove} */
	function describeMove(state, ply) {
		const cell = table?.moves[ply - 1] ?? 0;
		return `Move ${ply} of ${state.ply}: ${words.nameOf(state, state.board[cell])} plays ${words.describeCell(cell, state.rules)}.`;
	}

	/** @param {State} state */
	function drawCard(state) {
		const isWaiting = state.status === "waiting" && !room?.ended;
		const mark = Object.keys(state.seats).find((one) => !state.seats[one]);
		const isDoor = isWaiting && mark && !room?.seat && "code" in source && !source.onlyWatches;
		const key = `${isWaiting} ${isDoor} ${room?.seat}`;
		place.hidden = timeline.steps.hidden = turnLine.hidden = isWaiting;
		if (key === drawn.card) return;
		drawn.card = key;
		show(card, isDoor ? makeDoor(state, mark) : isWaiting && room?.seat && makeInvitation(state.room));
		if (isDoor) card.querySelector("button")?.focus();
	}

	/** @type {MakeDoor} */
	function makeDoor(state, mark) {
		const name = h("input", { value: app.connection.name, maxlength: 24, autocomplete: "nickname" });
		const hosts = Object.values(state.seats).flatMap((seat) => (seat ? words.clean(seat.name) : []));
		return h("form.card.door", { submit: submitting(() => join(name.value)) },
			h("h2", {}, `${words.joinWords(hosts) || "A room"} ${hosts.length > 1 ? "wait" : "waits"} for you`),
			h("p", {}, `${words.describeRules(state.rules)}; ${words.describeClock(state.time_control)}.`),
			field("Your name", name),
			h("button.primary.big", {}, `Play as ${mark}`),
		);
	}

	function makeInvitation(code = "") {
		const link = app.linkTo(code);
		const shown = h("input", { readonly: true, value: link, "aria-label": "Link", focus: () => shown.select() });
		return h("div.card.invite", {},
			h("h2", {}, "Waiting for someone…"),
			h("p", {}, "Pass this link on: it opens the room in any browser, and in a terminal with ", h("code", {}, `tictactoe-client join ${link}`)),
			h("div.row", {}, shown, button("Copy", () => app.copy(link), { class: "primary" })),
			h("p.code", {}, "Code ", h("b", {}, code)),
		);
	}

	/** @type {(state: State) => Deed[]} */
	function listDeeds(state) {
		/** @type {Deed} */
		const home = ["home", "Home", () => app.navigate("/")];
		if ("load" in source) return [...(source.past ? [/** @type {Deed} */ (["share", "Share", () => app.share(source.past ?? "")])] : []), home];
		if (!room) return [];
		const { seat, plays, ended } = room;
		const at = room;
		if (ended) return ended === "replaced" ? [["back", "Take the seat back", () => join()], home] : [home];
		/** @type {Deed} */
		const leave = ["leave", "Leave", () => confirm("leave")];
		if (state.status === "waiting") return seat ? [["computer", "Let the computer sit in", () => open(state, "medium"), "b"], leave, home] : [home];
		/** @type {(Deed | false)[]} */
		const found = [];
		const isOver = state.status === "over";
		const isTwo = state.rules.marks.length === 2;
		const bot = Object.values(state.seats).find((one) => one?.bot)?.bot;
		if (plays && seat) {
			const left = Object.values(state.seats).filter((one) => !one?.out).length;
			found.push(left === 2 && !state.offers.draw && ["draw", "Offer a draw", () => at.offer("draw", "offer")]);
			found.push(isTwo && state.board.includes(seat) && !state.offers.undo && ["undo", "Take back", () => at.offer("undo", "offer")]);
			found.push(["resign", costOfGoing(state, at.viewer) === "abort" ? "Abort" : "Resign", () => confirm("resign")]);
		}
		if (isOver && seat) {
			const canAsk = canPlayAgain(state) && !state.offers.rematch?.includes(seat);
			found.push(canAsk && ["rematch", "Rematch", () => at.rematch(), "r", true]);
			const another = bot ? "New game" : state.visibility === "private" ? "New private room" : "New opponent";
			found.push(["new", another, () => open(state, bot), "n"]);
		}
		const mayReview = !plays || state.analysis === "open";
		found.push(mayReview && ["review", review?.isOn ? "Hide values" : "Review", () => toggleReview(isOver), "v"]);
		found.push(isOver && !!seat && ["share", "Share replay", () => share(state)]);
		found.push(["copy", "Copy link", () => app.copy(app.linkTo(state.room)), "y"], leave);
		return found.filter((deed) => !!deed);
	}

	/** @param {State} state */
	function drawDeeds(state) {
		deeds = listDeeds(state);
		const key = deeds.map(([, label]) => label).join("|");
		if (key === drawn.deeds) return;
		drawn.deeds = key;
		const focused = buttons.contains(document.activeElement) && document.activeElement?.textContent;
		const made = deeds.map(([word, label, , , isMain]) => button(label, () => run(word), { class: isMain && "primary" }));
		show(buttons, made);
		if (focused) (made.find((one) => one.textContent === focused) ?? made[0])?.focus();
	}

	function run(word = "") {
		const deed = deeds.find(([one]) => one === word);
		deed?.[2]();
		draw();
		return !!deed;
	}

	/** @returns {Question[]} */
	function listQuestions() {
		const state = room?.state;
		if (!room || !state || room.ended || app.connection.phase !== "on") return [];
		const { viewer, seat, moves, code } = room;
		const at = room;
		/** @type {Question[]} */
		const found = [];
		if (confirming) {
			const isAbort = costOfGoing(state, viewer) === "abort";
			const deed = isAbort ? "Abort" : confirming === "resign" ? "Resign" : "Leave";
			found.push([isAbort ? "Abort the game?" : "Give the game up?", [deed, doConfirmed], ["Play on", () => (confirming = "")]]);
		}
		for (const what of /** @type {const} */ (["draw", "undo"])) {
			if (!seat || !state.offers[what]) continue;
			/** @type {Answer} */
			const answer = (label, action) => [label, () => at.offer(what, action)];
			const answers = [answer(what === "draw" ? "Accept" : "Let them", "accept"), answer("Decline", "decline")];
			found.push([describeOffer(state, what, moves, viewer), ...(state.offers[what] === seat ? [answer("Withdraw", "decline")] : answers)]);
		}
		const asking = state.offers.rematch ?? [];
		if (seat && asking.includes(seat)) found.push([canPlayAgain(state) ? "You ask for a rematch: waiting for an answer." : "No rematch, then."]);
		else if (seat && asking.length) found.push([`${words.joinWords(asking.map((mark) => words.nameOf(state, mark)))} asks for a rematch.`, ["Rematch", () => at.rematch()]]);
		const gone = goneOpponents(state, viewer, performance.now() - room.receivedAt).map((mark) => words.nameOf(state, mark));
		if (gone.length) {
			/** @type {Claim} */
			const claim = (as) => () => at.ask({ type: "claim", room: code, as });
			const text = `${words.joinWords(gone)} ${gone.length > 1 ? "have" : "has"} been gone too long.`;
			found.push([text, ["Claim the win", claim("win")], ["Call it a draw", claim("draw")]]);
		}
		return found;
	}

	function drawQuestions() {
		questions = listQuestions();
		const key = questions.join("|");
		if (key === drawn.questions) return;
		drawn.questions = key;
		const made = questions.map(([text, ...answers], at) => {
			const all = answers.map(([label], index) => button(label, () => answer(at, index), { class: !index && "primary" }));
			return h("div.ask", {}, h("p", {}, text), all);
		});
		const hadFocus = asks.contains(document.activeElement);
		show(asks, made);
		if (hadFocus) board?.focus();
	}

	/** @type {(at: number, index: number) => boolean} */
	function answer(at, index) {
		const [, ...answers] = questions[at] ?? [];
		answers[index]?.[1]();
		draw();
		return index in answers;
	}

	function drawBanner() {
		let text = "";
		if (room?.ended === "replaced") text = "A newer connection of yours has taken over your seat.";
		else if (room?.ended) text = `${room.ended === "closed" ? `Room ${room.code} is closed: ` : ""}${room.closedReason}`;
		else if (app.connection.isTroubled) {
			const wait = Math.max(0, Math.ceil((app.connection.nextAttemptAt - performance.now()) / 1000));
			text = app.connection.reason || `Connection lost. Trying again${wait ? ` in ${wait} s` : "…"}.`;
		}
		setText(banner, text);
		banner.hidden = !text;
	}

	function tick() {
		panel.tick();
		drawBanner();
		drawQuestions();
	}

	/** @param {number | null} cell */
	function showConfirm(cell) {
		confirmBar.hidden = cell === null;
		if (cell === null || !board) return;
		show(confirmBar, button(`Place at ${nameCell(cell, board.rules)}`, () => board?.play(cell), { class: "primary big" }), button("Cancel", () => board?.choose(null)));
	}

	// What one does.

	function play(cell = 0) {
		const state = room?.state;
		if (!room || !state) return;
		typed = "";
		const { rules, turn } = state;
		const name = nameCell(cell, rules);
		const mark = state.board[cell];
		let why = "";
		if (timeline.isBack()) why = "You look at an earlier move: go to the end to play.";
		else if (!room.seat) why = "You are watching: only players move.";
		else if (room.pending) why = "Your move is on its way.";
		else if (turn !== room.seat) why = words.describeTurn(state, room.viewer);
		else if (mark !== FREE) why = `${name} is ${mark === "#" ? "blocked" : `taken by ${mark}`}.`;
		if (why) onRefusal(why, room.seat ? cell : null);
		else if (!room.ended) {
			room.move(cell);
			if (app.connection.phase !== "on") app.say(`${name} is kept: it is played when the connection is back.`);
		}
		draw();
	}

	function look() {
		values = null;
		setText(worthLine, "");
		draw();
		app.say(turnLine.textContent ?? "");
		if (review?.isOn) weigh();
	}

	async function weigh() {
		const here = timeline.here();
		const state = room?.state;
		if (!room || !state || !review) return;
		const { moves } = room;
		try {
			const after = await review.analyse(here);
			const before = here ? await review.analyse(here - 1) : null;
			if (!review.isOn || timeline.here() !== here) return;
			values = worthOf(after);
			const compared = before ? comparePlayed(moves[here - 1], before, state.rules) : "";
			setText(worthLine, `${describePosition(after, state.rules)} ${compared}`.trim());
			app.say(worthLine.textContent ?? "");
		} catch (error) {
			review.isOn = false;
			app.say(words.messageOf(error));
		}
		draw();
	}

	function toggleReview(isOver = false) {
		if (!review) return;
		if (review.isOn) return beginAnew();
		review.isOn = true;
		if (isOver && !timeline.isBack()) timeline.step(-1);
		else weigh();
	}

	/** @param {"resign" | "leave"} what */
	function confirm(what) {
		if (app.connection.phase !== "on") return app.navigate("/");
		confirming = what;
		if (room?.state && !costOfGoing(room.state, room.viewer)) return doConfirmed();
		draw();
		return asks.querySelector("button")?.focus();
	}

	function doConfirmed() {
		if (confirming === "resign") room?.ask({ type: "resign", room: room.code });
		else room?.leave();
		confirming = "";
	}

	/** @param {State} state @param {string | null} [bot] */
	async function open({ rules: { preset, ...fields }, time_control, visibility }, bot) {
		const game = { rules: preset ?? fields, clock: time_control ?? null };
		const bots = bot ? Array(fields.marks.length - 1).fill(bot) : [];
		const isOurs = bot || visibility === "private";
		const next = await app.play(isOurs ? { type: "create", ...game, bots, visibility: "private" } : { type: "match", ...game });
		if (next && !room?.ended) room?.leave();
	}

	/** @param {State} state */
	async function share({ game }) {
		const { games = [] } = await app.connection.request({ type: "history", limit: 100 }).catch(() => ({ games: [] }));
		const past = games.find((one) => one.room === room?.code && one.game === game);
		if (past) app.share(past.id);
		else app.say("This game is in no history.");
	}

	/** @param {string} text @returns {Promise<boolean>} */
	async function say(text) {
		return !!room && room.ask({ type: "chat", room: room.code, text });
	}

	/** @param {string} text typed behind a slash or a colon */
	function command(text) {
		const state = room?.state;
		if (!room || !state) return;
		const [word, ...more] = text.toLowerCase().split(/\s+/);
		const rest = more.join(" ");
		const cell = parseCell(text, state.rules);
		if (word === "help") showKeys();
		else if (word === "yes" || word === "no") answer(0, word === "yes" ? 0 : 1);
		else if (word === "claim") room.ask({ type: "claim", room: room.code, as: rest === "draw" ? "draw" : "win" });
		else if (run(word)) return;
		else if (cell >= 0) play(cell);
		else app.say(`I don't know "${words.clean(word)}". Try /help.`);
	}

	// Keys.

	/** @param {KeyboardEvent} event */
	function onKey(event) {
		const { key } = event;
		const isAnswer = (event.ctrlKey || event.altKey) && (key === "y" || key === "n");
		if (isAnswer ? answer(0, key === "y" ? 0 : 1) : !isForControl(event) && press(key)) event.preventDefault();
		draw();
	}

	function press(key = "") {
		const state = table?.state;
		if (!table || !state) return false;
		if (key === ":" || key === "/") talk.begin("/");
		else if (key === "Escape") goBack();
		else if (key === "Backspace" && typed) typed = typed.slice(0, -1);
		else if (table.plays ? pressAtBoard(key, state.rules) : pressLooking(key)) return true;
		else if (key.startsWith("Arrow")) board?.focus();
		else return !table.plays && deeds.some(([word, , , own]) => own === key && run(word));
		return true;
	}

	/** @type {PressAtBoard} */
	function pressAtBoard(key, rules) {
		const digit = Number(key);
		const isColumn = rules.gravity && digit <= rules.columns;
		const isGone = questions.some(([, first]) => first?.[0] === "Claim the win");
		if (isGone && (key === "w" || key === "d")) command(key === "w" ? "claim" : "claim draw");
		else if (digit > 0 && !typed && (isColumn || hasSingleKeys(rules))) board?.play(digit - 1);
		else if (/^[a-zA-Z0-9,]$/.test(key)) typed += key;
		else if (key === "Enter" && typed) {
			const cell = parseCell(typed, rules);
			if (cell >= 0) board?.play(cell);
			else app.say(`I don't know "${typed}". A move looks like b2.`);
			typed = "";
		} else return false;
		return true;
	}

	function pressLooking(key = "") {
		if (key === "ArrowLeft") timeline.step(-1);
		else if (key === "ArrowRight") timeline.step(1);
		else if (key === "Home") timeline.look(0);
		else if (key === "End") timeline.look();
		else return false;
		return true;
	}

	function goBack() {
		if (typed || confirming) typed = confirming = "";
		else if (board?.hasChosen()) board.choose(null);
		else if (review?.isOn) beginAnew();
		else if (timeline.isBack() && room) timeline.look();
		else if (!run("leave")) run("home");
	}
}
