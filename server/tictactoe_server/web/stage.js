/** The elements of the page of a game, drawn from its scene. */

import { say, sayTitle } from "./catalogue.js";
import { button, h, isStale, setText, show, showKeyed, urlOf } from "./dom.js";
import { changeLook, lookOf } from "./kept.js";
import { nameCell } from "./rules.js";
import { emblemOf, seatIcon } from "./shapes.js";
import { makeDoor, makeInvitation } from "./waiting.js";
import { formatDuration, keepTogether, nameMark, ownerOf } from "./words.js";

const SHORT_MS = 15_000;
const MINUTE_MS = 60_000;

export class Stage {
	#head = h("h1");
	#code = h("code.room-code", { title: say("view room code") });
	#terms = button("", () => this.page.app.showRules(this.page.state?.rules), { class: "sub terms", title: sayTitle("column rules") });
	#banner = h("p.banner", { hidden: true });
	#card = h("div.card-place");
	#turn = h("p");
	#turnText = h("span");
	#why = h("small");
	#asks = h("div.asks");
	#buttons = h("div.deeds");
	#menu = h("div.deeds");
	#more = h("details.more", { hidden: true }, h("summary", say("new room more")), this.#menu);
	#deeds = h("div.deeds", { role: "group", "aria-label": say("view room deeds") }, this.#buttons, this.#more);
	#confirm = h("div.confirm-bar", { hidden: true });
	title = "";
	/** The names of the answers to the first question that has a main answer, that answer first. @type {string[]} */
	answers = [];
	#players = h("ul.players", { "aria-label": sayTitle("column players") });
	#place = h("div.place");
	#worth = h("p.worth-line");
	#review = h("div.review-place");

