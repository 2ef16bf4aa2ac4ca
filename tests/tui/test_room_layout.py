"""The layout of a room in windows of every size: nothing overlaps or is cut, and the essentials are visible."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.peer import Peer, open_peer
from tests.tui.conftest import OpenScreen, ScreenUser
from tictactoe_client.board.grid import BoardStyle
from tictactoe_client.input.ways import Choice
from tictactoe_client.tui.picture import Picture, measure
from tictactoe_client.tui.room.picture import LEFT, MIN_WIDTH, lay_out_room, needed_for_room
from tictactoe_engine import PRESETS, Rules
from tictactoe_server.server import Server

BOARDS = {
    "1x2": Rules(1, 2, 2),
    "3x3": PRESETS["classic"],
    "6x7": PRESETS["connect-four"],
    "15x15": PRESETS["gomoku"],
    "32x32": Rules(32, 32, 5),
}
SIZES = [(width, height) for width in (20, 25, 36, 56, 60, 80, 120, 200) for height in (5, 7, 9, 11, 16, 24, 30, 60)]
STATUS = "B2 is taken by O. Free: A1 B1 C1 A2 C2 A3 B3 C3 D3."
LONG_NAME = "Bartholomäus-von-Übersee"


class StrictPicture(Picture):
    """A picture that records overlaps and text cut off at its edges."""

    def __init__(self, width: int, height: int) -> None:
        super().__init__(width, height)
        self.faults: list[str] = []

    def put(self, x: int, y: int, text: str, role: str = "", *, until: int | None = None) -> int:
        if text.strip() and not 0 <= y < self.height:
            self.faults.append(f"{text!r} in line {y}")
        for place, character in enumerate(text, x):
            if character != " " and 0 <= y < self.height and 0 <= place < self.width:
                before = self.rows[y][place][0]
                if before != " ":
                    self.faults.append(f"{text!r} over {before!r} at {place}, {y}")
                    break
        end = super().put(x, y, text, role, until=until)
        if 0 <= y < self.height and end < x + measure(text.rstrip()):
            self.faults.append(f"{text!r} cut at {end}, {y}")
        return end


def draw(user: ScreenUser, size: tuple[int, int], status: str | None = None) -> StrictPicture | None:
    """Draw the page for a window of this size; return None if the window is too small."""
    view = user.canvas
    if size[0] < view.needed_size()[0] or size[1] < view.needed_size()[1]:
        return None
    stage = view.place(*size)
    picture = StrictPicture(stage.width, stage.height)
    view.draw_room(picture, (status, "warn") if status else None)
    return picture


async def begin(ana: ScreenUser, bo: Peer) -> None:
    await ana.until("Waiting for another player")
    code = ana.code
    await bo.ask("join", room=code)
    await bo.ask("chat", room=code, text="a longer thing to say " * 6)
    await ana.until("Your move", "thing to say")
    await ana.press("f9")


@pytest.mark.parametrize("name", BOARDS)
@pytest.mark.parametrize("ascii", [False, True])
async def test_each_size_shows_essentials(server: Server, open_screen: OpenScreen, name: str, *, ascii: bool) -> None:
    rules = BOARDS[name]
    choice = Choice("create", rules)
    async with (
        open_screen(server.url, choice, ascii=ascii, colour=not ascii, size=(200, 50)) as ana,
        open_peer(server.url, LONG_NAME) as bo,
    ):
        await begin(ana, bo)
        for moved in (False, True):
            if moved:
                await ana.press("down", "right")
            for size in SIZES:
                for status in (None, STATUS):
                    picture = draw(ana, size, status)
                    if picture is None:
                        continue
                    lines = picture.lines()
                    shown = f"{size}\n" + "\n".join(lines)
                    assert not picture.faults, f"{picture.faults} {shown}"
                    assert re.search(r"\S help$|\S+ leave$", lines[-1]), shown
                    foot = "\n".join(lines[-8:])
                    assert ("B2 is taken by O." if status else "Your move, X.") in foot, shown
                    assert status or "move: _" in lines[-2], shown
                    assert re.search(r"^ +1 ", "\n".join(lines), re.MULTILINE) or rules.rows > 3, shown
                    assert re.search(r"^ +[+└]?[-─]*[A-Z]([ ┴+─-]+[A-Z])+", "\n".join(lines), re.MULTILINE), shown
                    assert "ana" in shown, shown


async def test_the_end_fits_at_every_size(server: Server, open_screen: OpenScreen) -> None:
    async with open_screen(server.url, Choice("create")) as ana, open_peer(server.url, LONG_NAME) as bo:
        await begin(ana, bo)
        code = ana.app.pages[-1].room.code
        await ana.press("1")
        await bo.state(ply=1)
        await bo.ask("move", room=code, cell=4, ply=1)
        await ana.until("Your move")
        await ana.press(":", *"resign", "enter", "enter")
        await ana.until("Esc home", "You lose")
        await bo.ask("rematch", room=code)
        await ana.until("wants a rematch")
        check_fit(ana, "You lose")


def check_fit(user: ScreenUser, status: str) -> None:
    for size in SIZES:
        picture = draw(user, size)
        if picture is not None:
            shown = f"{size}\n" + "\n".join(picture.lines())
            assert not picture.faults, f"{picture.faults} {shown}"
            assert status.split(" ")[0] in shown, shown
            assert picture.lines()[-1].strip(), shown
            assert picture.lines()[-2].strip(), shown


@pytest.mark.parametrize("colour", [False, True])
async def test_an_invitation_is_whole_at_every_size(server: Server, open_screen: OpenScreen, *, colour: bool) -> None:
    async with open_screen(server.url, Choice("create"), colour=colour, size=(200, 50)) as ana:
        await ana.until("Waiting for another player")
        link = re.search(r"Link   (\S+)", ana.text)
        assert link is not None
        for size in SIZES:
            picture = draw(ana, size)
            if picture is not None:
                shown = "\n".join(picture.lines())
                assert not picture.faults, f"{picture.faults} {shown}"
                assert f"Code   {link[1][-6:]}" in shown
                assert link[1] in re.sub(r"\s", "", shown)
                assert "Waiting for" in shown
                assert picture.lines()[-1].endswith("help")


@given(
    st.tuples(st.integers(1, 32), st.integers(1, 32)).filter(lambda sides: max(sides) > 1),
    st.integers(24, 200),
    st.integers(6, 60),
)
def test_every_board_fits_on_its_stage(sides: tuple[int, int], width: int, height: int) -> None:
    rules = Rules(*sides, max(2, min(sides)))
    least = needed_for_room(rules)
    size = max(width, least[0]), max(height, least[1])
    layout = lay_out_room(rules, BoardStyle(), *size)
    assert layout.width <= size[0]
    assert layout.height <= size[1]
    assert LEFT + layout.grid.width <= layout.width
    assert layout.top + layout.grid.height <= layout.height - 3
    if layout.panel is not None:
        assert layout.width - layout.panel - 1 >= MIN_WIDTH
    if size[0] <= 80 and size[1] <= 24:
        assert (layout.width, layout.height) == size
