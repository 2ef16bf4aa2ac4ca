from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from msgspec import UNSET
from msgspec.structs import replace

from tests.client.states import players, seat, state
from tests.engine.random_records import game_records
from tictactoe_client.files.records import name_for, read_records, record_of, write_record
from tictactoe_client.settings import Misuse
from tictactoe_engine import PRESETS
from tictactoe_engine.records import (
    DayClock,
    GameRecord,
    GameResult,
    InvalidRecord,
    MoveClock,
    format_record,
    parse_record,
)
from tictactoe_protocol.pushes import Result, RoomState
from tictactoe_protocol.terms import ClockTerms, RulesState

GAME = GameRecord(moves=(4, 0), players=(("X", "Zoë"),))


def test_a_written_record_is_read_back(tmp_path: Path) -> None:
    name = str(tmp_path / "game.txt")
    write_record(name, GAME)
    assert read_records(name) == (GAME,)
    assert "Zoë" in Path(name).read_text(encoding="utf-8")


def test_a_file_is_never_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "mine"
    file.write_text("mine")
    with pytest.raises(Misuse, match=r"mine already exists\. Nothing was overwritten\."):
        write_record(str(file), GAME)
    assert file.read_text() == "mine"


@pytest.mark.parametrize("text", ["# tictactoe\n\nHost rooms.\n", "hello", '{"type":"room"}'[1:]])
def test_a_file_without_a_record_is_reported_as_such(tmp_path: Path, text: str) -> None:
    file = tmp_path / "README.md"
    file.write_text(text)
    with pytest.raises(Misuse) as caught:
        read_records(str(file))
    message = caught.value.message
    assert message.startswith(f"{file}, line 1, column 1: ")
    assert message.endswith(' A record is a text file as --export writes it: tags such as [X "ana"], then moves.')


def test_an_empty_file_is_no_record(tmp_path: Path) -> None:
    file = tmp_path / "empty"
    file.touch()
    with pytest.raises(Misuse, match=r"empty is not a game record\. A record is a text file"):
        read_records(str(file))


def test_a_tilde_is_the_home_folder(home: Path) -> None:
    write_record("~/game.txt", GAME)
    assert parse_record((home / "game.txt").read_text(encoding="utf-8")) == GAME


@pytest.mark.parametrize(
    ("name", "reason"),
    [("no/such/folder", "no such file or directory"), ("null\0byte", "null byte"), ("", "no such file or directory")],
)
def test_a_failed_write_is_reported_in_one_line(here: Path, name: str, reason: str) -> None:
    with pytest.raises(Misuse) as caught:
        write_record(name, GAME)
    assert reason in caught.value.message or "already exists" in caught.value.message
    assert caught.value.message.isprintable()
    assert list(here.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "line", "column", "message"),
    [
        (b"1. b2 b2 *", 1, 7, "B2 is taken by X."),
        (b"1. b2 a1\r\n2. c1\r\n3. zz *", 3, 1, "The next move belongs to '2...', not to '3.'."),
        (b"\xef\xbb\xbf1. b2 *\n\n1. a1", 3, 6, "The result is missing"),
        ("\U00010000".encode() * 1_000_100 + b"*", 1, 1_000_001, "This is longer than 1000000 characters."),
        (b"x" * 4_100_000, 1, 1_000_001, "This is longer than 1000000 characters."),
    ],
)
def test_a_record_error_is_reported_with_its_place(
    tmp_path: Path, content: bytes, line: int, column: int, message: str
) -> None:
    file = tmp_path / "game.txt"
    file.write_bytes(content)
    with pytest.raises(Misuse) as caught:
        read_records(str(file))
    assert caught.value.message.startswith(f"{file}, line {line}, column {column}: {message}")
    assert caught.value.message.isprintable()


def test_an_unreadable_record_file_is_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"1. a1 *\n{ \xe9 }")
    for name in (str(tmp_path), str(tmp_path / "nothing"), str(tmp_path / "latin"), "null\0byte"):
        with pytest.raises(Misuse, match=r"^Cannot read ") as caught:
            read_records(name)
        assert caught.value.message.isprintable()


NOW = datetime(2030, 12, 31, 18, 5, 7, 999, tzinfo=UTC)
THREE = PRESETS["three-players"]


