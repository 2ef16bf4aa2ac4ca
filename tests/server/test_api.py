import asyncio
import json
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.fakes import FakeClock
from tests.limits import uncounted
from tests.peer import Peer, open_peer, play_out, two_playing, until
from tests.raw import open_bytes
from tests.server.test_pages import get
from tests.server.test_plain_http import read_answer
from tictactoe_protocol.pushes import Moved
from tictactoe_server.features.api.service import Streams
from tictactoe_server.records.changes import Phase
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings

pytestmark = pytest.mark.features

LINE_FOR_X = [0, 3, 1, 4, 2]


class Stream:
    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self._seq = 0.0
        self.empty = 0

    async def next(self) -> Any:
        """Return the next object, None at the end."""
        while line := await self._reader.readline():
            if line.strip():
                found = json.loads(line)
                assert "rooms" in found or found.get("seq", math.inf) > self._seq  # none comes twice
                self._seq = found.get("seq", math.inf)
                return found
            self.empty += 1
        return None

    async def until(self, **fields: Any) -> Any:
        """Return the first object that has these fields, and skip the objects before it."""
        while True:
            found = await self.next()
            assert found is not None
            if all(found.get(name) == value for name, value in fields.items()):
                return found


@asynccontextmanager
async def streaming(server: Server, path: str) -> AsyncIterator[Stream]:
    async with open_bytes(server.port) as (reader, writer):
        writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        head = await read_answer(reader, with_body=False)
        assert head.status == 200, head.status
        assert "content-length" not in head.fields
        assert (head.fields["content-type"], head.fields["cache-control"]) == ("application/x-ndjson", "no-store")
        assert head.fields["access-control-allow-origin"] == "*"
        yield Stream(reader)


async def read(server: Server, path: str, *fields: str) -> Any:
    answer = await get(server, path, *fields)
    assert (answer.status, answer.fields["content-type"]) == (200, "application/json"), answer.body
    return json.loads(answer.body)


class Described:
    """The server's OpenAPI document, to check answers with."""

    def __init__(self, document: Any) -> None:
        self._document = document

    def check(self, path: str, found: Any, status: str = "200") -> None:
        content = self._document["paths"][path]["get"]["responses"][status]["content"]
        schema = {**next(iter(content.values()))["schema"], "components": self._document["components"]}
        Draft202012Validator(schema).validate(found)


async def test_api_answers_match_protocol_and_openapi(server: Server) -> None:
    described = Described(await read(server, "/api/openapi.json"))
    async with two_playing(server) as (ana, bo, room), streaming(server, f"/api/rooms/{room}/stream") as stream:
        state = await play_out({"X": ana, "O": bo}, room, [0, 3])
        rooms = await read(server, "/api/rooms")
        described.check("/api/rooms", rooms)
        (row,) = rooms["rooms"]
        assert (row["room"], row["status"], row["ply"]) == (room, "playing", 2)
        assert 0 <= time.time() * 1000 - row["opened"] < 60_000
        read_state = await read(server, f"/api/rooms/{room.lower()[:3]}-{room[3:]}")
        described.check("/api/rooms/{room}", read_state)
        assert read_state == state | {"news": []}
        described.check("/api/rooms/{room}/stream", await stream.next())
        id = (await play_out({"X": ana, "O": bo}, room, LINE_FOR_X[2:], first_ply=2))["game_id"]
        described.check("/api/games/{game}", await read(server, f"/api/games/{id}"))
        described.check("/api/games/{game}", json.loads((await get(server, "/api/games/x")).body), "default")


async def test_a_state_that_is_known_is_not_sent_again(server: Server) -> None:
    async with two_playing(server) as (ana, bo, room):
        first = await get(server, f"/api/rooms/{room}")
        assert first.fields["etag"] == f'W/"{room}-{json.loads(first.body)["seq"]}"'
        known = f"If-None-Match: {first.fields['etag']}"
        same = await get(server, f"/api/rooms/{room}", known)
        assert (same.status, same.body, same.fields["access-control-allow-origin"]) == (304, b"", "*")
        assert "ETag" in same.fields["access-control-expose-headers"]
        assert (await get(server, f"/api/rooms/{room}", "If-None-Match: *")).status == 304
        await play_out({"X": ana, "O": bo}, room, [0])
        assert (await get(server, f"/api/rooms/{room}", known)).status == 200


