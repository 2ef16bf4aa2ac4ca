"""Two players at a table of boardgame.io: socket.io on a WebSocket, by hand.

Each action carries the number of its state, so its frame is made when it is sent. Players take turns, also with their
requests for a rematch: the player who did not move last asks first.
Source: Socket.IO protocol 5 in Engine.IO protocol 4 (https://socket.io/docs/v4/socket-io-protocol/), and
`SocketIOTransport` of boardgame.io.
"""

import asyncio
import itertools
import json
import re
from functools import partial

from tools.bench.load import encode_frame, open_wire
from tools.bench.peers import post
from tools.bench.tables import DRAWN, Seat, Step, Table

_SOCKET = "/socket.io/?EIO=4&transport=websocket"
_STATE_ID = re.compile(rb'"_stateID":(\d+)')


class SocketIoSeat(Seat):
    """A seat that answers pings, and knows the number of the last state."""

    state_id = b""

    def received(self, payload: bytes) -> None:
        if payload == b"2":
            self.send("3")
            return
        found = _STATE_ID.search(payload)
        if found:
            self.state_id = found[1]
        super().received(payload)

    def act(self, before: bytes, after: bytes) -> None:
        """Send an action for the last state."""
        self.transport.write(encode_frame(before + self.state_id + after))


async def seat_at_boardgame_io(url: str, _number: int) -> Table:
    match = (await asyncio.to_thread(post, url, "/games/table/create", numPlayers=2))["matchID"]
    first, second = [await _join(url, match, player) for player in ("0", "1")]
    assert b'"matchData"' in await first[0].next_message()  # the second player came
    return Table((first[0], second[0]), itertools.cycle(_steps(match, (first, second))))


async def _join(url: str, match: str, player: str) -> tuple[SocketIoSeat, str]:
    """Return a seat in the match, and the secret of its player."""
    path = f"/games/table/{match}/join"
    secret = (await asyncio.to_thread(post, url, path, playerID=player, playerName=player))["playerCredentials"]
    seat = await open_wire(url + _SOCKET, SocketIoSeat)
    assert (await seat.next_message()).startswith(b"0")
    seat.send("40/table,")
    assert (await seat.next_message()).startswith(b"40")
    seat.send("42/table," + json.dumps(["sync", match, player, secret, 2]))
    for event in (b'"sync"', b'"matchData"'):
        assert event in await seat.next_message()
    return seat, secret


def _steps(match: str, players: tuple[tuple[SocketIoSeat, str], tuple[SocketIoSeat, str]]) -> list[Step]:
    def step(mover: int, move: str, arguments: list[int], mark: str) -> Step:
        seat, secret = players[mover]
        payload = {"type": move, "args": arguments, "playerID": str(mover), "credentials": secret}
        action = json.dumps(["update", {"type": "MAKE_MOVE", "payload": payload}])[:-1]
        send = partial(seat.act, after=json.dumps([match, str(mover)]).replace("[", ",", 1).encode())
        return Step(send, f"42/table,{action},".encode(), mark.encode(), is_move=move == "move")

    steps = []
    for first in (0, 1):
        for ply, cell in enumerate(DRAWN):
            steps.append(step((first + ply) % 2, "move", [cell], f'"ply":{ply + 1},'))
        steps += [step(1 - first, "rematch", [], '"agreed":1,'), step(first, "rematch", [], '"ply":0,')]
    return steps
