/** A new room: which game, on which clock, with whom, by which rules. */

import { say } from "./catalogue.js";
import { button, field, h, select, setText, submitting } from "./dom.js";
import { makeClock, makeLevel, nameOthers } from "./playcard.js";
import { makeRuleFields } from "./rulefields.js";
import { OWN, makeTiles } from "./tiles.js";
import { messageOf, parseClock } from "./words.js";

const WITH = ["link", "anybody", "computer", "here"];

/** @param {string} what @param {string[]} values */
const offer = (what, values) => select(values, (one) => say(`page new ${what} ${one || "usual"}`));

const makeWho = () =>
	h("div.segments", { role: "radiogroup", "aria-label": say("page new with") }, WITH.map((value, index) =>
		h("label", h("input", { type: "radio", name: "with", value, checked: !index }), h("span", say(`page new with ${value}`)))));

/** @param {App} app */
export function makeNewRoom(app) {
	const { kept } = app;
	const title = say("new room title");
	const [about, fault, level] = [h("p.about"), h("p.fault", { role: "alert" }), makeLevel()];
	const names = h("input.names", { "aria-label": say("page new names"), placeholder: say("page new names") });
	const ownClock = h("input", { placeholder: say("page new clock example"), autocomplete: "off" });
	const clock = makeClock(kept.clock, () => (ownClock.value = ""));
	const [seen, chat, analysis] = [offer("seen", ["", "public", "private"]), offer("chat", ["all", "players"]), offer("analysis", ["closed", "open"])];
	const rules = makeRuleFields((preset) => tell(preset ?? OWN), () => setText(fault, ""));
	const tiles = makeTiles(kept.game, choose);
	const more = h("details", h("summary", say("new room more")), h("div.fields",
		rules.element,
		field(say("page new own clock"), ownClock, say("page new clock note")),
		Object.entries({ seen, chat, analysis }).map(([name, control]) => field(say(`new room ${name}`), control)),
	));
	const element = h("form.card.new-room", { submit: submitting(open) },
		h("h1", title), tiles.element, about,
		h("div.new-terms", field(say("new room clock"), clock), h("div.field", h("span", say("page new with")), h("div.row", makeWho(), level, names))),
		more, fault,
		h("div.row", h("button.primary.big", say("new room begin")), button(say("page cancel"), () => app.navigate("/"))),
	);
	choose(kept.game);
	return { title, element };

	function choose(preset = "") {
		setText(fault, "");
		if (preset === OWN) more.open = true;
		else rules.take(preset);
		tell(preset);
	}

	function tell(preset = "") {
		tiles.choose(preset);
		setText(about, preset === OWN ? say("page won custom") : say(`rules of ${preset}`));
	}

	async function open() {
		const terms = parseClock(ownClock.value || clock.value);
		const chosen = rules.read();
		if (terms === undefined || !chosen) return setText(fault, say(chosen ? "page new bad clock" : "page new bad cells"));
		const [{ marks, preset, ...game }, company] = [chosen, new FormData(element).get("with")];
		const isPrivate = company === "here" || (seen.value ? seen.value === "private" : company !== "anybody");
		try {
			if (company !== "here") await app.meet();
			const room = await app.rooms.enter({
				type: "create", ...game, clock: terms,
				bots: company === "computer" ? Array(marks.length - 1).fill(level.value) : undefined,
				visibility: isPrivate ? "private" : undefined,
				analysis: analysis.value === "open" ? "open" : undefined,
				chat: chat.value === "players" ? "players" : undefined,
			}, company === "here" ? nameOthers(marks, names.value) : undefined);
			app.keep({ game: preset ?? kept.game, clock: (ownClock.value || clock.value).trim() });
			return app.navigate(`/${room.code}`);
		} catch (error) {
			return setText(fault, messageOf(error));
		}
	}
}
