// Prints what the page's modules say otherwise than the vectors: node vectors.mjs FOLDER VECTORS CATALOGUES LANGUAGE...
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";

const [folder, path, catalogues, ...languages] = process.argv.slice(2);
const { say, speak } = await import(`${folder}/catalogue.js`);
const { announce, announceStanding, newsSince } = await import(`${folder}/telling.js`);
const { choices } = await import(`${folder}/choices.js`);
const { sceneOf } = await import(`${folder}/scene.js`);
const { describeManners, formatDuration, seatOf } = await import(`${folder}/words.js`);
const { parse } = await import(`${folder}/text.js`);
const tournaments = await import(`${folder}/events/tournaments.js`);
const ladders = await import(`${folder}/ladders/words.js`);
const { nameRound } = await import(`${folder}/events/table.js`);
const { Following } = await import(`${folder}/events/following.js`);
const { vectors, tournaments: events, ladders: rated, durations } = parse(readFileSync(path, "utf8"));

let current = "";

vectors.forEach((vector, index) => {
	const { before, after, viewer, sees_board, after_loss, told } = vector;
	const open = choices(after, viewer, vector.is_online, vector.welcome);
	for (const language of languages) {
		current = language;
		speak(language, JSON.parse(readFileSync(`${catalogues}/${language}.json`, "utf8")));
		const said = before ? announce(newsSince(before, after), after, viewer, after_loss) : announceStanding(after, viewer);
		if (!sees_board) compare(`${index} ${language}`, said, told[language]); // who reads a page has its board before them, and hears it told as well
		const { end, due, ...shown } = vector.scene[language];
		// The page has that in the player's row, and asks for confirmations by the browser's dialog.
		shown.questions = shown.questions.filter(({ id }) => id !== "absent" && id !== "confirm");
		const { state, isBack, board, isLost, isFaint, card, title, terms, deeds, ...drawn } = sceneOf(gameOf(vector), after, open, viewOf(vector));
		compare(`${index} ${language} scene`, plainOf(drawn), plainOf(shown));
	}
});

// The page's buttons say nothing where they are no main ones.
function plainOf(scene) {
	return JSON.parse(JSON.stringify(scene, (key, value) => (key === "is_main" && !value ? undefined : value)));
}

// The game of a vector as the page has it.
function gameOf({ after: state, viewer, view }) {
	const seat = seatOf(state, viewer);
	const plays = state.status === "playing" && !!seat && !state.seats[seat].out;
	const pending = view.pending === null ? null : { cell: view.pending };
	return { state, viewer, seat, plays, pending, ended: view.ended, closedReason: view.reason, isLive: !view.is_kept };
}

// What one looks at there; what is said of the connection alone is the page's.
function viewOf({ view, now_ms, scene }) {
	const trouble = view.is_offline && !view.ended ? scene[current].banner : "";
	return { here: view.here, typed: view.typed, isOffline: view.is_offline, passed: now_ms, trouble, unanswered: view.unanswered };
}
events.forEach(({ state, viewer, age_ms, said }, index) => {
	const { describeOwn, describeScore, describeStanding, describeTie, formatPoints, listNotes, nameKind, namePresence, nameTie } = tournaments;
	const following = followingOf(state, age_ms);
	const ties = state.table.flatMap(({ tie }) => tie);
	for (const language of languages) {
		speak(language, JSON.parse(readFileSync(`${catalogues}/${language}.json`, "utf8")));
		compare(`tournament ${index} ${language}`, [
			describeStanding(state), describeOwn(state, viewer),
			...["round_robin", "swiss", "knock_out", "newer"].map(nameKind),
			...state.pairings.map(describeScore), ...ties.map(describeTie), ...ties.map(([name]) => nameTie(name)),
			...state.table.map(({ status = "in" }) => namePresence(status)), ...state.table.map(({ points }) => formatPoints(points)),
			following.describeWaiting(), following.missing.n ? say("tournament begin without", following.missing) : "",
			...state.pairings.map((one) => following.describeGame(one).replaceAll(" · ", ", ").replaceAll("–", "-")), ...listNotes(state),
			...(state.bracket ?? []).map((_, at, { length }) => nameRound(length - 1 - at, length)),
		], said[language]);
	}
});
// What is said of each kind, as tools/vectors.py has it.
const SAY = {
	ladder: (ladder) => [...ladders.nameColumns("ladder"), ...ladder.rows.flatMap(ladders.listCells)],
	rated: (push, viewer, names) => ladders.describeRated(push, names, viewer),
	room: (row) => describeManners(row),
	profile: (profile) => [...ladders.nameColumns("player"), ...profile.ladders.flatMap(ladders.listStanding)],
	challenge: (challenge, viewer, names) => [
		ladders.describeChallenge(challenge, viewer, names[challenge.to]),
		...["accepted", "declined", "withdrawn", "expired", "newer"].map((how) => ladders.describeChallengeEnd({ how, room: "K7M4PQ" }, challenge, viewer, names[challenge.to])),
	],
};
rated.forEach(({ kind, told, viewer, names, said }, index) => {
	for (const language of languages) {
		speak(language, JSON.parse(readFileSync(`${catalogues}/${language}.json`, "utf8")));
		compare(`ladders ${index} ${language}`, SAY[kind](told, viewer, names), said[language]);
	}
});
speak("en", JSON.parse(readFileSync(`${catalogues}/en.json`, "utf8")));
for (const [ms, told] of durations) compare(`duration ${ms}`, formatDuration(ms), told);

// The state of a tournament as the page has it so many ms after it came.
function followingOf(state, age) {
	performance.now = () => age;
	return Object.assign(new Following({ connection: {} }, state.event, () => undefined), { state });
}

function compare(what, found, wanted) {
	if (!isDeepStrictEqual(found, wanted)) console.log(`${what}: ${JSON.stringify(found)} not ${JSON.stringify(wanted)}`);
}
