"""Terminal features that Textual does not cover: title, mouse, hang-up, and typed bytes that are not UTF-8."""

from __future__ import annotations

import contextlib
import os
import re
import select
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from tictactoe_client.settings import ExitCode
from tictactoe_protocol import clean_text

if TYPE_CHECKING:
    from textual.driver import Driver
    from textual.events import Key

_GRACE_SECONDS: Final = 3.0
_SEQUENCE: Final = re.compile(r"\x1b(?:\[[\d;]*[ -~]|O[ -~])?")
_LEAVE_SCREEN: Final = (
    b"\x1b[?2004l\x1b[?7h\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1004l\x1b[<u\x1b[?1049l\x1b[?25h"
)
"""The control sequences that undo Textual's modes if Textual cannot do it."""

_MOUSE_MODES: Final = (1000, 1003, 1015, 1006)


class Terminal:
    """The terminal of the full screen."""

    def __init__(self) -> None:
        self.driver: Driver | None = None
        self._title = ""
        self._attributes: list[Any] | None = None
        with contextlib.suppress(ImportError, OSError):
            import termios

            with contextlib.suppress(termios.error):
                self._attributes = termios.tcgetattr(0)

    def show_input(self) -> None:
        """Restore the terminal's attributes of the start, so that it echoes typed keys again."""
        if self._attributes is not None:
            import termios

            with contextlib.suppress(termios.error):
                termios.tcsetattr(0, termios.TCSANOW, self._attributes)

    def drive_with(self, kind: type[Driver]) -> type[Driver]:
        """Return a subclass of Textual's driver whose instance sets `self.driver`."""
        terminal = self

        class KnownDriver(kind):  # type: ignore[valid-type,misc]
            def __init__(self, *arguments: Any, **options: Any) -> None:
                super().__init__(*arguments, **options)
                terminal.driver = self

            def run_input_thread(self) -> None:
                """Read keys, and skip bytes that are not UTF-8, which would make Textual stop reading."""
                while True:
                    try:
                        super().run_input_thread()
                        break
                    except UnicodeDecodeError as error:
                        for key in _list_keys(error.object.decode("utf-8", "ignore")):
                            self.process_message(key)

        return KnownDriver

    def set_title(self, title: str) -> None:
        if title != self._title:
            self._title = title
            self.write(f"\x1b]2;{clean_text(title)}\x07")

    def use_mouse(self, *, wanted: bool) -> None:
        self.write("".join(f"\x1b[?{mode}{'h' if wanted else 'l'}" for mode in _MOUSE_MODES))

    def write(self, text: str) -> bool:
        """Write to the terminal without Textual's rendering; return False if that is impossible."""
        if self.driver is None or self.driver.is_web:
            return False
        if text and not self.driver.is_headless:
            self.driver.write(text)
        return True

    def restore(self) -> None:
        """Leave the alternate screen and restore the terminal's attributes, as Textual does at its end."""
        if self._attributes is not None:
            with contextlib.suppress(OSError):
                os.write(2, _LEAVE_SCREEN)
            self.show_input()

    def watch(self, gone: Callable[[], object]) -> None:
        """Call `gone` when the terminal is closed, even without a signal; end the process if it does not end soon."""
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


def _list_keys(typed: str) -> Iterator[Key]:
    """Yield the keys that type these characters; escape sequences are skipped."""
    from textual.events import Key
    from textual.keys import KEY_NAME_REPLACEMENTS

    for character in _SEQUENCE.sub("", typed):
        name = unicodedata.name(character, "").lower().replace(" ", "_").replace("-", "_")
        if character in "\r\n":
            yield Key("enter", "\r")
        elif name:
            yield Key(character if character.isalnum() else KEY_NAME_REPLACEMENTS.get(name, name), character)
