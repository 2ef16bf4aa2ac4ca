"""What a run of the client was told: one frozen value, made from options and environment, read by every face."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final, Literal

from tictactoe_client.online.backoff import Backoff
from tictactoe_engine import Coordinates, Keys

Mode = Literal["plain", "json", "screen"]
Bell = Literal["off", "away", "always"]

WAITING_LINE_SECONDS: Final = 30.0
"""After how long plain mode first says that it still waits; `plain.reminders` says how it goes on."""

LEAVING_SECONDS: Final = 5.0
"""How long a player stays after the input ended."""


class ExitCode(IntEnum):
    """What the exit code says; `docs/client.md` is its contract."""

    NORMAL = 0
    OUR_BUG = 1
    USAGE = 2
    UNREACHABLE = 3
    VERSION = 4
    NO_ROOM = 5
    REFUSED = 6
    CONNECTION_LOST = 7
    OUTPUT_FAILED = 8
    LOSS = 10
    DRAW = 11
    ABANDONED = 12
    HANGUP = 129
    INTERRUPTED = 130
    BROKEN_PIPE = 141
    TERMINATED = 143


class Misuse(ValueError):
    """Options that make no sense; `message` is the whole line for the person who typed them."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True, slots=True)
class Settings:
    """Options in their final form; `server` and `name` as typed, None where nothing was said; several servers
    of one house have commas between. `ca` is a file to trust.

    `theme`, `mouse`, `motion`, `bell`, `confirm` (place only with a second click or Enter) and `changed_keys` are for
    the full screen, which also says the first of the `doubts` about the configuration file. With `local` a server is
    started for this run where none runs on this machine. With `name_is_for_now` the name was given to this run alone,
    by an option or the environment.
    """

    mode: Mode = "plain"
    server: str | None = None
    ca: str | None = None
    name: str | None = None
    name_is_for_now: bool = False
    colour: bool = False
    ascii: bool = False
    draws_board: bool = True
    asks: bool = True
    quiet: bool = False
    debug: bool = False
    local: bool = False
    theme: str = "auto"
    mouse: bool = True
    motion: bool = True
    bell: Bell = "away"
    confirm: bool = False
    changed_keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    doubts: tuple[str, ...] = ()
    stay: bool = False
    result_code: bool = False
    timeout_seconds: float = 5.0
    keys: Keys = Keys.PHONE
    coordinates: Coordinates = Coordinates.ROW_COLUMN_1
    waiting_line_seconds: float = WAITING_LINE_SECONDS
    leaving_seconds: float = LEAVING_SECONDS
    backoff: Backoff = field(default_factory=Backoff)
