"""A small JSON file that only its owner may read: rewritten as a whole, one process at a time.

It knows nothing of what is in the file. Also here: whether a process that wrote its number down still lives.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

Rows = TypeVar("Rows")


def state_folder() -> Path:
    """Return where this platform keeps the state of the client."""
    from platformdirs import user_state_path

    return user_state_path("tictactoe", appauthor=False)


def read_private(path: Path) -> Any:
    """Return the content, None where there is none; raises ValueError for what is no JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        return None


def change_private(path: Path, read: Callable[[], Rows], change: Callable[[Rows], tuple[Rows, Any]]) -> None:
    """Read, change and write while no other process does.

    `change` returns the new rows, and the content to write where they differ. A folder that cannot be written to costs
    what would have been kept, and nothing else.
    """
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _locked(path.with_suffix(".lock")):
            before = read()
            after, content = change(before)
            if after != before:
                _write(path, content)


def is_alive(pid: int) -> bool:
    """Tell whether a process of this number runs on this machine."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _write(path: Path, content: Any) -> None:
    draft = path.with_suffix(f".{os.getpid()}.tmp")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)
    os.replace(draft, path)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keep other processes out meanwhile, where the platform can."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
