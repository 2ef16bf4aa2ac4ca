"""Where a run may leave notes for its makers: a log on request, and a report when it failed through our fault."""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tictactoe_client.streams.output import print_error


@contextmanager
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
        print_error(f"Debug log: {path}")


def report_bug(error: BaseException) -> str:
    """Write an error that is our fault, with its traceback, to a new file; return what to tell the person."""
    from tictactoe_protocol import escape_text

    path = _new_file("error")
    lines = "".join(traceback.format_exception(error)).split("\n")
    path.write_text("\n".join(map(escape_text, lines)), encoding="utf-8")
    return f"This is a mistake in tictactoe-client, not yours. What happened is in {path}"


def _new_file(kind: str) -> Path:
    """Return a new empty file that only its owner may read, in the platform's folder for logs."""
    from platformdirs import user_log_path

    folder = user_log_path("tictactoe", appauthor=False, ensure_exists=True)
    path = folder / f"client-{kind}-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
    return path
