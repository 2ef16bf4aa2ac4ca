"""Settings chosen inside the program, saved for later runs in `choices.json` in the state folder.

`client.toml`, which the user edits, overrides them. An unreadable file counts as empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tictactoe_client.files.writer import change_file, state_folder
from tictactoe_client.settings import FILE_OPTIONS

Value = str | bool | float


def choices_path() -> Path:
    """Return the path of the file, which need not exist."""
    return state_folder() / "choices.json"


def load_choices() -> dict[str, Any]:
    """Return the valid choices by the keys of their options."""
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
    """Add choices to the file; raises `NotKept`."""
    import msgspec

    def change(content: bytes) -> bytes:
        return msgspec.json.format(msgspec.json.encode({**_decode(content), **changes}), indent=1)

    change_file(choices_path(), change)


def _decode(content: bytes) -> dict[str, Value]:
    import msgspec  # not at the top: it would slow down `--help`

    try:
        return msgspec.json.decode(content, type=dict[str, Value])
    except ValueError:
        return {}
