"""Everything an operator can choose, in one value, with the defaults that `--help` prints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tictactoe_protocol import DEFAULT_PORT
from tictactoe_protocol.pushes import RoomStatus

LogFormat = Literal["text", "json"]


@dataclass(frozen=True, slots=True)
class Settings:
    """How one server runs. `host` is None for all addresses, IPv4 and IPv6; port 0 picks a free one.

    Bots wait `bot_pause_seconds` before they move, think for at most `bot_deadline_seconds`, and share `bot_workers`
    processes (None: one less than the cores, at least one). A dropped player's seat is kept `hold_seconds`; a room that
    nobody is connected to ends after its `keep_…_seconds`.
    """

    host: str | None = None
    port: int = DEFAULT_PORT
    log_format: LogFormat = "text"
    log_level: str = "info"
    bot_pause_seconds: float = 0.6
    bot_deadline_seconds: float = 1.0
    bot_workers: int | None = None
    hold_seconds: float = 60.0
    keep_waiting_seconds: float = 600.0
    keep_playing_seconds: float = 3600.0
    keep_over_seconds: float = 600.0

    @property
    def keep_seconds(self) -> dict[RoomStatus, float]:
        """How long a room is kept that nobody is connected to, by its status."""
        return {
            "waiting": self.keep_waiting_seconds,
            "playing": self.keep_playing_seconds,
            "over": self.keep_over_seconds,
        }
