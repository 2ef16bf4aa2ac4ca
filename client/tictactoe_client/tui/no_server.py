"""Where no server answers: why that is, and what may help. Pure."""

from __future__ import annotations

from tictactoe_client.errors import Unreachable, VersionRefused
from tictactoe_client.tui.page import Desk
from tictactoe_client.tui.picture import Picture, wrap
from tictactoe_protocol import clean_text


def paint_no_server(picture: Picture, desk: Desk, *, offers_own: bool) -> None:
    """Say why there is no server, and what helps; with `offers_own` the page takes a key for a server of this run."""
    link = desk.link
    failure = link.failure
    if failure is None:
        return
    cross = "x" if desk.settings.ascii else "✗"
    lines = wrap(f"{cross} {clean_text(failure.message)}", picture.width - 6)
    for number, line in enumerate(lines):
        picture.put(3, 3 + number, line, "bad")
    y = 4 + len(lines)
    helps: list[tuple[str, str]] = []
    if isinstance(failure, Unreachable):
        helps.append(("Is the server running?  Start one:", "tictactoe-server"))
        if offers_own and link.address.is_loopback:
            helps.append(("Or one for this run alone:", f"press {desk.keymap.show('local')}"))
        helps.append(("Or point elsewhere:", "tictactoe-client -s wss://host"))
    elif isinstance(failure, VersionRefused):
        helps.append(("Nothing can be played until then.", ""))
    for text, command in helps:
        picture.put_parts(5, y, (f"{text:<35} ", ""), (command, "key"))
        y += 1
    picture.put(5, y + 1, f"{desk.keymap.show('retry' if offers_own else 'refresh')} tries again", "dim")
