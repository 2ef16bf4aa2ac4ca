"""Every refusal that a client can provoke, with its exact code, over real sockets; a connection survives them all."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from websockets.asyncio.client import connect

from tests.fakes import TroubledStore
from tests.limits import uncounted
from tests.peer import Message, Peer, open_peer, play_out
from tictactoe_client.online.inspection import read_message
from tictactoe_protocol import MAX_ERROR_BYTES, ErrorCode, pushes
from tictactoe_protocol.catalogue import speak
from tictactoe_protocol.refusals import describe_refusal
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings
from tictactoe_server.storage.store import Conflict, StoreUnavailable

LINE_FOR_X = [0, 3, 1, 4, 2]
NOWHERE = "ZZZZZZ"


@dataclass
class Scene:
    """Rooms and events of every kind, and one peer, `eve`, who provokes the refusals and is in the rooms as their names
    say.
    """

    eve: Peer
    others: list[Peer]
    store: TroubledStore
    rooms: dict[str, str] = field(default_factory=dict)
    events: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Provocation:
    """What eve sends, and what must come back besides a message for people."""

    code: str
    send: str | Callable[[Scene], Message]
    path: str | None = None
    room: str | None = None
    retries: bool = False
    prepare: Callable[[Scene], None] | None = None


def ask(type: str, room: str | None = None, **fields: Any) -> Callable[[Scene], Message]:
    """Return a request that names a room of the scene, or a code as it stands."""

    def build(scene: Scene) -> Message:
        named = {} if room is None else {"room": scene.rooms.get(room, room)}
        return {"type": type, **named, **fields}

    return build


def ask_of(type: str, event: str, **fields: Any) -> Callable[[Scene], Message]:
    """Return a request that names an event of the scene, or a code as it stands."""
    return lambda scene: {"type": type, "event": scene.events.get(event, event), **fields}


def failing(error: Exception, times: int = 1) -> Callable[[Scene], None]:
    """Return a preparation that lets the next saves of a room fail."""
    return lambda scene: scene.store.trouble.fail("save", error, times=times)


MOVE: Message = {"cell": 0, "ply": 0}
SEATED: dict[str, Message] = {
    "move": MOVE,
    "resign": {},
    "rematch": {},
    "draw": {"action": "offer"},
    "undo": {"action": "decline"},
    "claim": {"as": "win"},
}
"""The requests that only a player of the room may make."""
IN_ROOM: dict[str, Message] = {**SEATED, "leave": {}, "sync": {}, "chat": {"text": "anybody here?"}}
"""The requests that only somebody in the room may make."""
LONG_FIELD: Message = {"z" * 9_000: 1}
PROVOCATIONS = [
    # the message
    Provocation("bad_json", "hello?"),
    Provocation("bad_json", ""),
    Provocation("bad_json", '{"type":"ping",'),
    Provocation("bad_json", '{"type":"move","room":"ZZZZZZ","cell":NaN,"ply":0}'),
    Provocation("bad_json", r'{"type":"hello","name":"\ud800"}'),
    Provocation("bad_json", "[" * 9_000),
    Provocation("bad_message", "[]"),
    Provocation("bad_message", '{"id":"7"}', path="type"),
    Provocation("bad_message", '{"type":"ping","id":null}', path="id"),
    Provocation("bad_message", f'{{"type":"ping","id":"{"i" * 65}"}}', path="id"),
    Provocation("bad_message", '{"type":"ping","id":"7","id":"8"}', path="id"),
    Provocation("bad_message", ask("ping", colour="red"), path="colour"),
    Provocation("bad_message", ask("ping", **LONG_FIELD), path="z" * 64),
    Provocation("bad_message", ask("create", rules={"row": 3}), path="rules.row"),
    Provocation("bad_message", ask("create", rules={"rows": True}), path="rules.rows"),
    Provocation("bad_message", ask("create", seat="Z"), path="seat"),
    Provocation("bad_message", ask("create", seat=""), path="seat"),
    Provocation("bad_message", ask("create", seat="XO"), path="seat"),
    Provocation("bad_message", ask("create", clock={"initial_ms": 5}), path="clock"),
    Provocation("bad_message", ask("move", "mine", cell="b2", ply=0), path="cell", room="mine"),
    Provocation("bad_message", ask("move", "mine", cell=True, ply=0), path="cell", room="mine"),
    Provocation("bad_message", ask("move", "mine", cell=10**40, ply=0), path="cell", room="mine"),
    Provocation("bad_message", ask("move", "mine", cell=0, ply=-1), path="ply", room="mine"),
    Provocation("bad_message", ask("move", "mine", cell=0), path="ply", room="mine"),
    Provocation("bad_message", ask("join", ""), path="room"),
    Provocation("unknown_type", ask("mvoe", "mine"), path="type", room="mine"),
    Provocation("unknown_type", ask("welcome"), path="type"),
    Provocation("too_long", ask("chat", "mine", text="x" * 201), path="text", room="mine"),
    # who you are
    Provocation("already_hello", ask("hello")),
    Provocation("already_hello", ask("hello", name="somebody else")),
    # the room
    Provocation("bad_rules", ask("create", rules="chess"), path="rules"),
    Provocation("bad_rules", ask("match", rules="chess"), path="rules"),
    Provocation("bad_rules", ask("create", rules={"rows": 0}), path="rules.rows"),
    Provocation("bad_rules", ask("create", rules={"columns": 33}), path="rules.columns"),
    Provocation("bad_rules", ask("create", rules={"line": 4}), path="rules.line"),
    Provocation("bad_rules", ask("create", rules={"marks": "XX"}), path="rules.marks"),
    Provocation("bad_rules", ask("create", rules={"marks": "xo"}), path="rules.marks"),
    Provocation("bad_rules", ask("create", rules={"marks": "XOA", "misere": True}), path="rules.misere"),
    Provocation("bad_rules", ask("create", rules={"blocked": [9]}), path="rules.blocked"),
    Provocation("bad_rules", ask("create", rules={"blocked": list(range(9))}), path="rules.blocked"),
    *(
        Provocation("no_such_room", ask(type, NOWHERE, **fields), room=NOWHERE)
        for type, fields in {**IN_ROOM, "join": {}, "watch": {}}.items()
    ),
    Provocation("no_such_room", ask("join", "K7M4P"), room="K7M4P", path="room"),
    Provocation("no_such_room", ask("join", "K7M4P0"), room="K7M4P0", path="room"),
    Provocation("room_full", ask("join", "foreign"), room="foreign"),
    Provocation("room_full", ask("join", "watched"), room="watched"),
    *(Provocation("not_in_room", ask(type, "foreign", **fields), room="foreign") for type, fields in IN_ROOM.items()),
    *(Provocation("not_seated", ask(type, "watched", **fields), room="watched") for type, fields in SEATED.items()),
    Provocation("not_allowed", ask("watch", "mine"), room="mine"),
    Provocation("not_allowed", ask("rematch", "mine"), room="mine"),
    Provocation("not_allowed", ask("rematch", "abandoned"), room="abandoned"),
    Provocation("not_allowed", ask("join", "left"), room="left"),
    Provocation("not_allowed", ask("resign", "given up"), room="given up"),
    Provocation("bad_message", ask("create", bots=["genius"]), path="bots[0]"),
    Provocation("bad_message", ask("create", bots=["easy"] * 3), path="bots"),
    Provocation("bad_message", ask("create", clock={"move_ms": 0}), path="clock.move_ms"),
    Provocation("bad_message", ask("match", clock={"initial_ms": 9_000}), path="clock"),
    # the move
    Provocation("not_started", ask("move", "waiting", **MOVE), room="waiting"),
    Provocation("not_started", ask("resign", "waiting"), room="waiting"),
    Provocation("not_started", ask("rematch", "waiting"), room="waiting"),
    Provocation("game_over", ask("move", "finished", cell=8, ply=5), room="finished"),
    Provocation("game_over", ask("resign", "finished"), room="finished"),
    Provocation("not_your_turn", ask("move", "theirs", cell=8, ply=1), room="theirs"),
    Provocation("not_your_turn", ask("move", "theirs", cell=99, ply=9), room="theirs"),
    Provocation("stale", ask("move", "mine", cell=8, ply=1), room="mine", path="ply"),
    Provocation("stale", ask("move", "mine", cell=99, ply=9), room="mine", path="ply"),
    Provocation("off_board", ask("move", "mine", cell=9, ply=2), room="mine", path="cell"),
    Provocation("off_board", ask("move", "mine", cell=-1, ply=2), room="mine", path="cell"),
    Provocation("occupied", ask("move", "mine", cell=4, ply=2), room="mine", path="cell"),
    Provocation("blocked", ask("move", "blocker", cell=4, ply=0), room="blocker", path="cell"),
    Provocation("floating", ask("move", "gravity", cell=0, ply=0), room="gravity", path="cell"),
    Provocation("choose_first", ask("move", "choosing", cell=0, ply=1), room="choosing", path="cell"),
    Provocation("not_allowed", ask("choose", "choosing", take="more", ply=1), room="choosing", path="take"),
    Provocation("not_allowed", ask("choose", "mine", take="X", ply=2), room="mine", path="take"),
    # the event
    *(
        Provocation("no_such_event", ask_of(type, NOWHERE, **fields), path="event")
        for type, fields in {"event_join": {}, "event_leave": {}, "event_watch": {"on": True}}.items()
    ),
    Provocation("event_full", ask_of("event_join", "full")),
    Provocation("event_begun", ask_of("event_join", "begun")),
    Provocation("not_entered", ask_of("event_leave", "begun")),
    Provocation("not_entered", ask_of("event_ready", "begun", on=False)),
    Provocation("not_organiser", ask_of("event_run", "begun", seq=1, action="close")),
    # the server
    Provocation("unavailable", ask("resign", "mine"), room="mine", retries=True, prepare=failing(StoreUnavailable())),
    Provocation("internal", ask("resign", "mine"), room="mine", prepare=failing(RuntimeError("a bug"))),
    Provocation("busy", ask("resign", "mine"), room="mine", retries=True, prepare=failing(Conflict(), times=8)),
    Provocation("server_full", ask("create"), retries=True),
    Provocation("server_full", ask("match"), retries=True),
]
BEFORE_HELLO = [
    Provocation("hello_required", ask("ping")),
    Provocation("hello_required", ask("create")),
    Provocation("hello_required", ask("join", NOWHERE), room=NOWHERE),
    Provocation("hello_required", ask("lobby", on=True)),
    Provocation("bad_json", "hello"),
    Provocation("bad_message", ask("hello", name=5), path="name"),
    Provocation("bad_message", ask("hello", password="x"), path="password"),
    Provocation("unknown_type", ask("helo"), path="type"),
    *(
        Provocation("bad_name", ask("hello", name=name), path="name")
        for name in ("", " ", "x" * 25, "a\nb", "\x1b[31mred", "a\u202eb", "\u3164", "a/b", "😀")
    ),
    Provocation("bad_token", ask("hello", token="no such token"), path="token"),
    Provocation("bad_token", ask("hello", token=""), path="token"),
    Provocation("bad_token", ask("hello", name="ana", token="x" * 128), path="token"),
    Provocation("bad_message", ask("hello", token="x" * 129), path="token"),
    Provocation(
        "unavailable",
        ask("hello"),
        retries=True,
        prepare=lambda scene: scene.store.players.trouble.fail("save", StoreUnavailable()),
    ),
]
NOT_PROVOKED = {"moved", "rate_limited", "no_offer", "banned", "kicked", "feature_required"}
"""Codes that no request here leads to."""


@contextlib.contextmanager
def speaking(language: str) -> Iterator[None]:
    """Read and say all in a language, as a client does whose server speaks English."""
    speak(language)
    try:
        yield
    finally:
        speak("en")


async def provoke(scene: Scene, peer: Peer, provocation: Provocation, *, with_id: bool) -> None:
    """Send what is refused and compare the whole answer, its words excepted, which a German client reads in German."""
    if provocation.prepare:
        provocation.prepare(scene)
    expected: Message = {"type": "error", "code": provocation.code}
    if provocation.room:
        expected["room"] = scene.rooms.get(provocation.room, provocation.room)
    if provocation.path:
        expected["path"] = provocation.path
    if isinstance(provocation.send, str):
        await peer.send_text(provocation.send)
        if '"id":"7"' in provocation.send and '"id":"8"' not in provocation.send:
            expected["id"] = "7"
        elif '"id":"8"' in provocation.send:
            expected["id"] = "8"
    else:
        message = provocation.send(scene)
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
    """Open as many rooms as the server holds, eve in the positions that the provocations need."""
    store, settings = TroubledStore(), Settings(host="127.0.0.1", port=0, bot_pause_seconds=3_600)
    async with Server(settings, store, uncounted(rooms=len(ROOMS))) as server, contextlib.AsyncExitStack() as stack:
        eve, ana, bo = [
            await stack.enter_async_context(open_peer(server.url, name, features=["opening"]))
            for name in ("eve", "ana", "bo")
        ]
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
    """Return what lets eve play ana so far."""

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
    """Return the state of every room that eve is in, as she sees it now."""
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
