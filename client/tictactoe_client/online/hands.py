"""Several people at one keyboard: each plays by a connection of their own, in the room that the first one shows."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from tictactoe_client.online.room import Room, RoomRequests
from tictactoe_protocol import requests
from tictactoe_protocol.pushes import Ok


class Hands:
    """Whom a room asks that several play in at one keyboard: `clients` by their players, the first one's first.

    Each act goes out by the connection of who is on turn, and the answer to an offered draw by that of another. A
    rematch, and that the last move is taken back, are agreed at once. Talk and questions are the first one's.
    """

    def __init__(self, room: Room, clients: Mapping[str, RoomRequests]) -> None:
        self.player = room.hands[0]
        self._room = room
        self._clients = clients

    @property
    def features(self) -> frozenset[str]:
        """What the server can do beyond version 1.0."""
        return self._clients[self.player].features

    async def request(self, request: requests.Request) -> Ok:
        """Return the answer to whoever asked last of those who had to."""
        answer: Ok | None = None
        for player, each in self._share_out(request):
            answer = await self._clients[player].request(each)
        assert answer is not None
        return answer

    def _share_out(self, request: requests.Request) -> list[tuple[str, requests.Request]]:
        """Return who has to ask what."""
        room = self._room
        match request:
            case requests.Rematch() | requests.Leave():
                return [(player, request) for player in room.hands]
            case requests.Undo(action="offer"):
                mover = room.find_mover() or room.actor
                agreed = replace(request, action="accept")
                return [(mover, request), *((player, agreed) for player in room.hands if player != mover)]
            case requests.Draw():
                return [(room.find_asked(room.state), request)]
            case requests.Move() | requests.Choose() | requests.Resign() | requests.Claim():
                return [(room.actor, request)]
        return [(self.player, request)]
