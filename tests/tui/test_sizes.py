import pytest

from tests.peer import open_peer
from tests.tui.conftest import AtHome, Game, OpenScreen, ScreenUser
from tictactoe_client.session import Session
from tictactoe_server.server import Server

LARGE = (200, 50)


def find(user: ScreenUser, words: str) -> tuple[int, int]:
    return next((line.index(words), y) for y, line in enumerate(user.text.splitlines()) if words in line)


async def test_a_click_is_found_on_the_stage(at_home: AtHome) -> None:
    async with at_home(size=LARGE) as ana:
        x, y = find(ana, "Invite a friend")
        await ana.click(3, y)
        assert len(ana.app.pages) == 1
        await ana.click(x, y)
        await ana.until("> Game")
        x, y = find(ana, "With")
        await ana.click(x, y)
        await ana.until("> With               computer, easy")


async def test_a_window_is_changed_again_and_again_during_a_game(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Session, "latency_ms", 1)
    async with game(size=(80, 24)) as (ana, bo, _):
        await ana.do("right", "┃    5    ┃")
        before = ana.text.splitlines()[1:]
        for size, words in (
            (LARGE, ["│         5         │", "│┏                 ┓│"]),
            ((100, 30), ["│┃    5    ┃│"]),
            ((80, 22), ["│┃  5  ┃│", "│┏     ┓│"]),
            ((60, 16), ["│ [5] │", "O  bo"]),
            ((40, 12), ["│ [5] │", "X ana  O bo", "? help"]),
            ((24, 8), ["[.]", "X ana  O bo", "? help"]),
            ((23, 8), ["24x8 needed, now 23x8"]),
            ((80, 7), ["24x8 needed, now 80x7"]),
            ((24, 8), ["[.]", "X ana  O bo", "? help"]),
            (LARGE, ["│┏                 ┓│"]),
        ):
            await ana.pilot.resize_terminal(*size)
            text = await ana.until(*words)
            assert [len(row) for row in ana.canvas.picture.rows] == [size[0]] * size[1], text
        await ana.pilot.resize_terminal(80, 24)
        await ana.until("┃    5    ┃")
        assert ana.text.splitlines()[1:] == before
        await ana.press("enter")
        assert (await bo.state(ply=1))["last"] == 4


PAGES = (
    ("", "> Find an opponent", "Ctrl+Q quit"),
    ("?", "Everywhere", "Esc back"),
    ("s", "> Theme", "Esc back"),
    ("w enter", "Private games", "Esc back"),
    ("y enter", "No finished game yet.", "Esc back"),
    ("i enter", "Enter open", "Esc cancel"),
)
"""The keys from the first page to each page, its title, and its key to leave."""
WAYS = ("Find an opponent", "Play the computer", "Invite a friend", "Join with a code", "Watch a game", "Your games")


@pytest.mark.parametrize(("size", "pages"), [((36, 10), PAGES[1:]), ((40, 14), PAGES), ((200, 50), PAGES)])
async def test_every_line_of_every_page_is_whole_at_any_size(
    server: Server, open_screen: OpenScreen, size: tuple[int, int], pages: tuple[tuple[str, str, str], ...]
) -> None:
    async with open_peer(server.url, "bo") as bo, open_screen(server.url, size=size) as ana:
        code = (await bo.ask("create", rules="gomoku"))["room"]
        await ana.until("Playing as  ana", "> Find an opponent")
        for keys, title, leave in pages:
            seen = await ana.do(keys, title)
            for _ in range(11):
                await ana.press("down")
                await ana.pilot.pause(0.05)
                seen += ana.text
            assert "…" not in seen, keys
            assert leave in ana.text.rstrip().splitlines()[-1]
            if keys:
                await ana.do("escape", "Playing as")
            else:
                assert "~" not in seen
                assert all(f"> {way}" in seen for way in (*WAYS, f"{code}  "))
