"""Which single letters place a mark on a board, so that the questions of the same letter want a slash. Pure."""

from __future__ import annotations

from tictactoe_engine import Keys, Rules, format_column, has_single_keys
from tictactoe_engine.notation import parse_column


def is_move_by_letter(line: str, rules: Rules, keys: Keys | str) -> bool:
    """Tell whether a line of one who plays is a move by its letter, or could be mistaken for one.

    With letters by their place on the keyboard each line counts that begins with a letter alone; where marks fall, the
    letter of a column that stands by itself.

    >>> four = Rules(6, 7, 4, gravity=True)
    >>> [is_move_by_letter(line, four, "phone") for line in ("d", "G", "h", "?", "d b2")]
    [True, True, False, False, False]
    """
    letter = line.split()[0]
    if not (len(letter) == 1 and letter.isascii() and letter.isalpha()):
        return False
    if has_single_keys(rules) and keys == Keys.LETTERS:
        return True
    return rules.gravity and letter == line and parse_column(letter) < rules.columns


def name_columns(rules: Rules) -> str:
    """Return the columns of a board by their first and last: ``A to G``."""
    last = format_column(rules.columns - 1)
    return "A" if last == "A" else f"A to {last}"
