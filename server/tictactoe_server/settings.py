"""Everything an operator can choose, and the limits that a server keeps to, each in one value with its defaults."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tictactoe_protocol import DEFAULT_PORT

LogFormat = Literal["text", "json"]


@dataclass(frozen=True, slots=True)
class Settings:
    """How one server runs.

    `host` is None for all addresses, IPv4 and IPv6; port 0 picks a free one. `data` is the folder that keeps rooms and
    games, None to keep nothing.
    A seat is held for `hold_seconds` for a player whose connection dropped; then the others may claim the game.
    Bots wait `bot_pause_seconds` before they move, think for at most `bot_deadline_seconds`, and share `bot_workers`
    processes (None: one less than the cores, at least one).
    """

    host: str | None = None
    port: int = DEFAULT_PORT
    log_format: LogFormat = "text"
    log_level: str = "info"
    hold_seconds: float = 60.0
    bot_pause_seconds: float = 0.6
    bot_deadline_seconds: float = 1.0
    bot_workers: int | None = None
    data: Path | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """How long and how much a server puts up with. The defaults are for play; tests choose what they need not wait for.

    hello_seconds: how long a connection may stay without saying hello; a fifth of that later it is gone in any case.
    ping_seconds: how often each peer is asked whether it is there; one silent for three such times is gone.
    close_seconds: how long a peer may take to answer that the connection is closed.
    outbox_bytes: what may wait for a peer that does not read; past it only the newest state of each room is kept,
        and as much again of everything else.
    catch_up_seconds: how long a peer may stay past that before it is cut off.
    deserted_seconds: how long a room that no player is connected to is kept while it waits or its game is over.
    deserted_game_seconds: the same while a game is on.
    rooms: how many rooms there may be at once.
    """

    hello_seconds: float = 5.0
    ping_seconds: float = 4.8
    close_seconds: float = 2.0
    outbox_bytes: int = 256 * 1024
    catch_up_seconds: float = 5.0
    deserted_seconds: float = 600.0
    deserted_game_seconds: float = 3600.0
    rooms: int = 20_000
