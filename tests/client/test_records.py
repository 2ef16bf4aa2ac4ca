from __future__ import annotations

from pathlib import Path

import pytest

from tictactoe_client.files.records import read_records, write_record
from tictactoe_client.settings import Misuse
from tictactoe_engine.records import GameRecord, parse_record

GAME = GameRecord(moves=(4, 0), players=(("X", "Zoë"),))


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    name = str(tmp_path / "game.txt")
    write_record(name, GAME)
    assert read_records(name) == (GAME,)
    assert "Zoë" in Path(name).read_text(encoding="utf-8")


def test_a_file_is_never_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "mine"
    file.write_text("mine")
    with pytest.raises(Misuse, match=r"mine exists already\. Nothing was overwritten\."):
        write_record(str(file), GAME)
    assert file.read_text() == "mine"


@pytest.mark.parametrize("text", ["# tictactoe\n\nHost rooms.\n", "hello", '{"type":"room"}'[1:]])
def test_a_file_that_begins_like_no_record_is_told_to_be_none(tmp_path: Path, text: str) -> None:
    file = tmp_path / "README.md"
    file.write_text(text)
    with pytest.raises(Misuse) as caught:
        read_records(str(file))
    told = 'is no game record: it begins with neither a tag such as [X "ana"] nor a move.'
    assert caught.value.message == f"{file} {told}"


def test_a_tilde_is_the_home_folder(home: Path) -> None:
    write_record("~/game.txt", GAME)
    assert parse_record((home / "game.txt").read_text(encoding="utf-8")) == GAME


@pytest.mark.parametrize(
    ("name", "reason"),
    [("no/such/folder", "no such file or directory"), ("null\0byte", "null byte"), ("", "no such file or directory")],
)
def test_what_cannot_be_written_is_told_in_one_line(here: Path, name: str, reason: str) -> None:
    with pytest.raises(Misuse) as caught:
        write_record(name, GAME)
    assert reason in caught.value.message or "exists already" in caught.value.message
    assert caught.value.message.isprintable()
    assert list(here.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "line", "column", "message"),
    [
        (b"1. b2 b2 *", 1, 7, "B2 is taken by X."),
        (b'[Rules "chess"]\n1. e4 *', 1, 9, "There are no rules named 'chess'."),
        (b"1. b2 a1\r\n2. c1\r\n3. zz *", 3, 1, "The next move belongs to '2...', not to '3.'."),
        (b"\xef\xbb\xbf1. b2 *\n\n1. a1", 3, 6, "The result is missing"),
        (b"1. a1 *\n{ \xc3\xa9 \xff }", 2, 5, "This byte is no UTF-8: 0xFF."),
        (b"", 1, 1, "There is no record here."),
        (b" \n ", 1, 1, "There is no record here."),
        (b"1. a1 \x1b *", 1, 7, "This cannot be printed: U+001B."),
        (b"\xef\xbb\xbf\xff", 1, 1, "This byte is no UTF-8: 0xFF."),
        ("\U00010000".encode() * 1_000_100 + b"*", 1, 1_000_001, "This is longer than 1000000 characters."),
        (b"x" * 4_100_000, 1, 1_000_001, "This is longer than 1000000 characters."),
    ],
)
def test_a_fault_is_told_with_its_place(tmp_path: Path, content: bytes, line: int, column: int, message: str) -> None:
    file = tmp_path / "game.txt"
    file.write_bytes(content)
    with pytest.raises(Misuse) as caught:
        read_records(str(file))
    assert caught.value.message.startswith(f"{file}, line {line}, column {column}: {message}")
    assert caught.value.message.isprintable()


def test_a_file_that_cannot_be_read_is_told_in_one_line(tmp_path: Path) -> None:
    for name in (str(tmp_path), str(tmp_path / "nothing"), "null\0byte"):
        with pytest.raises(Misuse, match=r"^Cannot read ") as caught:
            read_records(name)
        assert caught.value.message.isprintable()
