/** Sockets to servers, the first one opened while the rest of the page is still on its way; and where to connect. */

/** The server that shows this page, or one of those that stand behind its name. */
export const HOME = new URL(`${document.documentElement.dataset.root ?? "/"}ws`, location.href).href.replace("http", "ws");
/** Hosts to which the policy of this page lets nothing connect, as far as it was tried. @type {Set<string>} */
const forbidden = new Set();
/** @type {WebSocket | null} */
let first = openSocket(HOME);

document.addEventListener("securitypolicyviolation", ({ blockedURI }) => forbidden.add(hostOf(blockedURI)));

const hostOf = (url = "") => url.split("/")[2] ?? "";

function openSocket(url = "") {
	return new WebSocket(url, "tictactoe.v2");
}

/** Take the first socket where it leads there and is still of use, else a new one. */
export function takeSocket(url = "") {
	const socket = url === HOME ? first : null;
	if (socket) first = null;
	return socket && socket.readyState <= WebSocket.OPEN ? socket : openSocket(url);
}

const isForbidden = (url = "") => forbidden.has(hostOf(url));

/** Whether a server is under the host of this page, to which it may always connect. */
const isHere = (url = "") => hostOf(url) === location.host;

export class Ways {
	/** Where to connect next, in turn. @type {string[]} */
	#urls;
	/** All servers that the last one named. @type {string[]} */
	#servers = [];
	/** Whether we came by TLS, from which nothing else may lead away. */
	#isSafe = false;

	/** Begin with this one. */
	constructor(url = "") {
		this.#urls = [...new Set([url, HOME])];
	}

	/** Whether there is one server alone to connect to. */
	get isAlone() {
		return this.#urls.length === 1;
	}

	/** How long a server has for its welcome: less where another one can be asked instead. */
	get welcomeMs() {
		return this.isAlone ? 8000 : 4000;
	}

	/** The next of the ways, from then on the last. */
	next() {
		const [url, ...others] = this.#urls;
		this.#urls = [...others, url];
		return url;
	}

	/** Whether to go where a server says: to one of its cluster, from TLS to TLS, where this page may. */
	leadsTo(url = "") {
		return (url.startsWith("wss:") || !this.#isSafe) && this.#servers.includes(url) && !isForbidden(url);
	}

	/** The URL of the server itself, where it names one that is ours too. @param {string[]} servers those of the cluster, the one that says so first @param {string} url by which we reached it */
	learn(servers, url) {
		const [own, ...others] = servers;
		this.#servers = servers;
		this.#isSafe = url.startsWith("wss:");
		const open = others.filter((other) => this.leadsTo(other)).sort(() => Math.random() - 0.5);
		this.#urls = [...new Set([...open, HOME])];
		return isHere(own) && this.leadsTo(own) ? own : url;
	}
}
