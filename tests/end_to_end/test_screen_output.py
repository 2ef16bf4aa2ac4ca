import re

import pytest

from tests.end_to_end.clients import COMMAND
from tests.peer import open_peer
from tests.terminal import Terminal, run_screen
from tictactoe_server.server import Server

CURSOR_MOVE_BYTES = 200
OPPONENTS_MOVE_BYTES = 2000
QUIET_ZONE = 4
DOWN = "\x1b[B"

_STYLE = re.compile(r"\x1b\[([0-9;]*)m")
_COLOURS = frozenset({*range(30, 39), *range(40, 49), *range(90, 98), *range(100, 108)})


def colours_in(written: bytes) -> set[str]:
    """Return the style sequences for foreground and background colours; the text may end within a character."""
    sequences = set(_STYLE.findall(written.decode(errors="ignore")))
    return {each for each in sequences if _COLOURS.intersection(int(number) for number in each.split(";") if number)}


async def cost_of(screen: Terminal, deed: str, *shown: str) -> int:
    """Type keys, wait until they show, and return how many bytes were written for them."""
    before = len(screen.written)
    await screen.do(deed, *shown)
    return len(screen.written) - before


async def test_moves_of_the_cursor_and_of_the_opponent_cost_few_bytes(server: Server) -> None:
    async with (
        run_screen(*COMMAND, "new", "--rules", "gomoku", "-s", server.url, "-n", "ana") as screen,
        open_peer(server.url, "bo") as bo,
    ):
        await screen.shows("Waiting for another player")
        room = (await bo.ask("rooms"))["rooms"][0]["room"]
        await bo.ask("join", room=room)
        await screen.shows("Your move, X.")
        await screen.do("\x1b[C", "8  . . . . . . .[+]. . . . . . .")
        costs = [await cost_of(screen, "\x1b[C", f"8 {' .' * 7} +{' .' * column}[.]") for column in range(6)]
        assert min(costs) > 0
        # the library may still paint a screen as a whole that was opened a moment ago
        assert sorted(costs)[-2] < CURSOR_MOVE_BYTES
        costs = []
        for number, name in enumerate(("O1", "N3", "M5", "L7")):
            await screen.do(f"b{number + 2}\r", "It's bo's move.", f"X B{number + 2}")
            await bo.state(ply=2 * number + 1)
            before = len(screen.written)
            await bo.send("move", room=room, cell=2 * number * 15 + 14 - number, ply=2 * number + 1)
            await screen.shows("Your move, X.", f"O {name}")
            costs.append(len(screen.written) - before)
        assert min(costs) > 0
        assert max(costs) < OPPONENTS_MOVE_BYTES


async def tour(screen: Terminal, server: Server) -> None:
    await screen.shows("Playing as")
    pages = ("?", "Esc back"), ("s", "Settings")
    for keys, words in (*pages, (f"{DOWN * 2}\r", "friends come by code"), (f"{DOWN * 3}\r", "No public game is on")):
        screen.type(keys)
        await screen.shows(words, without="Find an opponent")  # a part of the page may be painted before the rest
        screen.type("\x1b")
        await screen.shows("Playing as", "Find an opponent", without=words)
    await screen.do("\x1b[A" * 5 + "\r", "Waiting for another player")
    async with open_peer(server.url, "bo") as bo, open_peer(server.url, "cy") as cy:
        room = (await bo.ask("match"))["room"]
        await cy.ask("watch", room=room)
        await cy.ask("chat", room=room, text="good luck")
        await screen.shows("Your move", "good luck")
        await screen.do("1", "It's bo's move")
        await bo.send("move", room=room, cell=4, ply=1)
        await bo.send("draw", room=room, action="offer")
        await screen.shows("offers a draw")
        await screen.do(":resign\r", "Enter")
        await screen.do("\r", "You lose")
        await screen.do("\x1b[D", "Move 1 of ")
    await screen.do("\x1b\x1b", "Find an opponent")


async def test_without_colour_there_is_none_on_any_page(server: Server) -> None:
    async with run_screen(*COMMAND, "-n", "ana", "-s", server.url, NO_COLOR="1") as screen:
        await tour(screen, server)
        screen.type("\x11")
        assert await screen.end() == 0
        assert colours_in(screen.written) == set()
    async with run_screen(*COMMAND, "-s", "ws://127.0.0.1:1", "--no-color") as screen:
        await screen.shows("Can't reach")
        screen.type("\x11")
        assert await screen.end() == 3
        assert colours_in(screen.written) == set()


@pytest.mark.parametrize("theme", ["terminal", "night", "contrast"])
async def test_the_picture_of_the_link_is_black_on_white_in_every_theme(server: Server, theme: str) -> None:
    async with run_screen(*COMMAND, "new", "-n", "ana", "-s", server.url, "--theme", theme) as screen:
        await screen.shows("Waiting for another player", "▀▀▀▀▀▀▀")
        rows = [
            [(x, cell.data) for x, cell in sorted(screen.screen.buffer[y].items()) if cell.bg == "ffffff"]
            for y in range(24)
        ]
        black = {screen.screen.buffer[y][x].fg for y, row in enumerate(rows) for x, _ in row}
        lines = ["".join(data for _, data in row) for row in rows if row]
        assert black == {"000000"}
        assert len({len(line) for line in lines}) == 1
        assert all(line.startswith(" " * QUIET_ZONE) and line.endswith(" " * QUIET_ZONE) for line in lines)
        for blank in (*lines[: QUIET_ZONE // 2], *lines[-QUIET_ZONE // 2 :]):
            assert blank.strip() == ""
        assert lines[QUIET_ZONE // 2].strip().startswith("█▀▀▀▀▀█")
