"""The options of the client in a table, and the settings of a run as a frozen value.

Command line, environment, `client.toml`, `config show`, settings page and help are derived from the table. A new
option needs a field of `Settings` and sentences in the catalogue.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import EnumType, IntEnum
from typing import Any, Final, Literal, get_args

from tictactoe_client.online.backoff import Backoff
from tictactoe_client.online.errors import BadAddress, ClientError
from tictactoe_client.themes import MEANT, THEMES
from tictactoe_engine import Coordinates, Keys
from tictactoe_words.catalogue import LANGUAGES, open_catalogue, say

Mode = Literal["plain", "json", "screen"]
Bell = Literal["off", "away", "always"]

PROGRAM: Final = "tictactoe-client"
MAX_TIMEOUT_SECONDS: Final = 3600


PAIRS: Final = {
    Coordinates.ROW_COLUMN_1: ("2,3", "pair row column"),
    Coordinates.ROW_COLUMN_0: ("1,2", "pair from 0"),
    Coordinates.X_Y_1: ("3,2", "pair column row"),
}
"""For each way to name a cell by two numbers: an example (always the same cell), and the id of its description."""

_EXPLAINED: Final = ("ascii", "keys", "confirm")
"""The options whose help text is shown as a note on the settings page."""


class ExitCode(IntEnum):
    """The exit codes, as documented in `docs/reference/client.md`."""

    NORMAL = 0
    OUR_BUG = 1
    NO_TURN = 1
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


class Misuse(ClientError):
    """Invalid input; `message` is a complete sentence for the person."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option.

    Attributes:
        section: The section of the help.
        name: The name on the command line. A switch "no-x" sets its field to the opposite of its value.
        fills: The field of `Settings` that the option sets, or "".
        kind: The type of the value, or the possible words.
        shows: The value's name in the help, or None.
        other_variable: A variable that many programs use and that also switches the option on, or None.
    """

    section: str
    name: str
    fills: str = ""
    default: Any = None
    kind: type | tuple[str, ...] = bool
    short: str | None = None
    shows: str | None = None
    is_list: bool = False
    is_in_file: bool = True
    is_on_page: bool = False
    other_variable: str | None = None

    @property
    def key(self) -> str:
        """The option's name in `client.toml`, such as ``no_color``."""
        return self.name.replace("-", "_")

    @property
    def variable(self) -> str:
        """The option's environment variable, such as ``TICTACTOE_NO_COLOR``."""
        return f"TICTACTOE_{self.key.upper()}"

    @property
    def words(self) -> tuple[str, ...]:
        """The possible words; () if all values of the type are possible."""
        return tuple(map(str, self.kind)) if isinstance(self.kind, (tuple, EnumType)) else ()

    @property
    def title(self) -> str:
        return say(f"setting {self.key}")

    @property
    def choices(self) -> tuple[Any, ...]:
        """The possible values of the field, in the order of the settings page."""
        return tuple(map(self.setting_of, self.words or (False, True)))

    def setting_of(self, value: Any) -> Any:
        """Convert a value of the option to a value of the `Settings` field."""
        if self.name.startswith("no-"):
            return not value
        return self.kind(value) if isinstance(self.kind, EnumType) else value

    def entry_of(self, setting: Any) -> str | bool:
        """Convert a value of the `Settings` field to the option's value in a file."""
        return bool(self.setting_of(setting)) if isinstance(setting, bool) else str(setting)

    def default_of(self, value: Any) -> Any:
        """Convert a value from a file to a default value for `click`."""
        return [value] if self.is_list and isinstance(value, str) else value

    def describe(self, setting: Any) -> tuple[str, str]:
        """Return the label and the note, or "", that the settings page shows for a value of the field."""
        if isinstance(setting, bool):
            label = say("key yes" if setting else "key no")
        elif self.key == "language" and setting in LANGUAGES:
            label = open_catalogue(setting).say("language")
        else:
            label = say(f"setting {self.key} {setting}")
        if isinstance(setting, Coordinates):
            typed, id = PAIRS[setting]
            return label, say("chat of", name=typed, text=say(id))
        return label, say(f"option {self.name}") if self.name in _EXPLAINED else ""

    def find_fault(self, value: Any) -> str | None:
        """Return a sentence about why a value from a file is invalid, or None if it is valid."""
        texts = value if self.is_list and isinstance(value, list) and value else [value]
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if self.words:
            id, is_right = "setting one of", value in self.words
        elif self.kind is float:
            id, is_right = "setting seconds", is_number and 0 < value <= MAX_TIMEOUT_SECONDS
        elif self.kind is bool:
            id, is_right = "setting true or false", isinstance(value, bool)
        else:
            id, is_right = "setting a text", all(isinstance(text, str) for text in texts)
        if is_right:
            return _find_meaningless(self.key, ",".join(texts)) if self.key in ("server", "name") else None
        fault = say(id, key=self.key, words=", ".join(self.words), most=MAX_TIMEOUT_SECONDS)
        return fault + (suggest(str(value), self.words) if self.words else "")


