"""The signals that ask a run to end, heard by the event loop: the first one politely, the second one ends at once."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from typing import Final

_STOPPING: Final = ("SIGINT", "SIGTERM", "SIGHUP")


def hear_signals(stop: Callable[[int], None], restore: Callable[[], None] = lambda: None) -> None:
    """Call `stop` with the number of the first signal that comes; a second one ends the process, after `restore`.

    What was ignored from the start, as by ``nohup``, stays ignored. Where the loop hears no signals nothing is done.
    """
    received: list[int] = []

    def hear(number: int) -> None:
        if received:
            restore()
            os._exit(128 + number)
        received.append(number)
        stop(number)

    loop = asyncio.get_running_loop()
    for name in _STOPPING:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            try:
                loop.add_signal_handler(number, hear, number)
            except NotImplementedError:
                break
