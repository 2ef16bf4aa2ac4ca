/** The player's identity: proposing and claiming a name, rescue codes, and devices. */

import { say, sayTitle } from "./catalogue.js";
import { button, closing, field, h, localeOf, makeLink, nameInput, openDialog, setText, show } from "./dom.js";
import { checkField, checkbox, makeFault } from "./forms.js";
import { isGuest } from "./identity.js";
import { drawQr } from "./qr.js";
import { messageOf } from "./words.js";

const LINK_LENGTH = 8;
/** Rescue codes that the player has not confirmed writing down. @type {readonly string[]} */
let codes = [];

addEventListener("beforeunload", (event) => codes.length && event.preventDefault());

/** @param {App} app @param {string} [code] from the link of another device */
export function showNames(app, code = "") {
	const { connection } = app;
	const [about, list, own, keep] = [h("p"), h("ul.rooms"), nameInput({ value: connection.name, input: drawKeep }), h("button")];
	let kept = "";
	const isKept = () => !!kept && own.value.trim() === kept;
	const only = checkbox({ change: () => ask({ type: "block", strangers: only.checked }) });
	const strangers = h("div", { hidden: true }, checkField(say("option strangers"), only));
	const [written, told] = [h("div.written", { role: "status" }), h("div.identity", { role: "status" })];
	const { element: fault, blame } = makeFault(about);
	const [lost, typed] = [nameInput({ autocomplete: "off" }), h("input", { value: code, autocomplete: "off" })];
	const wayBack = h("form.row", { submit: enter }, !code && field(say("page name lost"), lost), field(say("invitation code"), typed), h("button", { class: code && "primary" }, say("page name enter")));
	const ownData = h("div.row", button(say("name deed export"), save), button(say("name deed forget"), forget));
	const others = [h("form.row", { submit: claim }, field(say("page name want"), own), keep), strangers, h("h3", say("page name devices")), list, h("div.row", button(say("name deed link"), link)), told, h("details", h("summary", say("page name back")), wayBack), ownData];
	const dialog = openDialog(say("name title"), h("div.identity", about, fault, written, ...(code ? [h("p", say("page name arrived")), wayBack] : others)));
	drawCodes();
	drawKeep();
	learn();
	app.onDevices = () => dialog.isConnected && learn();
	return dialog;

	function drawKeep() {
		setText(keep, say(isKept() ? "name codes new" : "page name claim"));
	}

	function drawCodes() {
		const text = codes.join("\n");
		const forgetCodes = () => {
			codes = [];
			drawCodes();
		};
		const ways = [button(sayTitle("type copy"), () => app.copy(text)), button(say("page event print"), () => print()), button(sayTitle("key written"), forgetCodes, { class: "primary" })];
		show(written, text && [h("p", say("name claimed", { name: connection.name })), h("pre.codes", text), h("div.row", ways)]);
	}

	async function learn() {
		await app.arrive();
		const ok = await ask({ type: "devices" });
		if (!ok) return;
		const { devices = [], claimed, codes_left: n = 0 } = ok;
		const { name, welcome } = connection;
		if (claimed && welcome) welcome.claimed = true;
		kept = claimed ?? "";
		drawKeep();
		const id = claimed ? "name own" : welcome?.claimed === false ? "name others" : "name free";
		setText(about, say(id, { name: claimed ?? name, n }));
		show(list, devices.map(({ id: device, seen, client, current, new: isNew }) => {
			const words = [client ?? say("name some program"), new Date(seen).toLocaleDateString(localeOf()), isNew && say("age new")].filter(Boolean);
			const revoke = button(say("page name revoke"), async () => (await ask({ type: "revoke", device })) && learn());
			return h("li.row", words.join(" · "), current ? h("b", say("name this device")) : revoke);
		}));
		const blocks = welcome?.challenges && (await ask({ type: "block" }));
		strangers.hidden = !blocks;
		only.checked = !!blocks?.strangers;
	}

	async function claim() {
		if (isKept() && !confirm(say("name codes again"))) return;
		const name = own.value.trim();
		const ok = await ask({ type: "claim_name", name }, own);
		if (!ok) return;
		connection.identity.name = name;
		app.keep({ name });
		codes = ok.rescue ?? [];
		drawCodes();
		await learn();
		app.around.onPhase();
	}

	async function link() {
		const ok = await ask({ type: "link" });
		if (!ok) return;
		const url = app.linkTo(`#link=${ok.link_code}`);
		show(told, h("p", say("page name link")), makeLink(app, url, say("name title")), h("p.code", h("b", ok.link_code)), drawQr(app, url));
		await learn();
	}

	/** @param {Ask} request @param {HTMLElement} [control] that the refusal is about */
	function ask(request, control) {
		blame("");
		return connection.request(request).catch((error) => blame(messageOf(error), control));
	}

	async function save() {
		let ok = await ask({ type: "export" });
		/** @type {unknown[]} */
		const games = [];
		const whole = { ...ok?.export, games };
		for (; ok; ok = await ask({ type: "export", before: ok.before })) {
			games.push(.../** @type {unknown[]} */ (ok.export?.games ?? []));
			if (ok.before === undefined) break;
		}
		if (!ok) return;
		const url = URL.createObjectURL(new Blob([JSON.stringify(whole, null, 1)], { type: "application/json" }));
		h("a", { href: url, download: "tictactoe.json" }).click();
		setTimeout(() => URL.revokeObjectURL(url), 60_000);
	}

	async function forget() {
		const { name } = connection;
		if (!confirm(say("name forget"))) return;
		if (connection.welcome?.claimed && !confirm(say("name forget twice", { name }))) return;
		if (!(await ask({ type: "forget" }))) return;
		Object.assign(connection.identity, { name: "", token: "", aside: [] });
		app.keep({ name: "", token: "", tokens: {}, aside: [] });
		connection.greetAgain();
		dialog.close();
		app.say(say("name forgotten", { server: location.host }));
	}

	async function enter() {
		const secret = typed.value.replace(/[\s-]/g, "");
		const { identity } = connection;
		identity.codes = secret.length <= LINK_LENGTH ? { link: secret } : { name: lost.value.trim(), rescue: secret };
		await connection.greetAgain();
		blame(identity.refusedCode, typed);
		if (identity.refusedCode) return;
		dialog.close();
		app.navigate("/");
		app.say(say("page name now", { name: connection.name }));
	}
}

