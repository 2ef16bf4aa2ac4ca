"""The terminal under the program, where the library has no name for what is wanted of it: its title and its mouse."""

from __future__ import annotations

from typing import Any

from textual.driver import Driver

from tictactoe_protocol import clean_text

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
            self._write(f"\x1b]2;{clean_text(title)}\x07")

    def use_mouse(self, *, wanted: bool) -> None:
        """Take the mouse, or leave it to the terminal, which selects text with it."""
        self._write(_MOUSE_ON if wanted else _MOUSE_OFF)

    def _write(self, text: str) -> None:
        if self.driver is not None and not self.driver.is_headless and not self.driver.is_web:
            self.driver.write(text)
