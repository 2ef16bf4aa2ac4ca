/** The page of a game: coming and going, what happens there, and what is drawn of it. */

import { Board } from "./board.js";
import { say } from "./catalogue.js";
import { choices } from "./choices.js";
import { GameControls } from "./controls.js";
import { makeDoor } from "./door.js";
import { setText, show } from "./dom.js";
import { makeInvitation } from "./invitation.js";
import { Keyboard } from "./keyboard.js";
import { changeLook, hasLooks, lookOf } from "./look.js";
import { newsOf } from "./news.js";
import { makeNothing } from "./nothing.js";
import { showPlayed } from "./replay.js";
import { Lost, Refused } from "./requests.js";
import { nameCell } from "./rules.js";
import { sceneOf } from "./scene.js";
import { Signals, mayAsk } from "./signals.js";
import { Stage } from "./stage.js";
import { Talk, describeLine } from "./talk.js";
import { Timeline } from "./timeline.js";
import { clean, describeRules, messageOf } from "./words.js";

const TICK_MS = 250;
/** What the whole document is while a room is on the page: its style is another one. */
const IN_ROOM = "in-room";

/** @param {App} app @param {Source} source */
export const makeGame = (app, source) => new GamePage(app, source);

export class GamePage {
	/** The game on the page, null before it has come. @type {ShownGame | null} */
	game = null;
	/** The live room, null for a game that was kept. @type {Room | null} */
	room = null;
	/** What positions are worth, where somebody wants to know. @type {ReviewPanel | null} */
	review = null;
	/** A move that is typed, and not yet made. */
	typed = "";
	/** The name of a deed that is asked about before it is done. */
	confirming = "";
	/** @type {Board | null} */
	board = null;
	#isClosed = false;
	#signals = new Signals();
	controls = new GameControls(this);
	timeline = new Timeline((isPlaying) => this.look(isPlaying));

	/** @param {App} app @param {Source} source */
	constructor(app, source) {
		this.app = app;
		this.source = source;
		this.isLive = "code" in source;
		this.talk = new Talk({
			onSay: (text) => this.controls.chat(text),
			onCommand: (text) => this.controls.command(text),
			onDone: () => this.board?.focus(),
		});
		this.stage = new Stage({
			steps: this.timeline.steps,
			moves: this.timeline.list,
			talk: this.isLive ? this.talk.element : null,
			onAnswer: (name) => this.controls.run(name),
			onHeard: () => {
				this.talk.toggle();
				this.drawTalk();
			},
			onLook: () => {
				changeLook();
				this.draw();
			},
			onEmbed: async () => (await import("./embedding.js")).copyTag(app, "shared" in source ? `replay/${source.shared}` : (this.game?.code ?? "")),
			onRules: () => app.showRules(this.game?.state?.rules),
		});
		this.element = this.stage.element;
		this.keyboard = new Keyboard(this);
		this.drawTalk();
		this.ticker = setInterval(() => this.#tick(), TICK_MS);
		this.#enter();
	}

	/** What the document is called: after the code of a room until more is known. */
	get title() {
		return this.stage.title || ("code" in this.source ? this.source.code : say("view room past"));
	}

	// Coming and going.

	async #enter() {
		const { app, source } = this;
		try {
			if ("load" in source) return this.#showPlayed(await source.load());
			const { code } = source;
			await app.arrive();
			const isHeld = app.connection.welcome?.rooms.some((held) => held.room === code);
			return this.sit(app.rooms.find(code) ?? (await app.rooms.enter({ type: isHeld ? "join" : "watch", room: code })));
		} catch (error) {
			if (this.#isClosed) return undefined;
			if (error instanceof Lost) return void this.#enter();
			if (await this.#isOfEvent(error)) return location.replace(`/e/${location.pathname.slice(1)}`);
			const message = messageOf(error);
			app.say(message);
			this.element.className = "";
			document.documentElement.classList.remove(IN_ROOM);
			this.#isClosed = true;
			const nothing = makeNothing(app, message);
			document.title = this.stage.title = nothing.title;
			return show(this.element, nothing.element);
		}
	}

	/** Whether the code that names no room is that of an event. @param {unknown} error */
	async #isOfEvent(error) {
		if (!(error instanceof Refused) || error.code !== "no_such_room" || !("code" in this.source)) return false;
		return this.app.connection.request({ type: "event_watch", event: this.source.code, on: false }).then(() => true, () => false);
	}

	/** @param {PlayedGame} played */
	#showPlayed(played) {
		this.game = showPlayed(played, this.app.connection.welcome?.player ?? "");
		this.draw();
		this.timeline.look(0);
		if ("shared" in this.source) this.timeline.play();
	}

