/** The page of a game: entering and leaving, its events, and its drawing. */

import { makeBoard } from "./board.js";
import { say } from "./catalogue.js";
import { choices } from "./choices.js";
import { makeControls } from "./controls.js";
import { show, urlOf } from "./dom.js";
import { lookOf } from "./kept.js";
import { makeKeyboard } from "./keyboard.js";
import { Lost, Refused } from "./requests.js";
import { sceneOf, showPlayed } from "./scene.js";
import { makeSignals, mayAsk } from "./signals.js";
import { makeStage } from "./stage.js";
import { describeLine, makeTalk } from "./talk.js";
import { newsOf } from "./telling.js";
import { makeTimeline } from "./timeline.js";
import { messageOf } from "./words.js";

export class GamePage {
	/** @type {ShownGame | null} */
	game = null;
	/** @type {Room | null} */
	room = null;
	/** @type {ReviewPanel | null} */
	review = null;
	typed = "";
	/** @type {Board | null} */
	board = null;
	/** What only games over days have, loaded with the first of them. @type {DayPanel | null} */
	days = null;
	#isClosed = false;
	#signal = makeSignals();
	onKey = makeKeyboard(this);
	timeline = makeTimeline(this);

	/** @param {App} app @param {Source} source */
	constructor(app, source) {
		this.app = app;
		this.source = source;
		this.isLive = !source.load;
		this.title = source.code ?? say("view room past");
		this.controls = makeControls(this);
		this.talk = makeTalk(this);
		this.stage = makeStage(this);
		this.element = this.stage.element;
		this.#enter();
	}

	get state() {
		return this.game?.state ?? null;
	}

	async #enter() {
		const { app, source } = this;
		try {
			if (source.load) {
				this.game = showPlayed(await source.load(), app.connection.player);
				this.draw();
				this.timeline.look(0);
				return source.shared && this.timeline.play();
			}
			const { code = "" } = source;
			await app.arrive();
			const isHeld = app.connection.welcome?.rooms.some((held) => held.room === code);
			const room = app.rooms.find(code) ?? (await app.rooms.enter({ type: isHeld ? "join" : "watch", room: code }));
			if (room.code !== code) return this.#leadTo(room.code);
			return this.sit(room);
		} catch (error) {
			if (this.#isClosed) return undefined;
			if (error instanceof Lost) return void this.#enter();
			const isUnknown = error instanceof Refused && error.code === "no_such_room"; // it may be the code of an event
			const found = isUnknown ? await app.connection.request({ type: "event_watch", event: source.code ?? "", on: false }).catch(() => null) : null;
			if (found?.event) return this.#leadTo(`e/${found.event}`);
			const message = messageOf(error);
			app.say(message);
			this.element.className = "";
			this.#isClosed = true;
			const nothing = app.makeNothing(message);
			app.retitle((this.title = nothing.title));
			return show(this.element, nothing.element);
		}
	}

