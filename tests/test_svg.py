"""Pictures of a screen: the same everywhere, with nothing that is loaded from elsewhere."""

from __future__ import annotations

from xml.etree import ElementTree

from tools.svg import HEIGHT, WIDTH, Cell, draw_screen

INK, GROUND = "#eeeeee", "#101010"


def draw(text: str, ground: str = GROUND) -> str:
    return draw_screen([[Cell(letter, INK, ground) for letter in line] for line in text.split("\n")], GROUND, title="t")


def test_a_picture_is_xml_that_loads_nothing() -> None:
    picture = draw('<a & "b">')
    ElementTree.fromstring(picture)
    assert "url(" not in picture
    assert "href" not in picture
    assert picture.count("http") == 1  # the name of the language


def test_letters_stand_each_in_its_cell_and_what_is_empty_is_not_drawn() -> None:
    assert f'x="{0.5 * WIDTH:g} {2.5 * WIDTH:g}" fill="{INK}">ab</text>' in draw("a b")


def test_lines_blocks_and_braille_are_shapes() -> None:
    picture = draw("─┼╬▄▙░⣿╳")
    assert "<text" not in picture
    assert picture.count("<path") == 1


def test_cells_of_one_ground_are_one_rectangle() -> None:
    assert f'width="{3 * WIDTH}" height="{HEIGHT}" fill="#202020"' in draw("abc", "#202020")
