import json
import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.kept import GONE, hold_lock
from tictactoe_client.files.players import KnownPlayer, KnownPlayers

URL = "ws://localhost:8765"
HERE = (URL,)


@pytest.fixture
def players(tmp_path: Path) -> KnownPlayers:
    return KnownPlayers(tmp_path / "state" / "players.json")


def player(name: str = "ana", **changes: object) -> KnownPlayer:
    return replace(KnownPlayer(URL, name, f"token of {name}"), **changes)  # type: ignore[arg-type]


def name_and_process(known: KnownPlayer | None) -> tuple[str, int | None]:
    assert known is not None
    return known.name, known.pid


OTHER_URL = "ws://elsewhere:8765"
ELSEWHERE = (OTHER_URL,)


def test_a_player_of_a_cluster_is_one_at_all_its_addresses(players: KnownPlayers) -> None:
    cluster = (URL, OTHER_URL)
    players.keep(*(player(server=server, used_at=1, pid=GONE) for server in cluster))
    assert players.take(cluster) is not None
    assert {found.pid for server in cluster if (found := players.find((server,))) is not None} == {os.getpid()}
    players.keep(*(player(server=server, pid=os.getppid()) for server in cluster))
    for servers in (HERE, ELSEWHERE, cluster):
        assert players.take(servers) is None
    players.forget(OTHER_URL, "token of ana")
    assert players.find(ELSEWHERE) is None
    assert players.find(HERE) is not None


def test_the_latest_player_is_found_by_server_and_name(players: KnownPlayers) -> None:
    players.keep(player("ana", used_at=1))
    players.keep(player("bo", used_at=2, pid=os.getppid()))
    players.keep(player("cy", used_at=3, server=OTHER_URL))
    assert players.find(HERE) == player("bo", used_at=2, pid=os.getppid())
    assert players.find(HERE, "ana") == player("ana", used_at=1)
    assert players.find(HERE, "cy") is None


def test_a_player_used_by_a_running_process_is_not_claimed(players: KnownPlayers) -> None:
    players.keep(player("ana", used_at=1, pid=GONE))
    players.keep(player("bo", used_at=2, pid=os.getppid()))
    assert name_and_process(players.take(HERE)) == ("ana", os.getpid())
    assert players.take(HERE, "bo") is None


def test_a_claimed_name_is_preferred_to_a_newer_guest_and_stays_with_the_process_that_plays(
    players: KnownPlayers,
) -> None:
    players.keep(player("ana", claimed=True, used_at=1, pid=GONE), player("bo", used_at=2, pid=GONE))
    assert players.find(HERE) == player("ana", claimed=True, used_at=1, pid=GONE)
    assert name_and_process(players.take(HERE)) == ("ana", os.getpid())
    players.keep(player("ana", pid=os.getppid()))
    players.keep(player("ana", claimed=True))
    assert name_and_process(players.find(HERE)) == ("ana", os.getppid())
    assert name_and_process(players.take(HERE)) == ("bo", os.getpid())


def test_a_released_player_is_free_for_other_processes(players: KnownPlayers) -> None:
    players.keep(player("ana", rooms=("K7M4PQ",)))
    players.keep(player("bo", pid=os.getppid()))
    players.release()
    released, other = players.find(HERE, "ana"), players.find(HERE, "bo")
    assert released is not None
    assert other is not None
    assert (released.is_free, released.pid == os.getpid(), released.rooms) == (True, False, ("K7M4PQ",))
    assert not other.is_free


def test_claiming_a_player_makes_it_the_newest(players: KnownPlayers) -> None:
    players.keep(player("bo", used_at=2))
    players.keep(player("ana", used_at=1, pid=GONE))
    players.take(HERE, "ana")
    assert name_and_process(players.find(HERE)) == ("ana", os.getpid())


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
    assert (players.find(HERE) is None) == bool(content), "a damaged file is left as it is"


