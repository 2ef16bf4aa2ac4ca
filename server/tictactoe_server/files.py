"""Files that an operator names: only regular ones are read, and the end of the process waits for none."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

Result = TypeVar("Result")


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading; raises OSError, also for anything but a regular file, and never waits for a writer."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        raise OSError(errno.EINVAL, "It is no regular file", str(path))
    return os.fdopen(descriptor, "rb")


async def run_in_daemon(call: Callable[[], Result]) -> Result:
    """Run a blocking call in a thread for which the end of the process does not wait."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Result] = loop.create_future()

    def settle(result: Any, error: Exception | None) -> None:
        if done.done():
            return
        if error is None:
            done.set_result(result)
        else:
            done.set_exception(error)

    def work() -> None:
        result, error = None, None
        try:
            result = call()
        except Exception as raised:
            error = raised
        with contextlib.suppress(RuntimeError):  # the event loop has ended
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=work, daemon=True).start()
    return await done
