/** The elements of the page of a game, drawn from its scene. */

import { say, sayTitle } from "./catalogue.js";
import { button, h, isStale, setText, show, showKeyed, urlOf } from "./dom.js";
import { changeLook, hasLooks, lookOf } from "./kept.js";
import { nameCell } from "./rules.js";
import { listSigns, seatIcon } from "./shapes.js";
import { makeDoor, makeInvitation } from "./waiting.js";
import { formatDuration, keepTogether, nameMark, ownerOf } from "./words.js";

const SHORT_MS = 15_000;
const MINUTE_MS = 60_000;

/** @param {GamePage} page */
export function makeStage(page) {
	const { app, controls, timeline, talk, isLive } = page;
	const title = h("h1");
	const code = h("code.room-code", { title: say("view room code") });
	const terms = button("", () => app.showRules(page.state?.rules), { class: "sub terms", title: sayTitle("column rules") });
	const bannerLine = h("p.banner", { hidden: true });
	const cardPlace = h("div.card-place");
	const [turnLine, turnText, turnWhy] = [h("p"), h("span"), h("small")];
	const asks = h("div.asks");
	const [buttons, menu] = [h("div.deeds"), h("div.deeds")];
	const more = h("details.more", { hidden: true }, h("summary", say("new room more")), menu);
	const actions = h("div.deeds", { role: "group", "aria-label": say("view room deeds") }, buttons, more);
	const confirmation = h("div.confirm-bar", { hidden: true });
	const playerList = h("ul.players", { "aria-label": sayTitle("column players") });
	const place = h("div.place");
	const worth = h("p.worth-line");
	const reviewPlace = h("div.review-place");
	const looks = button("◐", switchLook, { class: "looks", "aria-label": say("view board look"), title: say("view board look"), hidden: true });
	const element = h("div.game",
		h("div.before", h("div.game-head", h("div.title-row", title, code, looks), terms, bannerLine), playerList),
		h("div.middle", cardPlace, place),
		h("div.after",
			h("div.below", turnLine, confirmation, asks, actions),
			h("div.side", worth, reviewPlace, timeline.steps, timeline.list, isLive && [talk.heard, talk.element]),
		),
	);
	/** The names of the answers to the first question that has a main answer, that answer first. @type {string[]} */
	let answerNames = [];
	return { element, draw, tick, drawBanner, drawConfirm, listAnswers: () => answerNames };

	function switchLook() {
		changeLook();
		page.draw();
	}

	/** @param {Scene} scene */
	function draw(scene) {
		const isWaiting = scene.card !== "";
		setText(title, keepTogether(scene.head.replace(" ·", "\u00a0·")));
		setText(code, scene.state.room);
		setText(terms, scene.terms.join(" · "));
		if (page.title !== scene.title) app.retitle((page.title = scene.title));
		element.classList.toggle("waiting", isWaiting);
		place.hidden = turnLine.hidden = isWaiting;
		if (place.firstChild !== page.board?.element) show(place, page.board?.element);
		looks.hidden = !hasLooks(scene.state.rules);
		drawTurn(scene);
		place.classList.toggle("offline", scene.isFaint);
		place.classList.toggle("past", scene.isBack);
		element.classList.toggle("lost", scene.isLost);
		if (isStale(cardPlace, scene.card)) {
			if (scene.card === "door") show(cardPlace, makeDoor(app, scene.state, (name) => controls.join(name)));
			else show(cardPlace, scene.card === "invitation" && makeInvitation(app, scene.state));
			if (scene.card === "door") cardPlace.querySelector("button")?.focus();
		}
		tick(scene);
		drawButtons(scene.deeds);
		const { element: shown = null, text = "" } = page.review ?? {};
		if (reviewPlace.firstChild !== shown) show(reviewPlace, shown);
		setText(worth, text);
	}

	/** @param {Scene} scene */
	function tick({ banner, players, questions, state }) {
		drawBanner(banner);
		drawPlayers(players, state);
		// After a resignation, the verdict says who left.
		drawQuestions(questions.filter(({ id }) => id !== "deserted" || state.result?.reason !== "resigned"));
	}

	/** @param {Scene["players"]} players @param {State} state */
	function drawPlayers(players, state) {
		const { rules, status, event } = state;
		const { connection, names } = app;
		const leads = status === "over" && !event && connection.welcome?.challenges;
		const look = lookOf(rules);
		const signs = listSigns(players.map(({ player }) => player));
		showKeyed(playerList, players, ({ mark }) => `${look} ${mark}`, ({ mark }) =>
			h("li", { class: `player m${rules.marks.indexOf(mark)}` }, seatIcon(look, rules.marks, mark), h("span.unseen", nameMark(state, mark)),
				h("span.who", h("a.name"), h("span.note")), h("span.score"), h("span.clock")),
		(row, { mark, name, player, note, moves, is_own, is_away, has_won, score, clock_ms }) => {
			const [, , who, scored, clock] = row.children;
			for (const [kind, isSo] of Object.entries({ moving: moves, away: is_away, winner: has_won })) row.classList.toggle(kind, isSo);
			setText(who.children[0], is_own ? say("player you", { name }) : name);
			who.children[0].title = name.endsWith("?") ? say("name mark", { name: name.slice(0, -1) }) : name;
			who.children[0].dataset.sign = signs[rules.marks.indexOf(mark)];
			if (player) names.set(player, name);
			if (leads && player && !is_own && ownerOf(player) === player) who.children[0].href = urlOf(`/player/${player}`);
			else who.children[0].removeAttribute("href");
			setText(who.children[1], note || (moves && !page.room?.ended ? say("player moves") : ""));
			setText(scored, String(score ?? ""));
			if (clock_ms === null) return;
			setText(clock, page.days ? formatLong(clock_ms) : formatDuration(clock_ms));
			clock.className = moves && clock_ms < SHORT_MS ? "clock short" : "clock";
		});
	}

	/** Draw the line under the board; with several players at one keyboard it has the mark and colour of the mover or winner. @param {Scene} scene */
	function drawTurn({ turn: { text, why, kind, places }, state: { rules, turn, result } }) {
		const whose = (page.room?.isLocal && kind && (turn ?? result?.winner)) || "";
		const mark = places || whose;
		turnLine.className = `turn ${kind}${whose && ` whose m${rules.marks.indexOf(whose)}`}`;
		setText(turnText, text);
		setText(turnWhy, why);
		if (isStale(turnLine, mark)) show(turnLine, mark && seatIcon(lookOf(rules), rules.marks, mark), turnText, " ", turnWhy);
	}

	/** @param {Answer[]} deeds */
	function drawButtons(deeds) {
		const rest = deeds.filter(({ is_more }) => is_more);
		const redraw = () => {
			showAnswers(buttons, deeds.filter(({ is_more }) => !is_more));
			showAnswers(menu, rest);
			more.hidden = !rest.length;
			if (!rest.length) more.open = false;
		};
		if (!losesFocus(actions, redraw)) return;
		const withdraw = asks.querySelector("[data-key$=withdraw]"); // if the button made an offer
		/** @type {HTMLElement | null} */ (withdraw ?? actions.querySelector("button"))?.focus();
	}

	/** @param {Element} parent @param {Answer[]} answers */
	function showAnswers(parent, answers) {
		showKeyed(parent, answers, ({ name }) => name, ({ name }) => button("", () => controls.run(name)), (made, { label, is_main }) => {
			setText(made, label);
			made.classList.toggle("primary", !!is_main);
		});
	}

	/** @param {Asked[]} questions */
	function drawQuestions(questions) {
		answerNames = (questions.find(({ answers }) => answers[0]?.is_main)?.answers ?? []).map(({ name }) => name);
		const redraw = () => showKeyed(asks, questions, ({ id }) => id, ({ id, text }) => {
			if (id === "claim") app.say(text, true); // time has run out, so no news tells it
			return h("div.ask", h("p"), h("div.row"));
		}, (made, { text, answers }) => {
			const [told, row] = made.children;
			setText(told, text);
			showAnswers(row, answers);
		});
		if (losesFocus(asks, redraw)) page.board?.focus();
	}

	function drawBanner(text = "") {
		setText(bannerLine, text);
		bannerLine.hidden = !text;
	}

	/** @param {number | null} cell */
	function drawConfirm(cell) {
		const { board } = page;
		confirmation.hidden = cell === null || !board;
		if (cell === null || !board) return;
		const label = say("view room place at", { cell: nameCell(cell, board.rules) });
		show(confirmation, button(label, () => board.play(cell), { class: "primary big" }), button(sayTitle("key cancel"), () => board.choose(null)));
		confirmation.scrollIntoView({ block: "nearest" });
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
