"""Every refusal that a client can provoke, with its exact code, over real sockets; a connection survives them all."""

import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain, starmap
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect

from tests.fakes import TroubledStore
from tests.limits import uncounted
from tests.peer import Message, Peer, open_peer, play_out
from tictactoe_client.online.inspection import read_message
from tictactoe_protocol import MAX_ERROR_BYTES, ErrorCode, pushes
from tictactoe_server.features.bots.feature import BotOptions
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings
from tictactoe_server.storage.store import Conflict, StoreUnavailable
from tictactoe_words.catalogue import speak
from tictactoe_words.refusals import describe_refusal

LINE_FOR_X = [0, 3, 1, 4, 2]
NOWHERE = "ZZZZZZ"


@dataclass
class Scene:
    """Rooms and events of every kind, and `eve`, who provokes the refusals and is in the rooms that their names say."""

    eve: Peer
    others: list[Peer]
    store: TroubledStore
    rooms: dict[str, str] = field(default_factory=dict)
    events: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Provocation:
    """A request of eve's, and the expected error without its message and room.

    A request refers to a room or an event of the scene by name, or to a code.
    """

    code: str
    send: str | Message
    path: str | None = None
    retries: bool = False
    prepare: Callable[[Scene], None] | None = None


def failing(error: Exception, times: int = 1) -> Callable[[Scene], None]:
    """Return a function that makes the next saves of a room fail."""
    return lambda scene: scene.store.trouble.fail("save", error, times=times)


SEATED: dict[str, Message] = {
    "move": {"cell": 0, "ply": 0},
    "resign": {},
    "rematch": {},
    "draw": {"action": "offer"},
    "undo": {"action": "decline"},
    "claim": {"as": "win"},
}
IN_ROOM: dict[str, Message] = {**SEATED, "leave": {}, "sync": {}, "chat": {"text": "anybody here?"}}
IN_EVENT: dict[str, Message] = {"event_join": {}, "event_leave": {}, "event_watch": {"on": True}}
RESIGN: Message = {"type": "resign", "room": "mine"}
ROWS = json.loads(Path(__file__).with_suffix(".json").read_bytes())
"""Provocations that consist of a code, a request and a path, by topic."""


def each(code: str, requests: dict[str, Message], path: str | None = None, **named: str) -> list[Provocation]:
    """Return a provocation by each of some requests, which refer to the same room or event."""
    return [Provocation(code, {"type": type, **named, **fields}, path) for type, fields in requests.items()]


PROVOCATIONS = [
    *starmap(Provocation, chain.from_iterable(ROWS["after hello"].values())),
    Provocation("bad_json", "[" * 9_000),
    Provocation("bad_message", {"type": "ping", "z" * 9_000: 1}, "z" * 64),
    Provocation("too_long", {"type": "chat", "room": "mine", "text": "x" * 201}, "text"),
    *each("no_such_room", {**IN_ROOM, "join": {}, "watch": {}}, room=NOWHERE),
    *each("not_in_room", IN_ROOM, room="foreign"),
    *each("not_seated", SEATED, room="watched"),
    *each("no_such_event", IN_EVENT, "event", event=NOWHERE),
    Provocation("unavailable", RESIGN, retries=True, prepare=failing(StoreUnavailable())),
    Provocation("internal", RESIGN, prepare=failing(RuntimeError("a bug"))),
    Provocation("busy", RESIGN, retries=True, prepare=failing(Conflict(), times=8)),
    Provocation("server_full", {"type": "create"}, retries=True),
    Provocation("server_full", {"type": "match"}, retries=True),
]
BEFORE_HELLO = [
    *starmap(Provocation, ROWS["before hello"]),
    *(
        Provocation("bad_name", {"type": "hello", "name": name}, "name")
        for name in ("", " ", "x" * 25, "\x1b[31mred", "\u202e", "\u3164", "a/b", "😀")
    ),
    Provocation("bad_token", {"type": "hello", "name": "ana", "token": "x" * 128}, "token"),
    Provocation("bad_message", {"type": "hello", "token": "x" * 129}, "token"),
    Provocation(
        "unavailable",
        {"type": "hello"},
        retries=True,
        prepare=lambda scene: scene.store.players.trouble.fail("save", StoreUnavailable()),
    ),
]
NOT_PROVOKED = {"moved", "rate_limited", "no_offer", "banned", "kicked"}
"""Codes that no request here leads to."""


@contextlib.contextmanager
def speaking(language: str) -> Iterator[None]:
    """Read and speak a language, like a client whose server speaks English."""
    speak(language)
    try:
        yield
    finally:
        speak("en")


async def provoke(scene: Scene, peer: Peer, provocation: Provocation, *, with_id: bool) -> None:
    """Send a refused request and compare the whole answer except its message, which a German client reads in German."""
    if provocation.prepare:
        provocation.prepare(scene)
    expected: Message = {"type": "error", "code": provocation.code}
    if provocation.path:
        expected["path"] = provocation.path
    if isinstance(provocation.send, str):
        await peer.send_text(provocation.send)
        if '"id":"7"' in provocation.send and '"id":"8"' not in provocation.send:
            expected["id"] = "7"
        elif '"id":"8"' in provocation.send:
            expected["id"] = "8"
    else:
        message = dict(provocation.send)
        for name, places in (("room", scene.rooms), ("event", scene.events)):
            if name in message:
                message[name] = places.get(message[name], message[name])
        if message.get("room"):
            expected["room"] = message["room"]
        if with_id:
            message["id"] = expected["id"] = "the id"
        await peer.send(**message)
    answer = await peer.next_of("error")
    text = json.dumps(answer, ensure_ascii=False)
    assert len(text.encode()) < MAX_ERROR_BYTES
    words, data = answer.pop("message"), answer.pop("data")
    assert words == describe_refusal(answer["code"], data)
    with speaking("de"):
        read = read_message(text).push
        assert isinstance(read, pushes.Error)
        assert read.message == describe_refusal(answer["code"], data) != words
    assert words.isprintable()
    assert (answer.pop("retry_ms", 0) > 0) == provocation.retries
    assert answer == expected, words
    scene.store.trouble.heal()