def test_no_folder_costs_nothing_but_the_memory(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    players = KnownPlayers(tmp_path / "file" / "players.json")
    players.keep(player())
    assert players.find(HERE) is None
    assert players.take(HERE) is None


@pytest.mark.parametrize(
    ("name", "room", "how", "taken"),
    [
        (None, "BBBBBB", {"only_seated": True}, "cy"),
        ("ana", "AAAAAA", {}, "bo"),
        ("ana", "ZZZZZZ", {}, "ana"),
        (None, "ZZZZZZ", {"only_seated": True}, None),
        ("ana", None, {"resumes": True}, "bo"),
    ],
)
def test_a_player_with_a_seat_is_chosen_first_then_the_last_one_then_the_name(
    players: KnownPlayers, name: str | None, room: str | None, how: dict[str, Any], taken: str | None
) -> None:
    players.keep(player("ana", used_at=3), player("bo", used_at=2, rooms=("AAAAAA",)))
    players.keep(player("cy", used_at=1, rooms=("BBBBBB",)))
    found = players.take(HERE, name, room, **how)
    assert (found.name if found else None) == taken


@pytest.mark.parametrize(("room", "resumes"), [("AAAAAA", False), (None, True)])
def test_a_newer_seat_is_preferred_to_an_older_one_under_a_claimed_name(
    players: KnownPlayers, room: str | None, *, resumes: bool
) -> None:
    players.keep(player("ana", claimed=True, used_at=10, rooms=("AAAAAA",), pid=GONE))
    players.keep(player("bo", used_at=1000, rooms=("AAAAAA",), pid=GONE))
    assert name_and_process(players.take(HERE, room=room, resumes=resumes)) == ("bo", os.getpid())


def test_a_room_is_written_once_and_struck_out_alone(players: KnownPlayers) -> None:
    for room in ("AAAAAA", "BBBBBB", "AAAAAA"):
        players.keep(player(rooms=(room,)))
    players.keep(player(used_at=5))
    (found,) = players.on(HERE)
    assert found.rooms == ("BBBBBB", "AAAAAA")
    players.forget_rooms(HERE, found.token, lambda room: room == "BBBBBB")
    assert [known.rooms for known in players.on(HERE)] == [("AAAAAA",)]


def test_a_player_is_claimed_although_the_file_is_locked(
    players: KnownPlayers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tictactoe_client.files.writer.LOCK_SECONDS", 0.0)
    players.keep(player("ana", pid=GONE))
    content, lock = players.path.read_bytes(), hold_lock(players.path)
    assert players.take(HERE, "ana") is not None
    assert players.problem == "another program is writing to it"
    assert players.path.read_bytes() == content
    os.close(lock)
    players.keep(player("bo"))
    assert players.problem is None
    assert {known.name for known in players.on(HERE)} == {"ana", "bo"}


OF_VERSION_1 = b'{"players":[{"server":"ws://localhost:8765","name":"ana","token":"secret"}],"version":2}'


@pytest.mark.parametrize("content", [OF_VERSION_1, OF_VERSION_1[:40], b"\0" * 100])
def test_a_file_that_is_damaged_or_of_version_1_is_never_overwritten(players: KnownPlayers, content: bytes) -> None:
    players.path.parent.mkdir(parents=True)
    players.path.write_bytes(content)
    written_at = players.path.stat().st_mtime_ns
    players.keep(player("bo"))
    players.forget(HERE[0], "secret")
    assert str(players.path) in (players.problem or "")
    assert (players.path.read_bytes(), players.path.stat().st_mtime_ns) == (content, written_at)
    players.path.rename(players.path.with_name("old.json"))
    players.keep(player("cy"))
    assert players.problem is None
    assert [known.name for known in players.on(HERE)] == ["cy"]


def test_one_waits_in_vain_only_once(players: KnownPlayers, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    lock = hold_lock(players.path)
    monkeypatch.setattr("tictactoe_client.files.writer.LOCK_SECONDS", 0.02)
    monkeypatch.setattr("tictactoe_client.files.writer.time.sleep", waits.append)
    players.keep(player("ana"))
    assert waits
    waits.clear()
    players.keep(player("bo"))
    assert not waits
    os.close(lock)


def test_unknown_fields_of_newer_versions_are_accepted(players: KnownPlayers) -> None:
    players.keep(player())
    content = json.loads(players.path.read_text())
    content["players"][0]["colour"], content["more"] = "red", 1
    players.path.write_text(json.dumps(content))
    assert players.find(HERE) is not None


THIRD_URL = "ws://third.example:8765"


def member(name: str = "ana", **changes: object) -> KnownPlayer:
    return player(name, others=(OTHER_URL, THIRD_URL), cluster="c7Qm2ZtXw9Ra", **changes)


def test_players_of_this_server_come_before_players_of_its_cluster(players: KnownPlayers) -> None:
    players.keep(player("bo", used_at=1, server=OTHER_URL, pid=GONE), member(used_at=2, pid=GONE))
    assert [found.name for found in players.on(ELSEWHERE)] == ["bo", "ana"]
    assert name_and_process(players.take(ELSEWHERE))[0] == "bo"


def test_a_seat_is_known_at_all_servers_of_the_cluster(players: KnownPlayers) -> None:
    players.keep(member(rooms=("AAAAAA",), used_at=1))
    players.keep(replace(member(rooms=("BBBBBB",), used_at=2), server=OTHER_URL, others=(URL,)))
    assert [found.rooms for found in players.on(ELSEWHERE)] == [("AAAAAA", "BBBBBB")]
    players.forget_rooms(ELSEWHERE, "token of ana", lambda room: room == "AAAAAA")
    assert [found.rooms for found in players.on(HERE)] == [("BBBBBB",)]


def test_a_player_forgotten_by_one_server_is_kept_for_the_others(players: KnownPlayers) -> None:
    players.keep(member(used_at=1))
    players.forget(OTHER_URL, "token of ana")
    assert players.find(ELSEWHERE) is None
    assert players.find((THIRD_URL,)) == players.find(HERE) == replace(member(used_at=1), others=(THIRD_URL,))


def test_only_players_of_the_named_cluster_are_claimed(players: KnownPlayers) -> None:
    players.keep(player("bo", used_at=2, pid=GONE), member(used_at=1, pid=GONE))
    assert players.find(HERE, cluster="another") is None
    assert players.take(HERE, cluster="another") is None
    assert name_and_process(players.take(HERE, cluster="c7Qm2ZtXw9Ra"))[0] == "ana"
