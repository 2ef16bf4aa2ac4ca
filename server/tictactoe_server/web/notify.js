/** The dialog in which a player chooses how to hear of games over days that await a move. */

import { say, sayTitle } from "./catalogue.js";
import { field, h, makeLink, openDialog, show } from "./dom.js";
import { checkField, checkbox, makeFault } from "./forms.js";
import { messageOf } from "./words.js";

const [EVENING, MORNING] = [[22, 0], [8, 0]];

/** Return minutes of the day in UTC for local hours and minutes. @param {readonly number[]} local */
function toUtc([hours, minutes]) {
	const date = new Date();
	date.setHours(hours, minutes);
	return date.getUTCHours() * 60 + date.getUTCMinutes();
}

/** Return local time as a time field has it, for minutes of the day in UTC. */
function toLocal(minutes = 0) {
	const date = new Date();
	date.setUTCHours(0, minutes);
	return [date.getHours(), date.getMinutes()].map((part) => String(part).padStart(2, "0")).join(":");
}

/** The folder of all versions of the page's files, so that a registration survives upgrades of the server. */
const SCOPE = new URL("../", import.meta.url);

const findSubscription = async () => (await navigator.serviceWorker.getRegistration(SCOPE))?.pushManager.getSubscription();

async function subscribe(applicationServerKey = "") {
	if ((await Notification.requestPermission()) !== "granted") throw new Error(say("page notify push denied"));
	const worker = new URL("./worker.js", import.meta.url);
	for (const [id, n] of Object.entries({ one: 1, other: "{n}" })) worker.searchParams.set(id, say("turns await", { n }));
	const registration = await navigator.serviceWorker.register(worker, { scope: SCOPE.pathname });
	const starting = registration.installing ?? registration.waiting;
	if (!registration.active) await new Promise((resolve) => starting?.addEventListener("statechange", () => registration.active && resolve(null)));
	await (await registration.pushManager.getSubscription())?.unsubscribe(); // it may be for another key
	return registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey });
}

/** @param {App} app */
export async function openNotify(app) {
	await app.arrive();
	const [about, address] = [h("p", say("page notify about")), h("div")];
	const { element: fault, blame } = makeFault(about);
	const feed = checkbox({ change: () => ask({ feed: feed.checked }) });
	const webhook = h("input", { type: "url", placeholder: "https://", autocomplete: "off" });
	const quiet = checkbox({ change: () => ask({ quiet: quiet.checked ? [toUtc(EVENING), toUtc(MORNING)] : null }) });
	const [from, until] = [h("input", { type: "time", change: setQuiet }), h("input", { type: "time", change: setQuiet })];
	const times = h("div.pair", field(say("page notify from"), from), field(say("page notify until"), until));
	const box = checkbox({ change: turnPush });
	const push = checkField(say("page notify push"), box, say("page notify push note"));
	const settings = h("div.identity", { hidden: true },
		push,
		checkField(say("page notify feed"), feed, say("option feed")), address,
		h("form.row", { submit: () => ask({ webhook: webhook.value.trim() || null }, webhook) }, field(say("page notify webhook"), webhook, say("option webhook")), h("button", sayTitle("deed save"))),
		checkField(say("page notify quiet"), quiet, say("option quiet-hours")), times,
	);
	/** What is set, as far as known. @type {Partial<Ok>} */
	let known = {};
	openDialog(say("page notify heading"), h("div.identity", about, fault, settings));
	await ask({});

	/** @param {Omit<Protocol.Notify, "type" | "id">} changed @param {HTMLElement} [control] that a refusal is about */
	async function ask(changed, control) {
		blame("");
		try {
			known = await app.connection.request({ type: "notify", ...changed });
			settings.hidden = false;
			await draw(known);
		} catch (error) {
			if (!control) await draw(known); // what the player typed stays
			blame(messageOf(error), control);
		}
	}

	/** @param {Partial<Ok>} set */
	async function draw(set) {
		feed.checked = !!set.feed;
		show(address, set.feed ? makeLink(app, String(set.feed), say("page notify feed")) : null);
		webhook.value = set.webhook ?? "";
		quiet.checked = !!set.quiet;
		times.hidden = !set.quiet;
		if (set.quiet) [from.value, until.value] = set.quiet.map(toLocal);
		push.hidden = !set.push_key || !isSecureContext || !("PushManager" in globalThis);
		box.checked = !push.hidden && !!set.push && !!(await findSubscription());
	}

	async function turnPush() {
		try {
			if (box.checked) return await ask({ push: /** @type {any} */ ((await subscribe(known.push_key)).toJSON()) });
			await (await findSubscription())?.unsubscribe();
			return await ask({ push: null });
		} catch (error) {
			box.checked = false;
			return blame(messageOf(error));
		}
	}

	function setQuiet() {
		const [first, last] = [from, until].map(({ value }) => value.split(":").map(Number));
		if (from.value && until.value) ask({ quiet: [toUtc(first), toUtc(last)] });
	}
}
