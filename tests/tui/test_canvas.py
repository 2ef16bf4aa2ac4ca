"""What the canvas paints anew: the changed cells at their places, and little else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tui.conftest import OpenScreen
from tictactoe_client.tui.canvas import find_changes
from tictactoe_client.tui.picture import Picture

WIDTH, HEIGHT = 24, 3
ROLES = ["", "dim", "title", "cursor", "mark0", "chosen", "qr"]


def draw(lines: list[list[tuple[str, str]]]) -> Picture:
    picture = Picture(WIDTH, HEIGHT)
    for y, parts in enumerate(lines):
        picture.put_parts(0, y, *parts)
    return picture


PARTS = st.lists(
    st.lists(st.tuples(st.text(st.sampled_from("ab 日"), max_size=6), st.sampled_from(ROLES)), max_size=5),
    min_size=HEIGHT,
    max_size=HEIGHT,
)


@given(PARTS, PARTS)
def test_the_changed_stretches_make_one_picture_of_the_other(
    before: list[list[tuple[str, str]]], after: list[list[tuple[str, str]]]
) -> None:
    old, new = draw(before), draw(after)
    for one, two in zip(old.rows, new.rows, strict=True):
        row = list(one)
        for start, end in find_changes(one, two):
            assert one[start:end] != two[start:end]
            assert two[start][0] != "", "a stretch begins with a whole character"
            row[start:end] = two[start:end]
        assert row == two


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_every_line_of_a_screen_is_as_wide_as_the_window(open_screen: OpenScreen, size: tuple[int, int]) -> None:
    async with open_screen("ws://127.0.0.1:1", size=size) as ana:
        await ana.until("Can't reach")
        strips = ana.app.screen._compositor.render_strips(ana.app.size)
        assert {strip.cell_length for strip in strips} == {size[0]}
