"""How many games of a player and of an address are kept for good, and what happens beyond that."""

import time

import pytest

from tests.peer import Message, Peer, open_peer, play_out, two_playing
from tictactoe_server.server import Server
from tictactoe_server.settings import Limits, Settings, with_counts

HOUR_NS = 3_600_000_000_000
FOR_X = [0, 3, 1, 4, 2]


class Playing:
    """A server whose clock stands still, and which keeps this many games of a player per hour."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, games: int, kind: str = "player") -> None:
        monkeypatch.setattr("tictactoe_server.people.allowances.ROW_BYTES", 900_000 // games)
        counts = {"kept-megabytes-per-hour-per-player": 0, "kept-megabytes-per-hour-per-address": 0}
        limits = with_counts(Limits(), counts | {f"kept-megabytes-per-hour-per-{kind}": 1})
        self.now = time.monotonic_ns()
        self.server = Server(Settings("127.0.0.1", 0), limits=limits, monotonic_ns=lambda: self.now)


async def play(ana: Peer, bo: Peer, times: int, room: str = "") -> None:
    """Play games that ana wins, each in a new room."""
    for _ in range(times):
        room = (await ana.ask("create"))["room"]
        await bo.ask("join", room=room)
        await play_out({"X": ana, "O": bo}, room, FOR_X)
        for peer in (ana, bo):
            await peer.ask("leave", room=room)


async def kept(peer: Peer) -> int:
    return len((await peer.ask("history"))["games"])


def told(peer: Peer) -> list[Message]:
    return [message for message in peer.seen if message["type"] == "announcement"]


async def test_games_over_the_limit_are_not_kept_with_one_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    playing = Playing(monkeypatch, games=3)
    url = playing.server
    async with playing.server, open_peer(url.url, "ana") as ana, open_peer(url.url, "bo") as bo:
        await play(ana, bo, 3)
        assert (await kept(ana), await kept(bo), told(ana), told(bo)) == (3, 3, [], [])
        await play(ana, bo, 2)
        assert (await kept(ana), await kept(bo)) == (3, 3)
        assert [len(told(peer)) for peer in (ana, bo)] == [1, 1]
        assert "stores no more of yours" in told(ana)[0]["text"]
        playing.now += HOUR_NS
        await play(ana, bo, 1)
        assert (await kept(ana), await kept(bo)) == (4, 4)


async def test_a_game_is_kept_if_either_player_may_keep_it(monkeypatch: pytest.MonkeyPatch) -> None:
    playing = Playing(monkeypatch, games=2)
    url = playing.server
    async with url, open_peer(url.url) as ana, open_peer(url.url) as bo, open_peer(url.url) as cy:
        await play(ana, bo, 3)
        await play(ana, cy, 1)
        assert (await kept(ana), await kept(bo), await kept(cy)) == (3, 2, 1)


async def test_kept_games_are_limited_by_address(monkeypatch: pytest.MonkeyPatch) -> None:
    playing = Playing(monkeypatch, games=3, kind="address")
    url = playing.server
    async with url, open_peer(url.url) as ana, open_peer(url.url) as bo, open_peer(url.url) as cy:
        await play(ana, bo, 2)
        await play(bo, cy, 2)
        assert (await kept(ana), await kept(bo), await kept(cy)) == (2, 3, 1)
        assert [bool(told(peer)) for peer in (ana, bo, cy)] == [False, True, True]
        assert url.parts.limits()["kept-megabytes-per-hour-per-address"][1] == pytest.approx(0.9, abs=0.1)


@pytest.mark.features
async def test_games_against_bots_count_for_the_person(monkeypatch: pytest.MonkeyPatch) -> None:
    playing = Playing(monkeypatch, games=1)
    async with playing.server as server, open_peer(server.url) as ana:
        for _ in range(2):
            room = (await ana.ask("create", bots=["random"], rules={"rows": 1, "columns": 2, "line": 2}))["room"]
            await ana.ask("move", room=room, cell=0, ply=0)
            await ana.state(status="over")
        assert (await kept(ana), len(told(ana))) == (1, 1)


async def test_a_game_is_shared_while_more_may_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    playing = Playing(monkeypatch, games=1)
    monkeypatch.setattr("tictactoe_server.people.allowances.ROW_BYTES", 999_000)
    async with playing.server as server, two_playing(server) as (ana, bo, room):
        game = (await play_out({"X": ana, "O": bo}, room, FOR_X))["game_id"]
        shared = (await ana.ask("share", game_id=game))["replay"]
        assert (await ana.ask("share", game_id=game))["replay"] == shared
        for _ in range(3):
            await ana.ask("share", game_id=game, on=False)
            again = await ana.ask("share", game_id=game)
        assert again["code"] == "rate_limited"
