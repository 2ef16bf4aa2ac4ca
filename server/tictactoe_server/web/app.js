/** What every page shares: the player, the connection, the rooms, and the announcements. */

import { say, sayOr, sayTitle } from "./catalogue.js";
import { Connection } from "./connection.js";
import { button, h, setText, urlOf } from "./dom.js";
import { isGuest } from "./identity.js";
import { readKept, writeKept } from "./kept.js";
import { Refused, patiently } from "./requests.js";
import { Rooms } from "./rooms.js";
import { Sound } from "./signals.js";
import { describePush, joinWords, messageOf } from "./words.js";

const SHOWN_MS = 6000;

export class App {
	kept = readKept();
	sound = new Sound();
	/** Names by player id, collected where the names can be looked up. @type {Map<string, string>} */
	names = new Map();
	/** The games over days that await the player's move, the longest wait first. @type {readonly (Protocol.Turn & { until: number })[]} */
	turns = [];
	/** Called when another device has become the player's. @type {() => unknown} */
	onDevices = () => undefined;
	#title = "";
	#isOpening = false;
	#hiding = 0;

	/** @param {HTMLElement} status @param {Around} around */
	constructor(status, around) {
		this.status = status;
		this.around = around;
		this.keep({});
		this.home = this.connect(this.kept);
		this.rooms = new Rooms(this);
	}

	get connection() {
		return this.rooms.shown?.connection ?? this.home;
	}

	/** @param {{name: string, token: string}} identity @param {string} [url] */
	connect(identity, url) {
		let [wasOn, wasSilent, told] = [false, false, ""];
		const tell = (text = "", isShown = false) => connection === this.connection && this.say(text, isShown);
		const onPhase = () => {
			const { isOn, isSilent } = connection;
			const isLost = wasOn && connection.isTroubled;
			if (isLost) for (const room of this.rooms.of(connection)) room.lose();
			if (isOn && wasSilent !== isSilent) tell(say(isSilent ? "page silent" : "page answers"));
			if (isOn && !wasOn && this.status.textContent === sayTitle("banner lost")) tell("");
			[wasOn, wasSilent] = [isOn, isSilent];
			this.around.onPhase();
			const hasBanner = !!document.querySelector(".banner:not([hidden])");
			if (isLost) tell(connection.reason || sayTitle("banner lost"), hasBanner);
			if (!connection.welcome && connection.reason !== told) tell((told = connection.reason), hasBanner);
		};
		const connection = new Connection(identity, {
			onPhase,
			onWelcome: () => {
				const code = connection.welcome?.device_news;
				if (code) this.#tellDevices(sayOr(`announced ${code}`, ""));
				for (const room of this.rooms.of(connection)) this.rooms.follow(room);
				if (connection === this.connection) this.around.onWelcome();
				for (const call of connection.welcome?.calls ?? []) this.#answer(call);
				if (connection !== this.home || !connection.welcome) return;
				this.hearLadders(connection.welcome);
				this.#hearTurns(connection.welcome.turns ?? []);
			},
			onNews: (news) => {
				this.rooms.hear(news, connection);
				if (news.type === "replaced" && this.rooms.shown?.code !== news.room) tell(say(news.by_card ? "taken over by card" : "taken over"));
				if (news.type === "announcement" && news.code) this.#tellDevices(news.text, true);
				else if (news.type === "notice" || news.type === "announcement") tell(describePush(news));
				else if (news.type === "call") this.#answer(news);
				else if (news.type === "turns" && connection === this.home) this.#hearTurns(news.turns);
				else if (news.type === "challenge" || news.type === "challenge_over" || news.type === "rated") this.hearLadders(news);
				else if (news.type === "error" && news.code !== "rate_limited") tell(messageOf(news.message));
				if (connection === this.connection) this.around.onNews(news);
			},
			onIdentity: ({ identity, welcome }) => {
				const { cluster = "" } = welcome ?? {};
				const { name, token } = identity;
				const { [cluster]: _, ...others } = this.kept.tokens;
				this.home.identity.name = name;
				this.keep({ name, token, tokens: { ...others, [cluster]: token }, aside: this.home.identity.aside });
				if (identity.unknown) tell(say("token refused", { name: identity.unknown }));
				identity.unknown = "";
			},
		}, url);
		return connection;
	}

