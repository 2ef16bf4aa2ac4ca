"""A new feature has a table, a request, a push, a page, an order, a job and options, and adds to other answers."""

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path

import click
import msgspec
import pytest
from msgspec import Struct

from tests.limits import uncounted
from tests.peer import Peer, open_peer, play_out, two_playing, until
from tests.server.test_pages import get
from tictactoe_engine import PRESETS
from tictactoe_protocol import ErrorCode
from tictactoe_protocol.pushes import SeatState
from tictactoe_protocol.requests import Ping
from tictactoe_protocol.terms import PushFields, RequestFields
from tictactoe_server.core.change import Call
from tictactoe_server.core.core import Core, Service
from tictactoe_server.core.hooks import RoomPolicy
from tictactoe_server.core.live_room import LiveRoom
from tictactoe_server.features.bots.service import BotOptions
from tictactoe_server.features.feature import Feature
from tictactoe_server.operator.order import Order, ServerParts
from tictactoe_server.operator.status import Status
from tictactoe_server.play.history import find_by_id
from tictactoe_server.records.changes import change
from tictactoe_server.records.tables import Account
from tictactoe_server.rooms.finished import FinishedGame
from tictactoe_server.rooms.room import Purpose, Refused
from tictactoe_server.rooms.view import RoomListing
from tictactoe_server.scheduler import Tasks
from tictactoe_server.server import Server
from tictactoe_server.settings import Options, Settings, option, options_of
from tictactoe_server.storage.specs import TableSpec
from tictactoe_server.storage.store import StoreUnavailable

HERE = Settings(host="127.0.0.1", port=0, features=(BotOptions(pause_seconds=0),))
WINNING = [0, 3, 1, 4, 2]


class Won(Struct, frozen=True):
    """The ids of the games a player has won, so that a repeated notification counts once."""

    games: frozenset[str] = frozenset()


WON: TableSpec[Won] = TableSpec("won", "score", msgspec.json.encode, msgspec.json.Decoder(Won).decode)


class AskPoints(RequestFields, frozen=True, tag="points"):
    player: str


class TellPoints(PushFields, frozen=True, tag="points"):
    points: int


@dataclass(frozen=True, slots=True)
class PointOptions(Options):
    section = "Points"

    a_win: int = option("Points for a game that is won.", int, default=1, name="points-a-win")

    def check(self, settings: Settings) -> None:
        if self.a_win < 0:
            raise click.UsageError("Nobody loses points.")


class Points(Service):
    """Gives a point for each game that is won and kept, and shows the points in `welcome`."""

    def __init__(self, core: Core, a_win: int = 1) -> None:
        self.a_win = a_win
        self.known: dict[str, int] = {}
        self.has_begun, self.has_ended = asyncio.Event(), False
        self.jobs = (self.wait,)
        self.handles = {AskPoints: self.answer}
        self.routes = {"/points/([^/]+)": lambda request, player: [str(self.known.get(player, 0))]}
        self._tasks = Tasks()
        self._core, self._won = core, core.store.table(WON)
        core.rooms.on_result.add(self.count)
        core.hooks.welcome_fields["points"] = self._load

    async def close(self) -> None:
        await asyncio.gather(*self._tasks)
        await super().close()

    async def wait(self) -> None:
        self.has_begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.has_ended = True

    def status(self) -> dict[str, str]:
        return {"points": f"{len(self.known)} players have some"}

    def count(self, game: FinishedGame, id: str) -> None:
        if id and game.result.winner is not None:
            self._tasks.start(self._give(game.players[game.result.winner].player, frozenset({id})))

    def answer(self, call: Call) -> None:
        call.answer()
        points = TellPoints(self.known.get(call.request.player, 0))
        call.session.push(points)

    async def _load(self, account: Account) -> int:
        player = account.player.id
        found = await self._won.load(player)
        return self.known.setdefault(player, 0 if found is None else len(found[0].games))

    async def _give(self, player: str, games: frozenset[str]) -> None:
        won = await change(self._won, player, lambda old: Won(games | (old or Won()).games))
        self.known[player] = self.a_win * len(won.games)


class ShowPoints(Order, frozen=True, tag="points"):
    player: str

    async def run_here(self, server: ServerParts) -> dict[str, int]:
        return {"points": server.service(Points).known[self.player]}


POINTS = Feature(
    make=lambda parts: [Points(parts.core, parts.settings.of(PointOptions).a_win)],
    tables=(WON,),
    orders=(ShowPoints,),
    options=PointOptions,
)


async def test_all_that_it_brings_is_there(tmp_path: Path) -> None:
    settings = replace(HERE, data=tmp_path)
    async with Server(settings, features=(POINTS,)) as server, two_playing(server) as (ana, bo, room):
        points, winner = server.service(Points), ana.welcome["player"]
        assert (ana.welcome["points"], bo.welcome["points"]) == (0, 0)
        await play_out({"X": ana, "O": bo}, room, WINNING)
        await until(lambda: points.known[winner] == 1)
        assert (await bo.ask("points", player=winner))["type"] == "ok"
        assert (await bo.next_of("points"))["points"] == 1
        assert (await get(server, f"/points/{winner}")).body == b"1\n"
        assert await server.orders.answer_line(b'{"command":"points","player":"%s"}' % winner.encode()) == (
            b'{"answer":{"points":1}}'
        )
    token = ana.welcome["token"]
    async with Server(settings, features=(POINTS,)) as server, open_peer(server.url, token=token) as again:
        assert again.welcome["points"] == 1


