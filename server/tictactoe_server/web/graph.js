/** How a game went, as a line: above the middle where it was good for the first player. */

import { svg } from "./dom.js";

const [WIDTH, HEIGHT, EDGE] = [300, 80, 6];

export class Graph {
	#area = svg("path", { class: "graph-area" });
	#line = svg("path", { class: "graph-line" });
	#dots = svg("g");
	#here = svg("path", { class: "graph-here" });
	#count = 0;
	element = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "graph", "aria-hidden": "true", preserveAspectRatio: "none" },
		svg("rect", { class: "paper", width: WIDTH, height: HEIGHT, rx: 6 }),
		svg("path", { class: "grid-lines", d: `M0 ${HEIGHT / 2}H${WIDTH}` }),
		this.#area, this.#line, this.#here, this.#dots,
	);

	/** @param {(ply: number) => void} onLook hears after how many moves somebody wants to look */
	constructor(onLook) {
		this.element.addEventListener("click", (event) => {
			const { left, width } = this.element.getBoundingClientRect();
			const at = (((event.clientX - left) / width) * WIDTH - EDGE) / (WIDTH - 2 * EDGE);
			onLook(Math.round(Math.min(1, Math.max(0, at)) * this.#count));
		});
	}

	/** @param {readonly (Point | undefined)[]} points by how many moves were made, those that are known @param {number} here */
	draw(points, here) {
		this.#count = points.length - 1;
		const known = points.flatMap((point, ply) => (point ? [{ ...point, x: this.#x(ply), y: yOf(point.worth) }] : []));
		const d = known.map(({ x, y }, index) => `${index ? "L" : "M"}${x} ${y}`).join("");
		this.#line.setAttribute("d", d);
		const ends = known.length ? `L${known[known.length - 1].x} ${HEIGHT / 2}L${known[0].x} ${HEIGHT / 2}Z` : "";
		this.#area.setAttribute("d", d + ends);
		this.#here.setAttribute("d", `M${this.#x(here)} 0V${HEIGHT}`);
		const told = known.filter(({ kind }) => kind === "mistake" || kind === "slip");
		this.#dots.replaceChildren(...told.map(({ x, y, kind }) => svg("circle", { class: kind, cx: x, cy: y, r: kind === "mistake" ? 4.5 : 3 })));
	}

	#x(ply = 0) {
		return EDGE + (this.#count ? (ply / this.#count) * (WIDTH - 2 * EDGE) : 0);
	}
}

const yOf = (worth = 0) => HEIGHT / 2 - worth * (HEIGHT / 2 - EDGE);
