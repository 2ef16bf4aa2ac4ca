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

/** Return the first socket if it has this URL and is still usable, otherwise a new one. */
export function takeSocket(url = "") {
	const socket = url === HOME ? first : null;
	if (socket) first = null;
	return socket && socket.readyState <= WebSocket.OPEN ? socket : openSocket(url);
}

export class Ways {
	/** @type {string[]} */
	#urls;
	/** @type {string[]} */
	#servers = [];
	/** Whether the page's connection uses TLS; then it never moves to a server without TLS. */
	#isSafe = false;

	constructor(url = "") {
		this.#urls = [...new Set([url, HOME])];
	}

	get isAlone() {
		return this.#urls.length === 1;
	}

	/** How many ms a server has for its welcome: fewer if another server can be tried. */
	get welcomeMs() {
		return this.isAlone ? 8000 : 4000;
	}

	next() {
		const [url, ...others] = this.#urls;
		this.#urls = [...others, url];
		return url;
	}

	/** Whether to follow a redirect: only within the cluster, never from TLS to plain, and only if the page's policy allows it. */
	leadsTo(url = "") {
		return (url.startsWith("wss:") || !this.#isSafe) && this.#servers.includes(url) && !forbidden.has(hostOf(url));
	}

	/** Learn the servers of the cluster. Return the server's own URL if it is on this page's host, otherwise the URL by which we reached it. @param {string[]} servers those of the cluster, the one that says so first @param {string} url by which we reached it */
	learn(servers, url) {
		const [own, ...others] = servers;
		this.#servers = servers;
		this.#isSafe = url.startsWith("wss:");
		const open = others.filter((other) => this.leadsTo(other)).sort(() => Math.random() - 0.5);
		this.#urls = [...new Set([...open, HOME])];
		return hostOf(own) === location.host && this.leadsTo(own) ? own : url; // the page's policy allows its own host
	}
}