	/** Show a room that was entered. @param {Room} room */
	sit(room) {
		if (this.#isClosed) return;
		if (this.room !== room) {
			this.game = this.room = this.app.rooms.shown = room;
			for (const line of room.talk) this.talk.hear(line);
		}
		room.ears = this;
		if (room.state) this.onUpdate(null, [], false);
	}

	close() {
		this.#isClosed = true;
		document.documentElement.classList.remove(IN_ROOM);
		clearInterval(this.ticker);
		this.#signals.close();
		this.timeline.pause();
		this.review?.end();
		if (this.room) this.app.rooms.close(this.room);
	}

	// What happens.

	onPhase() {
		this.draw();
	}

	/** What one looks at and has begun. */
	get #view() {
		const { source, app, review, typed, confirming, isLive, game } = this;
		return {
			here: this.timeline.here,
			typed,
			confirming,
			isOffline: isLive && app.connection.phase !== "on",
			trouble: this.#trouble,
			passed: game ? performance.now() - game.receivedAt : 0,
			onlyWatches: "code" in source && source.onlyWatches,
			values: review?.worths ?? null,
			isReviewing: !!review,
			maySharePast: "past" in source && !!source.past,
			mayNotReview: !isLive && !app.connection.knows("review"),
			mayNotify: mayAsk(),
		};
	}

