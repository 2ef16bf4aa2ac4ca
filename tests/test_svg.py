"""Pictures of a screen: the same everywhere, with nothing that is loaded from elsewhere."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from tools.pictures import SIZES
from tools.svg import Cell, draw_screen

DOCS = Path(__file__).parents[1] / "docs"
INK, GROUND = "#eeeeee", "#101010"


def draw(text: str, ground: str = GROUND) -> str:
    return draw_screen([[Cell(letter, INK, ground) for letter in line] for line in text.split("\n")], GROUND, title="t")


def test_a_picture_is_xml_that_loads_nothing() -> None:
    picture = draw('<a & "b">')
    ElementTree.fromstring(picture)
    assert "url(" not in picture
    assert "href" not in picture
    assert picture.count("http") == 1  # the name of the language


def test_lines_blocks_and_braille_are_shapes() -> None:
    picture = draw("─┼╬▄▙░⣿╳")
    assert "<text" not in picture
    assert picture.count("<path") == 1


def test_the_pictures_of_the_documentation_are_those_that_the_command_makes_and_load_nothing() -> None:
    made = {f"{name}-{width}x{height}.svg" for name, sizes in SIZES.items() for width, height in sizes}
    files = {path.name: path.read_text(encoding="utf-8") for path in (DOCS / "pictures").iterdir()}
    shown = re.findall(r"\(pictures/(.*?)\)", (DOCS / "screens.md").read_text(encoding="utf-8"))
    assert set(files) == set(shown) == made
    for picture in files.values():
        assert not re.search(r"url\(|href|@import|/home/|/tmp/|127\.0", picture)