	/** @param {Call} call */
	#answer(call) {
		// If the server is unreachable, its next welcome repeats the call.
		import("./events/call.js").then(({ answerCall }) => answerCall(this, call), () => undefined);
	}

	/** Show news of the player's devices until it is closed; a welcome's only once a day, since it repeats them for three days. */
	#tellDevices(text = "", isNew = false) {
		const told = `${new Date().toDateString()} ${text}`;
		if (!text || (!isNew && told === this.kept.told)) return;
		this.onDevices();
		Promise.all([import("./banner.js"), import("./names.js")]).then(([{ showNotice }, { showNames }]) => {
			this.keep({ told });
			showNotice(text, button(say("page name devices"), () => showNames(this), { class: "primary" }));
		}, () => undefined);
	}

	/** @param {LadderNews} news */
	hearLadders(news) {
		if (news.type === "welcome" && !news.challenges) return;
		import("./ladders/challenges.js").then(({ hearLadders }) => hearLadders(this, news)).catch(() => undefined);
	}

	/** Announce a game that has begun in a room that is not shown. @param {Room} room */
	async announce(room) {
		const { showBanner } = await import("./banner.js");
		const names = Object.entries(room.state?.seats ?? {}).flatMap(([mark, seat]) => (seat && mark !== room.seat ? seat.name : []));
		const resume = button(say("page resume"), () => this.navigate(`/${room.code}`), { class: "primary" });
		showBanner(say("page resume with", { names: joinWords(names) }), h("div.row", resume), undefined, () => this.rooms.shown === room || room.ended || !room.plays);
		this.sound.play("turn");
	}

	/** @param {readonly Protocol.Turn[]} turns */
	#hearTurns(turns) {
		if (!turns.length && !this.turns.length) return;
		this.turns = turns.map((turn) => ({ ...turn, until: performance.now() + turn.left_ms }));
		this.retitle();
		this.around.onPhase();
	}

	get otherTurns() {
		return this.turns.filter(({ room }) => room !== this.rooms.shown?.code);
	}

	openNextTurn() {
		const [next] = this.otherTurns;
		if (next) this.navigate(`/${next.room}`);
	}

	retitle(title = this.#title) {
		this.#title = title;
		document.title = this.turns.length ? `(${this.turns.length}) ${title}` : title;
	}

	navigate(path = "") {
		return this.around.navigate(urlOf(path));
	}

	arrive() {
		if (this.connection.isTroubled) this.say(this.connection.reason || say("view connection unreachable"));
		return this.connection.arrive();
	}

	/** Rename the player if the name is new; resolve to whether the name was accepted. */
	async bear(name = "") {
		const wanted = name.trim();
		if (wanted && wanted !== this.connection.name) {
			this.connection.identity.rename(wanted);
			await this.connection.greetAgain();
		} else await this.arrive();
		return wanted !== this.connection.identity.refused;
	}

	get isNamed() {
		return this.connection.welcome?.names === "given";
	}

	async meet() {
		if (this.isNamed || this.kept.asked || !isGuest(this.connection.name)) return;
		await (await import("./names.js")).askName(this);
	}

	/** Request what a page shows, again after each loss. @param {Ask} request @param {(error: unknown) => boolean} [isOver] whether to give up after this error */
	read(request, isOver = (error) => error instanceof Refused) {
		return patiently(() => this.arrive().then(() => this.connection.request(request)), isOver);
	}

	/** @param {Ask} request */
	ask(request) {
		return this.connection.request(request).catch((error) => void this.say(messageOf(error)));
	}

	/** Enter a room and show it. While a new room is being opened, as after a double click, no other is opened. @param {WayIn} request @param {(error: unknown) => void} [refuse] */
	async play(request, refuse = (error) => this.say(messageOf(error))) {
		const isNew = request.type !== "join";
		if (isNew && this.#isOpening) return undefined;
		this.#isOpening ||= isNew;
		try {
			if (isNew && !("guests" in request)) await this.meet();
			const room = await this.rooms.enter(request);
			await this.navigate(`/${room.code}`);
			return room;
		} catch (error) {
			return void refuse(error);
		} finally {
			if (isNew) this.#isOpening = false;
		}
	}

	/** @param {boolean} [isShown] whether the page shows it elsewhere, so that it is only announced */
	say(text = "", isShown = false) {
		const { status } = this;
		if (status.textContent === text) status.textContent = "";
		setTimeout(() => {
			setText(status, text);
			status.classList.toggle("unseen", isShown);
			clearTimeout(this.#hiding);
			this.#hiding = setTimeout(() => status.classList.add("unseen"), SHOWN_MS);
		});
	}

	async showRules(rules = this.rooms.shown?.state?.rules) {
		(await import("./help.js")).showRules(rules);
	}

	makeNothing(message = "") {
		const element = h("div.card.narrow",
			h("h1", say("page nothing")),
			h("p", message),
			h("div.row",
				button(sayTitle("key to home"), () => this.navigate("/"), { class: "primary" }),
				button(say("page all games wall"), () => this.navigate("/wall")),
			),
		);
		return { title: say("page nothing"), element };
	}

	async copy(text = "") {
		const isWritten = await navigator.clipboard?.writeText(text).then(() => true, () => false);
		this.say(say(isWritten || copyMarked(text) ? "page copied" : "page not copied", { text }));
	}

	/** A link for other people: this page's own address may lead elsewhere on their machines. */
	linkTo(path = "") {
		const { content } = /** @type {HTMLMetaElement} */ (document.querySelector("[name=address]"));
		return content ? `${content}/${path}` : location.origin + urlOf(`/${path}`);
	}

	/** @param {Partial<Kept>} changed */
	keep(changed) {
		Object.assign(this.kept, changed);
		this.sound.isOn = this.kept.sound;
		document.documentElement.dataset.theme = this.kept.theme;
		writeKept(this.kept);
	}
}

/** Copy by `execCommand`, which also works without TLS. */
function copyMarked(text = "") {
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
