/** The card that starts the chosen game: opponent and clock. */

import { say, sayTitle } from "./catalogue.js";
import { button, field, h, select, setText, show } from "./dom.js";
import { checkField, checkbox, makeClock, makeFault, parseClock } from "./forms.js";
import { makeOwnGame } from "./owngame.js";
import { makeRated } from "./rated.js";
import { OWN, chosenRules } from "./rules.js";
import { LEVELS, describeLevel, describeRules, keepTogether, nameMark } from "./words.js";

/** @param {() => unknown} start @param {Child} [more] */
const makeWay = (label = "", note = "", start, kind = "big", more) => h("div.way", button(label, start, { class: kind }), h("small", note, " ", more));

/** @param {App} app @param {() => Promise<boolean>} mayPlay whether the name that one has now is taken */
export function makePlayCard(app, mayPlay) {
	const { kept } = app;
	const [title, told, size] = [h("h2"), h("p"), h("span.note")];
	const own = makeOwnGame(app, describe, (message) => blame(message));
	const ownClock = h("input", { placeholder: say("page new clock example"), autocomplete: "off", input: () => blame("") });
	const clock = makeClock(kept.clock);
	clock.addEventListener("change", () => (ownClock.value = ""));
	const level = select(LEVELS, describeLevel);
	level.value = "medium";
	const seat = h("select");
	const seen = select(["private", "public"], (one) => say(`form ${one}`));
	const [chat, analysis] = [checkbox(), checkbox()];
	const more = h("details", h("summary", say("new room more")), h("div.fields",
		field(say("page new own clock"), ownClock, say("page new clock note")),
		field(say("new room seen"), seen),
		checkField(sayTitle("chat players"), chat),
		checkField(sayTitle("analysis open"), analysis),
	));
	const { element: fault, blame, refuse } = makeFault(own.element, { ...own.fields, clock: ownClock });
	const [others, rated] = [h("b"), makeRated(app, clock)];
	const ladders = h("a", { href: "/ladder/", hidden: true }, say("ladder title"));
	const together = makeWay(say("home together"), say("home together note"), playHere);
	const element = h("section.card.play", { "aria-label": say("section play") },
		h("div", h("div.card-head", title, size), told, own.element, fault),
		h("div.begin",
			makeWay(say("home match"), say("home match note"), playAnybody, "primary big", others),
			makeWay(say("home invite"), say("home invite note"), () => begin(readTerms())),
			together,
			makeWay(say("home computer"), say("home computer note"), () => begin({ ...readTerms(), bots: Array(chosenRules(kept).marks.length - 1).fill(level.value) })),
			field(say("new room clock"), clock),
			rated.element,
			field(say("page the computer"), level),
			field(say("new room seat"), seat),
		),
		h("div.more-ways", more, ladders),
	);
	describe();
	const count = (online = 0) => setText(others, online > 1 ? say("home others", { n: online - 1 }) : online ? say("home nobody online") : "");
	return { element, describe, count, blame };

	async function describe() {
		const chosen = chosenRules(kept);
		blame("");
		setText(title, keepTogether(say(`name of ${kept.game}`)));
		setText(told, say(kept.game === OWN ? "page won custom" : `rules of ${kept.game}`));
		setText(size, describeRules(chosen));
		setText(together.children[0], say(chosen.marks.length > 2 ? "page together" : "home together"));
		const { value } = seat;
		show(seat, [...chosen.marks].map((mark) => h("option", { value: mark, selected: mark === value }, nameMark({ rules: chosen }, mark))));
		own.element.hidden = kept.game !== OWN;
		await rated.judge(kept.game);
		ladders.hidden = rated.element.hidden;
	}

	/** The terms of a room with friends or computers; usual ones are left out. @returns {Without<Protocol.Create, "id">} */
	function readTerms() {
		return {
			type: "create", visibility: seen.value === "public" ? "public" : "private", seat: seat.selectedIndex ? seat.value : undefined,
			chat: chat.checked ? "players" : undefined, analysis: analysis.checked ? "open" : undefined,
		};
	}

	/** @param {Without<Protocol.Create | Protocol.Match, "id">} request without rules and clock, which are those chosen here */
	async function begin(request) {
		const chosen = (ownClock.value || clock.value).trim();
		const parsed = parseClock(chosen);
		if (parsed === undefined) return blame(say("page new bad clock"), ownClock);
		if (!("guests" in request) && !(await mayPlay())) return undefined;
		app.keep({ clock: chosen });
		return app.play({ ...request, rules: kept.game === OWN ? kept.own : kept.game, clock: parsed }, refuse);
	}

	/** Join or open a public room; a room with unusual terms is always opened. */
	function playAnybody() {
		const { visibility: _, ...unusual } = readTerms();
		const isUsual = !unusual.seat && !unusual.chat && !unusual.analysis;
		return begin(isUsual ? { type: "match", rated: rated.isOn } : { ...unusual, rated: rated.isOn });
	}

	async function playHere() {
		const { askNames } = await import("./names.js");
		const guests = await askNames(app, chosenRules(kept).marks);
		if (guests) begin({ ...readTerms(), visibility: "private", seat: undefined, guests });
	}
}
