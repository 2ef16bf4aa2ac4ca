/** The header of every page: the connection, language, looks, sound, rules and keys. */

import { say } from "./catalogue.js";
import { button, h, select, setText } from "./dom.js";
import { chooseLanguage, languagesThere } from "./later.js";

const THEMES = ["system", "light", "dark", "contrast"];

/** @param {App} app */
export function makeTools(app) {
	const link = h("span.link");
	const again = button(say("page try now"), () => app.connection.retry(), { hidden: true });
	const sound = button("♪", toggle, { "aria-label": say("page sound"), title: say("page sound") });
	const theme = button("☾", nextTheme);
	const there = languagesThere();
	const languages = select(Object.keys(there), (one) => there[one], { "aria-label": say("setting language"), change: () => chooseLanguage(languages.value) });
	languages.value = document.documentElement.lang;
	const rules = button(say("page rules"), () => app.showRules());
	const keys = button("?", () => app.showKeys(), { "aria-label": say("view keys"), title: say("view keys") });
	const games = h("a.wide", { href: "/#games" }, say("history title"));
	const element = h("div.row", link, again, games, rules, languages, theme, sound, keys);
	draw();
	return { element, draw };

	function toggle() {
		app.keep({ sound: !app.kept.sound });
		if (app.kept.sound) app.sound.play("turn");
		draw();
	}

	function nextTheme() {
		app.keep({ theme: THEMES[(THEMES.indexOf(app.kept.theme) + 1) % THEMES.length] });
		draw();
		app.say(theme.title);
	}

	function draw() {
		const { phase, isTroubled, isSilent } = app.connection;
		const isOn = phase === "on" && !isSilent;
		link.className = isOn ? "link on" : "link";
		setText(link, say(isOn ? "page connected" : "page offline"));
		again.hidden = !isTroubled;
		theme.ariaLabel = theme.title = say("page theme", { name: say(`page theme ${app.kept.theme}`) });
		sound.setAttribute("aria-pressed", String(app.kept.sound));
	}
}