async def test_a_features_job_runs_with_its_options_and_status_line() -> None:
    settings = replace(HERE, features=(*HERE.features, PointOptions(a_win=3)))
    async with Server(settings, features=(POINTS,)) as server:
        points = server.service(Points)
        await points.has_begun.wait()
        assert (points.a_win, points.has_ended) == (3, False)
        assert "points   0 players have some" in Status().describe(await server.carry_out(Status()))
    assert points.has_ended
    assert [one.opts for one in options_of(PointOptions).values()] == [["--points-a-win"]]


async def test_it_hears_of_each_game_once_with_its_id_though_another_listener_fails() -> None:
    heard: list[tuple[int, str]] = []

    def fail(game: FinishedGame, id: str) -> None:
        raise ZeroDivisionError

    async with (
        Server(HERE, features=(POINTS,), limits=uncounted()) as server,
        two_playing(server) as (ana, bo, room),
    ):
        server.core.rooms.on_result.add(fail)
        server.core.rooms.on_result.add(lambda game, id: heard.append((game.game, id)))
        over = await play_out({"X": ana, "O": bo}, room, WINNING)
        for peer in (ana, bo):
            await peer.ask("rematch", room=room)
        assert (await ana.ask("resign", room=room))["type"] == "ok"
        assert heard == [(1, over["game_id"]), (2, "")], "what was aborted is not in the log"
        game = await find_by_id(server.core.store.games, over["game_id"])
        assert game is not None
        assert (game.game, game.moves) == (1, tuple(WINNING))


async def test_the_server_does_not_start_if_two_services_handle_the_same_request() -> None:
    class Second(Service):
        def __init__(self) -> None:
            self.handles = {Ping: lambda call: None}

    with pytest.raises(ValueError, match="Second handles Ping, and so does another service"):
        async with Server(HERE, features=(Feature(make=lambda parts: [Second()]),)):
            pass


class Friendlies(Service, RoomPolicy):
    """Adds a purpose of rooms that nobody may join, and that are listed with the number of their seats."""

    def __init__(self, core: Core) -> None:
        core.hooks.policies["friendly"] = self

    def add_fields(self, listed: RoomListing) -> dict[str, int]:
        return {"places": listed.room.places}

    async def before_seat(self, live: LiveRoom) -> None:
        raise Refused(ErrorCode.NOT_ALLOWED, "guests")


async def test_a_room_of_a_missing_feature_is_kept_until_the_feature_is_back(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings, friendlies = replace(HERE, data=tmp_path), Feature(make=lambda parts: [Friendlies(parts.core)])
    async with Server(settings, features=(friendlies,)) as server, open_peer(server.url, "ana") as ana:
        token, seat = ana.welcome["token"], SeatState(ana.welcome["player"], "ana", online=False, bot=None)
        purpose = Purpose("friendly", {"rated": True})
        expected = server.core.rooms.expect(PRESETS["classic"], reserved={"X": seat}, purpose=purpose)
        live = await server.core.rooms.open(expected, server.core.timers.close_later)
        code = live.room.code
    async with Server(settings, features=()) as server, open_peer(server.url, token=token) as ana:
        assert (await ana.ask("join", room=code))["code"] == "no_such_room"
    assert "room ignored: its feature is missing" in caplog.text
    async with (
        Server(settings, features=(friendlies,)) as server,
        open_peer(server.url, token=token) as ana,
        open_peer(server.url, "bo") as bo,
    ):
        assert (await bo.ask("join", room=code))["code"] == "not_allowed"
        assert (await ana.ask("join", room=code))["type"] == "ok"
        assert (await ana.next_of("room"))["rated"] is True
        (row,) = (await bo.ask("rooms"))["rooms"]
        assert (row["room"], row["rated"], row["places"]) == (code, True, 2)


async def test_without_the_feature_of_bots_no_room_with_bots_opens(ana: Peer) -> None:
    refused = await ana.ask("create", bots=["easy"])
    assert (refused["code"], refused["path"], refused["data"]) == ("not_allowed", "bots", {"why": "no bots"})
    assert refused["message"] == "There are no bots on this server."


async def test_a_field_that_cannot_be_made_is_left_out_and_the_others_are_sent(server: Server) -> None:
    async def fail(account: Account) -> int:
        return 1 // 0

    async def say_odd(account: Account) -> object:
        return object()  # which JSON cannot encode

    async def say_points(account: Account) -> int:
        return 7

    for name, make in (("worth", fail), ("odd", say_odd), ("points", say_points)):
        server.core.hooks.welcome_fields[name] = make
    async with open_peer(server.url, "ana") as peer:
        assert peer.welcome["points"] == 7
        assert peer.welcome.keys().isdisjoint({"worth", "odd"})


async def test_a_hello_is_refused_while_the_store_cannot_give_a_field_and_may_be_repeated(server: Server) -> None:
    failures = [StoreUnavailable()]

    async def say_points(account: Account) -> int:
        if failures:
            raise failures.pop()
        return 7

    server.core.hooks.welcome_fields["points"] = say_points
    async with open_peer(server.url, "ana") as peer:
        assert peer.welcome["code"] == "unavailable"
        assert (await peer.ask("hello", name="ana"))["points"] == 7
