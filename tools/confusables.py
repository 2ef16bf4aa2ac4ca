"""Make the table of similar characters for comparing names.

``python -m tools.confusables`` writes `tictactoe_server/people/confusables.txt` from Unicode's file of that name (UTS
#39), as packaged in ``confusable-homoglyphs`` 3.3.1, which only this program needs. It keeps characters that may be in
a name, are unchanged by decomposition (NFKD), and resemble one other character or, unless they are plain letters or
digits, a sequence: ``rn`` stays apart from ``m``.
"""

import unicodedata
from collections import defaultdict
from importlib import import_module
from textwrap import fill
from typing import Final

from tictactoe_protocol import BadName, parse_name
from tictactoe_server.people.confusables import TABLE

WIDTH: Final = 110
_LEFT_TO_RIGHT: Final = "\u200e"
"""The package puts this mark around characters that are written from right to left."""


def read_confusables() -> dict[str, list[str]]:
    """Return the characters that each character can be confused with, in both directions."""
    found = import_module("confusable_homoglyphs.confusables").confusables_data
    return {
        text.replace(_LEFT_TO_RIGHT, ""): [one["c"].replace(_LEFT_TO_RIGHT, "") for one in others]
        for text, others in found.items()
    }


def gather(confusables: dict[str, list[str]]) -> dict[str, str]:
    """Return the representative of each similar character; a representative may have many."""
    groups: defaultdict[str, str] = defaultdict(str)
    for character, others in sorted(confusables.items()):
        if len(character) != 1 or len(others) != 1 or unicodedata.normalize("NFKD", character) != character:
            continue
        other = others[0] if len(confusables[others[0]]) > 1 else min(character, others[0])
        target = unicodedata.normalize("NFKD", other)
        if target == character or " " in target or (character.isascii() and len(target) > 1):
            continue
        if can_be_in_name(character):
            groups[target] += character
    return groups


def can_be_in_name(character: str) -> bool:
    """Return whether a name can contain a character."""
    try:
        return character in parse_name(f"a{character}a")
    except BadName:
        return False


def main() -> None:
    """Write the table."""
    groups = [f"{characters}:{target}" for target, characters in sorted(gather(read_confusables()).items())]
    lines = fill(" ".join(groups), WIDTH, break_long_words=False, break_on_hyphens=False)
    TABLE.write_text(f"{lines}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
