/** The first socket to the server, opened while the rest of the page is still on its way. */

/** @type {WebSocket | null} */
let first = openSocket();

function openSocket() {
	return new WebSocket(`${location.protocol.replace("http", "ws")}//${location.host}/ws`, "tictactoe.v1");
}

/** Take the first socket where it is still of use, else a new one. */
export function takeSocket() {
	const socket = first;
	first = null;
	return socket && socket.readyState <= WebSocket.OPEN ? socket : openSocket();
}
