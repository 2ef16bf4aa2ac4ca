"""One setting written to `client.toml` so that it lasts: the rest of the file stays as the person wrote it.

What cannot be read, understood or written is left alone, and told as `NotKept`. The library that edits TOML is imported
when something is written, never before.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import tempfile
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tictactoe_client.files.config import config_path

LOCK_SECONDS: Final = 2.0
"""How long to wait for another run that writes at the same time."""

Value = str | bool | float
_WRITABLE: Final = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
_TABLE: Final = re.compile(r"\s*\[")


class NotKept(Exception):
    """A setting holds for this run alone; `message` says why, in one line."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


def keep_setting(name: str, value: Value, path: Path | None = None) -> None:
    """Write one setting; raises `NotKept`, and the file is then as it was.

    The file is replaced as a whole, so that a crash leaves the old one or the new one; a link is followed to the file
    that it stands for. Runs that write at the same time wait for each other.
    """
    _change(path or config_path(), name, value)


def _change(path: Path, name: str, value: Value | None) -> bool:
    """Write one setting, None to strike it out; tell whether that changed the file."""
    try:
        if not path.is_symlink():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        target = Path(os.path.realpath(path))
        with _locked(target.parent):
            before = _read(target)
            after = _set(before, name, value)
            if after != before:
                _replace(target, after)
            return after != before
    except UnicodeError:
        raise NotKept(f"{path.name} is no UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise NotKept(f"{path.name} has a mistake in it: {error}") from None
    except OSError as error:
        raise NotKept(f"{path.name} cannot be written: {(error.strerror or str(error)).lower()}") from None


def drop_setting(name: str, path: Path | None = None) -> bool:
    """Strike one setting out; tell whether it was there. Raises `NotKept` as `keep_setting` does."""
    path = path or config_path()
    if not path.exists():
        return False
    return _change(path, name, None)


def _read(target: Path) -> str:
    """Return the text, empty where there is no file; line ends as they are."""
    try:
        status = target.stat()
    except FileNotFoundError:
        return ""
    if not stat.S_ISREG(status.st_mode):
        raise NotKept(f"{target} is no regular file")
    if not status.st_mode & _WRITABLE:
        raise NotKept(f"{target.name} is read-only")
    return target.read_bytes().decode("utf-8")


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


def _replace(target: Path, text: str) -> None:
    """Put a new file in the place of the old one, on disk before it counts, with its owner and permissions."""
    descriptor, draft = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode("utf-8"))
            with contextlib.suppress(FileNotFoundError):
                _copy_permissions(target, file.fileno())
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        raise


def _copy_permissions(target: Path, descriptor: int) -> None:
    status = target.stat()
    if hasattr(os, "fchown"):
        with contextlib.suppress(PermissionError):
            os.fchown(descriptor, status.st_uid, status.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(status.st_mode))


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep other runs out meanwhile, where the platform can lock a folder; nothing is left behind in it."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        _wait_for_lock(descriptor, fcntl)
        yield
    finally:
        os.close(descriptor)


def _wait_for_lock(descriptor: int, fcntl: Any) -> None:
    """Take the lock; raises `NotKept` where somebody holds it for too long. A file system without locks has none."""
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise NotKept("another program writes there") from None
            time.sleep(0.01)
        except OSError:
            return
        else:
            return
