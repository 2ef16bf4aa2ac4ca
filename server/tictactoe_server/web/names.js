/** Who one is: a name for good, the codes that bring it back, and the devices on which one is the same player. */

import { say } from "./catalogue.js";
import { openDialog } from "./dialog.js";
import { button, field, h, setText, show, submitting } from "./dom.js";
import { drawQr } from "./events/qr.js";
import { makeLink } from "./invitation.js";
import { clean, messageOf } from "./words.js";

const LINK_LENGTH = 8;
/** What browsers call systems that have other names. @type {Record<string, string>} */
const SYSTEMS = { MacIntel: "macOS", Win32: "Windows" };
/** The codes that nobody has written down yet, as far as we know: they stay, whatever else is done. @type {readonly string[]} */
let codes = [];

addEventListener("beforeunload", (event) => codes.length && event.preventDefault());

/** @param {App} app @param {string} [code] that another device showed, with which one came here */
export function showNames(app, code = "") {
	const dialog = new Names(app, code);
	openDialog(say("name title"), dialog.element);
	dialog.learn();
}

class Names {
	#about = h("p");
	#fault = h("p.fault", { role: "alert" });
	#codes = h("div.written", { role: "status" });
	#told = h("div.identity", { role: "status" });
	#devices = h("ul.rooms");
	#name;
	#lost = h("input", { maxlength: 24, autocomplete: "off" });
	#code;

	/** @param {App} app @param {string} code */
	constructor(app, code) {
		this.app = app;
		this.#name = h("input", { value: app.connection.name, maxlength: 24, autocomplete: "nickname" });
		this.#code = h("input", { value: code, autocomplete: "off" });
		const enter = h("form.row", { submit: submitting(() => this.#enter()) }, !code && field(say("page name lost"), this.#lost), field(say("invitation code"), this.#code), h("button", { class: code && "primary" }, say("page name enter")));
		const claim = h("form.row", { submit: submitting(() => this.#claim()) }, field(say("name deed claim"), this.#name), h("button", {}, say("page name claim")));
		const others = [claim, h("h3", {}, say("page name devices")), this.#devices, h("div.row", {}, button(say("name deed link"), () => this.#link())), this.#told, h("details", {}, h("summary", {}, say("page name door")), enter)];
		this.element = h("div.identity", {}, this.#about, this.#fault, this.#codes, ...(code ? [h("p", {}, say("page name arrived")), enter] : others));
		this.#drawCodes();
	}

	/** Ask who one is. */
	async learn() {
		await this.app.arrive();
		return this.#ask({ type: "devices" }, ({ devices = [], claimed, codes_left: n = 0 }) => {
			const { name, welcome } = this.app.connection;
			const id = claimed ? "name own" : welcome?.claimed === false ? "name others" : "name free";
			setText(this.#about, say(id, { name: clean(claimed ?? name), n }));
			show(this.#devices, devices.map((one) => this.#makeDevice(one)));
		});
	}

	/** @param {Protocol.Device} device */
	#makeDevice({ id, seen, client, current }) {
		const about = [nameProgram(client), new Date(seen).toLocaleDateString(document.documentElement.lang)];
		const revoke = button(say("page name revoke"), () => this.#ask({ type: "revoke", device: id }, () => this.learn()));
		return h("li.row", {}, about.join(" · "), current ? h("b", {}, say("name this device")) : revoke);
	}

	#claim() {
		return this.#ask({ type: "claim_name", name: this.#name.value.trim() }, async ({ rescue = [] }) => {
			const { connection } = this.app;
			connection.identity.name = this.#name.value.trim();
			this.app.keep({ name: connection.name });
			codes = rescue;
			this.#drawCodes();
			this.app.around.onPhase();
			await this.learn();
		});
	}

	#drawCodes() {
		const text = codes.join("\n");
		const written = () => {
			codes = [];
			this.#drawCodes();
		};
		const save = [button(say("page copy"), () => this.app.copy(text)), button(say("page event print"), () => print()), button(say("page name written"), written, { class: "primary" })];
		show(this.#codes, text && [h("p", {}, say("name claimed", { name: clean(this.app.connection.name) })), h("pre.codes", {}, text), h("div.row", {}, save)]);
	}

	#link() {
		return this.#ask({ type: "link" }, async ({ link_code: code = "" }) => {
			const link = this.app.linkTo(`#link=${code}`);
			show(this.#told, h("p", {}, say("page name link")), makeLink(this.app, link, say("name title")), h("p.code", {}, h("b", {}, code)), drawQr(link, say("page invite qr")));
			await this.learn();
		});
	}

	/** Be whom a code says, from now on and on every page. */
	async #enter() {
		const code = this.#code.value.replace(/[\s-]/g, "");
		const { connection } = this.app;
		connection.identity.codes = code.length <= LINK_LENGTH ? { link: code } : { name: this.#lost.value.trim(), rescue: code };
		await connection.greetAgain();
		setText(this.#fault, connection.identity.refusedCode);
		if (connection.identity.refusedCode) return;
		this.element.closest("dialog")?.close();
		this.app.navigate("/");
		this.app.say(say("page name now", { name: clean(connection.name) }));
	}

	/** @param {Ask} request @param {(ok: Protocol.Ok) => unknown} then */
	async #ask(request, then) {
		setText(this.#fault, "");
		try {
			await then(await this.app.connection.request(request));
		} catch (error) {
			setText(this.#fault, messageOf(error));
		}
	}
}

/** What a device is called: a page by the system that it is on. */
function nameProgram(client = say("name some program")) {
	const system = /^tictactoe-page\/(\w+)/.exec(client)?.[1];
	return system ? say("name browser", { system: SYSTEMS[system] ?? system }) : clean(client);
}
