"""The signals that ask a run to end, heard by the event loop: the first one politely, the second one ends at once.

Where Ctrl-C would cost a game, whoever plays it may ask back first; the signals belong to the process, and so does the
one question that may stand before them.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from typing import Final

_STOPPING: Final = ("SIGINT", "SIGTERM", "SIGHUP")
_QUESTIONS: Final[list[Callable[[], bool]]] = []


@contextlib.contextmanager
def asking_before_interrupt(ask: Callable[[], bool]) -> Iterator[None]:
    """Let `ask` answer each Ctrl-C meanwhile: True where it has asked back, and this one ends nothing."""
    _QUESTIONS.append(ask)
    try:
        yield
    finally:
        _QUESTIONS.remove(ask)


def hear_signals(stop: Callable[[int], None], restore: Callable[[], None] = lambda: None) -> None:
    """Call `stop` with the number of the first signal that comes; a second one ends the process, after `restore`.

    What was ignored from the start, as by ``nohup``, stays ignored. Where the loop hears no signals nothing is done.
    """
    received: list[int] = []

    def hear(number: int) -> None:
        if number == signal.SIGINT and not received and _QUESTIONS and _QUESTIONS[-1]():
            return
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
