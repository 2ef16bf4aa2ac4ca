/** Who one is: a name for good, the codes that bring it back, and the devices on which one is the same player. */

import { say } from "./catalogue.js";
import { openDialog } from "./dialog.js";
import { button, field, h, setText, show, submitting } from "./dom.js";
import { drawQr } from "./events/qr.js";
import { clean, messageOf } from "./words.js";

/** @typedef {import("./app.js").App} App */

const LINK_LENGTH = 8;

/** @param {App} app @param {string} [code] that another device showed, with which one came here */
export function showNames(app, code = "") {
	const dialog = new Names(app, code);
	openDialog(say("name title"), dialog.element);
	dialog.learn();
}

class Names {
	#about = h("p");
	#fault = h("p.fault", { role: "alert" });
	#told = h("div.identity", { role: "status" });
	#devices = h("ul.rooms");
	#name;
	#code;

	/** @param {App} app @param {string} code */
	constructor(app, code) {
		this.app = app;
		this.#name = h("input", { value: app.connection.name, maxlength: 24, autocomplete: "nickname" });
		this.#code = h("input", { value: code, autocomplete: "off" });
		const enter = h("form.row", { submit: submitting(() => this.#enter()) }, field(say("name deed code"), this.#code), h("button", { class: code && "primary" }, say("page name enter")));
		const claim = h("form.row", { submit: submitting(() => this.#claim()) }, field(say("name deed claim"), this.#name), h("button", {}, say("page name claim")));
		const others = [claim, h("div.row", {}, button(say("name deed link"), () => this.#link())), this.#told, h("h3", {}, say("page name devices")), this.#devices];
		this.element = h("div.identity", {}, this.#about, this.#fault, ...(code ? [h("p", {}, say("page name arrived")), enter] : [...others, enter]));
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
		const about = [clean(client ?? say("name some program")), new Date(seen).toLocaleDateString(document.documentElement.lang)];
		const revoke = button(say("page name revoke"), () => this.#ask({ type: "revoke", device: id }, () => this.learn()));
		return h("li.row", {}, about.join(" · "), current ? h("b", {}, say("name this device")) : revoke);
	}

	#claim() {
		return this.#ask({ type: "claim_name", name: this.#name.value.trim() }, async ({ rescue = [] }) => {
			const { connection } = this.app;
			connection.identity.name = this.#name.value.trim();
			this.app.keep({ name: connection.name });
			const text = rescue.join("\n");
			const save = [button(say("page copy"), () => this.app.copy(text), { class: "primary" }), button(say("page event print"), () => print())];
			show(this.#told, h("p", {}, say("name claimed", { name: clean(connection.name) })), h("pre.codes", {}, text), h("div.row", {}, save));
			this.app.around.onPhase();
			await this.learn();
		});
	}

	#link() {
		return this.#ask({ type: "link" }, async ({ link_code: code = "" }) => {
			const link = this.app.linkTo(`#link=${code}`);
			show(this.#told, h("p", {}, say("page name link")), h("p.code", {}, h("b", {}, code)), drawQr(link, say("page invite qr")), button(say("page copy"), () => this.app.copy(link)));
			await this.learn();
		});
	}

	/** Be whom a code says, from now on and on every page. */
	async #enter() {
		const code = this.#code.value.replace(/[\s-]/g, "");
		const { connection } = this.app;
		const codes = code.length <= LINK_LENGTH ? { link: code } : { name: this.#name.value.trim(), rescue: code };
		connection.identity.codes = codes;
		await connection.greetAgain();
		setText(this.#fault, connection.identity.refusedCode);
		if (connection.identity.refusedCode) return;
		this.element.closest("dialog")?.close();
		this.app.navigate("/");
	}

	/** @param {import("./requests.js").Ask} request @param {(ok: Protocol.Ok) => unknown} then */
	async #ask(request, then) {
		setText(this.#fault, "");
		try {
			await then(await this.app.connection.request(request));
		} catch (error) {
			setText(this.#fault, messageOf(error));
		}
	}
}
