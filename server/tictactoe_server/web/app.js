/** What every page has. */

import { Connection } from "./connection.js";
import { h, setText } from "./dom.js";
import { Rooms } from "./rooms.js";
import { Sound } from "./sound.js";
import { describePush, messageOf } from "./words.js";

const STORE = "tictactoe";

export class App {
	kept = readKept();
	sound = new Sound();

	/** @param {HTMLElement} status @param {House} house */
	constructor(status, house) {
		this.status = status;
		this.house = house;
		this.keep({});
		this.home = this.#connect(this.kept);
		this.rooms = new Rooms(this.home, (url) => this.#connect(this.home.identity, url));
	}

	/** The connection that the page is about: that of the room on it, or the first. */
	get connection() {
		return this.rooms.shown?.connection ?? this.home;
	}

	/** @param {{name: string, token: string}} identity @param {string} [url] */
	#connect(identity, url) {
		let [wasOn, wasSilent] = [false, false];
		const say = (/** @type {string} */ text) => connection === this.connection && this.say(text);
		const onPhase = () => {
			const { isSilent } = connection;
			const isOn = connection.phase === "on";
			if (wasOn && connection.isTroubled) {
				this.rooms.lose(connection);
				say(connection.reason || "Connection lost.");
			}
			if (isOn && wasSilent !== isSilent) say(isSilent ? "The server does not answer." : "The server answers again.");
			[wasOn, wasSilent] = [isOn, isSilent];
			this.house.onPhase();
		};
		const connection = new Connection(identity, {
			onPhase,
			onWelcome: () => this.rooms.resume(connection),
			onNews: (news) => {
				this.rooms.hear(news, connection);
				if (news.type === "notice" || news.type === "announcement") say(describePush(news));
				else if (news.type === "error" && news.code !== "rate_limited") say(messageOf(news.message));
				if (connection === this.connection) this.house.onNews(news);
			},
			onIdentity: ({ identity: { name, token }, welcome }) => {
				const { cluster = "" } = welcome ?? {};
				const { [cluster]: _, ...others } = this.kept.tokens;
				this.home.identity.name = name;
				this.keep({ name, token, tokens: { ...others, [cluster]: token } });
			},
		}, url);
		return connection;
	}

	navigate(path = "") {
		this.house.navigate(path);
	}

	/** Wait until there is a connection. */
	arrive() {
		return this.connection.arrive();
	}

	/** Be called so from now on, where it is a new one; whether one may be. @param {string} name */
	async bear(name) {
		const wanted = name.trim();
		if (wanted && wanted !== this.connection.name) this.connection.rename(wanted);
		await this.arrive();
		return wanted !== this.connection.refused;
	}

	/** Enter a room and go to its page; what is refused is told. @param {Entry} request */
	async play(request) {
		try {
			const room = await this.rooms.enter(request);
			this.navigate(`/${room.code}`);
			return room;
		} catch (error) {
			return void this.say(messageOf(error));
		}
	}

	/** Tell what happened, to eyes and ears. @param {string} text */
	say(text) {
		if (this.status.textContent === text) this.status.textContent = "";
		setTimeout(() => setText(this.status, text));
	}

	/** Copy a text and say so, or mark it where the browser copies nothing. @param {string} text */
	async copy(text) {
		const isWritten = await navigator.clipboard?.writeText(text).then(() => true, () => false);
		if (isWritten || copyMarked(text)) return this.say(`Copied: ${text}`);
		setText(this.status, `This browser copies nothing by itself; it is marked here to be copied: ${text}`);
		const from = /** @type {Text} */ (this.status.firstChild);
		return getSelection()?.setBaseAndExtent(from, from.length - text.length, from, from.length);
	}

	/** A link for others: this page's own address may lead elsewhere on their machines. */
	linkTo(path = "") {
		const { content } = /** @type {HTMLMetaElement} */ (document.querySelector("[name=address]"));
		return `${content || location.origin}/${path}`;
	}

	/** Give a finished game a link that anybody can open. @param {string} game its id in the history */
	share(game) {
		const shared = (/** @type {Protocol.Ok} */ { replay }) => this.copy(this.linkTo(`replay/${replay}`));
		this.connection.request({ type: "share", game, on: true }).then(shared, (error) => this.say(messageOf(error)));
	}

	/** @param {Partial<Kept>} changed */
	keep(changed) {
		Object.assign(this.kept, changed);
		this.sound.isOn = this.kept.sound;
		try {
			localStorage.setItem(STORE, JSON.stringify(this.kept));
		} catch {
			// Where the browser keeps nothing, it counts for this visit.
		}
	}
}

/** Copy in the way of before, which a page without TLS has too; whether it did. @param {string} text */
function copyMarked(text) {
	const focused = /** @type {HTMLElement | null} */ (document.activeElement);
	const field = h("textarea.unseen", { readonly: true });
	field.value = text;
	document.body.append(field);
	field.focus({ preventScroll: true });
	field.select();
	const isCopied = document.execCommand("copy");
	field.remove();
	focused?.focus({ preventScroll: true });
	return isCopied;
}

/** @returns {Kept} */
function readKept() {
	let found;
	try {
		found = JSON.parse(localStorage.getItem(STORE) ?? "{}");
	} catch {
		found = {};
	}
	// Who comes from before there were clusters has the one token alone.
	const tokens = found.token ? { "": found.token } : {};
	return { name: "", token: "", tokens, sound: false, game: "", clock: "", ...found };
}
