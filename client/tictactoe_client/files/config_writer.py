"""One setting written to `client.toml` so that it lasts: the rest of the file stays as the person wrote it.

What cannot be read, understood or written is left alone, and told as `NotKept`. The library that edits TOML is imported
when something is written, never before.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, Final

from tictactoe_client.files.config import config_path
from tictactoe_client.files.writer import NotKept, change_file

Value = str | bool | float
_TABLE: Final = re.compile(r"\s*\[")


def keep_setting(name: str, value: Value, path: Path | None = None) -> None:
    """Write one setting; raises `NotKept`, and the file is then as it was."""
    _change(path or config_path(), name, value)


def drop_setting(name: str, path: Path | None = None) -> bool:
    """Strike one setting out; tell whether it was there. Raises `NotKept` as `keep_setting` does."""
    path = path or config_path()
    return path.exists() and _change(path, name, None)


def _change(path: Path, name: str, value: Value | None) -> bool:
    """Write one setting, None to strike it out; tell whether that changed the file."""
    try:
        return change_file(path, lambda content: _set(content.decode(), name, value).encode())
    except UnicodeError:
        raise NotKept(f"{path.name} is no UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise NotKept(f"{path.name} has a mistake in it: {error}") from None


def _set(text: str, name: str, value: Value | None) -> str:
    """Return the text with one setting changed, added or struck out; raises TOMLDecodeError for what is no TOML."""
    wanted: dict[str, Any] = tomllib.loads(text)
    if value is not None:
        wanted[name] = value
    elif wanted.pop(name, None) is None:
        return text
    head, tail = _split_before_tables(text)
    for edited in (_edit(head, name, value, then=tail), _edit(text, name, value)):
        if edited is not None and _parses_to(edited, wanted):
            return edited
    raise NotKept("the file is too unusual to change it safely")


def _edit(text: str, name: str, value: Value | None, *, then: str = "") -> str | None:
    """Return the text with the setting in it, and with what follows it; None where the text is no TOML."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    body = text.rstrip("\r\n")
    gap = text[len(body) :] if body else "\n\n" if then else "\n"
    try:
        document = tomlkit.parse(f"{body}\n" if body else "")
        if value is None:
            document.pop(name, None)
        else:
            document[name] = value
    except TOMLKitError:
        return None
    edited = tomlkit.dumps(document).rstrip("\r\n") + (gap or "\n")
    return _match_line_ends(edited + then, text + then)


def _split_before_tables(text: str) -> tuple[str, str]:
    """Return the text before the first table, and that table with the comment right above it and all the rest.

    A setting belongs before the tables: behind a header it would be one of that table's.
    """
    lines = text.splitlines(keepends=True)
    start = next((number for number, line in enumerate(lines) if _TABLE.match(line)), len(lines))
    if start < len(lines):
        while start and lines[start - 1].lstrip().startswith("#"):
            start -= 1
    return "".join(lines[:start]), "".join(lines[start:])


def _match_line_ends(text: str, model: str) -> str:
    """Return the text with Windows' line ends where the model has no others."""
    if "\r\n" not in model or re.search(r"(?<!\r)\n", model):
        return text
    return re.sub(r"(?<!\r)\n", "\r\n", text)


def _parses_to(text: str, wanted: dict[str, Any]) -> bool:
    try:
        return tomllib.loads(text) == wanted
    except tomllib.TOMLDecodeError:
        return False
