import re
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.client.conftest import Program
from tests.client.states import state
from tictactoe_client.settings import Misuse, Settings
from tictactoe_engine import PRESETS, Position, Rules
from tictactoe_lab.brain import engine
from tictactoe_lab.brain.command import use_engine
from tictactoe_lab.brain.gomocup import Time, find_time, read_opening, say_board, say_opening, say_start
from tictactoe_lab.brain.serve import PBrain
from tictactoe_protocol.terms import ClockState, ClockTerms

GOMOKU = PRESETS["gomoku"]
SCRIPT = str(Path(__file__).with_name("guest_engine.py"))


@pytest.mark.parametrize(
    ("terms", "clock", "time"),
    [
        (None, None, Time(30_000, 0, 2**31 - 1, 35)),
        (ClockTerms(move_ms=10_000), ClockState({"X": 10_000}, "X"), Time(9_000, 0, 2**31 - 1, 9.5)),
        (ClockTerms(move_ms=10_000), ClockState({"X": 1_000}, "X"), Time(800, 0, 2**31 - 1, 0.9)),
        (
            ClockTerms(initial_ms=180_000, increment_ms=2_000),
            ClockState({"X": 101_000}, "X"),
            Time(10_000, 180_000, 100_000, 100.5),
        ),
        (
            ClockTerms(initial_ms=180_000, increment_ms=2_000),
            ClockState({"X": 5_000}, "X"),
            Time(2_000, 180_000, 4_000, 4.5),
        ),
        (
            ClockTerms(initial_ms=600_000, increment_ms=0),
            ClockState({"X": 600_000}, None, start_ms=20_000),
            Time(19_000, 600_000, 599_000, 19.5),
        ),
    ],
)
def test_time_is_the_clocks_minus_the_latency(terms: ClockTerms | None, clock: ClockState | None, time: Time) -> None:
    assert find_time(replace(state(rules=GOMOKU), time_control=terms, clock=clock), "X") == time


def test_a_board_is_sent_in_the_order_of_play_with_the_column_first() -> None:
    wide = Rules(6, 20, 5)
    assert (say_start(GOMOKU), say_start(wide)) == ("START 15", "RECTSTART 20,6")
    assert list(say_board(Position.start(wide))) == ["BEGIN"]
    played = Position.replay(wide, (43, 0, 19))
    assert list(say_board(played)) == ["BOARD", "3,2,2", "0,0,1", "19,0,2", "DONE"]
    assert list(say_board(played, (43, 0))) == ["TURN 19,0"]
    assert list(say_board(played, (43, 1))) == list(say_board(played))


async def test_an_engine_that_is_never_ready_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "START_SECONDS", 2.0)
    told: list[str] = []
    echo = engine.Engine(("cat",), 0, told.append)
    with pytest.raises(engine.EngineFailed, match="It has said nothing for 2 seconds"):
        await echo.set_up(GOMOKU)
    await echo.end()
    assert told[0] == "START 15"


@pytest.mark.parametrize(
    ("way", "why", "detail"),
    [
        ("dies", "It has ended.", "It ended with code 1. Its last words: no more ideas"),
        ("floods", "It prints too much.", ""),
        ("chatters", "It prints too much.", ""),
        ("off", "It answers 15,3, which is not possible here.", ""),
        ("taken", "It answers 7,8, which is not possible here.", ""),
        ("greedy", "It has ended.", "It ended with code 1. Its last words: MemoryError"),
        ("refuses", "It answered with an error.", "ERROR this is too hard"),
    ],
)
async def test_an_engine_that_cannot_play_on_fails_with_a_reason(way: str, why: str, detail: str) -> None:
    guest = engine.Engine((sys.executable, "-IS", SCRIPT, way), 600 * 2**20, lambda _: None)
    with pytest.raises(engine.EngineFailed) as failed:
        await guest.decide(Position.replay(GOMOKU, (112, 127)), Time(30_000, 0, 2**31 - 1, 20))
    await guest.end()
    assert (failed.value.message, failed.value.detail) == (why, detail)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("", "Give the command that starts the engine: tictactoe-client brain ./engine"),
        ("no-such-engine", "There is no program no-such-engine, or it cannot be run."),
        ("--serve cat", "Give the command of an engine, or --serve, not both."),
        ("cat --rules classic", "Engines cannot play this game."),
        ("cat --rules connect-four", "Engines cannot play this game."),
        ("cat --rules three-players", "Engines cannot play this game."),
        ("cat --memory 0", "0 is too small: 1 or more."),
    ],
)
def test_a_command_line_that_makes_no_sense_is_refused(program: Program, arguments: str, told: str) -> None:
    assert told in program.complaint("brain", *arguments.split())


