"""What plugs into the core of rooms: services with requests, tables and topics of their own, listeners, bots' rooms."""

from __future__ import annotations

import json
from dataclasses import replace
from http import HTTPStatus

import pytest
from msgspec import UNSET, Struct

from tests.limits import uncounted
from tests.peer import open_peer, play_out, two_playing, until
from tests.raw import open_bytes
from tests.server.test_pages import BROWSER, get, head_of
from tests.server.test_plain_http import read_answer
from tictactoe_protocol import ErrorCode, encode
from tictactoe_protocol.requests import Ping
from tictactoe_protocol.terms import RequestFields
from tictactoe_server.core.core import Call, Core, PageHead, Reply, Service
from tictactoe_server.rooms import FinishedGame, Refused
from tictactoe_server.server import Server, kept_by
from tictactoe_server.settings import Settings
from tictactoe_server.transport.frames import encode_frame
from tictactoe_server.transport.http_messages import HttpRequest, HttpResponse
from tictactoe_server.watching.topics import Topic

HERE = Settings(host="127.0.0.1", port=0, bot_pause_seconds=0)


class Leaders(RequestFields, frozen=True, tag="leaderboard"):
    """Asks who has won most."""


class LeadersAnswer(Struct, frozen=True, tag="leaders", tag_field="type"):
    id: str
    wins: dict[str, int]


class Wins(Topic):
    """How many games players won since the server started, sent to all subscribers when that changes."""

    def __init__(self) -> None:
        super().__init__()
        self.of: dict[str, int] = {}

    def count(self, game: FinishedGame, id: str) -> None:
        if game.result.winner is not None:
            name = game.players[game.result.winner].name
            self.of[name] = self.of.get(name, 0) + 1
            self.tell_later()

    def tell(self) -> None:
        self.send(encode_frame(encode(LeadersAnswer("", self.of))))


class Leaderboard(Service):
    """Answers with the number of wins of each player, and sends changes to subscribers."""

    def __init__(self) -> None:
        self.handles = {Leaders: self.tell}
        self.wins = Wins()
        self.topics = (self.wins,)

    def start(self, core: Core) -> None:
        core.on_result(self.wins.count)

    def tell(self, call: Call) -> None:
        self.wins.subscribe(call.session)
        assert call.request.id is not UNSET
        call.session.push(LeadersAnswer(call.request.id, self.wins.of))  # type: ignore[arg-type]  # no part of the protocol


class Sights(Service):
    """Shows things in plain HTTP: to people, and to the pages of other origins."""

    def __init__(self) -> None:
        self.routes = {r"/sight/(\w+)(\.csv)?": self.show, r"/api/sight/(\w+)": self.tell}

    def show(self, request: HttpRequest, name: str, form: str | None) -> Reply:
        if form:
            return HttpResponse(HTTPStatus.OK, f"name\n{name}\n".encode(), "text/csv", tag=name)
        return PageHead(f"The {name}", "A sight", "home.js") if request.wants_html else [f"The {name}", "a sight"]

    async def tell(self, request: HttpRequest, name: str) -> Reply:
        raise Refused(ErrorCode.NO_SUCH_ROOM, room=name)


async def test_a_service_answers_paths_of_its_own_with_text_a_page_or_a_response() -> None:
    async with Server(HERE, services=[Sights()]) as server:
        text, table = await get(server, "/sight/tower"), await get(server, "/sight/tower.csv")
        page = await get(server, "/sight/tower", accept=BROWSER)
        unchanged = await get(server, "/sight/tower.csv", 'If-None-Match: W/"tower"')
    assert (text.body, head_of(page)) == (b"The tower\na sight\n", ("The tower", "A sight"))
    assert (table.body, table.fields["content-type"], table.fields["etag"]) == (
        *(b"name\ntower\n", "text/csv"),
        'W/"tower"',
    )
    assert (unchanged.status, unchanged.body) == (304, b"")


async def test_what_a_route_refuses_is_not_there_and_is_not_found_by_trying() -> None:
    limits = replace(uncounted(), misses_per_minute_per_address=2, misses_at_once_per_address=2)
    async with Server(HERE, services=[Sights()], limits=limits) as server:
        found = [await get(server, "/api/sight/K7M4PQ") for _ in range(3)]
    assert [answer.status for answer in found] == [404, 404, 429]
    assert json.loads(found[0].body) == {
        "type": "error",
        "code": "no_such_room",
        "message": "No room K7M4PQ. It may have closed.",
    }


async def test_pages_of_every_origin_may_read_what_is_under_api_and_nothing_else() -> None:
    async with Server(HERE, services=[Sights()]) as server, open_bytes(server.port) as (reader, writer):
        told, shown = await get(server, "/api/sight/K7M4PQ"), await get(server, "/sight/tower")
        writer.write(b"OPTIONS /api/sight/K7M4PQ HTTP/1.1\r\nHost: localhost\r\n\r\n")
        may = await read_answer(reader)
    assert told.fields["access-control-allow-origin"] == "*"
    assert "access-control-allow-origin" not in shown.fields
    assert (may.status, may.fields["access-control-allow-origin"]) == (200, "*")
    assert may.fields["access-control-allow-methods"] == "GET, HEAD, OPTIONS"


async def test_a_service_answers_requests_and_notifies_subscribers_until_they_leave() -> None:
    leaderboard = Leaderboard()
    async with Server(HERE, services=[leaderboard]) as server, two_playing(server) as (ana, bo, room):
        assert await ana.ask("leaderboard") == {"type": "leaders", "id": "r2", "wins": {}}
        refused = await ana.ask("leader-board")
        assert (refused["code"], '"leaderboard"' in refused["message"]) == ("unknown_type", True)
        async with open_peer(server.url) as eve:
            await eve.ask("leaderboard")
            await play_out({"X": ana, "O": bo}, room, [0, 3, 1, 4, 2])
            told = [await peer.next_of("leaders") for peer in (ana, eve)]
            assert told == [{"type": "leaders", "id": "", "wins": {"ana": 1}}] * 2
        await until(lambda: len(leaderboard.wins.subscribers) <= 1)


async def test_a_request_that_two_services_handle_is_an_error_at_the_start() -> None:
    class Second(Service):
        def __init__(self) -> None:
            self.handles = {Ping: lambda call: None}

    with pytest.raises(ValueError, match="Second handles Ping, and so does another service"):
        async with Server(HERE, services=[Second()]):
            pass


async def test_the_tables_of_all_services_are_known_to_commands_about_the_data_folder() -> None:
    async with Server(HERE) as server:
        assert {spec for service in server._services for spec in service.tables} <= {*kept_by().tables}
