/** Several people at one keyboard, each on a connection of their own that is kept for a return. */

import { Rooms } from "./rooms.js";

/** Seat others in a room, by default those who sat there before. @param {App} app @param {string} code @param {string[]} [names] */
export async function seat(app, code, names) {
	const people = [];
	for (const known of names?.map((name) => ({ name, token: "" })) ?? app.kept.here?.people ?? []) {
		const home = app.connect(known, undefined, () => rooms);
		const rooms = new Rooms(home, (url) => app.connect(home.identity, url, () => rooms));
		home.retry();
		await home.arrive();
		people.push(await rooms.enter({ type: "join", room: code }));
	}
	app.keep({ here: { code, people: people.map(({ connection }) => connection.identity) } });
	return people;
}
