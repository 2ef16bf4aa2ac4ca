/** A new room: which game, on which clock, with whom; and under "More" every rule of the game. */

import { say } from "./catalogue.js";
import { button, field, h, select, setText, submitting } from "./dom.js";
import { makeClock } from "./playcard.js";
import { RuleFields } from "./rulefields.js";
import { OWN, makeTiles } from "./tiles.js";
import { LEVELS, describeLevel, messageOf, parseClock } from "./words.js";

const WITH = ["link", "anybody", "computer"];

/** @param {App} app @returns {Page} */
export const makeNewRoom = (app) => new NewRoom(app);

class NewRoom {
	title = say("new room title");
	#about = h("p.about");
	#fault = h("p.fault", { role: "alert" });
	#who = new Who();
	#level = select(LEVELS.map((one) => [one, describeLevel(one)]), { "aria-label": say("page level") });
	#rules = new RuleFields((preset) => this.#tell(preset ?? OWN), () => setText(this.#fault, ""));
	#more = new More(this.#rules.element);

	/** @param {App} app */
	constructor(app) {
		this.app = app;
		const { kept } = app;
		this.tiles = makeTiles(kept.game, (preset) => this.#choose(preset));
		this.clock = makeClock(kept.clock, () => (this.#more.clock.value = ""));
		this.#level.value = "medium";
		const company = h("div.field", {}, h("span", {}, say("page new with")), h("div.row", {}, this.#who.element, this.#level));
		this.element = h("form.card.new-room", { submit: submitting(() => this.#open()) },
			h("h1", { tabindex: -1 }, this.title),
			this.tiles.element, this.#about,
			h("div.new-terms", {}, field(say("new room clock"), this.clock), company),
			this.#more.element, this.#fault,
			h("div.row", {}, h("button.primary.big", {}, say("new room begin")), button(say("page cancel"), () => app.navigate("/"))),
		);
		this.#choose(kept.game);
	}

	/** @param {string} preset */
	#choose(preset) {
		setText(this.#fault, "");
		if (preset === OWN) this.#more.element.open = true;
		else this.#rules.take(preset);
		this.#tell(preset);
	}

	/** Show which game it is. @param {string} preset */
	#tell(preset) {
		this.tiles.choose(preset);
		setText(this.#about, preset === OWN ? say("page won custom") : say(`rules of ${preset}`));
	}

	/** @returns {Omit<Protocol.Create, "id"> | string} what to ask for, or what is wrong */
	#makeRequest() {
		const terms = parseClock(this.#more.clock.value || this.clock.value);
		if (terms === undefined) return say("page new bad clock");
		const chosen = this.#rules.read();
		if (!chosen) return say("page new bad cells");
		const who = this.#who.value;
		return {
			type: "create", rules: chosen.rules, clock: terms, seat: chosen.seat,
			...(who === "computer" && { bots: Array(chosen.players - 1).fill(this.#level.value) }),
			...this.#more.read(who === "anybody"),
		};
	}

	async #open() {
		const request = this.#makeRequest();
		if (typeof request === "string") return setText(this.#fault, request);
		const { app } = this;
		try {
			await app.meet();
			const room = await app.rooms.enter(request);
			app.keep({ game: this.#rules.preset ?? app.kept.game, clock: (this.#more.clock.value || this.clock.value).trim() });
			return app.navigate(`/${room.code}`);
		} catch (error) {
			return setText(this.#fault, messageOf(error));
		}
	}
}

/** With whom: whoever has the link, anybody, or the computer. */
class Who {
	#inputs = WITH.map((value, index) => h("input", { type: "radio", name: "with", value, checked: !index }));
	element = h("div.segments", { role: "radiogroup", "aria-label": say("page new with") },
		this.#inputs.map((input) => h("label", {}, input, h("span", {}, say(`page new with ${input.value}`)))),
	);

	get value() {
		return this.#inputs.find((input) => input.checked)?.value;
	}
}

/** What is seldom wanted: the rules one by one, another clock, and who may see, write and analyse. */
class More {
	clock = h("input", { placeholder: say("page new clock example"), autocomplete: "off" });
	#seen = select([["", say("page new seen usual")], ["public", say("page new seen public")], ["private", say("page new seen private")]]);
	#chat = select([["all", say("page new chat all")], ["players", say("page new chat players")]]);
	#analysis = select([["closed", say("page new analysis closed")], ["open", say("page new analysis open")]]);

	/** @param {HTMLElement} rules */
	constructor(rules) {
		this.element = h("details", {},
			h("summary", {}, say("new room more")),
			h("div.fields", {},
				rules,
				field(say("page new own clock"), this.clock, say("page new clock note")),
				field(say("new room seen"), this.#seen),
				field(say("new room chat"), this.#chat),
				field(say("page new analysis"), this.#analysis),
			),
		);
	}

	/** @param {boolean} isForAnybody @returns {Partial<Protocol.Create>} */
	read(isForAnybody) {
		const isPublic = this.#seen.value ? this.#seen.value === "public" : isForAnybody;
		return {
			...(!isPublic && { visibility: "private" }),
			...(this.#analysis.value === "open" && { analysis: "open" }),
			...(this.#chat.value === "players" && { chat: "players" }),
		};
	}
}
