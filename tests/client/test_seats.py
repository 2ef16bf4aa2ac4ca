from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.environment import environment
from tictactoe_client.files.seats import SavedSeat, Seats

HERE = "ws://localhost:8765"


@pytest.fixture
def seats(tmp_path: Path) -> Seats:
    return Seats(tmp_path / "state" / "seats.json")


def seat(room: str = "K7M4PQ", **changes: object) -> SavedSeat:
    return replace(SavedSeat(HERE, room, "X", "ana", "s3cret"), **changes)  # type: ignore[arg-type]


def gone() -> int:
    """Return the number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""], env=environment())
    process.wait()
    return process.pid


ELSEWHERE = "ws://elsewhere:8765"


def test_the_seats_of_a_house_are_found_by_any_of_its_addresses_and_told_once(seats: Seats) -> None:
    house = (HERE, ELSEWHERE)
    seats.keep(*(seat(server=server, pid=gone()) for server in house))
    for servers in (HERE, ELSEWHERE, house):
        found = seats.find(servers, "K7M4PQ")
        assert found is not None
        assert found.token == "s3cret"
        assert len(seats.left_behind(servers)) == len(seats.of_player(servers, "s3cret")) == 1
    seats.forget(ELSEWHERE, "s3cret")
    assert seats.find(ELSEWHERE) is None
    assert seats.find(HERE) is not None
    seats.forget(house, "s3cret", "K7M4PQ")
    assert seats.find(house) is None


def test_what_was_kept_of_one_address_is_found_where_it_is_one_of_a_house(seats: Seats) -> None:
    seats.keep(seat("AAAAAA", saved_at=1))
    seats.keep(seat("BBBBBB", saved_at=2, server=ELSEWHERE, token="other"))
    newest = seats.find((HERE, ELSEWHERE))
    assert newest is not None
    assert newest.room == "BBBBBB"
    assert seats.find((HERE, ELSEWHERE), "AAAAAA") is not None


def test_the_newest_free_seat_is_found_by_server_and_room(seats: Seats) -> None:
    seats.keep(seat("AAAAAA", saved_at=1))
    seats.keep(seat("BBBBBB", saved_at=2, pid=gone()))
    seats.keep(seat("CCCCCC", saved_at=3, server="ws://elsewhere:8765"))
    newest = seats.find(HERE)
    assert newest is not None
    assert newest.room == "BBBBBB"
    assert seats.find(HERE, "AAAAAA") == seat("AAAAAA", saved_at=1)
    assert seats.find(HERE, "ZZZZZZ") is None


def test_a_seat_of_a_living_process_is_not_offered_to_another(seats: Seats) -> None:
    seats.keep(seat(pid=os.getppid()))
    assert seats.find(HERE) is None


def test_a_seat_is_written_once_and_can_be_forgotten(seats: Seats) -> None:
    seats.keep(seat(saved_at=1))
    seats.keep(seat(saved_at=2))
    seats.keep(seat("AAAAAA"))
    assert len(json.loads(seats.path.read_text())["seats"]) == 2
    seats.forget(HERE, "s3cret", "AAAAAA")
    assert seats.find(HERE, "K7M4PQ") is not None
    seats.forget(HERE, "s3cret")
    assert seats.find(HERE) is None


def test_the_file_is_for_its_owner_alone_and_no_secret_is_shown(seats: Seats) -> None:
    seats.keep(seat())
    assert stat.S_IMODE(seats.path.stat().st_mode) == 0o600
    assert "s3cret" not in repr(seats.find(HERE))


@pytest.mark.parametrize("content", ["", "{", "[]", '{"seats":[{"no":1}]}', '{"seats":3}'])
def test_a_damaged_file_counts_as_empty(seats: Seats, content: str) -> None:
    seats.path.parent.mkdir()
    seats.path.write_text(content)
    assert seats.find(HERE) is None
    seats.keep(seat())
    assert seats.find(HERE) is not None


def test_a_folder_that_cannot_be_written_costs_only_the_way_back(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    seats = Seats(tmp_path / "file" / "seats.json")
    seats.keep(seat())
    assert seats.find(HERE) is None