	#leadTo(path = "") {
		location.replace(urlOf(`/${path}${location.hash}`));
	}

	/** @param {Room} room */
	sit(room) {
		if (this.#isClosed) return;
		if (this.room !== room) {
			this.game = this.room = this.app.rooms.shown = room;
			for (const line of room.talk) this.talk.hear(line);
		}
		room.ears = this;
		if (room.state) this.onUpdate(null, false);
	}

	close() {
		this.#isClosed = true;
		this.#signal();
		this.beginAnew();
		if (this.room) this.app.rooms.close(this.room);
	}

	onPhase() {
		this.draw();
	}

	get #view() {
		const { source, app, review, typed, isLive, game, state } = this;
		return {
			here: this.timeline.here,
			typed,
			isOffline: isLive && !app.connection.isOn,
			trouble: this.#trouble,
			unanswered: this.room && app.rooms.unanswered.get(this.room.code),
			passed: game ? performance.now() - game.receivedAt : 0,
			onlyWatches: source.onlyWatches,
			values: review?.worths ?? null,
			isReviewing: !!review,
			maySharePast: !!source.past || !!source.shared,
			mayNotify: mayAsk() && !this.room?.isLocal && !state?.time_control?.days,
		};
	}

	get #trouble() {
		const { isTroubled, nextAttemptAt, reason } = this.app.connection;
		if (!isTroubled || !this.isLive) return "";
		const seconds = Math.max(0, Math.ceil((nextAttemptAt - performance.now()) / 1000));
		const again = seconds ? say("banner lost again", { seconds }) : say("banner lost now");
		return reason || `${say("banner lost")} ${again}`;
	}

	draw() {
		if (this.#isClosed) return undefined;
		const { stage, timeline, game, state, review } = this;
		if (game && state) timeline.draw(state, game.viewer, review?.review.kinds);
		const scene = this.#scene;
		if (!scene) return this.tick();
		const { rules } = scene.state;
		const look = lookOf(rules);
		if (this.board?.look !== look || JSON.stringify(this.board.rules) !== JSON.stringify(rules)) this.board = makeBoard(this, rules, look);
		const hasWinner = !!this.room?.isLocal && !!scene.state.result?.winner; // whoever wins is at this keyboard
		const shown = this.days?.boardOf(scene.board) ?? scene.board;
		this.board.draw(hasWinner ? { ...shown, isWon: true } : shown);
		stage.draw(scene);
		this.talk.draw();
		if (this.days) this.days.draw();
		else this.loadDays().then((days) => days?.draw());
		this.element.classList.toggle("local", !!this.room?.isLocal);
		this.element.classList.toggle("ended", !!this.room?.ended);
		return this.#signal(scene.turn.kind === "mine", scene.head);
	}

	async loadDays() {
		if (!this.room || !this.state?.time_control?.days) return null;
		const { makeDayPanel } = await import("./daygame.js");
		return (this.days ??= makeDayPanel(this));
	}

	tick() {
		const scene = this.#scene;
		if (scene) this.stage.tick(scene);
		else this.stage.drawBanner(this.#trouble);
	}

	get #scene() {
		const { game, state, may } = this;
		return game && state && sceneOf(game, state, may, this.#view);
	}

	get may() {
		const { game, state, room, app: { connection } } = this;
		if (!game || !state) return [];
		const find = (player = "") =>
			choices(state, player, connection.isOn, connection.welcome ?? {});
		if (!room || room.players.length < 2) return find(game.viewer);
		// Every player at this keyboard may act; the player on turn comes first.
		const actors = [...new Set([room.actorOf(), ...room.players])].reverse();
		const deeds = actors.flatMap((actor) => find(actor).map((deed) => [deed.name, { ...deed, actor }]));
		const hidden = room.isLocal ? /new|chat|copy|share/ : /new/;
		return Object.values(Object.fromEntries(deeds)).filter(({ name }) => !hidden.test(name));
	}

	/** @type {RoomEars["onUpdate"]} */
	onUpdate(old, afterLoss) {
		const { room } = this;
		if (!room?.state) return;
		if (old && old.game !== room.state.game) this.beginAnew();
		const { notes, told, tone } = newsOf(room, old, afterLoss);
		for (const sentence of notes) this.talk.note(sentence);
		if (told.length) this.app.say(told.join(" "), true);
		if (tone) this.app.sound.play(tone);
		if (!this.timeline.isBack) this.review?.look();
		this.draw();
	}

	/** Show the newest moment, and drop unfinished input and the review. */
	beginAnew() {
		this.timeline.reset();
		this.typed = "";
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
		const url = (this.room?.url ?? "").replace(/^wss?:\/\//, "");
		this.onTold([say("room is at", { url })]);
	}

	onEnd() {
		if (this.room?.ended === "left") return this.app.navigate("/");
		this.draw();
		return this.app.say(this.#scene?.banner, true);
	}

	look(isPlaying = false) {
		this.review?.look();
		this.draw();
		const { text = "", why = "" } = this.#scene?.turn ?? {};
		if (!isPlaying) this.app.say(`${text} ${why}`.trim(), true);
	}
}