def test_a_finished_game_is_recorded_with_all_that_its_state_tells() -> None:
    assert record_of(state([0, 3, 1, 4, 2], game=3), NOW) == GameRecord(
        moves=(0, 3, 1, 4, 2),
        result=GameResult("line", "X"),
        players=(("X", "ana"), ("O", "bo")),
        date="2030-12-31T18:05:07Z",
        room="K7M4PQ",
        game=3,
    )


def test_names_from_strangers_are_made_safe() -> None:
    seats = {**players(), "O": seat("p-bo", "b\u202eo\x07")}
    record = record_of(state([0, 3, 1, 4, 2], seats=seats), NOW)
    assert dict(record.players)["O"] == "bo"


@pytest.mark.parametrize(
    "moves", [(0, 3, 1, 4), (0, 3, 1, 4, 8), (), (0, 0), (99,), (0, 3, 1, 4, 2, 8), (-40,)], ids=str
)
def test_moves_of_another_game_are_refused(moves: tuple[int, ...]) -> None:
    with pytest.raises(InvalidRecord):
        record_of(replace(state([0, 3, 1, 4, 2]), moves=moves), NOW)


def over(record: GameRecord) -> RoomState:
    """Return a watcher's state at the end of a recorded game."""
    position, result = record.position, record.result
    out = {mark for _, mark in record.passed}
    clock = record.clock
    return replace(
        state(
            rules=record.rules,
            seats={mark: replace(seat("p-ana", "ana"), out=mark in out) for mark in record.rules.marks},
        ),
        board=position.board,
        ply=position.ply,
        moves=record.moves,
        rules=RulesState.of(record.rules),
        chosen=position.chosen or UNSET,
        result=None if result is None else Result(result.winner, result.reason),
        time_control=None
        if clock is None
        else ClockTerms(move_ms=clock.move_ms)
        if isinstance(clock, MoveClock)
        else ClockTerms(days=clock.days, bank_days=clock.bank_days)
        if isinstance(clock, DayClock)
        else ClockTerms(initial_ms=clock.initial_ms, increment_ms=clock.increment_ms),
    )


def test_passed_over_players_are_recorded_from_their_first_missed_turn() -> None:
    record = GameRecord(rules=THREE, moves=(0, 6, 24, 1), passed=((4, "A"),), result=GameResult("resigned", winner="O"))
    assert record_of(over(record), NOW).passed == ((4, "A"),)
    longer = GameRecord(rules=THREE, moves=(0, 6, 24, 1, 7, 2), passed=((4, "A"),))
    assert record_of(over(longer), NOW).passed == ((5, "A"),)


@given(game_records())
def test_every_game_can_be_saved_from_a_watchers_state(record: GameRecord) -> None:
    saved = record_of(over(record), NOW)
    assert (saved.moves, saved.result, saved.clock) == (record.moves, record.result, record.clock)
    assert {mark for _, mark in saved.passed} == {mark for _, mark in record.passed}
    assert saved.position.board == record.position.board
    assert parse_record(format_record(saved)) == saved


@pytest.mark.parametrize(
    ("room", "game", "name"),
    [
        ("K7M4PQ", 3, "tictactoe-K7M4PQ-3.txt"),
        ("K7M4PQ", None, "tictactoe-K7M4PQ.txt"),
        (None, 3, "tictactoe-game-3.txt"),
        (None, None, "tictactoe-game.txt"),
        ("../../home", 1, "tictactoe-game-1.txt"),
        ("/etc/passwd", None, "tictactoe-game.txt"),
        ("~root", None, "tictactoe-game.txt"),
    ],
)
def test_a_record_s_own_name_never_leads_out_of_the_folder(room: str | None, game: int | None, name: str) -> None:
    assert name_for(GameRecord(room=room, game=game)) == name


@pytest.mark.usefixtures("in_german")
def test_record_errors_are_translated(tmp_path: Path) -> None:
    path = tmp_path / "game.txt"
    formats = 'Eine Partie ist eine Textdatei, wie --export sie schreibt: Angaben wie [X "ana"], dann Züge.'
    for text, told in (
        ("1. b2 b2", f"{path}, Zeile 1, Spalte 7: B2 ist schon mit X besetzt."),
        ("1. b2 a1 2. c3", f"{path}, Zeile 1, Spalte 15: The result is missing: X, O, *, draw, none."),
    ):
        path.write_text(text)
        with pytest.raises(Misuse) as misuse:
            read_records(str(path))
        assert misuse.value.message == f"{told} {formats}"