async def test_a_memory_limit_is_refused_on_systems_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(Misuse, match="This system cannot limit a program's memory"):
        await use_engine(Settings(), ("cat",), None, None, None, 512, serve=False, level="perfect")


async def talk(*lines: str, level: str = "rules") -> list[str]:
    waiting, answers = iter(lines), list[str]()

    async def read() -> str | None:
        return next(waiting, None)

    await PBrain(level, read, answers.append).run()
    return answers


PLACED = Position.replay(PRESETS["gomoku-standard"], (112, 128, 144))
MORE_PLACED = PLACED.choose("more").play(0).play(1)


@pytest.mark.parametrize(
    ("position", "answer", "acts"),
    [
        (Position.start(PLACED.rules), "7,7 8,8 9,9", [112, 128, 144]),
        (Position.start(PLACED.rules).play(112), "7,7 8,8 9,9", [128, 144]),
        (PLACED, "SWAP", ["X"]),
        (PLACED, "0,0", ["O", 0]),
        (PLACED, "0,0 1,0", ["more", 0, 1]),
        (PLACED.choose("more").play(0), "0,0 1,0", [1]),
        (MORE_PLACED, "SWAP", ["X"]),
        (MORE_PLACED, "2,0", ["O", 2]),
        (MORE_PLACED, "2,0 3,0", []),
        (PLACED, "7,7", []),
        (PLACED, "0,0 1,0 2,0", []),
        (PLACED, "15,0", []),
        (Position.start(PLACED.rules), "SWAP", []),
    ],
)
def test_answers_in_an_opening_are_stones_and_choices(position: Position, answer: str, acts: list[int | str]) -> None:
    assert list(read_opening(answer, position).values()) == acts


def test_an_opening_is_sent_as_of_the_last_choice() -> None:
    told = {0: ["SWAP2BOARD", "DONE"], 3: ["SWAP2BOARD", "7,7", "8,8", "9,9", "DONE"]}
    assert list(say_opening(PLACED)) == told[3]
    assert list(say_opening(PLACED.at(2))) == told[0]
    assert list(say_opening(MORE_PLACED.at(4))) == told[3]
    assert list(say_opening(MORE_PLACED)) == [*told[3][:-1], "0,0", "1,0", "DONE"]


def board(stones: Iterable[str]) -> tuple[str, ...]:
    return ("BOARD", *stones, "DONE")


FOUR = tuple(f"{column},{row},{side}" for column in range(4) for side, row in ((1, 0), (2, 3)))


async def test_the_built_in_engine_continues_a_game() -> None:
    answers = await talk("START 20", "TURN 10,10", "ABOUT", "TAKEBACK 0,0", "RESTART", "BEGIN", "END", "BEGIN")
    assert [answers[0], answers[4]] == ["OK", "OK"]
    assert re.fullmatch(r"\d+,\d+", answers[1])
    assert re.fullmatch(r'name="tictactoe-rules", version="[\d.]+"', answers[2])
    assert answers[3].startswith("UNKNOWN")
    assert re.fullmatch("(9|10),(9|10)", "".join(answers[5:]))


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        (("START 33",), "ERROR A board has 1 to 32 rows, not 33."),
        (("START 4",), "ERROR A line of 5 can't fit a 4x4 board (at most 4)."),
        (("START",), "ERROR invalid size"),
        (("RECTSTART 20",), "ERROR invalid size"),
        (("START 15", "TURN 15,0"), "ERROR invalid cell"),
        (("START 15", "TURN 1,1", "TURN 1,1"), "ERROR B2 is taken by X."),
        (("START 15", *board(["1,1,3"])), "ERROR invalid stone"),
        (("START 15", *board(["1,1,2", "2,2,2"])), "ERROR not the engine's turn"),
        (("START 15", *board([*FOUR, "4,0,1", "9,9,2"])), "ERROR The game is over."),
        (
            ("START 15", *board([stone[:-1] + str(3 - int(stone[-1])) for stone in (*FOUR, "4,0,1")])),
            "ERROR the game is over",
        ),
        (("START 15", "INFO rule 4", "BEGIN"), "ERROR unsupported rule"),
        (("SUGGEST 1,1",), "UNKNOWN SUGGEST"),
    ],
)
async def test_the_built_in_engine_reports_invalid_commands(lines: tuple[str, ...], answer: str) -> None:
    assert (await talk(*lines))[-1] == answer


async def test_the_built_in_engine_plays_wide_boards_and_takes_back_moves() -> None:
    answers = await talk("RECTSTART 20,6", "TURN 19,5", "INFO nonsense 7", "INFO", "", "TAKEBACK 19,5")
    assert answers[0] == "OK"
    assert len(answers) == 3
    column, row = answers[1].split(",")
    assert (await talk("RECTSTART 20,6", f"TURN {column},{row}"))[0] == "OK"
