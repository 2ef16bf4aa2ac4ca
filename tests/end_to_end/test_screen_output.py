import pytest

from tests.end_to_end.clients import COMMAND
from tests.peer import open_peer
from tests.terminal import Terminal, run_screen
from tictactoe_server.server import Server

CURSOR_MOVE_BYTES = 200
OPPONENTS_MOVE_BYTES = 2000
QUIET_ZONE = 4


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
