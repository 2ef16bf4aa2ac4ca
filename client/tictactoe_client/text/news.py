"""What a server says about itself to everybody: that it is about to go, and what its operator announces."""

from __future__ import annotations

from msgspec import UNSET

from tictactoe_client.text.wording import describe_seconds
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import Announcement, Notice


def describe_notice(notice: Notice) -> str:
    """Return what the server is about to do, and when, where it says so; safe to print."""
    is_final = notice.code == "stopping"
    if notice.in_ms is UNSET:
        return "The server is about to stop for good." if is_final else "The server is about to restart."
    deed = "stops for good" if is_final else "restarts"
    latest = "" if notice.in_ms is None else f", at the latest in {describe_seconds(max(0, notice.in_ms) / 1000)}"
    return f"No new games: the server {deed} when the running ones are over{latest}."


def describe_announcement(announcement: Announcement) -> str:
    """Return what the operator says to everybody; safe to print."""
    return f"The server says: {clean_text(announcement.text)}"