const pick = (id = "", words = say(id).split(" ")) => words[Math.floor(Math.random() * words.length)];

export const proposeName = () => `${pick("name proposal first")} ${pick("name proposal last")}`;

/** @param {App} app */
export async function askName(app) {
	const proposal = proposeName();
	const name = nameInput({ value: proposal, "aria-label": say("name question") });
	const form = h("form.row", { method: "dialog" }, name, h("button.primary", say("name question take")));
	const dialog = openDialog(say("name question"), h("p", say("name question note")), form);
	name.focus();
	name.select();
	await closing(dialog);
	app.keep({ asked: true });
	if (!(await app.bear(name.value || proposal))) await askName(app);
}

/** Keep the first of the names, which is shown here only; resolve to the others, or to null. @param {App} app */
export async function askNames(app, marks = "") {
	const numbers = [...marks].map((_, at) => say("local player", { n: at + 1 }));
	if (app.isNamed) return numbers.slice(1);
	const { name } = app.connection;
	const inputs = numbers.map((placeholder, at) => nameInput({ placeholder, autocomplete: "off", value: at || isGuest(name) ? "" : name }));
	const form = h("form.fields", { method: "dialog" },
		inputs.map((input, at) => field(say("page new name of", { mark: marks[at] }), input)), h("button.primary.big", { value: "begin" }, say("new room begin")));
	const dialog = openDialog(say("page here who"), form);
	inputs.find(({ value }) => !value)?.focus();
	await closing(dialog);
	if (!dialog.returnValue) return null;
	const [first, ...others] = inputs.map(({ value }, at) => value.trim() || numbers[at]);
	app.keep({ here: first });
	return others;
}
