"""The lines at the foot of a room, fitted to the window: what is asked, the status, and the keys. Pure.

Long texts take more than one line where there are lines to be had, and are cut between words where there are not; of
the keys whole items go, never half a one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tictactoe_client.tui.picture import fold, measure, shorten

Text = tuple[str, str]
"""A text and its role."""

_HELP = re.compile(r"\S+ help")


@dataclass(frozen=True, slots=True)
class Foot:
    """The lines above the keys, from the top: those of the banner, then those of the status; `beside` at its right.

    `notes` is how many of the notes have their place among them.
    """

    banner: tuple[Text, ...]
    status: tuple[Text, ...]
    beside: Text = ("", "")
    notes: int = 0

    @property
    def height(self) -> int:
        """How many lines it takes; the banner keeps its line also when there is none."""
        return max(2, len(self.banner) + len(self.status))


def arrange_foot(
    banner: Text | None,
    status: Text,
    width: int,
    rows: int,
    *,
    beside: Text = ("", ""),
    may_drop: bool = False,
    notes: Sequence[Text] = (),
    over_banner: bool = False,
    above_status: bool = False,
) -> Foot:
    """Return the lines for a foot of at most `rows` lines, two or more, with `beside` right of the status.

    The banner has the first claim to what is left over, as it is what waits for an answer. `may_drop` leaves `beside`
    out where the status has no room next to it. Then come `notes`, one after the other as long as they find room, under
    the status or with `above_status` above it; with `over_banner` the first of them goes before the banner.
    """
    reserved = 1 if notes and over_banner else 0
    room = rows - 1 - reserved
    banner_lines = fold(banner[0], width, max(1, room)) if banner is not None and (room or not reserved) else []
    taken = measure(beside[0]) + 2 if beside[0] else 0
    if may_drop and measure(status[0]) > width - taken:
        beside, taken = ("", ""), 0
    status_lines = fold(status[0], width - taken, max(1, rows - len(banner_lines) - reserved))
    told, count = _place_notes(notes, width - taken, rows - len(banner_lines) - len(status_lines))
    lines = tuple((line, status[1]) for line in status_lines)
    role = banner[1] if banner is not None else ""
    whole = (*told, *lines) if above_status else (*lines, *told)
    return Foot(tuple((line, role) for line in banner_lines), whole, beside, count)


def _place_notes(notes: Sequence[Text], width: int, rows: int) -> tuple[tuple[Text, ...], int]:
    """Return the lines of as many notes as find room, the first one cut where it must be, and how many they are."""
    told: list[Text] = []
    for count, (text, role) in enumerate(notes):
        left = rows - len(told)
        if left < 1 or (count and len(fold(text, width, left + 1)) > left):
            return tuple(told), count
        told += [(line, role) for line in fold(text, width, left)]
    return tuple(told), len(notes)


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
