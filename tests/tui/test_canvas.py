"""The canvas redraws the changed cells and little else."""

import pyte
from hypothesis import given
from hypothesis import strategies as st
from rich.color import Color, ColorType
from rich.console import Console
from rich.style import Style
from textual.geometry import Region

from tictactoe_client.tui.canvas import find_changes, join_styles, write_changes
from tictactoe_client.tui.picture import Picture

WIDTH, HEIGHT = 24, 3
LOOKS = ["default", "white", "bold blue", "bold", "red", "reverse", "black on white"]
LOOKS += ["#304050 on #000000", "#304050 on #111111", "color(48) on #303030", "color(48) on color(48)"]
ROLES = ["", "dim", "title", "cursor", "mark0", "chosen", "qr", "mark1", "mark2", "mark3", "grid"]
STYLES = {role: Style.parse("default on default") + Style.parse(look) for role, look in zip(ROLES, LOOKS, strict=True)}


def draw(lines: list[list[tuple[str, str]]]) -> Picture:
    picture = Picture(WIDTH, HEIGHT)
    for y, parts in enumerate(lines):
        picture.put_parts(0, y, *parts)
    return picture


def name_colour(colour: Color | None) -> str:
    """Return the colour as the emulated terminal names it: a standard colour's name or six hexadecimal digits."""
    if colour is None or colour.is_default:
        return "default"
    return colour.name if colour.type == ColorType.STANDARD else colour.get_truecolor().hex.removeprefix("#")


PARTS = st.lists(
    st.lists(st.tuples(st.text(st.sampled_from("ab 日"), max_size=6), st.sampled_from(ROLES)), max_size=5),
    min_size=HEIGHT,
    max_size=HEIGHT,
)


@given(PARTS, PARTS)
def test_a_terminal_shows_changes(before: list[list[tuple[str, str]]], after: list[list[tuple[str, str]]]) -> None:
    screen, console = pyte.Screen(WIDTH, HEIGHT), Console(color_system="truecolor")
    old, new = draw(before), draw(after)
    for one, other in ((Picture(WIDTH, HEIGHT), old), (old, new)):
        changed = [
            Region(start, y, end - start, 1)
            for y, rows in enumerate(zip(one.rows, other.rows, strict=True))
            for start, end in find_changes(*rows)
        ]
        pyte.Stream(screen).feed(join_styles(write_changes(other, changed, STYLES).render(console)))
    for y, row in enumerate(new.rows):
        for x, (character, role) in enumerate(row):
            shown, style = screen.buffer[y][x], STYLES[role]
            assert (shown.data, shown.reverse) == (character, bool(style.reverse))
            assert shown.bg == name_colour(style.bgcolor)
            if character not in ("", " "):
                assert (shown.fg, shown.bold) == (name_colour(style.color), bool(style.bold))


def test_changes_of_one_style_are_sent_together() -> None:
    old, new = Picture(WIDTH, 1), Picture(WIDTH, 1)
    for picture, mark in ((old, "X"), (new, "O")):
        picture.put_parts(0, 0, (mark, "mark0"), (" is to move ", ""), (mark, "mark0"))
    changed = [Region(start, 0, end - start, 1) for start, end in find_changes(old.rows[0], new.rows[0])]
    assert write_changes(new, changed, STYLES).text == "\x1b[1;1HO\x1b[14GO"
