"""The walks of `tests.walks` with real programs in real terminals, to an end that leaves the terminal as it was."""

from __future__ import annotations

from tests.end_to_end.clients import COMMAND
from tests.terminal import RESTORED, Terminal, run_screen
from tests.walks import TerminalWalker, play_a_friend, play_the_computer
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings


async def end_clean(terminal: Terminal) -> None:
    assert await terminal.end() == 0
    last = max(terminal.written.rindex(sequence) for sequence in RESTORED)
    assert terminal.written.rindex(RESTORED[0]) > terminal.written.rindex(b"\x1b[?1049h")
    assert b"Traceback" not in terminal.written[last:]


async def test_a_friend_joins_by_the_code_and_the_game_is_won(server: Server) -> None:
    async with (
        run_screen(*COMMAND, "-s", server.url, "-n", "ana") as ana,
        run_screen(*COMMAND, "-s", server.url, "-n", "bo") as bo,
    ):
        before = ana.attributes()
        await play_a_friend(TerminalWalker(ana), TerminalWalker(bo))
        for terminal in (bo, ana):
            await end_clean(terminal)
        assert ana.attributes() == before


async def test_the_computer_is_played_to_the_end_in_a_large_window() -> None:
    settings = Settings(host="127.0.0.1", port=0, bot_pause_seconds=0, bot_workers=1)
    async with Server(settings) as server, run_screen(*COMMAND, "-s", server.url, "-n", "ana") as ana:
        ana.resize(200, 50)
        await play_the_computer(TerminalWalker(ana))
        await end_clean(ana)
