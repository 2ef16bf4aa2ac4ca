/** The page of a game: coming and going, what happens there, and what is drawn of it. */

import { Board } from "./board.js";
import { say } from "./catalogue.js";
import { choices } from "./choices.js";
import { GameControls } from "./controls.js";
import { show, urlOf } from "./dom.js";
import { Keyboard } from "./keyboard.js";
import { hasLooks, lookOf } from "./look.js";
import { makeNothing } from "./nothing.js";
import { showPlayed } from "./replay.js";
import { Lost, Refused } from "./requests.js";
import { sceneOf } from "./scene.js";
import { Signals, mayAsk } from "./signals.js";
import { Stage } from "./stage.js";
import { Talk, describeLine } from "./talk.js";
import { newsOf } from "./telling.js";
import { Timeline } from "./timeline.js";
import { clean, messageOf } from "./words.js";

/** What the whole document is while a room is on the page: its style is another one. */
const IN_ROOM = "in-room";

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
	timeline = new Timeline(this);

	/** @param {App} app @param {Source} source */
	constructor(app, source) {
		this.app = app;
		this.source = source;
		this.isLive = !source.load;
		this.talk = new Talk(this);
		this.stage = new Stage(this);
		this.element = this.stage.element;
		this.keyboard = new Keyboard(this);
		this.#enter();
	}

	/** What the document is called: after the code of a room until more is known. */
	get title() {
		return this.stage.title || (this.source.code ?? say("view room past"));
	}

	// Coming and going.

	async #enter() {
		const { app, source } = this;
		try {
			if (source.load) return this.#showPlayed(await source.load());
			const { code = "" } = source;
			await app.arrive();
			const isHeld = app.connection.welcome?.rooms.some((held) => held.room === code);
			return this.sit(app.rooms.find(code) ?? (await app.rooms.enter({ type: isHeld ? "join" : "watch", room: code })));
		} catch (error) {
			if (this.#isClosed) return undefined;
			if (error instanceof Lost) return void this.#enter();
			if (await this.#isOfEvent(error)) return location.replace(urlOf(`/e/${this.source.code}`));
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
		if (!(error instanceof Refused) || error.code !== "no_such_room") return false;
		return this.app.connection.request({ type: "event_watch", event: this.source.code ?? "", on: false }).then(() => true, () => false);
	}

	/** @param {PlayedGame} played */
	#showPlayed(played) {
		this.game = showPlayed(played, this.app.connection.welcome?.player ?? "");
		this.draw();
		this.timeline.look(0);
		if (this.source.shared) this.timeline.play();
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
		this.#signals.close();
		this.timeline.pause();
		this.review?.review.end();
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
			unanswered: this.room && app.rooms.unanswered.get(this.room.code),
			passed: game ? performance.now() - game.receivedAt : 0,
			onlyWatches: source.onlyWatches,
			values: review?.worths ?? null,
			isReviewing: !!review,
			maySharePast: !!source.past || !!source.shared,
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
		if (game?.state) timeline.draw(game.state, game.moves, game.viewer, review?.review.kinds);
		const scene = this.#scene;
		if (!scene) return stage.drawBanner(this.#trouble);
		this.#drawBoard(scene);
		stage.draw(scene);
		this.talk.draw();
		this.element.classList.toggle("local", !!this.room?.isLocal);
		stage.drawReview(review?.element ?? null, review?.text ?? "");
		stage.tick(scene);
		return this.#signals.draw(scene.turn.kind === "mine", scene.head);
	}

	/** @param {Scene} scene */
	#drawBoard(scene) {
		const { rules } = scene.state;
		const look = lookOf(rules);
		if (this.board?.look !== look || JSON.stringify(this.board.rules) !== JSON.stringify(rules)) {
			this.board = new Board(this, rules, look);
			this.stage.drawPlace(this.board.element, hasLooks(rules));
		}
		this.board.isTyping = !!this.typed;
		this.board.draw(scene.board);
	}

	/** Draw what changes with the time alone. */
	tick() {
		const { stage } = this;
		const scene = this.#scene;
		if (!scene) return stage.drawBanner(this.#trouble);
		return stage.tick(scene);
	}

	/** What is shown now, null before there is a state. */
	get #scene() {
		const { game, may } = this;
		return game?.state && may ? sceneOf(game, game.state, may, this.#view) : null;
	}

	/** What may be done now, null before there is a state. */
	get may() {
		const { game, room, app: { connection } } = this;
		if (!game?.state) return null;
		const { state, moves, receivedAt } = game;
		const find = (/** @type {string} */ player) =>
			choices(state, player, moves, performance.now() - receivedAt, connection.phase === "on", connection.welcome ?? {});
		if (!room || room.players.length < 2) return find(game.viewer);
		// Each at this keyboard may act, and who is on turn before the others.
		const all = [...new Set([room.actorOf(), ...room.players])].reverse().map((actor) => ({ actor, ...find(actor) }));
		const deeds = Object.fromEntries(all.flatMap(({ actor, deeds }) => deeds.map((deed) => [deed.name, { ...deed, actor }])));
		const questions = all.flatMap((one) => one.questions.filter(({ id }) => !/own|undo/.test(id)));
		const hidden = room.isLocal ? /new|chat|copy|share/ : /new/;
		return { ...all[0], deeds: Object.values(deeds).filter(({ id }) => !hidden.test(id)), questions };
	}

	/** @type {RoomEars["onUpdate"]} */
	onUpdate(old, before, afterLoss) {
		const { room } = this;
		if (!room?.state) return;
		if (old && old.game !== room.state.game) this.beginAnew();
		const { notes, told, tone } = newsOf(room, old, before, afterLoss);
		for (const sentence of notes) this.talk.note(sentence);
		if (told.length) this.app.say(told.join(" "), true);
		if (tone) this.app.sound.play(tone);
		if (this.review && !this.timeline.isBack) this.weigh();
		this.draw();
	}

	/** Look at the newest moment, and at nothing beside it. */
	beginAnew() {
		this.timeline.reset();
		this.typed = this.confirming = "";
		this.review?.review.end();
		this.review = null;
	}

	/** @param {ChatLine} line */
	onChat(line) {
		this.talk.hear(line);
		this.app.say(describeLine(line), true);
		if (line.player !== this.room?.viewer) this.app.sound.play("move");
	}

	/** @type {RoomEars["onTold"]} */
	onTold(lines) {
		for (const line of lines) this.talk.note(line);
		this.app.say(this.room?.seat ? lines[0] : lines.join(" "), true);
	}

	/** @type {RoomEars["onRefusal"]} */
	onRefusal(message, cell) {
		this.app.say(message, cell !== null);
		this.draw();
		if (cell !== null) this.board?.refuse(cell, message);
	}

	onMoved() {
		const url = clean(this.room?.url ?? "").replace(/^wss?:\/\//, "");
		this.onTold([say("room is at", { url })]);
	}

	onEnd() {
		if (this.room?.ended === "left") return this.app.navigate("/");
		this.draw();
		return this.app.say(this.stage.bannerText, true);
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
