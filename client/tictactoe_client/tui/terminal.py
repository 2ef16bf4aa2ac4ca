"""The terminal under the program, where the library has no name for what is wanted: title, mouse, restoring, loss."""

from __future__ import annotations

import contextlib
import os
import select
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from textual.driver import Driver

from tictactoe_client.settings import ExitCode
from tictactoe_protocol import clean_text

_GRACE_SECONDS: Final = 3.0
_LEAVE_SCREEN: Final = (
    b"\x1b[?2004l\x1b[?7h\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1004l\x1b[<u\x1b[?1049l\x1b[?25h"
)
"""Undoes what the terminal library switches on, for an end at which it cannot do so itself."""

_MOUSE_ON = "\x1b[?1000h\x1b[?1003h\x1b[?1015h\x1b[?1006h"
_MOUSE_OFF = "\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l"


class Terminal:
    """What can be written to the terminal beside the screen; nothing while there is none."""

    def __init__(self) -> None:
        self.driver: Driver | None = None
        self._title = ""

    def drive_with(self, kind: type[Driver]) -> type[Driver]:
        """Return a driver of this kind that makes itself known here once it is made."""
        terminal = self

        class KnownDriver(kind):  # type: ignore[valid-type,misc]
            def __init__(self, *arguments: Any, **options: Any) -> None:
                super().__init__(*arguments, **options)
                terminal.driver = self

        return KnownDriver

    def set_title(self, title: str) -> None:
        """Call the terminal's window so."""
        if title != self._title:
            self._title = title
            self.write(f"\x1b]2;{clean_text(title)}\x07")

    def use_mouse(self, *, wanted: bool) -> None:
        """Take the mouse, or leave it to the terminal, which selects text with it."""
        self.write(_MOUSE_ON if wanted else _MOUSE_OFF)

    def write(self, text: str) -> bool:
        """Write past the library where there is a terminal; tell whether none misses it."""
        if self.driver is None or self.driver.is_web:
            return False
        if text and not self.driver.is_headless:
            self.driver.write(text)
        return True


def remember_terminal() -> Callable[[], None]:
    """Return what puts the terminal back into the state that it is in now."""
    try:
        import termios
    except ImportError:
        return lambda: None
    with contextlib.suppress(termios.error):
        attributes = termios.tcgetattr(0)

        def restore() -> None:
            with contextlib.suppress(OSError, termios.error):
                os.write(2, _LEAVE_SCREEN)
                termios.tcsetattr(0, termios.TCSANOW, attributes)

        return restore
    return lambda: None


def watch_terminal(gone: Callable[[], object]) -> None:
    """Leave when the terminal is gone, also where no signal says so; where the end then hangs, end at once."""
    if not hasattr(select, "poll"):
        return

    def watch() -> None:
        terminal = select.poll()
        terminal.register(0, 0)
        terminal.poll()
        with contextlib.suppress(RuntimeError):
            gone()
        time.sleep(_GRACE_SECONDS)
        os._exit(ExitCode.HANGUP)

    threading.Thread(target=watch, name="terminal", daemon=True).start()
