/** Sockets to servers, the first one opened while the rest of the page is still on its way. */

/** The server that shows this page, or one of those that stand behind its name. */
export const HOME = `${location.protocol.replace("http", "ws")}//${location.host}/ws`;
/** Hosts to which the policy of this page lets nothing connect, as far as it was tried. @type {Set<string>} */
const forbidden = new Set();
/** @type {WebSocket | null} */
let first = openSocket(HOME);

document.addEventListener("securitypolicyviolation", ({ blockedURI }) => forbidden.add(hostOf(blockedURI)));

const hostOf = (url = "") => url.split("/")[2] ?? "";

function openSocket(url = "") {
	return new WebSocket(url, "tictactoe.v1");
}

/** Take the first socket where it leads there and is still of use, else a new one. */
export function takeSocket(url = "") {
	const socket = url === HOME ? first : null;
	if (socket) first = null;
	return socket && socket.readyState <= WebSocket.OPEN ? socket : openSocket(url);
}

export const isForbidden = (url = "") => forbidden.has(hostOf(url));

/** Whether a server is under the host of this page, to which it may always connect. */
export const isHere = (url = "") => hostOf(url) === location.host;
