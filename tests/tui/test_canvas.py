"""What the canvas sends to a terminal: the changed cells at their places, and nothing else."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from textual._compositor import ChopsUpdate

from tests.tui.conftest import OpenScreen
from tictactoe_client.tui.canvas import Canvas, find_changes
from tictactoe_client.tui.picture import Picture
from tictactoe_client.tui.themes import THEMES, theme_named

WIDTH, HEIGHT = 24, 3
ROLES = ["", "dim", "title", "cursor", "mark0", "chosen", "qr"]


def draw(lines: list[list[tuple[str, str]]]) -> Picture:
    picture = Picture(WIDTH, HEIGHT)
    for y, parts in enumerate(lines):
        picture.put_parts(0, y, *parts)
    return picture


def apply(sequence: str, rows: list[list[str]]) -> None:
    """Write what a terminal is sent onto rows of single cells; a wide character leaves an empty one behind it."""
    x = y = 0
    for found in re.finditer(r"\x1b\[(\d+);(\d+)H|\x1b\[[\d;]*m|\r?\n|(.)", sequence):
        if found[1]:
            y, x = int(found[1]) - 1, int(found[2]) - 1
        elif found[3]:
            rows[y][x] = found[3]
            x += 1
            if found[3] == "日":
                rows[y][x] = ""
                x += 1


PARTS = st.lists(
    st.lists(st.tuples(st.text(st.sampled_from("ab 日"), max_size=6), st.sampled_from(ROLES)), max_size=5),
    min_size=HEIGHT,
    max_size=HEIGHT,
)


@given(PARTS, PARTS, st.sampled_from([*THEMES, None]))
def test_sending_the_changes_makes_one_picture_of_the_other(
    before: list[list[tuple[str, str]]], after: list[list[tuple[str, str]]], theme: str | None
) -> None:
    old, new = draw(before), draw(after)
    canvas = Canvas(theme_named(theme or "terminal", colour=theme is not None))
    canvas.show(new)
    spans = [
        (y, start, end)
        for y, (one, two) in enumerate(zip(old.rows, new.rows, strict=True))
        for start, end in find_changes(one, two)
    ]
    if not spans:
        return
    update = canvas.narrow(ChopsUpdate([], spans, []))
    sent = update.render_segments(Console(color_system="truecolor", force_terminal=True))
    rows = [[character for character, _ in row] for row in old.rows]
    apply(sent, rows)
    assert rows == [[character for character, _ in row] for row in new.rows]
    places = [tuple(map(int, place)) for place in re.findall(r"\x1b\[(\d+);(\d+)H", sent)]
    assert places == [(y + 1, start + 1) for y, start, _ in spans]


def test_a_change_outside_the_picture_is_left_to_the_library() -> None:
    update = ChopsUpdate([], [(5, 0, 4)], [])
    assert Canvas(theme_named("terminal", colour=True)).narrow(update) is update


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_every_line_of_the_screen_is_as_wide_as_the_window(
    open_screen: OpenScreen, size: tuple[int, int]
) -> None:
    async with open_screen("ws://127.0.0.1:1", size=size) as ana:
        await ana.until("Can't reach")
        assert {ana.app.canvas.render_line(y).cell_length for y in range(size[1])} == {size[0]}
