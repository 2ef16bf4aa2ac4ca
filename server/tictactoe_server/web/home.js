/** The first page, and that of one's past games. */

import { count } from "./catalogue.js";
import { Lost } from "./requests.js";
import { button, field, h, select, setText, show, submitting } from "./dom.js";
import { isDraw } from "./happened.js";
import { Lobby } from "./lobby.js";
import { PRESETS, rulesOf } from "./rules.js";
import * as words from "./words.js";

const MOST_LISTED = 40;
const MOST_GAMES = 100;
/** @type {[value: string, label: string][]} */
const CLOCKS = [["", "no clock"], ["1+1", "1 min + 1 s"], ["3+2", "3 min + 2 s"], ["10/move", "10 s a move"]];

/** @type {MakePage} */
export function makeHome(app) {
	const { connection, rooms, kept } = app;
	const lobby = new Lobby(app, 3, drawRooms);
	/** The seats that are shown. */
	let drawn = "";
	const name = h("input", { maxlength: 24, autocomplete: "nickname", change: () => app.bear(name.value) });
	const game = select(PRESETS.map((preset) => [preset, preset === "classic" ? "3x3" : preset]), { change: describe });
	const clock = select(CLOCKS.some(([value]) => value === kept.clock) ? CLOCKS : [...CLOCKS, [kept.clock, kept.clock]], { change: describe });
	game.value = PRESETS.includes(kept.game) ? kept.game : PRESETS[0];
	clock.value = kept.clock;
	const level = select(["medium", "easy", "hard"], { "aria-label": "How well it plays" });
	const first = select(["I begin", "it begins"], { "aria-label": "Who begins" });
	const code = h("input", { placeholder: "code or link", "aria-label": "Code or link", autocomplete: "off" });
	const [banner, note] = [h("p.banner"), h("p.note")];
	const [resume, title, list] = [h("div.resume"), h("h2"), h("ul.rooms")];
	const live = h("section.card", { "aria-label": "On now" }, h("h2", {}, "On now"), lobby.element);
	const board = h("section.card", { "aria-label": "Play" },
		h("div.pair", {}, field("Game", game), field("Clock", clock)),
		note,
		button("Quick match", () => play(false), { class: "primary big" }),
		button("Play the computer", () => play(true), { class: "big" }),
		h("div.pair", {}, level, first),
		h("div.pair", {}, button("New room…", () => app.navigate("/#new")), button("Your games", () => app.navigate("/#games"))),
		h("form.row", { submit: submitting(join) }, code, h("button", {}, "Join")),
	);
	const brand = h("h1", { tabindex: -1 }, "tic", h("i", {}, "tac"), "toe");
	const waiting = h("section.card", { "aria-label": "Rooms" }, title, list, h("a", { href: "/wall" }, "All games on a wall"));
	const hero = h("div.hero", {}, brand, h("label.row", {}, "Playing as", name));
	const element = h("div.home", {}, hero, banner, resume, board, live, waiting);
	describe();
	onPhase();
	drawRooms();
	return { title: "tictactoe", element, onPhase, onNews: (news) => lobby.hear(news), close: () => lobby.close() };

	function onPhase() {
		if (document.activeElement !== name) name.value = connection.refused ?? connection.name;
		setText(banner, connection.reason || "Can't reach the server. Trying again…");
		banner.hidden = !connection.isTroubled;
		lobby.follow();
		const { held } = rooms;
		if (JSON.stringify(held) === drawn) return;
		drawn = JSON.stringify(held);
		show(resume, held.map(makeResume));
	}

	function drawAnew() {
		drawn = "";
		onPhase();
	}

	/** A seat to go back to, and a way to give it up. @param {Protocol.HeldSeat} held */
	function makeResume({ room, seat, rules, names = {}, turn }) {
		const others = Object.entries(names).flatMap(([mark, other]) => (mark === seat ? [] : [words.clean(other)]));
		const terms = [rules ? words.nameGame(rules) : room];
		if (turn) terms.push(turn === seat ? "your move" : `${words.clean(names[turn] ?? "")} to move`);
		else if (turn === null) terms.push("waiting");
		const left = connection.welcome?.held_ms?.[room];
		if (left !== undefined) terms.push(left ? `${words.formatDuration(left)} left` : "yours until it is claimed");
		const back = button("Resume", () => app.navigate(`/${room}`), { class: "primary", "aria-label": `Resume ${room}` });
		const away = button("Give up", () => give(item, room), { "aria-label": `Give ${room} up` });
		const title = others.length ? `Your game with ${words.joinWords(others)}` : `Your room ${room}`;
		const item = h("div.ask", {}, h("p", {}, title, " ", h("small", {}, terms.join(" · "))), back, away);
		return item;
	}

	/** @param {HTMLElement} item @param {string} room */
	function give(item, room) {
		const sure = button("Give it up", () => rooms.giveUp(room).catch((error) => app.say(words.messageOf(error))).finally(drawAnew));
		show(item, h("p", {}, `Leave ${room} for good? A game that is on counts as lost.`), sure, button("Keep it", drawAnew));
		sure.focus();
	}

	function describe() {
		setText(note, `${words.describeRules(rulesOf(game.value))}.`);
		app.keep({ game: game.value, clock: clock.value });
	}

	function join() {
		const room = readCode(code.value);
		if (room) app.navigate(`/${room}`);
		else app.say("A code has six letters and digits, such as K7M4PQ.");
	}

	async function play(withComputer = false) {
		if (!(await app.bear(name.value))) return;
		const { marks } = rulesOf(game.value);
		const terms = { rules: game.value, clock: words.parseClock(clock.value) };
		const bots = Array(marks.length - 1).fill(level.value);
		if (withComputer) app.play({ type: "create", ...terms, bots, seat: marks[first.selectedIndex], visibility: "private" });
		else app.play({ type: "match", ...terms });
	}

	function drawRooms() {
		const open = [...lobby.rooms.values()].filter(({ status }) => status !== "over");
		const sorted = [...open.filter(({ status }) => status === "waiting"), ...open.filter(({ status }) => status !== "waiting")];
		live.hidden = !lobby.count;
		setText(title, `Rooms (${open.length})`);
		const made = sorted.slice(0, MOST_LISTED).map((row) => {
			const { room, status, rules, ply } = row;
			const isOpen = status === "waiting";
			const terms = [words.nameGame(rules), words.describeClock(row.clock), ...words.describeManners(row)];
			terms.push(isOpen ? "waiting" : count(ply, "move"));
			return makeRow(words.namePlayers(row), terms, room, isOpen ? "Join" : "Watch", `/${room}${isOpen ? "" : "#watch"}`);
		});
		show(list, made.length ? made : h("li.note", {}, "No public room. A quick match opens one."));
	}
}

