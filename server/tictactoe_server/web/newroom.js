/** A new room: which game, on which clock, with whom; and under "More" every rule of the game. */

import { say } from "./catalogue.js";
import { button, field, h, select, setText, submitting } from "./dom.js";
import { LEVELS, makeClock } from "./playcard.js";
import { makeRuleFields } from "./rulefields.js";
import { PRESETS } from "./rules.js";
import { OWN, makeTiles } from "./tiles.js";
import { messageOf, parseClock } from "./words.js";

const WITH = /** @type {const} */ (["link", "anybody", "computer"]);

/** @param {import("./app.js").App} app @returns {import("./app.js").Page} */
export function makeNewRoom(app) {
	const { kept } = app;
	const game = PRESETS.includes(kept.game) ? kept.game : PRESETS[0];
	const fault = h("p.fault", { role: "alert" });
	const tiles = makeTiles(game, choose);
	const clock = makeClock(kept.clock, () => setText(ownClock, ""));
	const ownClock = h("input", { placeholder: say("page new clock example"), autocomplete: "off" });
	const who = makeWho();
	const level = select(LEVELS.map((one) => [one, say(`page level ${one}`)]), { "aria-label": say("page level") });
	const about = h("p.about");
	const rules = makeRuleFields((preset) => tell(preset ?? OWN), () => setText(fault, ""));
	const seen = select([["", say("page new seen usual")], ["public", say("page new seen public")], ["private", say("page new seen private")]]);
	const analysis = select([["closed", say("page new analysis closed")], ["open", say("page new analysis open")]]);
	const chat = select([["all", say("page new chat all")], ["players", say("page new chat players")]]);
	const more = h("details", {},
		h("summary", {}, say("page new more")),
		h("div.fields", {},
			rules.fields,
			field(say("page new own clock"), ownClock, say("page new clock note")),
			field(say("page new seen"), seen),
			field(say("page new chat"), chat),
			field(say("page new analysis"), analysis),
		),
	);
	level.value = "medium";
	const element = h("form.card.new-room", { submit: submitting(open) },
		h("h1", { tabindex: -1 }, say("page new title")),
		tiles.element, about,
		h("div.new-terms", {}, field(say("page clock"), clock), h("div.field", {}, h("span", {}, say("page new with")), h("div.row", {}, who.element, level))),
		more, fault,
		h("div.row", {}, h("button.primary.big", {}, say("page new open")), button(say("page cancel"), () => app.navigate("/"))),
	);
	rules.take(game);
	tell(game);
	return { title: say("page new title"), element };

	/** @param {string} preset */
	function choose(preset) {
		setText(fault, "");
		if (preset === OWN) more.open = true;
		else rules.take(preset);
		tell(preset);
	}

	/** Show which game it is. @param {string} preset */
	function tell(preset) {
		tiles.choose(preset);
		setText(about, preset === OWN ? say("page won custom") : say(`rules of ${preset}`));
	}

	/** @returns {Omit<Protocol.Create, "id"> | string} what to ask for, or what is wrong */
	function makeRequest() {
		const terms = parseClock(ownClock.value || clock.value);
		if (terms === undefined) return say("page new bad clock");
		const chosen = rules.read();
		if (!chosen) return say("page new bad cells");
		const isPublic = seen.value ? seen.value === "public" : who.value() === "anybody";
		return {
			type: "create", rules: chosen.rules, clock: terms, seat: chosen.seat,
			...(!isPublic && { visibility: /** @type {const} */ ("private") }),
			...(who.value() === "computer" && { bots: Array(chosen.players - 1).fill(level.value) }),
			...(analysis.value === "open" && { analysis: /** @type {const} */ ("open") }),
			...(chat.value === "players" && { chat: /** @type {const} */ ("players") }),
		};
	}

	async function open() {
		const request = makeRequest();
		if (typeof request === "string") return setText(fault, request);
		try {
			const room = await app.rooms.enter(request);
			const { preset } = rules;
			app.keep({ game: preset ?? kept.game, clock: (ownClock.value || clock.value).trim() });
			return app.navigate(`/${room.code}`);
		} catch (error) {
			return setText(fault, messageOf(error));
		}
	}
}

/** With whom: whoever has the link, anybody, or the computer. */
function makeWho() {
	const inputs = WITH.map((value, index) => h("input", { type: "radio", name: "with", value, checked: !index }));
	const element = h("div.segments", { role: "radiogroup", "aria-label": say("page new with") },
		inputs.map((input) => h("label", {}, input, h("span", {}, say(`page new with ${input.value}`)))),
	);
	return { element, value: () => inputs.find((input) => input.checked)?.value };
}
