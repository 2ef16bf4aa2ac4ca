/** The review of a game: the values of its positions, each requested once, the mistakes, and better moves. */

import { say, sayTitle } from "./catalogue.js";
import { button, h, setText, show, svg } from "./dom.js";
import { lookOf } from "./kept.js";
import { patiently } from "./requests.js";
import { FREE, placerOf } from "./rules.js";
import { messageOf } from "./words.js";

export class Review {
	/** The known values by the number of moves made. @type {Analysis[]} */
	known = [];
	/** @type {Moves} */
	moves = [];
	/** @type {Map<number, Promise<Analysis>>} */
	#asked = new Map();
	#game = 0;
	#isEnded = false;

	/** @param {Analyse} ask */
	constructor(ask) {
		this.ask = ask;
	}

	/** Follow a game, keeping the values of positions that it still contains with the same next move, which they judge. @param {Moves} moves */
	follow(game = 0, moves) {
		let kept = game === this.#game ? 0 : -1;
		while (kept >= 0 && kept < moves.length && moves[kept] === this.moves[kept]) kept++;
		if (kept === moves.length && kept === this.moves.length) return;
		kept = Math.max(0, kept);
		this.known.length = Math.min(this.known.length, kept);
		for (const ply of [...this.#asked.keys()]) if (ply >= kept) this.#asked.delete(ply);
		this.#game = game;
		this.moves = moves;
	}

	analyse(ply = 0) {
		const found = this.#asked.get(ply) ?? patiently(() => this.ask(ply), () => this.#isEnded);
		const isStill = () => this.#asked.get(ply) === found;
		this.#asked.set(ply, found);
		found.then((analysis) => isStill() && (this.known[ply] = analysis), () => isStill() && this.#asked.delete(ply));
		return found;
	}

	/** Request all values from the last to the first, until `end`; then retry those still unknown. @param {() => void} onKnown hears of each */
	async analyseAll(onKnown) {
		const last = this.moves.length;
		for (let step = 0; step <= 2 * last && !this.#isEnded; step++) {
			const ply = Math.abs(last - step);
			if (step > last && this.known[ply]?.value.kind === "unknown") this.#asked.delete(ply);
			await this.analyse(ply);
			onKnown();
		}
	}

	get kinds() {
		return this.moves.map((_, ply) => this.known[ply]?.played?.kind ?? "");
	}

	/** Return the number of moves at the turning point: the move that gave away most, the last of several; 0 for none. */
	get turningPoint() {
		const lost = this.moves.map((_, ply) => this.known[ply]?.played?.lost ?? 0);
		const most = Math.max(0, ...lost);
		return most && lost.lastIndexOf(most) + 1;
	}

	/** @param {State} state */
	pointsOf(state) {
		const { known, moves, kinds } = this;
		const [first] = state.rules.marks;
		return [0, ...moves].map((_, ply) => {
			const kind = kinds[ply - 1] ?? "";
			const analysis = known[ply];
			if (ply === moves.length && state.result) {
				const { winner } = state.result;
				return { worth: winner === null ? 0 : winner === first ? 1 : -1, kind };
			}
			// Before sides are chosen, neither side is ahead.
			if (analysis && placerOf(state, ply)) return { worth: 0, kind };
			return analysis?.turn ? { worth: (analysis.value.estimate ?? 0) * (analysis.turn === first ? 1 : -1), kind } : undefined;
		});
	}

	end() {
		this.#isEnded = true;
	}
}

/** Return the number of moves at the next mistake, from the start again after the last one; 0 for none. @param {readonly string[]} kinds */
export function nextMistake(kinds, here = 0) {
	const all = kinds.flatMap((kind, at) => (/mistake|slip/.test(kind) ? [at + 1] : []));
	return all.find((ply) => ply > here) ?? all[0] ?? 0;
}

/** @param {GamePage} page */
export function makeReviewPanel(page) {
	const review = new Review(analyse);
	let isAll = false;
	let isScanning = false;
	const graph = makeGraph(page.timeline.look);
	let turningPoint = 0;
	const turned = button("", () => turningPoint && page.timeline.look(turningPoint), { class: "turned", hidden: true });
	const pointed = h("p.pointed");
	const noGraph = h("p.note", { hidden: true }, say("view review no graph"));
	const mistakes = button(say("deed mistakes"), () => page.timeline.look(nextMistake(review.kinds, page.timeline.shown)));
	const all = button(say("view review all"), toggleAll, { "aria-pressed": "false" });
	const element = h("section.review", { "aria-label": sayTitle("deed review") }, pointed, graph.element, noGraph, turned, h("div.row", mistakes, all));
	const panel = { element, review, worths: /** @type {Worths | null} */ (null), text: "", look, point };
	return panel;

	async function analyse(ply = 0) {
		const { app, room, source, state } = page;
		const stones = !!state && lookOf(state.rules) === "stones";
		await (room?.connection ?? app.connection).arrive();
		const { analysis } = room
			? await room.request({ type: "analyse", ply, stones })
			: await app.connection.request({ type: "review", game_id: source.past, replay: source.shared, ply, stones });
		return /** @type {Analysis} */ (analysis);
	}

	async function look() {
		const { state, timeline: { shown: here } } = page;
		if (!state) return;
		const { moves } = state;
		review.follow(state.game, moves);
		setText(pointed, "");
		panel.worths = null;
		panel.text = "";
		try {
			const after = await review.analyse(here);
			const before = here ? await review.analyse(here - 1) : null;
			if (page.timeline.shown !== here) return;
			const better = before?.played?.lost ? { mark: state.board[moves[here - 1]], cells: before.best } : null;
			panel.worths = { analysis: after, isAll, better, draw: drawWorths };
			const [stands = "", compared] = [after.text, before?.played?.text];
			panel.text = compared ? say("view review position", { stands, compared }) : stands;
			page.app.say(panel.text, true);
			draw();
			if (state.status === "over") scan();
		} catch (error) {
			page.beginAnew();
			page.app.say(messageOf(error));
			page.draw();
		}
	}

	async function scan() {
		if (isScanning) return;
		isScanning = true;
		// A request that fails now can be repeated at each move.
		await review.analyseAll(draw).catch(() => undefined);
		isScanning = false;
	}

	function draw() {
		const { state, timeline: { shown: here } } = page;
		if (!state) return;
		const isTwo = state.rules.marks.length === 2;
		graph.element.toggleAttribute("hidden", !isTwo || review.moves.length < 2);
		noGraph.hidden = isTwo;
		if (isTwo) graph.draw(review.pointsOf(state), here);
		mistakes.disabled = !nextMistake(review.kinds, here);
		const { known, moves } = review;
		const count = moves.filter((_, ply) => known[ply]).length;
		turningPoint = count === moves.length ? review.turningPoint : 0;
		turned.hidden = state.status !== "over";
		turned.disabled = !turningPoint;
		if (count < moves.length) setText(turned, say("view review progress", { n: count, count: moves.length }));
		else if (!turningPoint) setText(turned, say("nothing given away"));
		else setText(turned, say("view review turned", { n: turningPoint, compared: known[turningPoint - 1].played?.text ?? "" }));
		page.draw();
	}

	function point(cell = -1) {
		setText(pointed, review.known[page.timeline.shown]?.cells[cell]?.text ?? "");
	}

	function toggleAll() {
		isAll = !isAll;
		all.setAttribute("aria-pressed", String(isAll));
		if (panel.worths) panel.worths = { ...panel.worths, isAll };
		page.draw();
	}
}

/** @param {Worths} worths @param {Shapes} shapes */
function drawWorths({ analysis: { cells, best }, isAll, better }, shapes, board = "", pointed = 0) {
	const legal = Object.keys(cells).map(Number);
	const isBest = (cell = 0) => best.includes(cell) && best.length < legal.length;
	const shown = legal.filter((cell) => isBest(cell) || isAll || cell === pointed);
	const free = better?.cells.filter((cell) => board[cell] === FREE) ?? [];
	const rings = free.map((cell) => {
		const ring = svg("circle", { class: "ring", cx: 50, cy: 50, r: 44 });
		return shapes.at(cell, { class: "better" }, !shown.includes(cell) && better && shapes.makeMark(better.mark), ring);
	});
	const worths = shown.map((cell) => {
		const { kind, sign = "" } = cells[cell];
		const box = svg("rect", { x: 14, y: 25, width: 72, height: 50, rx: 14 });
		const text = svg("text", { x: 50, y: 61, "font-size": sign.length > 2 ? 28 : 34 }, sign);
		return shapes.at(cell, { class: ["worth", kind, isBest(cell) ? "best" : ""].join(" ") }, box, text);
	});
	return [...rings, ...worths];
}

const [WIDTH, HEIGHT, EDGE] = [300, 80, 6];

/** @param {(ply: number) => void} onLook hears after how many moves somebody wants to look */
function makeGraph(onLook) {
	const area = svg("path", { class: "graph-area" });
	const line = svg("path", { class: "graph-line" });
	const dots = svg("g");
	const now = svg("path", { class: "graph-here" });
	let count = 0;
	const element = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "graph", "aria-hidden": "true", preserveAspectRatio: "none", click: look },
		svg("rect", { class: "paper", width: WIDTH, height: HEIGHT, rx: 6 }),
		svg("path", { class: "grid-lines", d: `M0 ${HEIGHT / 2}H${WIDTH}` }),
		area, line, now, dots,
	);
	return { element, draw };

	/** @param {MouseEvent} event */
	function look({ clientX }) {
		const { left, width } = element.getBoundingClientRect();
		const at = (((clientX - left) / width) * WIDTH - EDGE) / (WIDTH - 2 * EDGE);
		onLook(Math.round(Math.min(1, Math.max(0, at)) * count));
	}

	/** @param {readonly (Point | undefined)[]} points by how many moves were made, those that are known */
	function draw(points, here = 0) {
		count = points.length - 1;
		const known = points.flatMap((point, ply) => (point ? [{ ...point, x: xOf(ply), y: HEIGHT / 2 - point.worth * (HEIGHT / 2 - EDGE) }] : []));
		const d = known.map(({ x, y }, index) => `${index ? "L" : "M"}${x} ${y}`).join("");
		line.setAttribute("d", d);
		const ends = known.length ? `L${known[known.length - 1].x} ${HEIGHT / 2}L${known[0].x} ${HEIGHT / 2}Z` : "";
		area.setAttribute("d", d + ends);
		now.setAttribute("d", `M${xOf(here)} 0V${HEIGHT}`);
		const told = known.filter(({ kind }) => kind === "mistake" || kind === "slip");
		show(dots, told.map(({ x, y, kind }) => svg("circle", { class: kind, cx: x, cy: y, r: kind === "mistake" ? 4.5 : 3 })));
	}

	function xOf(ply = 0) {
		return EDGE + (count ? (ply / count) * (WIDTH - 2 * EDGE) : 0);
	}
}
