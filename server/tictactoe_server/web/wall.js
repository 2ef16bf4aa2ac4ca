/** All public games at once, for a projector: one of them large, and how to join. */

import { say } from "./catalogue.js";
import { h } from "./dom.js";
import { layOut, makeLobby } from "./lobby.js";

const MOST_BOARDS = 100;
const FEATURED_PLACES = 4;
const SHAPE = 1.9;

/** @param {App} app */
export function makeWall(app) {
	const address = h("b", app.linkTo().replace(/^https?:\/\/|\/$/g, ""));
	const image = h("img.qr", { src: "/qr.svg", alt: say("page invite qr"), width: 120, height: 120 });
	const note = h("p.wall-note", say("watch nothing"));
	const lobby = makeLobby(app, MOST_BOARDS, draw);
	let featured = "";
	const element = h("div.wall",
		h("h1.unseen", say("page wall title")),
		h("div.wall-games", note, lobby.element),
		h("aside.wall-join", h("p", say("page wall join"), " ", address), image),
	);
	return { title: say("page wall title"), element, follows: [lobby] };

	function draw() {
		const { cards } = lobby;
		const count = cards.size;
		note.hidden = count > 0;
		const shown = cards.get(featured)?.live;
		if (!shown || shown.result) { // then feature the running game that has progressed most
			const [first] = [...cards.values()].filter(({ live }) => !live.result).sort((one, two) => two.live.ply - one.live.ply);
			featured = first?.live.room ?? featured;
		}
		if (count > 1) layOut(element, count + FEATURED_PLACES - 1, SHAPE, 2, 3);
		else layOut(element, 1, SHAPE);
		for (const [room, { item }] of cards) item.classList.toggle("featured", room === featured && count > 1);
	}
}
