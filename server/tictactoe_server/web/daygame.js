/** What only the room of a game over days has: the way to the next game, a choice when leaving, notifications, and conditional moves. */

import { say, sayTitle } from "./catalogue.js";
import { button, h, isStale, setText, showKeyed } from "./dom.js";
import { FREE, nameCell } from "./rules.js";
import { describeTaken, messageOf, nameMark } from "./words.js";

const MOST_PLIES = 5;
const MOST_BRANCHES = 10;

/** @param {GamePage} page */
export function makeDayPanel(page) {
	const { app } = page;
	const next = button("", () => app.openNextTurn(), { class: "primary", "aria-keyshortcuts": "." });
	const give = button("", giveUp);
	const leaving = h("div.ask", { hidden: true },
		h("p", say("day leave")),
		button(sayTitle("day later"), () => app.navigate("/"), { class: "primary" }),
		give,
		button(sayTitle("key cancel"), () => void (leaving.hidden = true)),
	);
	const begin = button(say("plan title"), beginPlan);
	const notify = button(say("page notify title"), async () => (await import("./notify.js")).openNotify(app));
	const hint = h("p");
	const add = button(say("plan add"), () => store([...branches, useful()]), { class: "primary" });
	const planning = h("div.ask", { hidden: true, role: "group", "aria-label": say("plan title") }, hint, add, button(sayTitle("key cancel"), end));
	const list = h("ul.rooms");
	const planned = h("section", { "aria-label": say("plan list") }, h("h3", say("plan list")), list);
	let isPlanned = false;
	/** @type {readonly Moves[]} */
	let branches = [];
	/** The moves of the branch that the player is making, or null. @type {number[] | null} */
	let steps = null;
	const element = h("div.days", leaving, planning, h("div.deeds", next, begin, notify), planned);
	page.stage.element.querySelector(".below")?.append(element);
	return { boardOf, draw, leave, plan };

	/** @param {State} state */
	function marksOf({ rules: { marks }, seats, turn }, count = 0) {
		const first = marks.indexOf(turn ?? "");
		const order = [...marks.slice(first), ...marks.slice(0, first)].filter((mark) => !seats[mark]?.out);
		return [...Array(count).keys()].map((at) => order[at % order.length]);
	}

	/** The moves of the branch up to the player's last one. */
	function useful() {
		const { room } = page;
		const [made, marks] = [steps ?? [], room?.state ? marksOf(room.state, MOST_PLIES) : []];
		return made.slice(0, marks.slice(0, made.length).lastIndexOf(room?.seat ?? "") + 1);
	}

	/** @param {BoardView} view */
	function boardOf(view) {
		const state = page.room?.state;
		if (!steps || !state || page.timeline.isBack) return view;
		const marks = marksOf(state, steps.length + 1);
		const cells = [...view.board];
		steps.forEach((cell, at) => (cells[cell] = marks[at]));
		return { ...view, board: cells.join(""), last: steps.at(-1) ?? view.last, turn: marks[steps.length], isMine: steps.length < MOST_PLIES };
	}

	function draw() {
		const { room } = page;
		if (!room?.state) return;
		const { status, turn, opening } = room.state;
		const isPlaying = status === "playing" && !!room.seat && !room.ended;
		const others = app.otherTurns;
		next.hidden = !others.length || (isPlaying && turn === room.seat);
		setText(next, `${sayTitle("page next")} (${others.length})`);
		notify.hidden = !room.seat;
		if (status === "over") leaving.hidden = true;
		const isAlone = Object.values(room.state.seats).filter(Boolean).length === 1;
		setText(give, sayTitle(isPlaying ? "deed resign" : isAlone ? "day close" : "deed leave"));
		const mayPlan = isPlaying && !opening && turn !== room.seat && app.connection.isOn;
		if (!mayPlan) steps = null;
		begin.hidden = !mayPlan || !isPlanned || !!steps || branches.length >= MOST_BRANCHES;
		drawPlan(room.state);
		if (isPlaying && isStale(element, `${room.state.game} ${room.state.ply}`)) store();
	}

	/** @param {State} state */
	function drawPlan(state) {
		planning.hidden = !steps;
		setText(hint, steps?.length ? describe(state, steps) : say("plan hint"));
		add.hidden = !useful().length;
		const shown = state.status === "playing" ? branches : [];
		showKeyed(list, shown, (branch) => describe(state, branch), (branch) => {
			const moves = describe(state, branch);
			const title = say("plan remove", { moves });
			return h("li", moves, button("×", () => store(branches.filter((one) => String(one) !== String(branch))), { "aria-label": title, title }));
		});
		planned.hidden = !shown.length;
	}

	/** @param {State} state @param {Moves} cells */
	function describe(state, cells) {
		const marks = marksOf(state, cells.length);
		return cells.map((cell, at) => `${nameMark(state, marks[at])} ${nameCell(cell, state.rules)}`).join(", ");
	}

	/** Ask how to leave a game that is not over, or stop asking; return whether it is not over. */
	function leave() {
		const { room } = page;
		if (steps) end();
		else if (!room?.seat || room.state?.status === "over" || !app.connection.isOn) return false;
		else leaving.hidden = !leaving.hidden;
		leaving.querySelector("button")?.focus();
		return true;
	}

	function giveUp() {
		const { room, controls } = page;
		leaving.hidden = true;
		if (room?.state?.status === "playing") controls.run("resign");
		else room?.leave();
	}

	function beginPlan() {
		steps = [];
		page.timeline.look();
		app.say(say("plan hint"), true);
		page.board?.focus();
	}

	function end() {
		steps = null;
		page.draw();
		begin.focus();
	}

	/** Add a move to the branch that the player is making; return whether there is one. */
	function plan(cell = 0) {
		const state = page.room?.state;
		if (!steps || !state || page.timeline.isBack) return false;
		const at = steps.indexOf(cell);
		const mark = at < 0 ? state.board[cell] : marksOf(state, MOST_PLIES)[at];
		const isFree = mark === FREE;
		if (isFree && steps.length < MOST_PLIES) steps.push(cell);
		if (isFree) app.say(describe(state, steps), true);
		else page.onRefusal(describeTaken(mark, cell, state.rules), cell);
		page.draw();
		return true;
	}

	/** Store branches, or by default load the stored ones. @param {readonly Moves[]} [moves] */
	async function store(moves) {
		try {
			const stored = await page.room?.request({ type: "plan", moves: moves?.map((one) => [...one]) });
			branches = stored?.plan ?? [];
			isPlanned = true;
			if (moves) end();
			else page.draw();
		} catch (error) {
			if (moves) page.onRefusal(messageOf(error), null);
		}
	}
}