def _find_meaningless(key: str, text: str) -> str | None:
    from tictactoe_client.online.address import parse_cluster
    from tictactoe_protocol import BadName, parse_name
    from tictactoe_words.refusals import describe_fault

    try:
        parse_cluster(text) if key == "server" else parse_name(text)
    except BadAddress as bad:
        return bad.message
    except BadName as bad:
        return describe_fault(bad)
    return None


def suggest(word: str, known: Iterable[str], *, quote: str = '"') -> str:
    """Return a space and a sentence that suggests the known word closest to `word`, or ""."""
    import difflib  # imported here, since it is rarely needed

    words = {word: word for word in known}
    words |= {word: theme for word, theme in MEANT.items() if theme in words}
    close = difflib.get_close_matches(word, list(words), 1)
    return f" {say('did you mean', word=f'{quote}{words[close[0]]}{quote}')}" if close else ""


def _option(section: str, default: Any = False, *, name: str = "", kind: Any = None, **more: Any) -> Any:
    """Return a dataclass field that carries its option; the option's default name is the field's."""
    kind = kind or (str if default is None else type(default))
    return field(default=default, metadata={"option": Option(section, name, default=default, kind=kind, **more)})


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a run, merged from all sources.

    Attributes:
        server: The server as typed; several servers of a cluster are separated by commas.
        name_is_for_now: Whether an option or the environment gave the name, so that it is not saved.
        changed_keys: The keys that `client.toml` binds, by action.
        fixed: The keys of the options that `client.toml` sets; changes of these in the program are not saved.
        doubts: Warnings about `client.toml`; the full screen shows the first.
        waiting_line_seconds: How often plain mode says that it is still waiting.
        leaving_seconds: How long a player stays in the room after the end of the input.
    """

    mode: Mode = "plain"
    server: str | None = _option("server", None, short="s", shows="URL", is_list=True)
    ca: str | None = _option("server", None, shows="FILE")
    local: bool = _option("server", is_in_file=False)
    name: str | None = _option("server", None, short="n", shows="NAME")
    timeout_seconds: float = _option("server", 5.0, name="timeout", shows="N")
    theme: str = _option("looks", "auto", kind=THEMES, shows="NAME", is_on_page=True)
    colour: bool = _option("looks", name="no-color", other_variable="NO_COLOR", is_on_page=True)
    ascii: bool = _option("looks", is_on_page=True)
    motion: bool = _option("looks", True, name="no-motion", is_on_page=True)
    mouse: bool = _option("looks", True, name="no-mouse", is_on_page=True)
    bell: Bell = _option("looks", "away", kind=get_args(Bell), is_on_page=True)
    language: str = _option("looks", "auto", kind=("auto", *LANGUAGES), shows="LANG", is_on_page=True)
    draws_board: bool = _option("looks", True, name="no-board", other_variable="ACCESSIBLE")
    keys: Keys = _option("moves", Keys.PHONE, is_on_page=True)
    coordinates: Coordinates = _option("moves", Coordinates.ROW_COLUMN_1, is_on_page=True)
    confirm: bool = _option("moves", is_on_page=True)
    asks: bool = _option("scripts", True, name="no-input", is_in_file=False)
    stay: bool = _option("scripts", is_in_file=False)
    result_code: bool = _option("scripts", is_in_file=False)
    quiet: bool = _option("scripts", short="q")
    debug: bool = _option("scripts", is_in_file=False)
    name_is_for_now: bool = False
    changed_keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    fixed: frozenset[str] = frozenset()
    doubts: tuple[str, ...] = ()
    waiting_line_seconds: float = 30.0
    leaving_seconds: float = 5.0
    backoff: Backoff = field(default_factory=Backoff)


_SECTIONS: Final = ("server", "mode", "looks", "moves", "scripts")
"""The sections of the help in order; their headings are the sentences ``section ...``."""


def _list_options() -> Iterator[Option]:
    yield Option("mode", "plain", other_variable="ACCESSIBLE")
    yield Option("mode", "json", is_in_file=False)
    for setting in fields(Settings):
        if (option := setting.metadata.get("option")) is not None:
            yield replace(option, fills=setting.name, name=option.name or setting.name.replace("_", "-"))


_IN_ORDER: Final = sorted(_list_options(), key=lambda option: _SECTIONS.index(option.section))
OPTIONS: Final = {option.key: option for option in _IN_ORDER}
"""All options by key, in the order of the help."""

FILE_OPTIONS: Final = {key: option for key, option in OPTIONS.items() if option.is_in_file}
"""The options that `client.toml` and choices in the program may set."""

SCREEN_OPTIONS: Final = {option.fills: option for option in OPTIONS.values() if option.is_on_page}
"""The options on the settings page, by the field that they set."""
