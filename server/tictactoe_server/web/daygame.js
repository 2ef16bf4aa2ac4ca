/** What only the room of a game over days has: the way to the next game, a choice when leaving, notifications, and conditional moves. */

import { say, sayTitle } from "./catalogue.js";
import { button, h, isStale, setText, showKeyed } from "./dom.js";
import { FREE, nameCell } from "./rules.js";
import { messageOf, nameMark } from "./words.js";

const MOST_PLIES = 5;
const MOST_BRANCHES = 10;

export class DayPanel {
	#next = button("", () => this.page.app.openNextTurn(), { class: "primary", "aria-keyshortcuts": "." });
	#give = button("", () => this.#giveUp());
	#leaving = h("div.ask", { hidden: true },
		h("p", say("day leave")),
		button(sayTitle("day later"), () => this.page.app.navigate("/"), { class: "primary" }),
		this.#give,
		button(sayTitle("key cancel"), () => void (this.#leaving.hidden = true)),
	);
	#plan = button(say("plan title"), () => this.#begin());
	#notify = button(say("page notify title"), async () => (await import("./notify.js")).openNotify(this.page.app));
	#told = h("p");
	#add = button(say("plan add"), () => this.#store([...this.#branches, this.#useful]), { class: "primary" });
	#planning = h("div.ask", { hidden: true, role: "group", "aria-label": say("plan title") }, this.#told, this.#add, button(sayTitle("key cancel"), () => this.#end()));
	#list = h("ul.rooms");
	#planned = h("section", { "aria-label": say("plan list") }, h("h3", say("plan list")), this.#list);
	#isPlanned = false;
	/** @type {readonly Moves[]} */
	#branches = [];
	/** The moves of the branch that the player is making, or null. @type {number[] | null} */
	#steps = null;
	element = h("div.days", this.#leaving, this.#planning, h("div.deeds", this.#next, this.#plan, this.#notify), this.#planned);

	/** @param {GamePage} page */
	constructor(page) {
		this.page = page;
		page.stage.element.querySelector(".below")?.append(this.element);
	}

	/** @param {State} state */
	#marksOf({ rules: { marks }, seats, turn }, count = 0) {
		const first = marks.indexOf(turn ?? "");
		const order = [...marks.slice(first), ...marks.slice(0, first)].filter((mark) => !seats[mark]?.out);
		return [...Array(count).keys()].map((at) => order[at % order.length]);
	}

	/** The moves of the branch up to the player's last one. */
	get #useful() {
		const { room } = this.page;
		const [steps, marks] = [this.#steps ?? [], room?.state ? this.#marksOf(room.state, MOST_PLIES) : []];
		return steps.slice(0, marks.slice(0, steps.length).lastIndexOf(room?.seat ?? "") + 1);
	}

	/** @param {BoardView} view */
	boardOf(view) {
		const state = this.page.room?.state;
		const steps = this.#steps;
		if (!steps || !state || this.page.timeline.isBack) return view;
		const marks = this.#marksOf(state, steps.length + 1);
		const cells = [...view.board];
		steps.forEach((cell, at) => (cells[cell] = marks[at]));
		return { ...view, board: cells.join(""), last: steps.at(-1) ?? view.last, turn: marks[steps.length], isMine: steps.length < MOST_PLIES };
	}

	draw() {
		const { room, app } = this.page;
		if (!room?.state) return;
		const { status, turn, opening } = room.state;
		const isPlaying = status === "playing" && !!room.seat && !room.ended;
		const others = app.otherTurns;
		this.#next.hidden = !others.length || (isPlaying && turn === room.seat);
		setText(this.#next, `${sayTitle("page next")} (${others.length})`);
		this.#notify.hidden = !room.seat;
		if (status === "over") this.#leaving.hidden = true;
		const isAlone = Object.values(room.state.seats).filter(Boolean).length === 1;
		setText(this.#give, sayTitle(isPlaying ? "deed resign" : isAlone ? "day close" : "deed leave"));
		const mayPlan = isPlaying && !opening && turn !== room.seat && app.connection.phase === "on";
		if (!mayPlan) this.#steps = null;
		this.#plan.hidden = !mayPlan || !this.#isPlanned || !!this.#steps || this.#branches.length >= MOST_BRANCHES;
		this.#drawPlan(room.state);
		if (isPlaying && isStale(this.element, `${room.state.game} ${room.state.ply}`)) this.#store();
	}

	/** @param {State} state */
	#drawPlan(state) {
		const steps = this.#steps;
		this.#planning.hidden = !steps;
		setText(this.#told, steps?.length ? this.#describe(state, steps) : say("plan hint"));
		this.#add.hidden = !this.#useful.length;
		const shown = state.status === "playing" ? this.#branches : [];
		showKeyed(this.#list, shown, (branch) => this.#describe(state, branch), (branch) => {
			const told = this.#describe(state, branch);
			const remove = button("×", () => this.#store(this.#branches.filter((one) => String(one) !== String(branch))), { "aria-label": say("plan remove", { moves: told }), title: say("plan remove", { moves: told }) });
			return h("li", told, remove);
		});
		this.#planned.hidden = !shown.length;
	}

	/** @param {State} state @param {Moves} cells */
	#describe(state, cells) {
		const marks = this.#marksOf(state, cells.length);
		return cells.map((cell, at) => `${nameMark(state, marks[at])} ${nameCell(cell, state.rules)}`).join(", ");
	}

	/** Ask how to leave a game that is not over, or stop asking; return whether it is not over. */
	leave() {
		const { room, app } = this.page;
		if (this.#steps) this.#end();
		else if (!room?.seat || room.state?.status === "over" || app.connection.phase !== "on") return false;
		else this.#leaving.hidden = !this.#leaving.hidden;
		this.#leaving.querySelector("button")?.focus();
		return true;
	}

	#giveUp() {
		const { room, controls } = this.page;
		this.#leaving.hidden = true;
		if (room?.state?.status === "playing") controls.run("resign");
		else room?.leave();
	}

	#begin() {
		this.#steps = [];
		this.page.timeline.look();
		this.page.app.say(say("plan hint"), true);
		this.page.board?.focus();
	}

	#end() {
		this.#steps = null;
		this.page.draw();
		this.#plan.focus();
	}

	/** Add a move to the branch that the player is making; return whether there is one. */
	plan(cell = 0) {
		const { page } = this;
		const state = page.room?.state;
		if (!this.#steps || !state || page.timeline.isBack) return false;
		const at = this.#steps.indexOf(cell);
		const mark = at < 0 ? state.board[cell] : this.#marksOf(state, MOST_PLIES)[at];
		const isFree = mark === FREE;
		if (isFree && this.#steps.length < MOST_PLIES) this.#steps.push(cell);
		if (isFree) page.app.say(this.#describe(state, this.#steps), true);
		else page.onRefusal(say(mark === "#" ? "refused blocked" : "refused occupied", { cell: nameCell(cell, state.rules), mark }), cell);
		page.draw();
		return true;
	}

	/** Store branches, or by default load the stored ones. @param {readonly Moves[]} [branches] */
	async #store(branches) {
		const { page } = this;
		try {
			const { plan = [] } = (await page.room?.request({ type: "plan", moves: branches?.map((one) => [...one]) })) ?? {};
			this.#branches = plan;
			this.#isPlanned = true;
			if (branches) this.#end();
			else page.draw();
		} catch (error) {
			if (branches) page.onRefusal(messageOf(error), null);
		}
	}
}
