"""A server with a correct handshake whose messages and texts are chosen by the test.

It sends the protocol's types, so every message is well-formed; other frames are sent as they are.
"""

import contextlib
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.protocol import State
from websockets.typing import Subprotocol

from tests.raw import stop_accepting
from tictactoe_engine import PRESETS, Position, Rules
from tictactoe_protocol import PROTOCOL_VERSION, SUBPROTOCOL, encode
from tictactoe_protocol.codec import decode_request
from tictactoe_protocol.pushes import (
    ChatLine,
    Closed,
    Error,
    Happening,
    LobbyChange,
    Notice,
    Offers,
    Ok,
    PastGame,
    PastPlayer,
    Push,
    Result,
    RoomState,
    RoomSummary,
    SeatState,
    Welcome,
)
from tictactoe_protocol.requests import (
    Chat,
    Create,
    Hello,
    History,
    Join,
    Lobby,
    Match,
    Move,
    Ping,
    Record,
    Request,
    Rooms,
    Sync,
    Watch,
)
from tictactoe_protocol.terms import ClockState, ClockTerms, RulesState

ROOM = "K7M4PQ"
CLIENT, OTHER = "p-client", "p-other"
TOKEN = "a-secret-that-nobody-may-see"

Frame = Push | str | bytes
Answer = Callable[[Request], Iterable[Frame]]


def identity(request: Request) -> str:
    return str(request.id)


def state(
    seq: int = 1,
    moves: Sequence[int] = (),
    rules: Rules = PRESETS["classic"],
    *,
    text: str = "bo",
    client: str | None = "X",
    online: bool = True,
    left: bool = False,
    result: Result | None = None,
    offers: Offers | None = None,
    clock: ClockState | None = None,
    is_waiting: bool = False,
) -> RoomState:
    """Return a state that its rules allow; `text` is every name in it, `client` our mark, None for a watcher."""
    position = Position.replay(rules, moves)
    other = SeatState(OTHER, text, online, text, hold_ms=UNSET if online else 47_000, left=left)
    own = SeatState(CLIENT, text, online=True, bot=None)
    seats: dict[str, SeatState | None] = {mark: own if mark == client else other for mark in rules.marks}
    if is_waiting:
        seats["O"] = None
    status = "waiting" if is_waiting else "over" if result else "playing"
    return RoomState(
        room=ROOM,
        seq=seq,
        status=status,
        visibility="public",
        game=1,
        rules=replace(RulesState.of(rules), preset=text),
        board=position.board,
        ply=position.ply,
        turn=position.turn if status == "playing" else None,
        last=position.last,
        seats=seats,
        result=result,
        offers=offers or Offers(),
        clock=clock,
        watchers=2,
        score={CLIENT: 1, OTHER: 0, "draws": 3, text: 4},
        moves=position.moves,
        news=(Happening("moved", position.board[moves[-1]], cell=moves[-1]),) if moves else (),
    )


def summary(text: str, code: str = ROOM, *, status: str = "waiting") -> RoomSummary:
    """Return a public room whose names and preset are this text."""
    seats = {"X": SeatState(OTHER, text, online=True, bot=text), "O": None}
    if status == "playing":
        seats["O"] = SeatState("p-third", text, online=True, bot=None)
    rules = state(text=text).rules
    return RoomSummary(code, status, rules, ClockTerms(move_ms=10_000), seats, 0, 0, 4_200)


def past_game(text: str) -> PastGame:
    """Return a finished game whose names, preset and id are this text."""
    players = {"X": PastPlayer(CLIENT, text), "O": PastPlayer(OTHER, text)}
    rules = state(text=text).rules
    return PastGame(text, ROOM, 1, 1_924_970_700_000, rules, players, Result("X", "line", (0, 1, 2)), 5)


def everything_said(text: str, seq: int, client: str | None = "X") -> list[Frame]:
    """Return every kind of unrequested push, with this text in every field that may hold it.

    The states have `seq` and the two numbers after it; `client` is our mark, None for a watcher.
    """
    return [
        ChatLine(room=ROOM, from_=text, seat="O", text=text, at=1_924_970_700_000, player=OTHER),
        ChatLine(room=ROOM, from_=text, seat=None, text=text, at=1_924_970_700_000, player=OTHER),
        LobbyChange(changed=(summary(text),), closed=()),
        Error(code=text, message=text, room=text, path=text),
        Error(id=text, code=text, message=text, room=text, path=text),
        Notice(text, 100),
        encode({"type": f"new {text}", text: text}).decode(),
        state(seq, text=text, client=client, offers=Offers(draw="O")),
        state(seq + 1, text=text, client=client, online=False, offers=Offers(undo="O")),
        state(seq + 2, text=text, client=client),
    ]


def make_welcome(name: str = "ana", **other: Any) -> Welcome:
    usual: dict[str, Any] = {"protocol": PROTOCOL_VERSION, "server": "s", "player": CLIENT, "token": TOKEN, "rooms": ()}
    usual |= {"hold_ms": 60_000, "sharing": True, "ladders": (), "challenges": ()}
    return Welcome(name=name, **usual | other)


