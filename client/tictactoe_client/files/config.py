"""The person's own defaults, `client.toml` in the platform's folder for configuration, which stays as they wrote it.

A mistake in it is told in one line and never stops a game."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tictactoe_client.files.writer import NotKept, change_file
from tictactoe_client.online.errors import describe_cause
from tictactoe_client.settings import FILE_OPTIONS, suggest
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.commands import ACTIONS

FILE_NAME: Final = "client.toml"

_BINDINGS: Final = "bindings"
_TABLES: Final = re.compile(r"^(?:[ \t]*#.*\n)*[ \t]*\[", re.MULTILINE)
"""The first table, and what is said right above it, which is about that."""
_SERVER_LINE: Final = re.compile(r"^\s*[\"']?server[\"']?\s*=", re.MULTILINE)

Value = str | bool | float


@dataclass(frozen=True, slots=True)
class Config:
    """What the file says, where it is, and what is wrong in it; an option that may come more than once is a list."""

    path: Path
    values: dict[str, Any] = field(default_factory=dict)
    bindings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    hides_server: bool = False
    """Whether the file names a server that cannot be read."""


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


def load_config(path: Path | None = None) -> Config:
    """Return what the file says; a missing one says nothing, a damaged one is warned of."""
    path = path or config_path()
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Config(path)
    except (OSError, UnicodeError) as error:
        reason = describe_cause(error) if isinstance(error, OSError) else say("config no utf-8")
        return Config(path, warnings=(say("config unreadable", file=path, why=reason),), hides_server=True)
    import tomllib

    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        told = _describe_mistake(path, text, str(error))
        return Config(path, warnings=(told,), hides_server=_SERVER_LINE.search(text) is not None)
    return _check(path, text, content)


def _describe_mistake(path: Path, text: str, error: str) -> str:
    found = re.fullmatch(r"(.*) \(at line (\d+), column \d+\)", error)
    if found is None:
        return say("config mistake somewhere", file=path, why=error)
    number = int(found[2])
    line = text.splitlines()[number - 1] if number <= len(text.splitlines()) else ""
    is_bare = re.match(r"\s*[\w-]+\s*=\s*[^\s\"'\[{]", line) is not None
    return say("config mistake quotes" if is_bare else "config mistake", file=path, line=number, why=found[1])


def _check(path: Path, text: str, content: dict[str, Any]) -> Config:
    values: dict[str, Any] = {}
    bindings: dict[str, tuple[str, ...]] = {}
    faults: list[tuple[str, str]] = []
    for name, value in content.items():
        if name == _BINDINGS and isinstance(value, dict):
            for action, keys in value.items():
                if (told := _find_fault(action, keys)) is not None:
                    faults.append((action, told))
                else:
                    bindings[action] = (keys,) if isinstance(keys, str) else tuple(keys)
        elif name not in FILE_OPTIONS:
            faults.append((name, say("config unknown key", name=name) + suggest(name, (*FILE_OPTIONS, _BINDINGS))))
        elif (told := FILE_OPTIONS[name].find_fault(value)) is not None:
            faults.append((name, told))
        else:
            values[name] = [value] if FILE_OPTIONS[name].is_list and isinstance(value, str) else value
    warnings = tuple(_locate(name, text, told) for name, told in faults)
    return Config(path, values, bindings, warnings, "server" in content and "server" not in values)


def _find_fault(action: str, keys: object) -> str | None:
    if action not in ACTIONS:
        return say("config unknown action", name=action) + suggest(action, ACTIONS)
    is_list = isinstance(keys, list) and keys and all(isinstance(key, str) and key for key in keys)
    return None if is_list or (isinstance(keys, str) and keys) else say("config keys", name=action)


def _locate(key: str, text: str, told: str) -> str:
    """Return what is told of a key with the line where it stands."""
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(rf'\s*"?{re.escape(key)}"?\s*=', line) or line.strip().startswith(f"[{key}"):
            return say("config line", file=FILE_NAME, line=number, told=told)
    return say("config somewhere", file=FILE_NAME, told=told)


def keep_setting(name: str, value: Value | None, path: Path | None = None) -> bool:
    """Write one setting, or strike it out for None; tell whether that changed the file.

    Raises `NotKept`, and the file is then as it was.
    """
    import tomllib

    path = path or config_path()
    if value is None and not path.exists():
        return False
    try:
        return change_file(path, lambda content: _set(content.decode(), name, value).encode())
    except UnicodeError:
        raise NotKept(say("file no utf-8", file=path.name)) from None
    except tomllib.TOMLDecodeError as error:
        raise NotKept(say("file mistake", file=path.name, why=error)) from None


def _set(text: str, name: str, value: Value | None) -> str:
    """Return the text with a setting in it or struck out: what is new stands before the tables, or would be theirs."""
    import tomllib

    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    wanted: dict[str, Any] = tomllib.loads(text)
    if value is not None:
        wanted[name] = value
    elif wanted.pop(name, None) is None:
        return text
    tables = _TABLES.search(text)
    for end in (len(text) if tables is None else tables.start(), len(text)):
        with contextlib.suppress(TOMLKitError, tomllib.TOMLDecodeError):
            settings, rest = tomlkit.parse(text[:end]), text[end:]
            if value is None:
                settings.pop(name)
            else:
                settings[name] = value
            edited = tomlkit.dumps(settings)
            if "\r\n" in text:
                edited = re.sub(r"(?<!\r)\n", "\r\n", edited)
            edited += f"\n{rest}" if rest and not text[:end].strip() else rest
            if tomllib.loads(edited) == wanted:
                return edited
    raise NotKept(say("file unusual"))


class KeptSettings:
    """Writes settings that are changed while a program runs, one after the other; `writing` is held meanwhile.

    `problem` says why those changed last are for this run only, empty where they are kept.
    """

    def __init__(self) -> None:
        import asyncio  # which help does not need

        self.problem = ""
        self.writing = asyncio.Lock()
        self._unwritten: dict[str, str | bool] = {}

    async def keep(self, name: str, value: str | bool) -> None:
        """Write a setting, after those that were changed before it; what cannot be written waits for the next one."""
        import asyncio

        async with self.writing:
            self._unwritten[name] = value
            try:
                for key, latest in tuple(self._unwritten.items()):
                    await asyncio.to_thread(keep_setting, key, latest)
                    del self._unwritten[key]
                self.problem = ""
            except NotKept as refused:
                self.problem = refused.message
