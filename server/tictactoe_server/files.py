"""Access to files that the operator specifies, which may be pipes, devices or on a disk that does not respond."""

from __future__ import annotations

import asyncio
import errno
import os
import stat
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import BinaryIO, TypeVar

Result = TypeVar("Result")


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading. Raise OSError for other files; never wait for the writer of a pipe."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        raise OSError(errno.EINVAL, "Not a regular file", str(path))
    return os.fdopen(descriptor, "rb")


async def run_in_daemon(call: Callable[[], Result]) -> Result:
    """Run a blocking call in a daemon thread and return its result. The process can end while the thread still runs."""
    done = Future[Result]()

    def work() -> None:
        done.set_running_or_notify_cancel()
        try:
            done.set_result(call())
        except Exception as error:
            done.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    return await asyncio.wrap_future(done)
