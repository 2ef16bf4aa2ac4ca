"""The user's defaults: `client.toml`, and the settings chosen inside the program, which `client.toml` overrides.

The client never writes `client.toml`. A mistake in it is reported in a line and never stops a game. The settings chosen
inside the program are in `choices.json` in the state folder; if that is unreadable, it counts as empty.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from tictactoe_client.files.writer import change_file, state_folder
from tictactoe_client.online.errors import describe_cause
from tictactoe_client.settings import FILE_OPTIONS, suggest
from tictactoe_words.catalogue import say
from tictactoe_words.commands import ACTIONS

FILE_NAME: Final = "client.toml"
Value = str | bool | float
"""The value of a setting in `choices.json`."""

_BINDINGS: Final = "bindings"
_SERVER_LINE: Final = re.compile(r"^\s*[\"']?server[\"']?\s*=", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Config:
    """The contents of `client.toml`, and the choices made inside the program.

    Attributes:
        values: The options set in the file; the value of a repeatable option is a list.
        choices: The options chosen inside the program, which the file overrides.
        bindings: The keys of each action.
        warnings: A line for each mistake in the file.
        hides_server: Whether the file seems to name a server, but the server cannot be read.
    """

    path: Path
    values: dict[str, Any] = field(default_factory=dict)
    choices: Mapping[str, Any] = field(default_factory=dict)
    bindings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    hides_server: bool = False

    @property
    def defaults(self) -> dict[str, Any]:
        return {**self.choices, **self.values}

    def origin_of(self, key: str) -> Path:
        return self.path if key in self.values else choices_path()


def config_path() -> Path:
    from platformdirs import user_config_path

    return user_config_path("tictactoe", appauthor=False) / FILE_NAME


def show_path(path: Path) -> str:
    """Return a path as text, with ``~`` for the home folder."""
    try:
        return str(Path("~", path.relative_to(Path.home())))
    except (ValueError, RuntimeError):
        return str(path)


def load_config(path: Path | None = None) -> Config:
    """Return the user's configuration. A file that is unreadable counts as empty and adds a warning."""
    return replace(_read(path or config_path()), choices=load_choices())


def _read(path: Path) -> Config:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Config(path)
    except (OSError, UnicodeError) as error:
        warning = say("record unreadable file", file=path, why=describe_cause(error))
        return Config(path, warnings=(warning,), hides_server=True)
    import tomllib

    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        mistake = say("config mistake", file=path, why=error)
        return Config(path, warnings=(mistake,), hides_server=_SERVER_LINE.search(text) is not None)
    return _check(path, text, content)


def _check(path: Path, text: str, content: dict[str, Any]) -> Config:
    values: dict[str, Any] = {}
    bindings: dict[str, tuple[str, ...]] = {}
    faults: list[tuple[str, str]] = []
    for name, value in content.items():
        if name == _BINDINGS and isinstance(value, dict):
            for action, keys in value.items():
                if (fault := _find_fault(action, keys)) is not None:
                    faults.append((action, fault))
                else:
                    bindings[action] = (keys,) if isinstance(keys, str) else tuple(keys)
        elif name not in FILE_OPTIONS:
            faults.append((name, say("config unknown key", name=name) + suggest(name, (*FILE_OPTIONS, _BINDINGS))))
        elif (fault := FILE_OPTIONS[name].find_fault(value)) is not None:
            faults.append((name, fault))
        else:
            values[name] = FILE_OPTIONS[name].default_of(value)
    warnings = tuple(_locate(name, text, fault) for name, fault in faults)
    hides_server = "server" in content and "server" not in values
    return Config(path, values, bindings=bindings, warnings=warnings, hides_server=hides_server)


def _find_fault(action: str, keys: object) -> str | None:
    if action not in ACTIONS:
        return say("config unknown action", name=action) + suggest(action, ACTIONS)
    is_list = isinstance(keys, list) and keys and all(isinstance(key, str) and key for key in keys)
    return None if is_list or (isinstance(keys, str) and keys) else say("config keys", name=action)


def _locate(key: str, text: str, fault: str) -> str:
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(rf'\s*"?{re.escape(key)}"?\s*=', line) or line.strip().startswith(f"[{key}"):
            return say("config line", file=FILE_NAME, line=number, told=fault)
    return say("config somewhere", file=FILE_NAME, told=fault)


def choices_path() -> Path:
    return state_folder() / "choices.json"


def load_choices() -> dict[str, Any]:
    try:
        content = choices_path().read_bytes()
    except OSError:
        return {}
    return {
        key: FILE_OPTIONS[key].default_of(value)
        for key, value in _decode(content).items()
        if key in FILE_OPTIONS and FILE_OPTIONS[key].find_fault(value) is None
    }


def save_choices(changes: Mapping[str, Value]) -> None:
    import msgspec

    def change(content: bytes) -> bytes:
        return msgspec.json.format(msgspec.json.encode({**_decode(content), **changes}), indent=1)

    change_file(choices_path(), change)


def _decode(content: bytes) -> dict[str, Value]:
    import msgspec  # imported here, because it would slow down `--help`

    try:
        return msgspec.json.decode(content, type=dict[str, Value])
    except ValueError:
        return {}
