"""`tictactoe-client cup` as a program: killed and resumed, with misbehaving guests, and on a terminal."""

import asyncio
import json
import os
import select
import shlex
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.end_to_end.clients import COMMAND, run_client
from tests.terminal import run_screen
from tictactoe_engine.records import GameRecord, parse_records

SCRIPT = str(Path(__file__).parent / "guest_engine.py")
SMALL = ("--rules", "classic", "--bot", "easy", "--bot", "medium", "--bot", "hard", "--nodes", "200")


def engine(way: str, *files: Path) -> str:
    return f"{way}={shlex.join([sys.executable, '-IS', SCRIPT, way, *map(str, files)])}"


def read(path: Path) -> dict[str | None, GameRecord]:
    """Return the games in a file, none of them twice."""
    records = parse_records(path.read_text())
    assert len({record.round for record in records}) == len(records)
    return {record.round: replace(record, date=None) for record in records}


async def test_a_cup_that_is_killed_again_and_again_plays_each_game_once(tmp_path: Path) -> None:
    """It plays the same games as a run without kills."""
    path, whole, kept = tmp_path / "cup.txt", tmp_path / "whole.txt", 0
    for way in (signal.SIGKILL, signal.SIGINT, signal.SIGTERM):
        async with run_client("cup", *SMALL, "--rounds", "500", "--out", str(path), "--concurrency", "2") as cup:
            if kept:
                await cup.until(f"{path} already has {kept} games.")
            await cup.until(f"{kept + 3} of 3000")
            cup.process.send_signal(way)
            assert await cup.end() in (-way, 128 + way)
            if way != signal.SIGKILL:
                assert f"Run the same command to continue. The games so far are in {path}." in await cup.errors()
        kept = len(read(path))
        assert kept >= 3
    rounds = max(int(str(id).partition(".")[0]) for id in read(path))
    async with run_client("cup", *SMALL, "--rounds", f"{rounds}", "--out", str(path)) as cup:
        assert await cup.end() == 0
        table = cup.lines[-4:]
    async with run_client("cup", *SMALL, "--rounds", f"{rounds}", "--out", str(whole), "--quiet") as cup:
        assert await cup.end() == 0
        assert cup.lines == table
    assert read(path) == read(whole)
    assert len(read(path)) == 6 * rounds


@pytest.mark.parametrize(
    ("way", "reason", "why"),
    [
        ("dies", "resigned", "It has ended. It ended with code 1. Its last words: no more ideas"),
        ("silent", "timeout", "It has said nothing for a second."),
    ],
)
async def test_a_failing_engine_loses_and_the_cup_continues(tmp_path: Path, way: str, reason: str, why: str) -> None:
    seconds = "0.1" if way == "silent" else "5"  # under load, one second of output never reaches the limit
    options = ("--brain", engine(way), "--brain", engine("plays"), "--rounds", "1", "--move-seconds", seconds)
    async with run_client("cup", *options, "--concurrency", "2", "--out", str(tmp_path / "cup")) as cup:
        assert await cup.end() == 9
        assert await cup.errors() == ""
        assert {f"{way} (O) could not go on in 1.1.2. {why}", f"{way} (X) could not go on in 1.1.1. {why}"} <= {
            *cup.lines
        }
    for record in read(tmp_path / "cup").values():
        assert record.result is not None
        assert (record.result.reason, dict(record.players)[str(record.result.winner)]) == (reason, "plays")
        assert dict(record.tags)["Failed"] == why


async def test_an_engine_that_cannot_be_started_loses_and_the_others_play(tmp_path: Path) -> None:
    players = ("--bot", "medium", "--bot", "easy", "--brain", "false")
    options = (*players, "--rounds", "1", "--move-seconds", "0.1", "--json")
    async with run_client("cup", *options, "--out", str(tmp_path / "cup")) as cup:
        assert await cup.end() == 9
        *games, over, closed = map(json.loads, cup.lines)
    assert [game["type"] for game in games] == ["cup_game"] * 6
    lost = [game for game in games if game["failed"]]
    assert [game["failed"].split(". ")[0] for game in lost] == ["It has ended"] * 4
    assert all(game["players"][game["result"]] != "false" for game in lost)
    assert (over["type"], over["played"], over["games"]) == ("cup", 6, 6)
    assert [(row["name"], row["failed"]) for row in over["table"]][-1] == ("false", 4)
    assert over["table"][-1]["elo"] is None
    assert closed == {"from": "client", "type": "closed", "exit": 9}