async def test_the_list_of_public_rooms_is_streamed(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tictactoe_server.features.api.service._ROOMS_SECONDS", 0)
    async with open_peer(server.url) as ana, streaming(server, "/api/lobby/stream") as stream:
        described = Described(await read(server, "/api/openapi.json"))
        assert await stream.next() == {"rooms": []}
        room = (await ana.ask("create"))["room"]
        rooms = await stream.next()
        described.check("/api/lobby/stream", rooms)
        assert [row["room"] for row in rooms["rooms"]] == [room]
        await ana.ask("leave", room=room)
        while rooms["rooms"]:
            rooms = await stream.next()


async def test_a_player_declared_as_a_program_is_marked_everywhere(server: Server) -> None:
    async with open_peer(server.url, "deep", bot=True) as deep, open_peer(server.url, "bo") as bo:
        room = (await deep.ask("create"))["room"]
        await bo.ask("join", room=room)
        seats = (await play_out({"X": deep, "O": bo}, room, LINE_FOR_X))["seats"]
        assert [seats[mark]["bot"] for mark in "XO"] == ["guest", None]
        (row,) = (await read(server, "/api/rooms"))["rooms"]
        assert [row["seats"][mark]["bot"] for mark in "XO"] == ["guest", None]
        assert len((await deep.ask("history"))["games"]) == 1, "it plays like anybody else"
        event = (await bo.ask("event_open", kind="swiss", title="Friday", clock={"move_ms": 10_000}))["event"]
        await deep.ask("event_join", event=event)
        table = (await read(server, f"/api/events/{event}"))["table"]
        assert [(row["name"], row["bot"]) for row in table] == [("deep", "guest")]


async def test_api_errors_are_json_for_404_and_429_too() -> None:
    limits = replace(uncounted(), requests_per_minute_per_address=2)
    async with Server(Settings("127.0.0.1", 0), limits=limits, monotonic_ns=FakeClock()) as server:
        for status, code in ((404, "not_allowed"), (404, "not_allowed"), (429, "rate_limited")):
            answer = await get(server, "/api/nothing")
            assert (answer.status, json.loads(answer.body)["code"]) == (status, code)
            assert answer.fields["access-control-allow-origin"] == "*"


async def test_pages_of_every_origin_may_read_the_api_and_the_data_of_events_and_replays(server: Server) -> None:
    async with open_peer(server.url) as ana, open_bytes(server.port) as (reader, writer):
        writer.write(b"OPTIONS /api/rooms HTTP/1.1\r\nHost: localhost\r\n\r\n")
        preflight = await read_answer(reader)
        assert (preflight.status, preflight.fields["access-control-allow-origin"]) == (200, "*")
        assert preflight.fields["access-control-allow-methods"] == "GET, HEAD, OPTIONS"
        event = (await ana.ask("event_open", kind="swiss", title="Friday", clock={"move_ms": 10_000}))["event"]
        for form in ("json", "csv", "txt"):
            assert (await get(server, f"/e/{event}.{form}")).fields["access-control-allow-origin"] == "*"
        unknown = await get(server, "/replay/aB3-_dE5fG7hI9jK1mN3oP.json")
        assert (unknown.status, unknown.fields["access-control-allow-origin"]) == (404, "*")
        assert "access-control-allow-origin" not in (await get(server, f"/e/{event}")).fields


async def test_private_rooms_look_like_missing_ones_in_the_api(server: Server) -> None:
    async with two_playing(server, visibility="private") as (ana, bo, room):
        id = (await play_out({"X": ana, "O": bo}, room, LINE_FOR_X))["game_id"]
        for path, other in (
            (f"/api/rooms/{room}", "/api/rooms/222222"),
            (f"/api/rooms/{room}/stream", "/api/rooms/222222/stream"),
            (f"/api/games/{id}", "/api/games/222222-1-1"),
        ):
            private, none = await get(server, path), await get(server, other)
            assert (private.status, none.status) == (404, 404)
            said = private.body.replace(id.encode(), b"222222-1-1").replace(room.encode(), b"222222")
            assert said == none.body
        assert await read(server, "/api/rooms") == {"rooms": []}


async def test_a_stream_has_the_states_of_a_room_and_the_reason_of_its_end(server: Server, ana: Peer, bo: Peer) -> None:
    room = (await ana.ask("create"))["room"]
    async with streaming(server, f"/api/rooms/{room}/stream") as stream:
        assert (await stream.next())["status"] == "waiting"
        await bo.ask("join", room=room)
        assert (await stream.until(status="playing"))["ply"] == 0
        over = await play_out({"X": ana, "O": bo}, room, LINE_FOR_X)
        told = await stream.until(status="over")
        assert (told["board"], told["game_id"]) == (over["board"], over["game_id"])
        await ana.ask("leave", room=room)
        await bo.ask("leave", room=room)
        end = await stream.until(type="closed")
        assert (end["room"], await stream.next()) == (room, None)


async def test_a_stream_names_the_new_server_of_a_room(server: Server) -> None:
    async with two_playing(server) as (_, _, room), streaming(server, f"/api/rooms/{room}/stream") as stream:
        await stream.next()
        live = server.core.rooms.by_code[room]
        live.enter(Phase.GONE)
        live.moved_to = "ws://other:8765"
        server.core.rooms.remove(live, Moved(room, live.moved_to))
        end = await stream.until(type="closed")
        assert (end["code"], end["data"]) == ("moved", {"room": room, "at": "ws://other:8765"})
        assert await stream.next() is None


async def test_an_idle_stream_sends_empty_lines() -> None:
    settings = Settings("127.0.0.1", 0)
    async with (
        Server(settings, limits=uncounted(ping_seconds=0.2)) as server,
        two_playing(server) as (ana, _, room),
        streaming(server, f"/api/rooms/{room}/stream") as stream,
    ):
        await stream.next()
        reading = asyncio.create_task(stream.until(status="over"))
        await until(lambda: stream.empty > 2)
        await ana.ask("resign", room=room)
        await reading


async def test_streams_end_with_the_server_and_closed_ones_are_not_counted() -> None:
    async with Server(Settings("127.0.0.1", 0)) as server, two_playing(server) as (_, _, room):
        async with streaming(server, f"/api/rooms/{room}/stream") as stream:
            await stream.next()
            assert server.service(Streams).of_address.most_used == 1
        await until(lambda: server.service(Streams).of_address.most_used == 0)
        assert server.service(Streams).by_code.get(room) is None
        async with streaming(server, f"/api/rooms/{room}/stream") as stream:
            await stream.next()
            stopping = asyncio.create_task(server._listener.stop(1012, "restarting", 1))
            assert await stream.next() is None
            await stopping


async def test_streams_are_limited_by_address() -> None:
    limits = uncounted(streams_per_address=1)
    async with Server(Settings("127.0.0.1", 0), limits=limits) as server, two_playing(server) as (_, _, room):
        path = f"/api/rooms/{room}/stream"
        async with streaming(server, path) as stream:
            await stream.next()
            assert (await get(server, path)).status == 429
        await until(lambda: server.service(Streams).of_address.most_used == 0)
        async with streaming(server, path):
            pass


@pytest.mark.parametrize("catches_up", [True, False])
async def test_slow_readers_get_the_newest_state_and_stalled_ones_are_cut_off(*, catches_up: bool) -> None:
    limits = replace(uncounted(), outbox_bytes=4_096, catch_up_seconds=10 if catches_up else 0.3)
    async with (
        Server(Settings("127.0.0.1", 0), limits=limits) as server,
        two_playing(server) as (_, _, room),
        open_bytes(server.port) as (reader, writer),
    ):
        writer.transport.pause_reading()  # type: ignore[attr-defined]  # so that the network fills up
        writer.write(f"GET /api/rooms/{room}/stream HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        await until(lambda: server.service(Streams).of_address.most_used == 1)
        source = server.service(Streams).by_code.get(room)
        assert source is not None
        (connection,) = source.readers
        count = 0
        while connection._outbox is None:
            connection.push_line(b"%d %b\n" % (count, b"-" * 60_000))
            count += 1
        for last in range(count, count + 100):
            connection.push_line(b"%d\n" % last)
        if catches_up:
            writer.transport.resume_reading()  # type: ignore[attr-defined]
            numbers = [await reader.readline()]
            while numbers[-1] != b"%d\n" % last:
                numbers.append((await reader.readline())[:10])
            assert b"%d\n" % (last - 1) not in numbers
        else:
            await until(lambda: server.service(Streams).of_address.most_used == 0)