async def seat_two(opener: Peer, other: Peer, **fields: Any) -> str:
    room = str((await opener.ask("create", **fields))["room"])
    await other.ask("join", room=room)
    await opener.state(room=room, status="playing")
    await other.state(room=room, status="playing")
    return room


@contextlib.asynccontextmanager
async def set_scene() -> AsyncIterator[tuple[Server, Scene]]:
    """Open as many rooms as the server allows, with eve in the positions that the provocations need."""
    store, settings = TroubledStore(), Settings(host="127.0.0.1", port=0, features=(BotOptions(pause_seconds=3_600),))
    async with Server(settings, store, uncounted(rooms=len(ROOMS))) as server, contextlib.AsyncExitStack() as stack:
        eve, ana, bo = [await stack.enter_async_context(open_peer(server.url, name)) for name in ("eve", "ana", "bo")]
        scene = Scene(eve, [ana, bo], store)
        for name, build in ROOMS.items():
            scene.rooms[name] = await build(eve, ana, bo)
        terms = {"kind": "round_robin", "title": "Club evening", "clock": {"move_ms": 60_000}, "bots": ["easy", "hard"]}
        scene.events["full"] = (await ana.ask("event_open", size=2, **terms))["event"]
        scene.events["begun"] = begun = (await bo.ask("event_open", **terms))["event"]
        await bo.ask("event_watch", event=begun, on=True)
        await bo.ask("event_run", event=begun, seq=1, action="begin")
        await bo.until(lambda message: message.get("event") == begun and message.get("round") == 1)
        yield server, scene


Build = Callable[[Peer, Peer, Peer], Awaitable[str]]


def after(*cells: int, rules: str = "classic") -> Build:
    """Return a function that plays these moves between eve and ana."""

    async def build(eve: Peer, ana: Peer, bo: Peer) -> str:
        room = await seat_two(eve, ana, rules=rules)
        await play_out({"X": eve, "O": ana}, room, list(cells))
        return room

    return build


async def waiting(eve: Peer, ana: Peer, bo: Peer) -> str:
    return str((await eve.ask("create"))["room"])


async def abandoned(eve: Peer, ana: Peer, bo: Peer) -> str:
    room = await seat_two(eve, ana)
    await ana.ask("leave", room=room)
    await eve.state(room=room, status="over")
    return room


async def left(eve: Peer, ana: Peer, bo: Peer) -> str:
    room = await seat_two(eve, ana)
    await eve.ask("leave", room=room)
    return room


async def given_up(eve: Peer, ana: Peer, bo: Peer) -> str:
    room = str((await eve.ask("create", rules="three-players"))["room"])
    await ana.ask("join", room=room)
    await bo.ask("join", room=room)
    await eve.state(room=room, status="playing")
    await eve.ask("resign", room=room)
    return room


async def choosing(eve: Peer, ana: Peer, bo: Peer) -> str:
    room = await seat_two(ana, eve, rules="four-pie")
    await ana.ask("move", room=room, cell=5, ply=0)
    await eve.state(room=room, ply=1)
    return room


async def foreign(eve: Peer, ana: Peer, bo: Peer) -> str:
    return await seat_two(ana, bo)


async def watched(eve: Peer, ana: Peer, bo: Peer) -> str:
    room = await seat_two(ana, bo)
    await eve.ask("watch", room=room)
    await eve.state(room=room)
    return room


ROOMS: dict[str, Build] = {
    "mine": after(4, 0),
    "theirs": after(4),
    "waiting": waiting,
    "finished": after(*LINE_FOR_X),
    "abandoned": abandoned,
    "left": left,
    "given up": given_up,
    "foreign": foreign,
    "watched": watched,
    "blocker": after(rules="blocker"),
    "gravity": after(rules="connect-four"),
    "choosing": choosing,
}


async def states_of(scene: Scene) -> list[Message]:
    states = []
    for room in scene.rooms.values():
        if (await scene.eve.ask("sync", room=room))["type"] == "ok":
            states.append(await scene.eve.state(room=room))
    return states


def test_every_code_of_the_table_is_provoked_here() -> None:
    provoked = {provocation.code for provocation in [*PROVOCATIONS, *BEFORE_HELLO]}
    assert provoked | NOT_PROVOKED == set(ErrorCode)
    assert not provoked & NOT_PROVOKED


@pytest.mark.parametrize("with_id", [True, False], ids=["with id", "without id"])
async def test_one_connection_survives_every_refusal_in_a_row(with_id: bool) -> None:
    async with set_scene() as (_, scene):
        states = await states_of(scene)
        for provocation in PROVOCATIONS:
            await provoke(scene, scene.eve, provocation, with_id=with_id)
        assert await states_of(scene) == states
        await play_out({"X": scene.eve, "O": scene.others[0]}, scene.rooms["mine"], [8, 2], first_ply=2)


@pytest.mark.parametrize("with_id", [True, False], ids=["with id", "without id"])
async def test_one_connection_survives_every_refusal_before_its_hello(with_id: bool) -> None:
    async with set_scene() as (server, scene), connect(server.url, proxy=None) as socket:
        stranger = Peer(socket)
        for provocation in BEFORE_HELLO:
            await provoke(scene, stranger, provocation, with_id=with_id)
        assert (await stranger.ask("hello", name="late"))["name"] == "late"
        assert (await stranger.ask("rooms"))["rooms"]
