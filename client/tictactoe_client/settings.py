"""What a run of the client can be told, in one table, and what it was told: one frozen value that every face reads.

The command line, the environment, `client.toml`, `config show`, the settings page and the pages of help are made from
the table; nothing here knows how any of them look.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import EnumType, IntEnum, StrEnum
from typing import Any, Final, Literal

from tictactoe_client.online.backoff import Backoff
from tictactoe_client.tui.themes import THEMES
from tictactoe_engine import Coordinates, Keys

Mode = Literal["plain", "json", "screen"]
Bell = Literal["off", "away", "always"]

PROGRAM: Final = "tictactoe-client"
MAX_TIMEOUT_SECONDS: Final = 3600
_YES: Final = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


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
    by an option or the environment. Plain mode first says that it still waits after `waiting_line_seconds`; a player
    stays for `leaving_seconds` after the input ended.
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
    waiting_line_seconds: float = 30.0
    leaving_seconds: float = 5.0
    backoff: Backoff = field(default_factory=Backoff)


@dataclass(frozen=True, slots=True)
class Option:
    """One thing that people may choose, wherever they say it.

    `kind` is a type, or the words that it may be. `fills` is the field of `Settings` with its value; what says "no-" is
    a switch, and the field has the opposite. `other_variable` is one of many programs that switches it on, too.
    """

    name: str
    help: str
    fills: str = ""
    kind: type | tuple[str, ...] = bool
    short: str | None = None
    metavar: str | None = None
    is_list: bool = False
    is_in_file: bool = True
    other_variable: str | None = None

    @property
    def key(self) -> str:
        """Its name in the file, such as ``no_color``."""
        return self.name.replace("-", "_")

    @property
    def variable(self) -> str:
        """Its name in the environment, such as ``TICTACTOE_NO_COLOR``."""
        return f"TICTACTOE_{self.key.upper()}"

    @property
    def default(self) -> Any:
        """What it is where nobody says anything."""
        default = Settings.__dataclass_fields__[self.fills].default if self.fills else None
        return str(default) if isinstance(default, StrEnum) else default

    @property
    def words(self) -> tuple[str, ...]:
        """The words that it may be; none where it may be anything of its kind."""
        return tuple(map(str, self.kind)) if isinstance(self.kind, (tuple, EnumType)) else ()

    @property
    def title(self) -> str:
        """Its title on the settings page, empty where it is not there."""
        return _PAGE.get(self.key, ("", ""))[0]

    @property
    def choices(self) -> tuple[Any, ...]:
        """What its field of the settings may be, in the order of the settings page."""
        return tuple(map(self.setting_of, self.words or (False, True)))

    def setting_of(self, value: Any) -> Any:
        """Return what its field of the settings is where this is chosen."""
        if self.name.startswith("no-"):
            return not value
        return self.kind(value) if isinstance(self.kind, EnumType) else value

    def entry_of(self, setting: Any) -> str | bool:
        """Return what the file says where its field of the settings is this."""
        return bool(self.setting_of(setting)) if isinstance(setting, bool) else str(setting)

    def describe(self, setting: Any) -> tuple[str, str]:
        """Return how the settings page shows what its field is, and the note beside that."""
        shown = ("yes" if setting else "no") if isinstance(setting, bool) else str(setting)
        return _COORDINATES.get(shown) or (shown, _PAGE[self.key][1])

    def parse(self, text: str) -> str | bool | float:
        """Return the value that a typed text means; raises `Misuse` where the file could not hold it.

        >>> OPTIONS["ascii"].parse("yes"), OPTIONS["timeout"].parse("2.5"), OPTIONS["theme"].parse("night")
        (True, 2.5, 'night')
        """
        value: str | bool | float = text
        if self.kind is bool:
            value = _YES.get(text.lower(), text)
        elif self.kind is float:
            with suppress(ValueError):
                value = float(text)
        if (fault := self.find_fault(value)) is not None:
            raise Misuse(fault)
        return value

    def find_fault(self, value: Any) -> str | None:
        """Return why the file cannot hold this, or None."""
        if self.words:
            wanted, is_right = f"one of {', '.join(self.words)}.{suggest(str(value), self.words)}", value in self.words
        elif self.kind is float:
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            is_right = is_number and 0 < value <= MAX_TIMEOUT_SECONDS
            wanted = f"more than 0 and at most {MAX_TIMEOUT_SECONDS} seconds." if is_number else "a number of seconds."
        else:
            texts = value if self.is_list and isinstance(value, list) and value else [value]
            is_right = all(isinstance(text, bool if self.kind is bool else str) for text in texts)
            wanted = "true or false." if self.kind is bool else "a text in quotes."
            if is_right and self.key in ("server", "name"):
                return _find_meaningless(self.key, ",".join(texts))
        return None if is_right else f"{self.key} is {wanted}"


def _find_meaningless(key: str, text: str) -> str | None:
    """Return what is wrong with a text as the server or the name."""
    from tictactoe_client.online.address import parse_house
    from tictactoe_client.online.errors import BadAddress
    from tictactoe_protocol import BadName, parse_name

    try:
        parse_house(text) if key == "server" else parse_name(text)
    except (BadAddress, BadName) as bad:
        return bad.message
    return None


def suggest(word: str, known: Iterable[str], *, quote: str = '"') -> str:
    """Return a sentence, with a space before it, that names what was perhaps meant; empty where nothing is close."""
    close = difflib.get_close_matches(word, list(known), 1)
    return f" Did you mean {quote}{close[0]}{quote}?" if close else ""


_PAGE: Final[Mapping[str, tuple[str, str]]] = {
    "theme": ("Theme", "auto: dark or light as yours"),
    "no_color": ("Colour", "no: bold and shapes say everything"),
    "ascii": ("Plain ASCII", "for fonts without lines"),
    "no_motion": ("Motion", "no: discs lie where they fall"),
    "no_mouse": ("Mouse", "no: the terminal selects text"),
    "bell": ("Bell at your turn", "away: while you look elsewhere"),
    "keys": ("Keys of 3x3", "1 2 3 on top, 7 8 9, or q w e"),
    "coordinates": ("Two numbers mean", ""),
    "confirm": ("Confirm clicks", "the second click places, on 3x3 too"),
}
"""What stands on the settings page: a title, and a note beside the value."""
_COORDINATES: Final[Mapping[str, tuple[str, str]]] = {
    "row-column-1": ("row, column", "2,3 is row 2, column 3"),
    "row-column-0": ("both from 0", "1,2 is row 2, column 3"),
    "x-y-1": ("column, row", "3,2 is row 2, column 3"),
}
"""How that page shows what two numbers mean, and its note."""

SECTIONS: Final[Mapping[str, tuple[Option, ...]]] = {
    "Server and player": (
        Option(
            "server",
            "The server: ws://host:port, wss://host, or just host. Again for each other server of the same house.",
            kind=str,
            short="s",
            metavar="URL",
            is_list=True,
        ),
        Option("ca", "Trust the authority in this file (PEM), too, for wss://.", "ca", str, metavar="FILE"),
        Option("local", "Where no server runs on this machine, start one for this run.", "local", is_in_file=False),
        Option("name", "Your name; without one the server chooses guest-…", kind=str, short="n", metavar="NAME"),
        Option("timeout", "How long to wait for the server (5).", "timeout_seconds", float, metavar="SECONDS"),
    ),
    "Full screen, transcript or JSON": (
        Option("plain", "A growing transcript, one fact a line.", other_variable="ACCESSIBLE"),
        Option("json", "JSON lines in and out, for programs.", is_in_file=False),
    ),
    "How it looks and sounds": (
        Option("theme", f"Colours of the full screen: {', '.join(THEMES)}.", "theme", THEMES, metavar="NAME"),
        Option("no-color", "Use no colour.", "colour", other_variable="NO_COLOR"),
        Option("ascii", "Use no characters but ASCII.", "ascii"),
        Option("no-motion", "Show at once what could move.", "motion"),
        Option("no-mouse", "Leave the mouse to the terminal.", "mouse"),
        Option(
            "bell", "When to ring at your turn (away: while you look elsewhere).", "bell", ("off", "away", "always")
        ),
        Option(
            "no-board",
            "Draw the board only when asked, for screen readers.",
            "draws_board",
            other_variable="ACCESSIBLE",
        ),
    ),
    "How moves are typed": (
        Option(
            "keys",
            "Keys of a 3x3 board: 1 2 3 on top (phone), 7 8 9 on top (pad), or q w e / a s d / z x c (letters).",
            "keys",
            Keys,
        ),
        Option("coordinates", "What two numbers mean as a move.", "coordinates", Coordinates),
        Option("confirm", "Let a click choose, and the second one place.", "confirm"),
    ),
    "In scripts": (
        Option("no-input", "Ask nothing, and end with the game.", "asks", is_in_file=False),
        Option("stay", "Stay in the game when the input has ended.", "stay", is_in_file=False),
        Option("result-code", "Exit with 0 won, 10 lost, 11 drawn, 12 abandoned.", "result_code", is_in_file=False),
        Option("quiet", "Leave out what is not the game.", "quiet", short="q"),
        Option("debug", "Log to a file; its path is printed at the end.", "debug", is_in_file=False),
    ),
}
"""The options by what they are about, under the headings of the help."""

OPTIONS: Final = {option.key: option for options in SECTIONS.values() for option in options}
"""The same options by their names in the file and in `click`."""

FILE_OPTIONS: Final = {key: option for key, option in OPTIONS.items() if option.is_in_file}
"""Those that `client.toml` may hold."""

SCREEN_OPTIONS: Final = {option.fills: option for option in OPTIONS.values() if option.title}
"""Those that the settings page offers, by the field of the settings that each fills."""
