/** The card that starts the chosen game: opponent and clock. */

import { say } from "./catalogue.js";
import { button, field, h, select, setText, show } from "./dom.js";
import { makeClock, parseClock } from "./forms.js";
import { prepareLadders, prepared } from "./later.js";
import { OwnGame } from "./owngame.js";
import { OWN, chosenRules } from "./rules.js";
import { LEVELS, describeLevel, describeRules, keepTogether } from "./words.js";

export function makeLevel() {
	const level = select(LEVELS, describeLevel, { "aria-label": say("page level") });
	level.value = "medium";
	return level;
}

/** A button with a description below. @param {string} id @param {() => unknown} start @param {Child} [more] */
const makeWay = (id, start, kind = "big", more) => h("div.way", button(say(id), start, { class: kind }), h("small", say(`${id} note`), " ", more));

/** The switch for rated games and a link to the ladders, both empty or hidden on servers without ladders. @param {App} app @param {HTMLSelectElement} clock */
function makeRatedPlace(app, clock) {
	/** @type {ReturnType<typeof import("./ladders/rated.js").makeRated> | undefined} */
	let rated;
	const [element, ladders] = [h("div.rated-place"), h("a", { href: "/ladder/", hidden: true }, say("ladder title"))];
	const judge = () => rated?.judge(app.kept.game);
	return { element, ladders, offer, judge, get isOn() { return rated?.isOn || undefined; } };

	async function offer() {
		const [{ makeRated }] = await Promise.all([import("./ladders/rated.js"), prepareLadders()]);
		rated = makeRated(app, clock);
		show(element, rated.element);
		ladders.hidden = false;
		judge();
	}
}

/** @param {App} app @param {() => Promise<boolean>} mayPlay whether the name that one has now is taken */
export function makePlayCard(app, mayPlay) {
	const { kept } = app;
	const [title, rules, size] = [h("h2"), h("p"), h("span.note")];
	const own = new OwnGame(kept.own, (changed) => {
		app.keep({ own: changed });
		describe();
	}, (fragment) => app.copy(app.linkTo(`#${fragment}`)));
	const clock = makeClock(kept.clock, () => app.keep({ clock: clock.value }));
	const level = makeLevel();
	const first = select(["page i begin", "page it begins"], (id) => say(id));
	const [others, rated] = [h("b"), makeRatedPlace(app, clock)];
	const element = h("section.card.play", { "aria-label": say("page play") },
		h("div.about", h("div.card-head", title, size), rules, own.element),
		h("div.begin",
			makeWay("home match", () => begin({ type: "match", rated: rated.isOn }), "primary big", others),
			makeWay("home invite", () => begin({ type: "create", visibility: "private" })),
			makeWay("home together", playHere),
			makeWay("home computer", playComputer),
			field(say("new room clock"), clock),
			rated.element,
			field(say("page the computer"), level),
			field(say("page who begins"), first),
		),
		h("div.more-ways", button(say("home new"), () => app.navigate("/#new")), h("small", say("home new note")), rated.ladders),
	);
	describe();
	return { element, describe, count, offerRated: rated.offer, blame: (/** @type {string} */ message) => own.blame(message) };

	function count(online = 0) {
		setText(others, online > 1 ? say("home others", { n: online - 1 }) : online ? say("home nobody online") : "");
	}

	function describe() {
		setText(title, keepTogether(say(`name of ${kept.game}`)));
		setText(rules, say(kept.game === OWN ? "page won custom" : `rules of ${kept.game}`));
		setText(size, describeRules(chosenRules(kept)));
		own.element.hidden = kept.game !== OWN;
		rated.judge();
	}

	/** @param {Without<Protocol.Create | Protocol.Match, "id">} request without rules and clock, which are those chosen here */
	async function begin(request) {
		if ("guests" in request || (await mayPlay())) app.play({ ...request, rules: kept.game === OWN ? kept.own : kept.game, clock: parseClock(clock.value) });
	}

	async function playHere() {
		const { askNames } = await prepared(import("./names.js"));
		const guests = await askNames(app, chosenRules(kept).marks);
		if (guests) begin({ type: "create", visibility: "private", guests });
	}

	function playComputer() {
		const { marks } = chosenRules(kept);
		const bots = Array(marks.length - 1).fill(level.value);
		return begin({ type: "create", bots, seat: marks[first.selectedIndex], visibility: "private" });
	}
}