async def test_engines_open_by_swap2_and_names_follow_the_side_they_take(tmp_path: Path) -> None:
    options = ("--rules", "gomoku-standard", "--brain", engine("swaps"), "--brain", engine("more"), "--rounds", "1")
    async with run_client("cup", *options, "--out", str(tmp_path / "cup"), "--move-seconds", "1") as cup:
        assert await cup.end() == 0
    games = read(tmp_path / "cup")
    assert games["1.1.1"].chosen == ("more", "X")
    assert dict(games["1.1.1"].players) == {"X": "swaps", "O": "more"}
    assert games["1.1.2"].chosen == ("X",)
    assert dict(games["1.1.2"].players) == {"X": "swaps", "O": "more"}
    assert games["1.1.1"].moves[:3] == games["1.1.2"].moves[:3]


async def test_a_test_ends_a_match_as_soon_as_it_is_decided(tmp_path: Path) -> None:
    options = ("--rules", "classic", "--bot", "hard", "--bot", "easy", "--nodes", "500", "--openings", "0")
    async with run_client("cup", *options, "--sprt", "0,600", "--out", str(tmp_path / "cup")) as cup:
        assert await cup.end() == 0
        assert cup.lines[-1].startswith("hard is better than easy by 600 Elo rather than by 0 (")
    played = len(read(tmp_path / "cup"))
    async with run_client("cup", *options, "--sprt", "0,600", "--out", str(tmp_path / "cup")) as cup:
        assert await cup.end() == 0
    assert len(read(tmp_path / "cup")) == played < 100


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up as Linux has them")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
async def test_no_engine_process_outlives_a_cup(tmp_path: Path, number: signal.Signals) -> None:
    """Neither an engine nor the computer, which would think for an hour."""
    held = tmp_path / "held"
    os.mkfifo(held)
    options = ("--bot", "perfect", "--brain", engine("silent", held), "--move-seconds", "3600", "--openings", "0")
    opened = asyncio.create_task(asyncio.to_thread(held.open, "rb"))
    async with run_client("cup", *options, "--out", str(tmp_path / "cup")) as cup:
        thinking = await asyncio.to_thread(find_bots, cup.process.pid)
        engine_has = await opened
        cup.process.send_signal(number)
        assert await cup.end() in (128 + number, -number)
        with engine_has:
            await asyncio.to_thread(engine_has.read)
        for bot in thinking:
            await asyncio.to_thread(select.select, [bot], [], [])
            os.close(bot)


def find_bots(parent: int) -> list[int]:
    """Wait for a bot of this cup; return a descriptor for each, readable once the process has ended."""
    while True:
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        bots = [int(pid) for pid in children if b"bot.py" in Path(f"/proc/{pid}/cmdline").read_bytes()]
        if bots:
            return [os.pidfd_open(pid) for pid in bots]
        time.sleep(0.01)


async def test_on_a_terminal_one_table_stays_in_its_place(tmp_path: Path) -> None:
    async with run_screen(*COMMAND, "cup", *SMALL, "--rounds", "1", "--out", str(tmp_path / "cup")) as screen:
        await screen.shows("of 6 games, about")
        assert await screen.end() == 0
        lines = [line for line in screen.text.split("\n") if line]
    assert len(lines) == 4
    assert lines[0].split()[:3] == ["Player", "Points", "Games"]
    assert {line.split()[1] for line in lines[1:]} == {"easy", "medium", "hard"}
    assert len(read(tmp_path / "cup")) == 6
