"""The one way in which files of ours are written: as a whole, under a lock that is not waited for without an end.

A crash leaves the old file or the new one. Notes for the makers, a log or a report, have a new file each."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from tictactoe_client.online.errors import ClientError, describe_cause
from tictactoe_client.streams.output import print_error
from tictactoe_protocol.catalogue import say

LOCK_SECONDS: Final = 2.0
"""How long to wait for another program that writes at the same time. Whoever draws a screen waits in a thread."""

_WRITABLE: Final = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


class NotKept(ClientError):
    """Nothing was written; `message` says why, in one line."""


class Busy(NotKept):
    """Another program holds the lock: a later attempt may fare better."""


def state_folder() -> Path:
    """Return where this platform keeps the state of the client."""
    from platformdirs import user_state_path

    return user_state_path("tictactoe", appauthor=False)


def change_file(
    path: Path, change: Callable[[bytes], bytes], *, lock: Path | None = None, seconds: float | None = None
) -> bool:
    """Write what `change` makes of the content, empty where there is no file; tell whether that is something else.

    A link is followed to its file; a new file is for its owner alone. Programs that use the same `lock`, or else the
    file's folder, wait for each other, at most LOCK_SECONDS or the `seconds` given. Raises `NotKept`, and the file is
    then as it was, and what `change` raises.
    """
    try:
        if not path.is_symlink():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        target = Path(os.path.realpath(path))
        with _locked(lock or target.parent, LOCK_SECONDS if seconds is None else seconds):
            before = _read(target)
            after = change(before)
            if after != before:
                _replace(target, after)
            return after != before
    except OSError as error:
        raise NotKept(say("file not written", file=path.name, why=describe_cause(error))) from None


def create_file(path: Path, text: str) -> None:
    """Write a new file; raises FileExistsError, and OSError or ValueError with no file left behind."""
    with open(path, "x", encoding="utf-8", newline="\n") as file:
        try:
            file.write(text)
            file.flush()
        except (OSError, ValueError):
            path.unlink(missing_ok=True)
            raise


def _read(target: Path) -> bytes:
    try:
        status = target.stat()
    except FileNotFoundError:
        return b""
    if not stat.S_ISREG(status.st_mode):
        raise NotKept(say("file irregular", file=target))
    if not status.st_mode & _WRITABLE:
        raise NotKept(say("file read-only", file=target.name))
    return target.read_bytes()


def _replace(target: Path, content: bytes) -> None:
    """Put a new file in the place of the old one, on disk before it counts, with its owner and permissions."""
    descriptor, draft = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileNotFoundError, PermissionError, AttributeError):
            shutil.copymode(target, draft)
            os.chown(draft, target.stat().st_uid, target.stat().st_gid)
        os.replace(draft, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        raise


@contextlib.contextmanager
def _locked(place: Path, seconds: float) -> Iterator[None]:
    """Keep other programs out meanwhile, where platform and file system have locks; raises `Busy`."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    descriptor = os.open(place, os.O_RDONLY if place.is_dir() else os.O_WRONLY | os.O_CREAT, 0o600)
    deadline = time.monotonic() + seconds
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise Busy(say("file busy")) from None
                time.sleep(0.01)
                continue
            except OSError:
                pass
            break
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def keeping_debug_log(*, is_wanted: bool) -> Iterator[None]:
    """Write what is sent and received, without secrets, to a new file where that is wanted; print its path last."""
    if not is_wanted:
        yield
        return
    import logging

    path = _new_file("debug")
    handler = logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    logger = logging.getLogger("tictactoe_client")
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    try:
        yield
    finally:
        print_error(say("debug log", file=path))


def report_bug(error: BaseException) -> str:
    """Write an error that is our fault, with its traceback, to a new file; return what to tell the person."""
    from tictactoe_protocol import escape_text

    path = _new_file("error")
    lines = "".join(traceback.format_exception(error)).split("\n")
    path.write_text("\n".join(map(escape_text, lines)), encoding="utf-8")
    return say("our mistake", file=path)


def _new_file(kind: str) -> Path:
    from platformdirs import user_log_path

    folder = user_log_path("tictactoe", appauthor=False, ensure_exists=True)
    path = folder / f"client-{kind}-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
    return path