	/** @param {GamePage} page */
	constructor(page) {
		const { timeline, talk, isLive } = page;
		this.page = page;
		this.looks = button("◐", () => this.#changeLook(), { class: "looks", "aria-label": say("view board look"), title: say("view board look"), hidden: true });
		this.element = h("div.game",
			h("div.before", h("div.game-head", h("div.title-row", this.#head, this.#code, this.looks), this.#terms, this.#banner), this.#players),
			h("div.middle", this.#card, this.#place),
			h("div.after",
				h("div.below", this.#turn, this.#confirm, this.#asks, this.#deeds),
				h("div.side", this.#worth, this.#review, timeline.steps, timeline.list, isLive && [talk.heard, talk.element]),
			),
		);
	}

	get turnText() {
		return `${this.#turnText.textContent} ${this.#why.textContent}`.trim();
	}

	#changeLook() {
		changeLook();
		this.page.draw();
	}

	/** @param {Scene} scene */
	draw(scene) {
		const isWaiting = scene.card !== "";
		setText(this.#head, keepTogether(scene.head.replace(" ·", "\u00a0·")));
		setText(this.#code, scene.state.room);
		setText(this.#terms, scene.terms.join(" · "));
		if (this.title !== scene.title) this.page.app.retitle((this.title = scene.title));
		this.element.classList.toggle("waiting", isWaiting);
		this.#place.hidden = this.#turn.hidden = isWaiting;
		this.#drawTurn(scene);
		this.#place.classList.toggle("offline", scene.isFaint);
		this.#place.classList.toggle("past", scene.isBack);
		this.element.classList.toggle("lost", scene.isLost);
		this.#drawCard(scene);
		this.#drawButtons(scene.deeds);
	}

	/** @param {Scene} scene */
	tick({ banner, players, questions, state }) {
		this.drawBanner(banner);
		this.#drawPlayers(players, state);
		this.#drawQuestions(questions);
	}

	/** @param {Scene["players"]} players @param {State} state */
	#drawPlayers(players, state) {
		const { rules, status, event } = state;
		const { app: { connection, names } } = this.page;
		const leads = status === "over" && !event && connection.welcome?.challenges;
		const look = lookOf(rules);
		const make = (/** @type {Scene["players"][number]} */ { mark }) =>
			h("li", { class: `player m${rules.marks.indexOf(mark)}` }, seatIcon(look, rules.marks, mark), h("span.unseen", nameMark(state, mark)),
				h("span.who", h("a.name"), h("span.note")), h("span.score"), h("span.clock"));
		showKeyed(this.#players, players, ({ mark }) => `${look} ${mark}`, make, (row, { name, player, note, moves, is_own, is_away, has_won, score, clock_ms }) => {
			const [, , who, scored, clock] = row.children;
			for (const [kind, isSo] of Object.entries({ moving: moves, away: is_away, winner: has_won })) row.classList.toggle(kind, isSo);
			setText(who.children[0], is_own ? say("player you", { name }) : name);
			who.children[0].title = name.endsWith("?") ? say("name mark", { name: name.slice(0, -1) }) : name;
			who.children[0].dataset.sign = player && emblemOf(player)[0];
			if (player) names.set(player, name);
			if (leads && player && !is_own && ownerOf(player) === player) who.children[0].href = urlOf(`/player/${player}`);
			else who.children[0].removeAttribute("href");
			setText(who.children[1], note || (moves ? say("player moves") : ""));
			setText(scored, String(score ?? ""));
			if (clock_ms === null) return;
			setText(clock, this.page.days ? formatLong(clock_ms) : formatDuration(clock_ms));
			clock.className = moves && clock_ms < SHORT_MS ? "clock short" : "clock";
		});
	}

	/** Draw the line under the board; with several players at one keyboard it has the mark and colour of the mover or winner. @param {Scene} scene */
	#drawTurn({ turn: { text, why, kind, places }, state: { rules, turn, result } }) {
		const whose = (this.page.room?.isLocal && kind && (turn ?? result?.winner)) || "";
		const mark = places || whose;
		this.#turn.className = `turn ${kind}${whose && ` whose m${rules.marks.indexOf(whose)}`}`;
		setText(this.#turnText, text);
		setText(this.#why, why);
		if (isStale(this.#turn, mark)) show(this.#turn, mark && seatIcon(lookOf(rules), rules.marks, mark), this.#turnText, " ", this.#why);
	}

	/** @param {HTMLElement} board */
	drawPlace(board, hasLooks = false) {
		show(this.#place, board);
		this.looks.hidden = !hasLooks;
	}

	/** @param {HTMLElement | null} review */
	drawReview(review, text = "") {
		if (this.#review.firstChild !== review) show(this.#review, review);
		setText(this.#worth, text);
	}

	/** @param {Scene} scene */
	#drawCard({ card: kind, state }) {
		const { app, controls } = this.page;
		if (!isStale(this.#card, kind)) return;
		if (kind === "door") show(this.#card, makeDoor(app, state, (name) => controls.join(name)));
		else show(this.#card, kind === "invitation" && makeInvitation(app, state));
		if (kind === "door") this.#card.querySelector("button")?.focus();
	}

	/** @param {Answer[]} deeds */
	#drawButtons(deeds) {
		const menu = deeds.filter(({ is_more }) => is_more);
		const draw = () => {
			this.#showAnswers(this.#buttons, deeds.filter(({ is_more }) => !is_more));
			this.#showAnswers(this.#menu, menu);
			this.#more.hidden = !menu.length;
			if (!menu.length) this.#more.open = false;
		};
		if (losesFocus(this.#deeds, draw)) this.#deeds.querySelector("button")?.focus();
	}

	/** @param {Element} parent @param {Answer[]} answers */
	#showAnswers(parent, answers) {
		const make = (/** @type {Answer} */ { name }) => button("", () => this.page.controls.run(name));
		showKeyed(parent, answers, ({ name }) => name, make, (made, { label, is_main }) => {
			setText(made, label);
			made.classList.toggle("primary", !!is_main);
		});
	}

	/** Draw the questions. If an answer with the focus has disappeared, move the focus to the board. @param {Asked[]} questions */
	#drawQuestions(questions) {
		this.answers = (questions.find(({ answers }) => answers[0]?.is_main)?.answers ?? []).map(({ name }) => name);
		const make = (/** @type {Asked} */ { id, text }) => {
			if (id === "claim") this.page.app.say(text, true); // time has run out, so no news tells it
			return h("div.ask", h("p"), h("div.row"));
		};
		const draw = () => showKeyed(this.#asks, questions, ({ id }) => id, make, (made, { text, answers }) => {
			const [told, row] = made.children;
			setText(told, text);
			this.#showAnswers(row, answers);
		});
		if (losesFocus(this.#asks, draw)) this.page.board?.focus();
	}

	drawBanner(text = "") {
		setText(this.#banner, text);
		this.#banner.hidden = !text;
	}

	/** Ask for confirmation of a move to a cell, or hide the question for null. @param {Board} board @param {number | null} cell */
	drawConfirm(board, cell) {
		this.#confirm.hidden = cell === null;
		if (cell === null) return;
		const label = say("view room place at", { cell: nameCell(cell, board.rules) });
		show(this.#confirm, button(label, () => board.play(cell), { class: "primary big" }), button(sayTitle("key cancel"), () => board.choose(null)));
		this.#confirm.scrollIntoView({ block: "nearest" });
	}
}

/** Return the time of a clock of days, in whole minutes until the last hour. */
function formatLong(milliseconds = 0) {
	const minutes = Math.floor(milliseconds / MINUTE_MS);
	return minutes < 60 || minutes >= 1440 ? formatDuration(milliseconds) : say("duration hours", { hours: Math.floor(minutes / 60), minutes: minutes % 60 });
}

/** Draw, and return whether the focused element inside `element` has disappeared. @param {Element} element @param {() => void} draw */
function losesFocus(element, draw) {
	const hadFocus = element.contains(document.activeElement);
	draw();
	return hadFocus && !element.contains(document.activeElement);
}
