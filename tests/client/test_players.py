from __future__ import annotations

import os
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.environment import environment
from tictactoe_client.files.players import KnownPlayer, KnownPlayers

URL = "ws://localhost:8765"
HERE = (URL,)


@pytest.fixture
def players(tmp_path: Path) -> KnownPlayers:
    return KnownPlayers(tmp_path / "state" / "players.json")


def player(name: str = "ana", **changes: object) -> KnownPlayer:
    return replace(KnownPlayer(URL, name, f"token of {name}"), **changes)  # type: ignore[arg-type]


def gone() -> int:
    """Return the number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""], env=environment())
    process.wait()
    return process.pid


OTHER_URL = "ws://elsewhere:8765"
ELSEWHERE = (OTHER_URL,)


def test_a_player_of_a_house_is_one_at_all_its_addresses(players: KnownPlayers) -> None:
    house = (URL, OTHER_URL)
    players.keep(*(player(server=server, used_at=1, pid=gone()) for server in house))
    taken = players.take(house)
    assert taken is not None
    assert {found.pid for server in house if (found := players.find((server,))) is not None} == {os.getpid()}
    players.keep(*(player(server=server, pid=os.getppid()) for server in house))
    for servers in (HERE, ELSEWHERE, house):
        assert players.take(servers) is None
    players.forget(OTHER_URL, "token of ana")
    assert players.find(ELSEWHERE) is None
    assert players.find(HERE) is not None


def test_what_was_kept_of_each_address_is_still_there_where_they_are_a_house(players: KnownPlayers) -> None:
    players.keep(player("ana", used_at=1))
    players.keep(player("bo", used_at=2, server=OTHER_URL))
    house = (URL, OTHER_URL)
    newest = players.find(house)
    assert newest is not None
    assert newest.name == "bo"
    assert players.take(house, "ana") is not None
    assert players.find(ELSEWHERE) == player("bo", used_at=2, server=OTHER_URL)


def test_the_one_who_played_last_is_found_by_server_and_name(players: KnownPlayers) -> None:
    players.keep(player("ana", used_at=1))
    players.keep(player("bo", used_at=2, pid=os.getppid()))
    players.keep(player("cy", used_at=3, server=OTHER_URL))
    assert players.find(HERE) == player("bo", used_at=2, pid=os.getppid())
    assert players.find(HERE, "ana") == player("ana", used_at=1)
    assert players.find(HERE, "cy") is None


def test_whom_a_living_process_plays_as_is_not_taken(players: KnownPlayers) -> None:
    players.keep(player("ana", used_at=1, pid=gone()))
    players.keep(player("bo", used_at=2, pid=os.getppid()))
    taken = players.take(HERE)
    assert taken is not None
    assert (taken.name, taken.pid) == ("ana", os.getpid())
    assert players.take(HERE, "bo") is None


def test_whoever_is_taken_is_the_newest_from_then_on(players: KnownPlayers) -> None:
    players.keep(player("bo", used_at=2))
    players.keep(player("ana", used_at=1, pid=gone()))
    players.take(HERE, "ana")
    newest = players.find(HERE)
    assert newest is not None
    assert (newest.name, newest.pid) == ("ana", os.getpid())


def test_a_player_is_written_once_under_the_newest_name_and_can_be_forgotten(players: KnownPlayers) -> None:
    players.keep(player("ana"))
    players.keep(player("anna", token="token of ana"))
    assert players.find(HERE, "ana") is None
    assert players.find(HERE, "anna") is not None
    players.forget(URL, "token of ana")
    assert players.find(HERE) is None


def test_the_file_is_for_its_owner_alone_and_a_token_is_never_shown(players: KnownPlayers) -> None:
    players.keep(player())
    assert stat.S_IMODE(players.path.stat().st_mode) == 0o600
    assert "token of ana" not in repr(player())


@pytest.mark.parametrize("content", ["", "{", "[]", '{"players": 3}', '{"players": [{"nothing": 1}]}', "null"])
def test_a_file_that_cannot_be_read_counts_as_empty(players: KnownPlayers, content: str) -> None:
    players.path.parent.mkdir(parents=True)
    players.path.write_text(content)
    assert players.find(HERE) is None
    players.keep(player())
    assert players.find(HERE) is not None


def test_no_folder_costs_nothing_but_the_memory(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    players = KnownPlayers(tmp_path / "file" / "players.json")
    players.keep(player())
    assert players.find(HERE) is None
    assert players.take(HERE) is None
