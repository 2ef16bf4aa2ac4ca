/** The service worker that shows push messages as notifications, even while no page is open. A click opens the most urgent game. */

const worker = /** @type {any} */ (globalThis);
/** The sentences for one game and for several, in the language of the page that started the worker. */
const sentences = new URL(location.href).searchParams;

worker.addEventListener("push", (/** @type {any} */ event) => {
	const { count = 0, games = [] } = event.data?.json() ?? {};
	const [first] = games.toSorted((/** @type {Protocol.Turn} */ one, /** @type {Protocol.Turn} */ other) => one.left_ms - other.left_ms);
	const title = (sentences.get(count === 1 ? "one" : "other") ?? "").replace("{n}", count);
	event.waitUntil(worker.registration.showNotification(title, { tag: "turns", data: first?.link }));
});

worker.addEventListener("notificationclick", (/** @type {any} */ event) => {
	event.notification.close();
	event.waitUntil(worker.clients.openWindow(event.notification.data ?? new URL("../../", location.href)));
});
