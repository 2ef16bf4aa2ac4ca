/** What is drawn of a game: board, players, moves, questions and buttons, out of the scene that the page is in. */

import { Board } from "./board.js";
import { say } from "./catalogue.js";
import { makeDoor } from "./door.js";
import { makeInvitation } from "./invitation.js";
import { changeLook, hasLooks, lookOf } from "./look.js";
import { Panel } from "./panel.js";
import { nameCell } from "./rules.js";
import { questionsOf, sceneOf } from "./scene.js";
import { Signals, mayAsk } from "./signals.js";
import { Stage } from "./stage.js";
import { Timeline } from "./timeline.js";
import { describeRules } from "./words.js";

export class GameView {
	/** @type {Board | null} */
	board = null;
	#panel = new Panel();
	#signals = new Signals();

	/** @param {GamePage} page */
	constructor(page) {
		this.page = page;
		this.timeline = new Timeline((isPlaying) => page.look(isPlaying));
		this.stage = new Stage({
			players: this.#panel.element,
			steps: this.timeline.steps,
			moves: this.timeline.list,
			talk: page.isLive ? page.talk.element : null,
			onAnswer: (name) => page.controls.run(name),
			onHeard: () => {
				page.talk.toggle();
				page.drawTalk();
			},
			onLook: () => this.#changeLook(),
			onRules: () => page.app.showRules(page.game?.state?.rules),
		});
	}

	close() {
		this.#signals.close();
	}

	/** What one looks at and has begun. @returns {import("./scene.js").View} */
	get view() {
		const { source, app, review, typed, confirming, isLive } = this.page;
		return {
			here: this.timeline.here,
			typed,
			confirming,
			isOffline: isLive && app.connection.phase !== "on",
			onlyWatches: "code" in source && source.onlyWatches,
			values: review?.worths ?? null,
			isReviewing: !!review,
			maySharePast: "past" in source && !!source.past,
			mayReview: isLive || !!app.connection.welcome?.features?.includes("review"),
			mayNotify: mayAsk(),
		};
	}

	/** Draw all, as the page is now. */
	draw() {
		this.#drawBanner();
		const { stage, timeline, page } = this;
		const { game, review } = page;
		const state = game?.state;
		if (!game || !state) return;
		timeline.draw(state, game.moves, game.viewer, review?.kinds);
		const scene = sceneOf(game, state, page.may(game, state), this.view);
		this.#drawBoard(scene);
		this.#panel.draw(game, lookOf(state.rules));
		stage.draw(scene, (kind) => this.#makeCard(kind, state));
		stage.drawReview(review?.element ?? null, review?.text ?? "");
		this.#drawQuestions(scene.questions);
		this.#signals.draw(scene.isMine, scene.head);
	}

	/** @param {import("./stage.js").Scene} scene */
	#drawBoard(scene) {
		const { rules } = scene.state;
		const look = lookOf(rules);
		if (this.board?.look !== look || JSON.stringify(this.board.rules) !== JSON.stringify(rules)) {
			const { controls } = this.page;
			const ears = { onPlay: controls.play.bind(controls), onChoose: this.#confirmCell.bind(this), onPoint: (/** @type {number} */ cell) => this.page.review?.point(cell) };
			this.board = new Board(rules, say("view board of", { rules: describeRules(rules) }), look, ears);
			this.stage.drawPlace(this.board.element, hasLooks(rules));
		}
		this.board.isTyping = !!this.page.typed;
		this.board.draw(scene.board);
	}

	/** @param {import("./scene.js").Asked[]} questions */
	#drawQuestions(questions) {
		if (this.stage.drawQuestions(questions)) this.board?.focus();
	}

	/** @param {string} kind @param {Protocol.RoomState} state */
	#makeCard(kind, state) {
		const { app, controls } = this.page;
		if (kind === "door") return makeDoor(app.connection.name, state, (name) => controls.join(name));
		return kind === "invitation" ? makeInvitation(app, state.room) : null;
	}

	#drawBanner() {
		const { stage, page } = this;
		const { room, isLive } = page;
		const { connection } = page.app;
		if (room?.ended === "replaced") return stage.drawBanner(say("taken over"));
		if (room?.ended) return stage.drawBanner(room.ended === "closed" ? say("view room is closed", { room: room.code, reason: room.closedReason }) : room.closedReason);
		if (!connection.isTroubled || !isLive) return stage.drawBanner();
		const seconds = Math.max(0, Math.ceil((connection.nextAttemptAt - performance.now()) / 1000));
		return stage.drawBanner(connection.reason || (seconds ? say("view connection again in", { seconds }) : say("view connection again")));
	}

	/** Draw what changes with the time alone. */
	tick() {
		const { page } = this;
		const { game } = page;
		this.#panel.tick();
		this.#drawBanner();
		if (game?.state) this.#drawQuestions(questionsOf(game, game.state, page.may(game, game.state), this.view));
	}

	/** @param {number | null} cell */
	#confirmCell(cell) {
		const { board } = this;
		const name = cell === null || !board ? null : nameCell(cell, board.rules);
		this.stage.drawConfirm(name, () => cell !== null && board?.play(cell), () => board?.choose(null));
	}

	#changeLook() {
		changeLook();
		this.draw();
	}
}
