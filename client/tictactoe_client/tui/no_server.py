"""What a page says while there is no server: that one is called, or why there is none and what helps."""

from __future__ import annotations

from collections.abc import Callable

from tictactoe_client.exits import list_helps
from tictactoe_client.online.errors import Unreachable, VersionRefused
from tictactoe_client.session import Session
from tictactoe_client.tui.page import Part
from tictactoe_protocol import clean_text
from tictactoe_protocol.catalogue import say


def describe_no_server(link: Session, show: Callable[[str], str], *, offers_own: bool) -> list[Part]:
    """Return the lines with their roles; `show` writes the key of an action.

    With `offers_own` the page takes keys for a server of this run, and for the way back to the one before.
    """
    before = link.before if offers_own else None
    if link.failure is None:
        lines = [(say("connecting", url=link.address.url), "dim")]
        return [*lines, (say("home esc back", key=show("back"), url=before.url), "dim")] if before else lines
    helps = list_helps(link.failure)
    if offers_own and can_start_local(link):
        helps.insert(1, (say("home own server"), say("home press", key=show("local"))))
    if before is not None:
        helps.insert(0, (say("home back to", url=before.url), say("home press", key=show("back"))))
    if isinstance(link.failure, VersionRefused):
        helps.append((say("home version"), ""))
    lines = [(f"✗ {clean_text(link.failure.message)}", "bad"), ("", "")]
    for text, command in helps:
        lines += [(f"  {text}", ""), (f"    {command}", "key")]
    return [*lines, ("", ""), (f"  {say('home retries', key=show('retry' if offers_own else 'refresh'))}", "key")]


def can_start_local(link: Session) -> bool:
    """Tell whether a server of this run alone would help."""
    return isinstance(link.failure, Unreachable) and link.address.is_loopback