/** One's own finished games, newest first. @type {MakePage} */
export function makeHistory(app) {
	const { connection } = app;
	const [list, note] = [h("ul.rooms"), h("p.note")];
	const home = button("Home", () => app.navigate("/"));
	const element = h("div.card.new-room", {}, h("h1", { tabindex: -1 }, "Your games"), note, list, home);
	load();
	return { title: "Your games", element };

	/** @returns {Promise<void>} */
	async function load() {
		await app.arrive();
		try {
			const { games = [] } = await connection.request({ type: "history", limit: MOST_GAMES });
			for (const { id, at, rules, players, result, moves } of games) {
				const winner = players[result.winner ?? ""]?.player;
				const verdict = winner ? (winner === connection.welcome?.player ? "won" : "lost") : isDraw(result) ? "drawn" : "ended";
				const terms = [new Date(at).toLocaleString(), words.nameGame(rules), count(moves, "move")];
				const names = words.namePlayers({ seats: players });
				list.append(makeRow(names, terms, `${verdict} ${words.describeReason(result.reason)}`, "Replay", `/#game/${id}`));
			}
			setText(note, list.children.length ? "" : "No finished game yet.");
		} catch (error) {
			if (error instanceof Lost) return load();
			setText(note, words.messageOf(error));
		}
	}
}

/** @type {MakeRow} */
function makeRow(names, terms, what, verb, href) {
	const link = h("a", { href, "aria-label": `${verb} ${what}: ${names}, ${terms.join(", ")}` }, verb);
	return h("li", {}, h("span.names", {}, names), h("span.note", {}, terms.join(" · ")), h("code", {}, what), link);
}

/** The room that a code or a link names, else nothing. @param {string} text */
export function readCode(text) {
	const code = text.replace(/[?#].*$/, "").replace(/^.*\//, "").replace(/[\s-]/g, "").toUpperCase();
	return /^[2-9A-HJ-NP-Z]{6}$/.test(code) ? code : "";
}
