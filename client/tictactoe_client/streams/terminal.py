"""The terminal features that Textual does not cover: background colour, title, mouse, hang-up."""

from __future__ import annotations

import codecs
import contextlib
import os
import re
import select
import threading
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from tictactoe_client.settings import ExitCode
from tictactoe_client.themes import tell_dark
from tictactoe_protocol import clean_text

if TYPE_CHECKING:
    from textual.driver import Driver
    from textual.events import Key
    from textual.message import Message

_GRACE_SECONDS: Final = 3.0
_ANSWER_SECONDS: Final = 0.1
"""How long to wait for an answer; importing Textual in the meantime usually takes longer."""
_LATEST_SECONDS: Final = 10.0
"""How long to look for an answer among the keys, after the query or the previous answer."""
_QUESTIONS: Final = b"\x1b]11;?\x1b\\\x1b[c"
"""Queries of the background colour and of the device attributes; every terminal answers the latter."""
_ANSWER: Final = re.compile(r"[\x1b^]?(?:\]11;(?P<ground>[^\x07\x1b^\\]*)(?:\x07|[\x1b^]?\\)|\[\?[\d;]*c)")
_BEGUN: Final = re.compile(r"[\x1b^]?(?:\](?:1(?:1(?:;[^\x07\x1b^\\]*[\x1b^]?)?)?)?|\[(?:\?[\d;]*)?)?")
"""The beginning of an answer. Textual delivers unknown sequences as keys, ESC as ``^`` or not at all."""
_SEQUENCE: Final = re.compile(r"\x1b(?:\[[\d;]*[ -~]|O[ -~])?")
_LEAVE_SCREEN: Final = (
    b"\x1b[?2004l\x1b[?7h\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1004l\x1b[<u\x1b[?1049l\x1b[?25h"
)
"""Undoes Textual's modes if Textual cannot."""

_MOUSE_MODES: Final = (1000, 1003, 1015, 1006)


class Terminal:
    """The terminal.

    Attributes:
        is_dark: Whether its background is dark, None if unknown.
        learnt: Called when the terminal has reported its background colour.
    """

    def __init__(self) -> None:
        self.driver: Driver | None = None
        self.is_dark: bool | None = None
        self.learnt: Callable[[], object] = bool
        self._title = ""
        self._asked_at: float | None = None
        self._begun: list[tuple[str, Message | None]] = []
        self._typed = ""
        self._attributes: list[Any] | None = None
        with contextlib.suppress(ImportError, OSError):
            import termios

            with contextlib.suppress(termios.error):
                self._attributes = termios.tcgetattr(0)

    def ask_ground(self) -> None:
        """Ask for the background colour, and stop echoing input."""
        if self._attributes is None or "TEXTUAL_DRIVER" in os.environ:
            return
        import termios
        import tty

        with contextlib.suppress(OSError, termios.error):
            tty.setcbreak(0, termios.TCSANOW)
            os.write(1, _QUESTIONS)
            self._asked_at = time.monotonic()

    def await_ground(self) -> None:
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        with contextlib.suppress(OSError):
            while self._asked_at is not None:
                seconds_left = self._asked_at + _ANSWER_SECONDS - time.monotonic()
                if not select.select([0], [], [], max(0.0, seconds_left))[0] or not (data := os.read(0, 1)):
                    break
                self._typed += "".join(text for text, _ in self._sift(decode(data)))

    def show_input(self) -> None:
        if self._attributes is not None:
            import termios

            with contextlib.suppress(termios.error):
                termios.tcsetattr(0, termios.TCSANOW, self._attributes)

    def _sift(self, text: str, message: Message | None = None) -> list[tuple[str, Message | None]]:
        """Remove answers from the input; hold back an incomplete answer until its end arrives."""
        self._begun.append((text, message))
        if (answer := _ANSWER.fullmatch(self._list_begun())) is not None:
            self._begun.clear()
            if answer["ground"] is None:
                self._asked_at = None
            else:
                self.is_dark = tell_dark(answer["ground"])
                self._asked_at = time.monotonic()
                self.learnt()
        typed = []
        while _BEGUN.fullmatch(self._list_begun()) is None:
            typed.append(self._begun.pop(0))
        return typed

    def _list_begun(self) -> str:
        return "".join(text for text, _ in self._begun)

    def _list_typed(self) -> Iterator[Key]:
        """Yield the characters that were typed before Textual reads the input."""
        from textual.events import Key
        from textual.keys import KEY_NAME_REPLACEMENTS

        for character in _SEQUENCE.sub("", self._typed):
            name = unicodedata.name(character, "").lower().replace(" ", "_").replace("-", "_")
            if character in "\r\n":
                yield Key("enter", "\r")
            elif name:
                yield Key(character if character.isalnum() else KEY_NAME_REPLACEMENTS.get(name, name), character)
        self._typed = ""

    def _hear(self, take: Callable[[Message], None], message: Message) -> None:
        """Pass messages to `take`, removing a late answer; stop filtering after it, or after some time."""
        from textual.events import Key

        heard: Iterable[Message | None] = (message,)
        if isinstance(message, Key) and message.character and message.key != "escape":
            heard = [key for _, key in self._sift(message.character, message)]
        is_late = self._asked_at is not None and time.monotonic() > self._asked_at + _LATEST_SECONDS
        if is_late and not self._begun:
            self._asked_at = None
        if self._asked_at is None:
            vars(self.driver).pop("process_message", None)
        for key in heard:
            if key is not None:
                take(key)

    def drive_with(self, kind: type[Driver]) -> type[Driver]:
        """Return a driver class whose instance registers itself here."""
        terminal = self

        class KnownDriver(kind):  # type: ignore[valid-type,misc]
            def __init__(self, *arguments: Any, **options: Any) -> None:
                super().__init__(*arguments, **options)
                terminal.driver = self
                if terminal._asked_at is not None:
                    self.process_message = partial(terminal._hear, super().process_message)

            def start_application_mode(self) -> None:
                terminal.show_input()
                super().start_application_mode()
                for key in terminal._list_typed():
                    super().process_message(key)

            def run_input_thread(self) -> None:
                """Read keys, and drop bytes that are not UTF-8: Textual would stop reading."""
                while True:
                    try:
                        super().run_input_thread()
                        break
                    except UnicodeDecodeError as error:
                        terminal._typed = error.object.decode("utf-8", "ignore")
                        for key in terminal._list_typed():
                            self.process_message(key)

        return KnownDriver

    def set_title(self, title: str) -> None:
        if title != self._title:
            self._title = title
            self.write(f"\x1b]2;{clean_text(title)}\x07")

    def use_mouse(self, *, wanted: bool) -> None:
        self.write("".join(f"\x1b[?{mode}{'h' if wanted else 'l'}" for mode in _MOUSE_MODES))

    def write(self, text: str) -> bool:
        """Write to the terminal directly, bypassing Textual; return False if that is impossible."""
        if self.driver is None or self.driver.is_web:
            return False
        if text and not self.driver.is_headless:
            self.driver.write(text)
        return True

    def restore(self) -> None:
        """Leave the alternate screen and show input again, as Textual does at its end."""
        if self._attributes is not None:
            with contextlib.suppress(OSError):
                os.write(2, _LEAVE_SCREEN)
            self.show_input()

    def watch(self, gone: Callable[[], object]) -> None:
        """Call `gone` when the terminal is closed, even without a signal; end the process if that hangs."""
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