@dataclass
class HostileServer:
    """Answers each request by `answers` for its type, or else harmlessly, with `text` for every name.

    Attributes:
        heard: The requests received.
        is_silent: Whether it answers nothing.
        servers: The servers of its `cluster`, if it is one of several.
        newest: The state of each room that was sent last, which `sync` repeats.
    """

    text: str = "bo"
    answers: dict[type, Answer] = field(default_factory=dict)
    heard: list[Request] = field(default_factory=list)
    url: str = ""
    socket: ServerConnection | None = None
    is_silent: bool = False
    servers: tuple[str, ...] = ()
    cluster: str = ""
    connections: int = 0
    newest: dict[str, RoomState] = field(default_factory=dict)

    async def push(self, *frames: Frame) -> None:
        assert self.socket is not None
        await self._send(self.socket, frames)

    async def close(self, code: int, reason: str) -> None:
        assert self.socket is not None
        await self.socket.close(code, reason)

    async def _send(self, socket: ServerConnection, frames: Iterable[Frame]) -> None:
        for frame in frames:
            if isinstance(frame, RoomState):
                self.newest[frame.room] = frame
            await socket.send(frame if isinstance(frame, (str, bytes)) else encode(frame).decode())

    async def serve(self, socket: ServerConnection) -> None:
        before, self.socket = self.socket, socket
        self.connections += 1
        with contextlib.suppress(ConnectionClosed):
            async for frame in socket:
                request = decode_request(frame)
                self.heard.append(request)
                if not self.is_silent:
                    await self._send(socket, self.answers.get(type(request), self._answer)(request))
        if self.socket is socket and before is not None and before.state is State.OPEN:
            self.socket = before

    def _answer(self, request: Request) -> Iterable[Frame]:
        id, text = identity(request), self.text
        match request:
            case Hello():
                several = {"servers": self.servers, "cluster": self.cluster} if self.servers else {}
                return [make_welcome(server=text, name=text, **several)]
            case Join() | Match() | Create():
                return [Ok(id=id, room=ROOM, seat="X"), state(text=text)]
            case Watch():
                return [Ok(id=id, room=ROOM, seat=None), state(text=text, client=None)]
            case Rooms() | Lobby(on=True):
                return [Ok(id=id, rooms=(summary(text), summary(text, "K7M4P2", status="playing")))]
            case History():
                return [Ok(id=id, games=(past_game(text),))]
            case Record() | Move() | Chat():
                return [Error(id=id, code="occupied", message=text, room=ROOM, path=text)]
            case Sync():
                return [Ok(id=id, room=request.room), self.newest[request.room]]
            case Ping():
                return [Ok(id=id, time=0)]
            case _:
                return [Ok(id=id)]


@contextlib.asynccontextmanager
async def hostile_server(text: str = "bo", answers: dict[type, Answer] | None = None) -> AsyncIterator[HostileServer]:
    hostile = HostileServer(text, answers or {})
    async with serve(
        hostile.serve, "127.0.0.1", 0, subprotocols=[Subprotocol(SUBPROTOCOL)], compression=None, max_size=None
    ) as listener:
        hostile.url = f"ws://127.0.0.1:{next(iter(listener.sockets)).getsockname()[1]}"
        try:
            yield hostile
        finally:
            await stop_accepting(listener)


@contextlib.asynccontextmanager
async def hostile_cluster(count: int = 2) -> AsyncIterator[list[HostileServer]]:
    """Run a cluster of servers that list each other, each its own address first."""
    async with contextlib.AsyncExitStack() as stack:
        servers = [await stack.enter_async_context(hostile_server()) for _ in range(count)]
        for server in servers:
            server.servers = (server.url, *(other.url for other in servers if other is not server))
            server.cluster = "c7Qm2ZtXw9Ra"
        yield servers


def sends_to(url: str, room: str = ROOM) -> Answer:
    """Return the answer that a room is at another server."""

    def answer(request: Request) -> Iterable[Frame]:
        return [Error(id=identity(request), code="moved", message=f"Room {room} is there now.", room=room, url=url)]

    return answer


NOBODY = "ws://127.0.0.1:1"


def says_nobody_is_there(answer: Answer, room: str = ROOM) -> Answer:
    """Return the answer that a room is at `NOBODY`; a request for that URL gets the other answer."""
    sends = sends_to(NOBODY, room)
    return lambda request: (answer if getattr(request, "unreachable", UNSET) == NOBODY else sends)(request)


def lets_in(room: str = ROOM, seq: int = 1, *, is_waiting: bool = False) -> Answer:
    here = replace(state(seq, is_waiting=is_waiting), room=room)
    return lambda request: [Ok(id=identity(request), room=room, seat="X"), here]


def the_end(seq: int, text: str) -> list[Frame]:
    """Return the end of a game, a player who leaves, and a closing room, all with this text."""
    over = Result("X", "resigned")
    return [state(seq, text=text, result=over, left=True), Closed(ROOM, text, "idle", {})]
