"""What a run of the client can be told, in one table, and what it was told: one frozen value that every face reads.

Command line, environment, `client.toml`, `config show`, settings page and help are made from it. A new option is a
field of `Settings`, its name in `SECTIONS`, its sentences in the catalogue and, for that page, a key in `_PAGE`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from enum import EnumType, IntEnum
from typing import Any, Final, Literal, get_args

from tictactoe_client.online.backoff import Backoff
from tictactoe_client.themes import MEANT, THEMES
from tictactoe_engine import Coordinates, Keys
from tictactoe_protocol.catalogue import LANGUAGES, open_catalogue, say

Mode = Literal["plain", "json", "screen"]
Bell = Literal["off", "away", "always"]

PROGRAM: Final = "tictactoe-client"
MAX_TIMEOUT_SECONDS: Final = 3600
_YES: Final = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


class ExitCode(IntEnum):
    """What the exit code says; `docs/scripting.md` is its contract."""

    NORMAL = 0
    OUR_BUG = 1
    USAGE = 2
    UNREACHABLE = 3
    VERSION = 4
    NO_ROOM = 5
    REFUSED = 6
    CONNECTION_LOST = 7
    OUTPUT_FAILED = 8
    ENGINE = 9
    LOSS = 10
    DRAW = 11
    ABANDONED = 12
    HANGUP = 129
    INTERRUPTED = 130
    BROKEN_PIPE = 141
    TERMINATED = 143


class Misuse(ValueError):
    """What was typed makes no sense; `message` is the whole line for the person who typed it."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True, slots=True)
class Option:
    """One thing that people may choose, wherever they say it.

    `kind` is a type, or the words that it may be. `fills` is the field of `Settings` with its value; what says "no-" is
    a switch, and the field has the opposite. What its value is called in the help is the sentence ``metavar SHOWS``.
    `other_variable` is one of many programs that switches it on, too.
    """

    name: str
    fills: str = ""
    default: Any = None
    kind: type | tuple[str, ...] = bool
    short: str | None = None
    shows: str | None = None
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
        return say(f"setting {self.key}") if self.key in _PAGE else ""

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
        if isinstance(setting, bool):
            shown = say("form yes" if setting else "form no")
        elif self.key == "language" and setting in LANGUAGES:
            shown = open_catalogue(setting).say("language")
        else:
            shown = say(f"setting {self.key} {setting}")
        which = f"{self.key} {setting}" if isinstance(setting, Coordinates) else self.key
        return shown, say(f"setting {which} note")

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
        texts = value if self.is_list and isinstance(value, list) and value else [value]
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if self.words:
            id, is_right = "setting one of", value in self.words
        elif self.kind is float:
            id = "setting seconds" if is_number else "setting a number"
            is_right = is_number and 0 < value <= MAX_TIMEOUT_SECONDS
        elif self.kind is bool:
            id, is_right = "setting true or false", isinstance(value, bool)
        else:
            id, is_right = "setting a text", all(isinstance(text, str) for text in texts)
        if is_right:
            return _find_meaningless(self.key, ",".join(texts)) if self.key in ("server", "name") else None
        told = say(id, key=self.key, words=", ".join(self.words), most=MAX_TIMEOUT_SECONDS)
        return told + (suggest(str(value), self.words) if self.words else "")


def _find_meaningless(key: str, text: str) -> str | None:
    """Return what is wrong with a text as the server or the name."""
    from tictactoe_client.online.address import parse_cluster
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

    words = {word: word for word in known}
    words |= {word: theme for word, theme in MEANT.items() if theme in words}
    close = difflib.get_close_matches(word, list(words), 1)
    return f" {say('did you mean', word=f'{quote}{words[close[0]]}{quote}')}" if close else ""


_PAGE: Final = frozenset(
    {"theme", "no_color", "ascii", "no_motion", "no_mouse", "bell", "language", "keys", "coordinates", "confirm"}
)
"""What stands on the settings page."""


def _option(default: Any = False, *, name: str = "", kind: Any = None, **more: Any) -> Any:
    """Return a field of the settings that an option fills; this has the field's name unless it has one of its own."""
    kind = kind or (str if default is None else type(default))
    return field(default=default, metadata={"name": name, "kind": kind, **more})


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run was told, `server` and `name` as typed; several servers of one cluster have commas between.

    With `name_is_for_now` the name was given to this run alone, by an option or the environment. The full screen says
    the first of the `doubts` about the configuration file. Plain mode first says that it still waits after
    `waiting_line_seconds`; a player stays for `leaving_seconds` after the input ended.
    """

    mode: Mode = "plain"
    server: str | None = _option(None, short="s", shows="url", is_list=True)
    ca: str | None = _option(None, shows="file")
    local: bool = _option(is_in_file=False)
    name: str | None = _option(None, short="n", shows="name")
    timeout_seconds: float = _option(5.0, name="timeout", shows="seconds")
    theme: str = _option("auto", kind=THEMES, shows="name")
    colour: bool = _option(name="no-color", other_variable="NO_COLOR")
    ascii: bool = _option()
    motion: bool = _option(True, name="no-motion")
    mouse: bool = _option(True, name="no-mouse")
    bell: Bell = _option("away", kind=get_args(Bell))
    language: str = _option("auto", kind=("auto", *LANGUAGES), shows="language")
    draws_board: bool = _option(True, name="no-board", other_variable="ACCESSIBLE")
    keys: Keys = _option(Keys.PHONE)
    coordinates: Coordinates = _option(Coordinates.ROW_COLUMN_1)
    confirm: bool = _option()
    asks: bool = _option(True, name="no-input", is_in_file=False)
    stay: bool = _option(is_in_file=False)
    result_code: bool = _option(is_in_file=False)
    quiet: bool = _option(short="q")
    debug: bool = _option(is_in_file=False)
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
    "server": _options_for("server", "ca", "local", "name", "timeout_seconds"),
    "mode": (Option("plain", other_variable="ACCESSIBLE"), Option("json", is_in_file=False)),
    "looks": _options_for("theme", "colour", "ascii", "motion", "mouse", "bell", "language", "draws_board"),
    "moves": _options_for("keys", "coordinates", "confirm"),
    "scripts": _options_for("asks", "stay", "result_code", "quiet", "debug"),
}
"""The options by what they are about; the headings of the help are the sentences ``section ...``."""

OPTIONS: Final = {option.key: option for options in SECTIONS.values() for option in options}
"""The same options by their names in the file and in `click`."""

FILE_OPTIONS: Final = {key: option for key, option in OPTIONS.items() if option.is_in_file}
"""Those that `client.toml` may hold."""

SCREEN_OPTIONS: Final = {option.fills: option for option in OPTIONS.values() if option.key in _PAGE}
"""Those that the settings page offers, by the field of the settings that each fills."""
