"""What a run of the client can be told, in one table, and what it was told: one frozen value that every face reads.

Command line, environment, `client.toml`, `config show`, settings page and help are made from it. A new option is a
field of `Settings`, its name in `SECTIONS` and, for the settings page, a line of `_PAGE`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from enum import EnumType, IntEnum
from typing import Any, Final, Literal, get_args

from tictactoe_client.online.backoff import Backoff
from tictactoe_client.tui.themes import THEMES
from tictactoe_engine import Coordinates, Keys
from tictactoe_protocol.catalogue import LANGUAGES, say

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
class Option:
    """One thing that people may choose, wherever they say it.

    `kind` is a type, or the words that it may be. `fills` is the field of `Settings` with its value; what says "no-" is
    a switch, and the field has the opposite. `other_variable` is one of many programs that switches it on, too.
    """

    name: str
    help: str
    fills: str = ""
    default: Any = None
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
    from tictactoe_client.online.cluster import parse_cluster
    from tictactoe_client.online.errors import BadAddress
    from tictactoe_protocol import BadName, parse_name

    try:
        parse_cluster(text) if key == "server" else parse_name(text)
    except (BadAddress, BadName) as bad:
        return bad.message
    return None


def suggest(word: str, known: Iterable[str], *, quote: str = '"') -> str:
    """Return a sentence, with a space before it, that names what was perhaps meant; empty where nothing is close."""
    import difflib  # which no start needs

    close = difflib.get_close_matches(word, list(known), 1)
    return f" Did you mean {quote}{close[0]}{quote}?" if close else ""


_PAGE: Final[Mapping[str, tuple[str, str]]] = {
    "theme": ("Theme", "auto: dark or light as yours"),
    "no_color": ("Colour", "no: bold and shapes say everything"),
    "ascii": ("Plain ASCII", "for fonts without lines"),
    "no_motion": ("Motion", "no: discs lie where they fall"),
    "no_mouse": ("Mouse", "no: the terminal selects text"),
    "bell": ("Bell at your turn", "away: while you look elsewhere"),
    "language": ("Language", "auto: as your system"),
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


def _option(help: str, default: Any = False, *, name: str = "", kind: Any = None, **more: Any) -> Any:
    """Return a field of the settings that an option fills; this has the field's name unless it has one of its own."""
    kind = kind or (str if default is None else type(default))
    return field(default=default, metadata={"help": help, "name": name, "kind": kind, **more})


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run was told, `server` and `name` as typed; several servers of one cluster have commas between.

    With `name_is_for_now` the name was given to this run alone, by an option or the environment. The full screen says
    the first of the `doubts` about the configuration file. Plain mode first says that it still waits after
    `waiting_line_seconds`; a player stays for `leaving_seconds` after the input ended.
    """

    mode: Mode = "plain"
    server: str | None = _option(
        "The server: ws://host:port, wss://host, or just host. Again for each other server of the same cluster.",
        None,
        short="s",
        metavar="URL",
        is_list=True,
    )
    ca: str | None = _option("Trust the authority in this file (PEM), too, for wss://.", None, metavar="FILE")
    local: bool = _option("Where no server runs on this machine, start one for this run.", is_in_file=False)
    name: str | None = _option("Your name; without one the server chooses guest-…", None, short="n", metavar="NAME")
    timeout_seconds: float = _option("How long to wait for the server (5).", 5.0, name="timeout", metavar="SECONDS")
    theme: str = _option(f"Colours of the full screen: {', '.join(THEMES)}.", "auto", kind=THEMES, metavar="NAME")
    colour: bool = _option("Use no colour.", name="no-color", other_variable="NO_COLOR")
    ascii: bool = _option("Use no characters but ASCII.")
    motion: bool = _option("Show at once what could move.", True, name="no-motion")
    mouse: bool = _option("Leave the mouse to the terminal.", True, name="no-mouse")
    bell: Bell = _option("When to ring at your turn (away: while you look elsewhere).", "away", kind=get_args(Bell))
    language: str = _option(
        say("option language", languages=", ".join(LANGUAGES)), "auto", kind=("auto", *LANGUAGES), metavar="LANGUAGE"
    )
    draws_board: bool = _option(
        "Draw the board only when asked, for screen readers.", True, name="no-board", other_variable="ACCESSIBLE"
    )
    keys: Keys = _option(
        "Keys of a 3x3 board: 1 2 3 on top (phone), 7 8 9 on top (pad), or q w e / a s d / z x c (letters).", Keys.PHONE
    )
    coordinates: Coordinates = _option("What two numbers mean as a move.", Coordinates.ROW_COLUMN_1)
    confirm: bool = _option("Let a click choose, and the second one place.")
    asks: bool = _option("Ask nothing, and end with the game.", True, name="no-input", is_in_file=False)
    stay: bool = _option("Stay in the game when the input has ended.", is_in_file=False)
    result_code: bool = _option("Exit with 0 won, 10 lost, 11 drawn, 12 abandoned.", is_in_file=False)
    quiet: bool = _option("Leave out what is not the game.", short="q")
    debug: bool = _option("Log to a file; its path is printed at the end.", is_in_file=False)
    name_is_for_now: bool = False
    changed_keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    doubts: tuple[str, ...] = ()
    waiting_line_seconds: float = 30.0
    leaving_seconds: float = 5.0
    backoff: Backoff = field(default_factory=Backoff)


def _options_for(*names: str) -> tuple[Option, ...]:
    """Return the options that fill these fields of the settings."""
    told = {one.name: dict(one.metadata, default=one.default) for one in fields(Settings)}
    return tuple(
        Option(fills=name, **told[name] | {"name": told[name]["name"] or name.replace("_", "-")}) for name in names
    )


SECTIONS: Final[Mapping[str, tuple[Option, ...]]] = {
    "Server and player": _options_for("server", "ca", "local", "name", "timeout_seconds"),
    "Full screen, transcript or JSON": (
        Option("plain", "A growing transcript, one fact a line.", other_variable="ACCESSIBLE"),
        Option("json", "JSON lines in and out, for programs.", is_in_file=False),
    ),
    "How it looks and sounds": _options_for(
        "theme", "colour", "ascii", "motion", "mouse", "bell", "language", "draws_board"
    ),
    "How moves are typed": _options_for("keys", "coordinates", "confirm"),
    "In scripts": _options_for("asks", "stay", "result_code", "quiet", "debug"),
}
"""The options by what they are about, under the headings of the help."""

OPTIONS: Final = {option.key: option for options in SECTIONS.values() for option in options}
"""The same options by their names in the file and in `click`."""

FILE_OPTIONS: Final = {key: option for key, option in OPTIONS.items() if option.is_in_file}
"""Those that `client.toml` may hold."""

SCREEN_OPTIONS: Final = {option.fills: option for option in OPTIONS.values() if option.title}
"""Those that the settings page offers, by the field of the settings that each fills."""
