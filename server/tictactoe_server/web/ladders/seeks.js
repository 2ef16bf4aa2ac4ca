/** Who looks for a game, in the lobby, and the terms by which one asks somebody or everybody for one. */

import { say } from "../catalogue.js";
import { button, field, h, openDialog, select, setText, show, showKeyed, submitting } from "../dom.js";
import { prepareLadders } from "../later.js";
import { makeClock } from "../playcard.js";
import { PRESETS, rulesOf } from "../rules.js";
import { clean, messageOf, parseClock } from "../words.js";
import { answer, ask, hearChallenge } from "./challenges.js";
import { linkTo } from "./pages.js";
import { listLadders, makeRated } from "./rated.js";
import { describeTerms } from "./words.js";

const WITHIN = ["", "100", "200", "400"];
const FIRST_CLOCK = "3+2";

/** @param {App} app @param {HTMLElement} section where it stands */
export async function makeSeeks(app, section) {
	await prepareLadders();
	/** By their ids, as they came. @type {Map<string, Protocol.OpenChallenge & {isOver?: boolean}>} */
	const seeks = new Map();
	const [list, [ladder]] = [h("ul.rooms.seeks", { pointerleave: draw }), await listLadders(app)];
	show(section, h("div.card-head", h("h2", say("page seeks")), ladder && h("a", { href: `/ladder/${ladder}` }, say("page ladders"))), list, h("div.row", button(say("page seek new"), () => askForGame(app))));
	section.hidden = false;
	return { begin: () => (seeks.clear(), draw()), hear };

	/** @param {Protocol.SeekChanges} news */
	function hear({ changed, closed }) {
		for (const id of closed) Object.assign(seeks.get(id) ?? {}, { isOver: true });
		for (const seek of changed) seeks.set(seek.challenge, seek);
		draw();
	}

	/** Draw all; what is over has its place until the pointer is elsewhere, so that no other row comes under it. */
	function draw() {
		if (!list.matches(":hover")) for (const [id, { isOver }] of seeks) if (isOver) seeks.delete(id);
		showKeyed(list, [...seeks.values()], ({ challenge }) => challenge, makeSeek, (row, { isOver = false }) => (row.inert = isOver));
	}

	/** @param {Protocol.OpenChallenge} seek */
	function makeSeek(seek) {
		const [isOwn, terms, name] = [seek.player === app.connection.welcome?.player, describeTerms(seek), clean(seek.name)];
		if (isOwn) hearChallenge(app, { ...seek, type: "challenge" });
		const label = say(isOwn ? "page challenge withdraw" : "page challenge accept");
		const does = button(label, () => answer(app, seek.challenge, !isOwn), { class: "go", "aria-label": `${label}: ${name}, ${terms}` });
		return h("li", { class: !isOwn && "open" }, h("span.names", linkTo(app, seek.player, name)), h("span.note", terms), does);
	}
}

/** Ask a player for a game, by default everybody. @param {App} app */
export function askForGame(app, player = "") {
	const [game, clock, rated] = [select(PRESETS, (one) => say(`name of ${one}`)), makeClock(app.kept.clock || FIRST_CLOCK, () => undefined), makeRated(app)];
	const [side, within] = [h("select"), select(WITHIN, (one) => (one ? say("challenge within", { n: Number(one) }) : say("page seek anybody")))];
	const fault = h("p.fault", { role: "alert" });
	const form = h("form.ask-terms", { submit: submitting(send), change: judge },
		field(say("new room game"), game), field(say("new room clock"), clock), rated.element,
		player ? field(say("page challenge side"), side) : field(say("page seek within"), within), fault,
		h("div.row", h("button.primary", say(player ? "page challenge" : "page seek")), !player && button(say("home match"), match)),
	);
	game.value = app.kept.game;
	const dialog = openDialog(player ? say("page challenge title", { name: app.names.get(player) ?? "" }) : say("page seek new"), form);
	judge();

	async function judge() {
		const { value } = side;
		show(side, ["", ...rulesOf(game.value).marks].map((mark) => h("option", { value: mark, selected: mark === value }, mark || say("page challenge drawn"))));
		await rated.judge(game.value, !!clock.value);
		within.disabled = !rated.isOn;
	}

	function readTerms() {
		const terms = { rules: game.value, clock: parseClock(clock.value) ?? null, rated: rated.isOn || undefined };
		return player ? terms : { ...terms, within: rated.isOn && within.value ? Number(within.value) : undefined };
	}

	async function send() {
		try {
			await app.meet();
			await ask(app, player ? { type: "challenge", player, ...readTerms(), side: side.value || undefined } : { type: "seek", ...readTerms() });
			dialog.close();
		} catch (error) {
			setText(fault, messageOf(error));
		}
	}

	function match() {
		dialog.close();
		return app.play({ type: "match", ...readTerms() });
	}
}
