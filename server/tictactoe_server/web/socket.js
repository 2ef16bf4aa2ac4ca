/** Sockets to servers, the first of which is opened while the page is still loading, and the choice of the next server. */

/** The WebSocket URL of the server that delivered this page, or of the servers behind its name. */
export const HOME = new URL(`${document.documentElement.dataset.root ?? "/"}ws`, location.href).href.replace("http", "ws");
/** Hosts to which the policy of this page forbids connections, as far as they were tried. @type {Set<string>} */
const forbidden = new Set();
/** @type {WebSocket | null} */
let first = openSocket(HOME);

document.addEventListener("securitypolicyviolation", ({ blockedURI }) => forbidden.add(hostOf(blockedURI)));

const hostOf = (url = "") => url.split("/")[2] ?? "";

function openSocket(url = "") {
	return new WebSocket(url, "tictactoe.v2");
}

export function takeSocket(url = "") {
	const socket = url === HOME ? first : null;
	if (socket) first = null;
	return socket && socket.readyState <= WebSocket.OPEN ? socket : openSocket(url);
}

export function makeWays(url = "") {
	let urls = [...new Set([url, HOME])];
	/** @type {string[]} */
	let servers = [];
	/** Whether the page's connection uses TLS; then it never moves to a server without TLS. */
	let isSafe = false;
	const isAlone = () => urls.length === 1;
	return { isAlone, next, leadsTo, learn };

	function next() {
		const [head, ...others] = urls;
		urls = [...others, head];
		return head;
	}

	/** Whether to follow a redirect: only within the cluster, never from TLS to plain, and only if the page's policy allows it. */
	function leadsTo(there = "") {
		return (there.startsWith("wss:") || !isSafe) && servers.includes(there) && !forbidden.has(hostOf(there));
	}

	/** Learn the servers of the cluster, the one that lists them first. Return its own URL if it is on this page's host, otherwise the URL by which we reached it. @param {string[]} listed */
	function learn(listed, reached = "") {
		const [own, ...others] = listed;
		servers = listed;
		isSafe = reached.startsWith("wss:");
		const open = others.filter(leadsTo).sort(() => Math.random() - 0.5);
		urls = [...new Set([...open, HOME])];
		return hostOf(own) === location.host && leadsTo(own) ? own : reached; // the page's policy allows its own host
	}
}
