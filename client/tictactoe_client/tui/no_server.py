"""Where no server answers: why that is, and what may help. Pure."""

from __future__ import annotations

from typing import Final

from tictactoe_client.online.errors import Unreachable, VersionRefused
from tictactoe_client.online.house import is_this_machine
from tictactoe_client.text.program import own_command, server_command
from tictactoe_client.tui.page import Desk
from tictactoe_client.tui.picture import Picture, measure, wrap
from tictactoe_protocol import clean_text

_SPACIOUS: Final = 40
"""In a window less wide words are fewer."""
_COMMANDS_AT: Final = 41
"""The column of the commands, where all of them have room beside what they are for."""


def paint_no_server(picture: Picture, desk: Desk, *, offers_own: bool) -> None:
    """Say why there is no server, and what helps; with `offers_own` the page takes a key for a server of this run."""
    failure = desk.link.failure
    if failure is None:
        return
    cross, bottom = "x" if desk.settings.ascii else "✗", picture.height - 2
    top = 3 if picture.height > 14 else 2
    lines = wrap(f"{cross} {clean_text(failure.message)}", picture.width - 6)[: bottom - top]
    for y, line in enumerate(lines, top):
        picture.put(3, y, line, "bad")
    y = top + len(lines) + (1 if picture.height > 14 else 0)
    helps = _list_helps(desk, picture.width, offers_own=offers_own)
    side_by_side = all(_COMMANDS_AT + measure(command) < picture.width for _, command in helps)
    for text, command in helps:
        left = 5 if side_by_side else 3
        rows = [(left, text, "")] if text else []
        rows += [(_COMMANDS_AT if side_by_side else 5, command, "key")]
        height = 1 if side_by_side else sum(bool(row[1]) for row in rows)
        if y + height > bottom or any(x + measure(part) >= picture.width for x, part, _ in rows):
            continue
        for number, (x, part, role) in enumerate(rows):
            picture.put(x, y + (0 if side_by_side else number), part, role)
        y += height
    if y + 1 < bottom:
        picture.put(5, y + 1, f"{desk.keymap.show('retry' if offers_own else 'refresh')} tries again", "dim")


def _list_helps(desk: Desk, width: int, *, offers_own: bool) -> list[tuple[str, str]]:
    """Return what helps, each with the command or the key that does it."""
    link, show = desk.link, desk.keymap.show
    helps = []
    if link.before is not None and offers_own:
        helps.append((f"Back to {link.before.url}:", f"press {show('back')}"))
    if isinstance(link.failure, Unreachable):
        if is_this_machine(link.address):
            running = "Is the server running?" if width >= _SPACIOUS else "Is it running?"
            helps.append((f"{running}  Start one:", server_command()))
        if offers_own and link.address.is_loopback:
            helps.append(("Or one for this run alone:", f"press {show('local')}"))
        if not is_this_machine(link.address):
            helps.append(("Play without any server:", own_command("bot")))
        helps.append(("Or point elsewhere:", own_command("-s", "wss://host")))
    elif isinstance(link.failure, VersionRefused):
        helps.append(("Nothing can be played there until then.", ""))
    return helps
