/** The user's actions on the page of a game: moves, buttons and keys. */

import { say } from "./catalogue.js";
import { findDeed, isServerBot, takeOf } from "./choices.js";
import { FREE, nameCell, nextMark } from "./rules.js";
import { describeTaken, describeTurn, messageOf } from "./words.js";

/** @param {GamePage} page */
export function makeControls(page) {
	const { app } = page;
	/** @type {Record<string, (deed: Deed | undefined) => unknown>} */
	const actions = {
		back: () => join(),
		challenge: () => import("./ladders/challenges.js").then(({ challengeAgain }) => page.room && challengeAgain(app, page.room)),
		computer: () => openAnother("medium"),
		copy: () => app.copy(app.linkTo(page.room?.code)),
		event: () => app.navigate(`/e/${page.state?.event}`),
		home: () => app.navigate("/"),
		leave: async (deed) => (await page.loadDays())?.leave() || giveUp(deed),
		new: () => openAnother(Object.values(page.state?.seats ?? {}).find(isServerBot)?.bot),
		notify: () => Notification.requestPermission().then(() => page.draw()),
		resign: giveUp,
		review: toggleReview,
		share,
	};
	return { run, answer, play, join };

	/** Carry out an action by name; return whether it is possible. */
	function run(name = "") {
		const deed = findDeed(page.may, name);
		const action = actions[name] ?? actions[name.split(" ")[0]];
		if (action) action(deed);
		else if (deed) askFor(deed.name, deed.actor);
		page.draw();
		return !!deed || !!action;
	}

	function answer(index = 0) {
		const name = page.stage.listAnswers()[index];
		return name !== undefined && run(name);
	}

	function play(cell = 0) {
		const { room } = page;
		const state = room?.state;
		page.typed = "";
		if (page.days?.plan(cell)) return undefined;
		if (!room || !state) return page.draw();
		const { seat, pending } = room;
		const wasPlaced = pending ? pending.cell === cell : state.last === cell && state.board[cell] === seat && state.turn !== seat;
		if (wasPlaced) return undefined; // the second click of a double click
		const why = whyNot(room, state, cell);
		if (why) return page.onRefusal(why, seat ? cell : null);
		if (!room.ended) {
			room.move(cell);
			if (!app.connection.isOn) app.say(say("kept", { cell: nameCell(cell, state.rules) }));
		}
		return page.draw();
	}

	/** @param {Room} room @param {State} state */
	function whyNot(room, state, cell = 0) {
		const mark = state.board[cell];
		if (page.timeline.isBack) return say("view room looks back");
		if (!room.seat) return say("why watching");
		if (room.pending) return say("view room move under way");
		if (state.turn !== room.seat || !nextMark(state)) return describeTurn(state, room.viewer);
		return mark === FREE ? "" : describeTaken(mark, cell, state.rules);
	}

	/** @param {Deed | undefined} deed */
	function giveUp(deed) {
		if (!deed) return askFor("resign");
		if (!app.connection.isOn) return app.navigate("/");
		const { name, cost, actor } = deed;
		const by = Object.values(page.state?.seats ?? {}).find((seat) => seat?.player === actor)?.name; // one of several at this keyboard
		const question = name === "leave" ? `ask leave and ${cost}` : cost === "abort" ? "ask abort" : by ? "ask resign by" : "ask resign";
		return (!cost || confirm(say(question, { name: by ?? "" }))) && askFor(name, actor);
	}

	/** Open a room with the same terms: with the computer at a level, private with a link, or for any opponent. @param {string | null | undefined} bot */
	async function openAnother(bot) {
		const { room } = page;
		if (!room?.state) return;
		const { rules: { preset, ...fields }, time_control, visibility, rated } = room.state;
		const game = { rules: preset ?? fields, clock: time_control ?? null };
		const bots = bot ? Array(fields.marks.length - 1).fill(bot) : [];
		const isOurs = bot || visibility === "private";
		const next = await app.play(isOurs ? { type: "create", ...game, bots, visibility: "private" } : { type: "match", ...game, rated });
		if (next && !room.ended) room.leave();
	}

	/** @param {string} [name] to bear there */
	async function join(name) {
		const { room } = page;
		if (!room) return;
		try {
			if (!(await app.bear(name ?? ""))) return;
			page.sit(await app.rooms.enter(name === undefined ? room.wayBack() : { type: "join", room: room.code }));
			page.draw();
			page.board?.focus();
		} catch (error) {
			page.onRefusal(messageOf(error), null);
		}
	}

	async function toggleReview() {
		if (page.review) return page.beginAnew();
		page.timeline.pause();
		const { makeReviewPanel } = await import("./review.js");
		page.review = makeReviewPanel(page);
		if (page.state?.status === "over" && !page.timeline.isBack) return page.timeline.look(page.timeline.shown - 1);
		return page.review.look();
	}

	async function share() {
		const { source: { past, shared, code }, state, may } = page;
		const over = findDeed(may, "share") && state?.game_id;
		const { showShare } = await import("./share.js");
		return showShare(app, { path: shared ? `replay/${shared}` : code, isPublic: !!shared || state?.visibility === "public", past: past ?? over });
	}

	/** @param {string} [actor] */
	async function askFor(name = "", actor) {
		const { room } = page;
		if (!room) return undefined;
		const [id, argument = ""] = name.split(" ");
		const action = /** @type {"offer" | "accept" | "decline"} */ (argument === "withdraw" ? "decline" : argument);
		const { state, players } = room;
		switch (id) {
			case "draw":
				return room.ask({ type: id, action }, actor);
			case "undo": {
				const mover = room.actorOf(state?.board[state.last ?? 0]);
				await room.ask({ type: id, action }, mover);
				// Players at the same keyboard agree without being asked.
				return players.filter((player) => player !== mover).map((player) => room.ask({ type: id, action: "accept" }, player));
			}
			case "claim":
				return room.ask({ type: id, as: argument === "draw" ? "draw" : "win" }, actor);
			case "choose":
				return state && room.ask({ type: id, take: takeOf(state, argument), ply: state.ply }, actor);
			case "rematch":
				return players.map((player) => room.ask({ type: id }, player));
			case "resign":
				return room.ask({ type: id }, actor);
			default:
				return id === "leave" && room.leave();
		}
	}
}