	/** What is said of the connection while it is lost. */
	get #trouble() {
		const { isTroubled, nextAttemptAt, reason } = this.app.connection;
		if (!isTroubled || !this.isLive) return "";
		const seconds = Math.max(0, Math.ceil((nextAttemptAt - performance.now()) / 1000));
		const again = seconds ? say("banner lost again", { seconds }) : say("banner lost now");
		return reason || [say("banner lost"), again].join(" ");
	}

	/** Draw all, as the page is now. */
	draw() {
		if (this.#isClosed) return undefined;
		document.documentElement.classList.add(IN_ROOM);
		const { stage, timeline, game, review } = this;
		const state = game?.state;
		if (!game || !state) return stage.drawBanner(this.#trouble);
		timeline.draw(state, game.moves, game.viewer, review?.kinds);
		const scene = sceneOf(game, state, this.may(game, state), this.#view);
		this.#drawBoard(scene);
		stage.draw(scene, (kind) => this.#makeCard(kind, state));
		stage.embed.hidden = !("shared" in this.source) && (!this.isLive || state.visibility !== "public");
		stage.drawReview(review?.element ?? null, review?.text ?? "");
		this.#drawQuestions(scene.questions);
		return this.#signals.draw(scene.turn.kind === "mine", scene.head);
	}

	/** @param {Scene} scene */
	#drawBoard(scene) {
		const { rules } = scene.state;
		const look = lookOf(rules);
		if (this.board?.look !== look || JSON.stringify(this.board.rules) !== JSON.stringify(rules)) {
			const onPoint = (/** @type {number} */ cell) => this.review?.point(cell);
			const ears = { onPlay: this.controls.play.bind(this.controls), onChoose: this.#confirmCell.bind(this), onPoint };
			this.board = new Board(rules, say("view board of", { rules: describeRules(rules) }), look, ears);
			this.stage.drawPlace(this.board.element, hasLooks(rules));
		}
		this.board.isTyping = !!this.typed;
		this.board.draw(scene.board);
	}

	/** @param {Asked[]} questions */
	#drawQuestions(questions) {
		if (this.stage.drawQuestions(questions)) this.board?.focus();
	}

	/** @param {string} kind @param {State} state */
	#makeCard(kind, state) {
		const { app, controls } = this;
		if (kind === "door") return makeDoor(app.connection.name, state, (name) => controls.join(name));
		return kind === "invitation" ? makeInvitation(app, state.room) : null;
	}

	/** Draw what changes with the time alone. */
	#tick() {
		const { stage, game } = this;
		const view = this.#view;
		const state = game?.state;
		if (!game || !state) return stage.drawBanner(view.trouble);
		const { banner, players, questions } = sceneOf(game, state, this.may(game, state), view);
		stage.drawBanner(banner);
		stage.drawPlayers(players, state.rules);
		return this.#drawQuestions(questions);
	}

	/** @param {number | null} cell */
	#confirmCell(cell) {
		const { board } = this;
		const name = cell === null || !board ? null : nameCell(cell, board.rules);
		this.stage.drawConfirm(name, () => cell !== null && board?.play(cell), () => board?.choose(null));
	}

	/** What may be done now. @param {ShownGame} game @param {State} state */
	may({ viewer, moves, receivedAt }, state) {
		const { room, app: { connection } } = this;
		const find = (/** @type {string} */ player) =>
			choices(state, player, moves, connection.welcome?.features ?? [], performance.now() - receivedAt, connection.phase === "on");
		if (!room?.others.length) return find(viewer);
		// Each at this keyboard may act, and who is on turn before the others.
		const all = [...new Set([room.handOf(), room, ...room.others])].reverse().map((hand) => ({ hand, ...find(hand.player) }));
		const deeds = Object.fromEntries(all.flatMap(({ hand, deeds }) => deeds.map((deed) => [deed.name, { ...deed, hand }])));
		const questions = all.flatMap((one) => one.questions.filter(({ id }) => !/own|undo/.test(id)));
		return { ...all[0], deeds: Object.values(deeds).filter(({ id }) => id !== "new"), questions };
	}

	/** @type {RoomEars["onUpdate"]} */
	onUpdate(old, before, afterLoss) {
		const { room } = this;
		if (!room?.state) return;
		if (old && old.game !== room.state.game) this.beginAnew();
		const { notes, told, tone, isEnd } = newsOf(room, old, before, afterLoss);
		for (const sentence of notes) this.talk.note(sentence);
		if (told.length) this.app.say(told.join(" "), isEnd);
		if (tone) this.app.sound.play(tone);
		if (this.review && !this.timeline.isBack) this.weigh();
		this.draw();
	}

	/** Look at the newest moment, and at nothing beside it. */
	beginAnew() {
		this.timeline.reset();
		this.typed = this.confirming = "";
		this.review?.end();
		this.review = null;
	}

	/** @param {ChatLine} line */
	onChat(line) {
		this.talk.hear(line);
		this.app.say(describeLine(line));
		this.drawTalk();
		if (line.player !== this.room?.viewer) this.app.sound.play("move");
	}

	/** Draw what opens the talk on a phone, with how much is new in it. */
	drawTalk() {
		const { stage: { heard }, talk: { unread } } = this;
		heard.hidden = !this.isLive;
		setText(heard, `${say("view talk")}${unread ? ` ${unread}` : ""}`);
	}

	/** @type {RoomEars["onRefusal"]} */
	onRefusal(message, cell) {
		this.app.say(message);
		this.draw();
		if (cell !== null) this.board?.refuse(cell, message);
	}

	onMoved() {
		const url = clean(this.room?.url ?? "").replace(/^wss?:\/\//, "");
		this.talk.note(say("room is at", { url }));
		this.app.say(say("room is at", { url }));
	}

	onEnd() {
		if (this.room?.ended === "left") return this.app.navigate("/");
		this.draw();
		return this.app.say(this.stage.bannerText);
	}

	// Looking back.

	/** Show the moment that is looked at now. @param {boolean} isPlaying whether the game goes on by itself */
	look(isPlaying) {
		if (this.review) this.review.worths = null;
		this.draw();
		if (!isPlaying) this.app.say(this.stage.turnText, true);
		if (this.review) this.weigh();
	}

	/** Ask what the position is worth that is looked at. */
	weigh() {
		const { game, review } = this;
		if (game?.state) review?.look(game.state, game.moves);
	}

	/** @param {KeyboardEvent} event */
	onKey(event) {
		this.keyboard.press(event);
	}
}
