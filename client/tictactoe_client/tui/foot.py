"""The lines at the foot of a room, fitted to the window: what is asked, the status, and the keys. Pure.

Long texts take more than one line where there are lines to be had, and are cut between words where there are not; of
the keys whole items go, never half a one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tictactoe_client.tui.picture import fold, measure, shorten

Text = tuple[str, str]
"""A text and its role."""

_HELP = re.compile(r"\S+ help")


@dataclass(frozen=True, slots=True)
class Foot:
    """The lines above the keys, from the top: those of the banner, then those of the status; `beside` at its right."""

    banner: tuple[Text, ...]
    status: tuple[Text, ...]
    beside: Text = ("", "")

    @property
    def height(self) -> int:
        """How many lines it takes; the banner keeps its line also when there is none."""
        return max(2, len(self.banner) + len(self.status))


def arrange_foot(
    banner: Text | None, status: Text, width: int, rows: int, *, beside: Text = ("", ""), may_drop: bool = False
) -> Foot:
    """Return the lines for a foot of at most `rows` lines, two or more, with `beside` right of the status.

    The banner has the first claim to what is left over, as it is what waits for an answer. `may_drop` leaves `beside`
    out where the status has no room next to it.
    """
    banner_lines = fold(banner[0], width, max(1, rows - 1)) if banner is not None else []
    taken = measure(beside[0]) + 2 if beside[0] else 0
    if may_drop and measure(status[0]) > width - taken:
        beside, taken = ("", ""), 0
    status_lines = fold(status[0], width - taken, max(1, rows - len(banner_lines)))
    role = banner[1] if banner is not None else ""
    return Foot(tuple((line, role) for line in banner_lines), tuple((line, status[1]) for line in status_lines), beside)


def fit_keys(text: str, width: int) -> str:
    """Return the names of keys, two spaces apart, that fit: items go from the right, but help, else the last, stays.

    An item that would leave no room for another goes first.

    >>> fit_keys("r refresh  ? help  t theme  Ctrl+Q quit", 22)
    'r refresh  ? help'
    >>> fit_keys("r refresh  ? help  t theme", 10)
    '? help'
    """
    if measure(text) <= width:
        return text
    items = [item for item in re.split(" {2,}", text.strip()) if item]
    kept = next((item for item in items if _HELP.fullmatch(item)), items[-1])
    items = [item for item in items if item == kept or measure(f"{item}  {kept}") <= width]
    while len(items) > 1 and measure("  ".join(items)) > width:
        del items[-1 if items[-1] != kept else -2]
    return shorten("  ".join(items), width)
