"""Writes the client's own files: state files atomically and under a lock, logs and crash reports to new files.

A crash leaves either the old or the new content of a state file.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from tictactoe_client.online.errors import ClientError, describe_cause
from tictactoe_client.streams.output import print_error
from tictactoe_words.catalogue import say

LOCK_SECONDS: Final = 2.0
"""How long to wait while another program holds the lock; the full screen waits in a thread."""


class NotKept(ClientError):
    """A file could not be written and is unchanged; `message` gives the reason in a line."""


class Busy(NotKept):
    """Another program holds the lock; a later attempt may succeed."""


def state_folder() -> Path:
    from platformdirs import user_state_path

    return user_state_path("tictactoe", appauthor=False)


def change_file(path: Path, change: Callable[[bytes], bytes], *, seconds: float | None = None) -> None:
    """Replace the content of a file by the result of `change`.

    The replacement is atomic. Programs that change the same file wait for each other.

    Args:
        path: The file; it need not exist. A new file is readable by its owner alone.
        change: Takes the old content, or b"" if there is no file, and returns the new one. Its exceptions are raised.
        seconds: How long to wait for the lock, by default `LOCK_SECONDS`.

    Raises:
        NotKept: The file could not be written and is unchanged.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _locked(path.with_suffix(".lock"), LOCK_SECONDS if seconds is None else seconds):
            before = path.read_bytes() if path.exists() else b""
            after = change(before)
            if after != before:
                _replace(path, after)
    except OSError as error:
        raise NotKept(say("file not written", file=path.name, why=describe_cause(error))) from None


def create_file(path: Path, text: str) -> None:
    """Write a new file; raises `FileExistsError`, or if writing fails, `OSError` or `ValueError` and leaves no file."""
    with open(path, "x", encoding="utf-8", newline="\n") as file:
        try:
            file.write(text)
            file.flush()
        except (OSError, ValueError):
            path.unlink(missing_ok=True)
            raise


def _replace(target: Path, content: bytes) -> None:
    descriptor, draft = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        raise


@contextlib.contextmanager
def _locked(lock: Path, seconds: float) -> Iterator[None]:
    """Lock a file against other programs, if the platform has such locks; raises `Busy` after `seconds`."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    descriptor = os.open(lock, os.O_WRONLY | os.O_CREAT, 0o600)
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
    """If wanted, log all messages, without secrets, to a new file, whose path is printed at the end."""
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
    """Write the traceback of a bug to a new file, and return a sentence for the user."""
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
