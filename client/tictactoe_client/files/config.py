"""The person's own defaults: `client.toml` in the platform's folder for configuration, read once at the start.

What it says counts after options and environment. A mistake in it is told in one line and never stops a game.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tictactoe_client.tui.keymap import ACTIONS, find_conflicts
from tictactoe_client.tui.themes import THEMES
from tictactoe_engine import Coordinates, Keys

FILE_NAME: Final = "client.toml"
MAX_TIMEOUT_SECONDS: Final = 3600

_BINDINGS: Final = "bindings"

KNOWN: Final[Mapping[str, type | tuple[str, ...]]] = {
    "server": str,
    "ca": str,
    "name": str,
    "plain": bool,
    "theme": tuple(THEMES),
    "ascii": bool,
    "no_color": bool,
    "no_mouse": bool,
    "bell": ("off", "away", "always"),
    "keys": tuple(str(key) for key in Keys),
    "coordinates": tuple(str(style) for style in Coordinates),
    "no_board": bool,
    "timeout": float,
    "quiet": bool,
    "confirm": bool,
}
"""The keys, and what each may be: a type, or one of these words. All but `confirm` are options of that name."""


_SERVER_LINE: Final = re.compile(r"^\s*[\"']?server[\"']?\s*=", re.MULTILINE)
_NEGATED: Final = {"colour": "no_color", "mouse": "no_mouse"}


@dataclass(frozen=True, slots=True)
class Config:
    """What the file says, where it is, and what is wrong in it."""

    path: Path
    values: Mapping[str, Any] = field(default_factory=dict)
    bindings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    places: Mapping[str, str] = field(default_factory=dict)
    """Where in the file each value stands, such as ``client.toml line 4``."""
    hides_server: bool = False
    """Whether the file names a server that cannot be read."""

    def defaults(self) -> dict[str, Any]:
        """Return the values that are defaults of options; several servers may stand in one text, or in a list."""
        defaults = {name: value for name, value in self.values.items() if name != "confirm"}
        if isinstance(defaults.get("server"), str):
            defaults["server"] = [defaults["server"]]
        return defaults


def config_path() -> Path:
    """Return where the file is, or would be."""
    from platformdirs import user_config_path

    return user_config_path("tictactoe", appauthor=False) / FILE_NAME


def show_path(path: Path) -> str:
    """Return a path for people, ``~`` for their home."""
    try:
        return str(Path("~", path.relative_to(Path.home())))
    except (ValueError, RuntimeError):
        return str(path)


def entry_of(field: str, value: str | bool) -> tuple[str, str | bool]:
    """Return the key and the value with which the file says what a field of the settings says.

    >>> entry_of("theme", "night"), entry_of("colour", True)
    (('theme', 'night'), ('no_color', False))
    """
    if field in _NEGATED:
        return _NEGATED[field], not value
    return field, value if isinstance(value, bool) else str(value)


def load_config(path: Path | None = None) -> Config:
    """Return what the file says; a missing one says nothing, a damaged one is warned of."""
    path = path or config_path()
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Config(path)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no UTF-8 text"
        return Config(path, warnings=(f"{path} cannot be read: {reason}.",), hides_server=True)
    import tomllib

    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        told = _describe_mistake(path, text, str(error))
        return Config(path, warnings=(told,), hides_server=_SERVER_LINE.search(text) is not None)
    return _check(path, text, content)


def _describe_mistake(path: Path, text: str, error: str) -> str:
    """Return where a file is no TOML, and what to do about it, in one line."""
    found = re.fullmatch(r"(.*) \(at line (\d+), column \d+\)", error)
    if found is None:
        return f"{path}: {error}. Mend it, or delete the file; nothing of it counts."
    number = int(found[2])
    line = text.splitlines()[number - 1] if number <= len(text.splitlines()) else ""
    is_bare = re.match(r"\s*[\w-]+\s*=\s*[^\s\"'\[{]", line) is not None
    advice = "A text stands in quotes. Mend that line" if is_bare else "Mend that line"
    return f"{path} line {number}: {found[1]}. {advice}, or delete the file; nothing of it counts."


def _check(path: Path, text: str, content: dict[str, Any]) -> Config:
    values: dict[str, Any] = {}
    places: dict[str, str] = {}
    bindings: dict[str, tuple[str, ...]] = {}
    warnings = []
    for name, value in content.items():
        if name == _BINDINGS and isinstance(value, dict):
            for action, keys in value.items():
                told = _check_binding(action, keys)
                if told is None:
                    bindings[action] = (keys,) if isinstance(keys, str) else tuple(keys)
                else:
                    warnings.append(f"{FILE_NAME} {_line_of(action, text)}: {told}")
            for action, told in find_conflicts(bindings).items():
                warnings.append(f"{FILE_NAME} {_line_of(action, text)}: {told}")
            continue
        told = check_value(name, value)
        if told is None:
            values[name], places[name] = value, f"{FILE_NAME} {_line_of(name, text)}"
        else:
            warnings.append(f"{FILE_NAME} {_line_of(name, text)}: {told}")
    hides_server = "server" in content and "server" not in values
    return Config(path, values, bindings, tuple(warnings), places, hides_server)


def check_value(name: str, value: object) -> str | None:
    """Return what is wrong with a key or its value, or None."""
    wanted = KNOWN.get(name)
    if wanted is None:
        return f'unknown key "{name}".{_suggest(name, (*KNOWN, _BINDINGS))}'
    if isinstance(wanted, tuple):
        return None if value in wanted else f"{name} is one of {', '.join(wanted)}.{_suggest(str(value), wanted)}"
    if wanted is float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return f"{name} is a number of seconds."
        is_right = 0 < value <= MAX_TIMEOUT_SECONDS
        return None if is_right else f"{name} is more than 0 and at most {MAX_TIMEOUT_SECONDS} seconds."
    if name == "server" and isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        return None
    if not isinstance(value, wanted):
        return f"{name} is {'true or false' if wanted is bool else 'a text in quotes'}."
    return None


def _check_binding(action: str, keys: object) -> str | None:
    if action not in ACTIONS:
        return f'unknown action "{action}".{_suggest(action, tuple(ACTIONS))}'
    is_list = isinstance(keys, list) and keys and all(isinstance(key, str) and key for key in keys)
    return None if is_list or (isinstance(keys, str) and keys) else f"{action} is a key, or a list of keys."


def _suggest(word: str, known: tuple[str, ...]) -> str:
    close = difflib.get_close_matches(word, known, 1)
    return f' Did you mean "{close[0]}"?' if close else ""


def _line_of(key: str, text: str) -> str:
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(rf'\s*"?{re.escape(key)}"?\s*=', line) or line.strip().startswith(f"[{key}"):
            return f"line {number}"
    return "somewhere"
