"""Everything an operator can choose, in one value, with the defaults that `--help` prints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tictactoe_protocol import DEFAULT_PORT

LogFormat = Literal["text", "json"]


@dataclass(frozen=True, slots=True)
class Settings:
    """How one server runs. `host` is None for all addresses, IPv4 and IPv6; port 0 picks a free one.

    Bots wait `bot_pause_seconds` before they move, think for at most `bot_deadline_seconds`, and share `bot_workers`
    processes (None: one less than the cores, at least one).
    """

    host: str | None = None
    port: int = DEFAULT_PORT
    log_format: LogFormat = "text"
    log_level: str = "info"
    bot_pause_seconds: float = 0.6
    bot_deadline_seconds: float = 1.0
    bot_workers: int | None = None
