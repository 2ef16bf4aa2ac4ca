"""The full screen asks its terminal whether it is light or dark, and never takes the answer for keys."""

import asyncio
import signal
import sys

import pytest

from tests.end_to_end.clients import COMMAND
from tests.peer import PATIENCE_SECONDS
from tests.terminal import ENTERED, Terminal, run_screen
from tictactoe_server.server import Server

QUESTION, KIND_QUESTION = b"\x1b]11;?\x1b\\", b"\x1b[c"
KIND = "\x1b[?62;22c"
PAPER, NIGHT = b"48;2;247;243;232", b"48;2;27;31;39"
COLOURS = {"COLORTERM": "truecolor"}


def waiting(*names: str) -> tuple[str, ...]:
    """Return the command with these waiting times, constants of the program, so long that they never end."""
    program = (
        "from tictactoe_client.streams import terminal\n"
        f"vars(terminal).update(dict.fromkeys({names}, 3600))\n"
        "from tictactoe_client.cli.main import main\n"
        "main()\n"
    )
    return (sys.executable, "-c", program)


UNTIL_ANSWERED = waiting("_ANSWER_SECONDS")
HOWEVER_LATE = waiting("_LATEST_SECONDS")


async def asked(screen: Terminal) -> None:
    while KIND_QUESTION not in screen.written:
        await screen.read()
    before, _, _ = screen.written.partition(KIND_QUESTION)
    assert QUESTION in before
    assert ENTERED not in before


@pytest.mark.parametrize(
    ("answer", "ground", "other"),
    [
        ("\x1b]11;rgb:ffff/ffff/ffff\x1b\\", PAPER, NIGHT),
        ("\x1b]11;rgba:fdfd/f6f6/e3e3/ffff\x07", PAPER, NIGHT),
        ("\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\", NIGHT, PAPER),
        ("\x1b]11;no such colour\x07", NIGHT, PAPER),
        ("", NIGHT, PAPER),
    ],
)
async def test_the_theme_follows_the_terminals_answer(server: Server, answer: str, ground: bytes, other: bytes) -> None:
    async with run_screen(*UNTIL_ANSWERED, "-s", server.url, **COLOURS) as screen:
        await asked(screen)
        await screen.do(answer + KIND, "Playing as", "Find an opponent")
        assert ground in screen.written
        assert other not in screen.written


async def test_the_terminals_answer_overrides_the_environment(server: Server) -> None:
    async with run_screen(*UNTIL_ANSWERED, "-s", server.url, **COLOURS, COLORFGBG="15;0") as screen:
        await asked(screen)
        await screen.do("\x1b]11;rgb:ffff/ffff/ffff\x1b\\" + KIND, "Playing as")
        assert NIGHT not in screen.written


async def test_a_terminal_that_never_answers_is_not_waited_for(server: Server) -> None:
    async with run_screen(*COMMAND, "-s", server.url, **COLOURS) as screen:
        await screen.shows("Playing as")
        assert NIGHT in screen.written
        await screen.do("?", "Everywhere")


@pytest.mark.parametrize(
    "answer",
    [
        "\x1b]11;rgb:ffff/ffff/ffff\x1b\\",
        "\x1b]11;rgba:ffff/ffff/ffff/ffff\x07",
    ],
)
@pytest.mark.parametrize("kind", [KIND, ""], ids=["kind", "no kind"])
async def test_a_late_answer_changes_the_colours_and_types_nothing(server: Server, answer: str, kind: str) -> None:
    async with run_screen(*HOWEVER_LATE, "play", "-n", "ana", "-s", server.url, **COLOURS) as screen:
        await screen.shows("Waiting for")
        assert PAPER not in screen.written
        await screen.do(":", "Esc back")
        screen.type(answer + kind)
        while PAPER not in screen.written:
            await screen.read()
        screen.type("hey [1] ^")
        screen.type("]")
        await screen.do("2", ":hey [1] ^]2")


async def test_an_answer_that_comes_in_pieces_while_one_types_takes_no_key_along(server: Server) -> None:
    async with run_screen(*HOWEVER_LATE, "play", "-n", "ana", "-s", server.url, **COLOURS) as screen:
        await asked(screen)
        await screen.do("\x1b]11;rgb:ff", "Waiting for")
        screen.type("ff/ffff/ffff\x1b\\" + KIND)
        while PAPER not in screen.written:
            await screen.read()
        await screen.do(":hey", ":hey")


async def test_keys_typed_before_the_terminals_answer_are_handled(server: Server) -> None:
    async with run_screen(*UNTIL_ANSWERED, "-s", server.url, **COLOURS) as screen:
        await asked(screen)
        await screen.do("\x1b[A?\x1b]11;rgb:ffff/ffff/ffff\x1b\\" + KIND, "Everywhere", "Ctrl+L  draws the screen anew")


@pytest.mark.parametrize("options", [("--theme", "night"), ("--no-color",)])
async def test_a_terminal_whose_ground_decides_nothing_is_not_asked(server: Server, options: tuple[str, ...]) -> None:
    async with run_screen(*COMMAND, "-s", server.url, *options, **COLOURS) as screen:
        await screen.shows("Playing as")
        assert QUESTION not in screen.written


@pytest.mark.parametrize("ends_early", [False, True])
async def test_the_terminal_is_left_as_it_was_wherever_the_program_ends(server: Server, *, ends_early: bool) -> None:
    async with run_screen(*COMMAND, "-s", server.url, **COLOURS) as screen:
        await asked(screen)
        if not ends_early:
            await screen.shows("Playing as")
            assert screen.attributes() != screen.before
        screen.process.send_signal(signal.SIGTERM)
        assert await screen.end() == 143
        assert screen.attributes() == screen.before


async def test_a_terminal_closed_before_its_answer_is_no_bug(server: Server) -> None:
    async with run_screen(*UNTIL_ANSWERED, "-s", server.url, **COLOURS) as screen:
        await asked(screen)
        screen.close()
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert await screen.process.wait() == 129
