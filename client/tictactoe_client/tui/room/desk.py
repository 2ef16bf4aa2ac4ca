"""What a room on the screen asks of the program around it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Protocol

from tictactoe_client.exits import LastGame
from tictactoe_client.session import Session
from tictactoe_client.settings import Settings
from tictactoe_client.tui.errands import Errands
from tictactoe_client.tui.keymap import Keymap


class Desk(Protocol):
    """The program: its settings and keys, the connection, the screens that lie upon another, and the way out."""

    settings: Settings
    keymap: Keymap
    link: Session
    last_game: LastGame
    errands: Errands
    status: tuple[str, str] | None

    @property
    def screens(self) -> Sequence[Any]:
        """The screens, the visible one last."""

    def open(self, page: Any) -> None:
        """Lay a screen on top."""

    def close_page(self) -> None:
        """Take the top screen off; below the first the program ends."""

    def go_home(self) -> None:
        """Take off all but the first screen."""

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something that takes time; refusals are told on the status line, other failures end the program."""

    def attempt(self, deed: Callable[..., object], *arguments: Any) -> None:
        """Do something at once, and show what has become of it."""

    def say(self, text: str, role: str = "warn") -> None:
        """Show something on the status line until the next key."""

    def hush(self) -> None:
        """Take what was said off the status line."""

    def redraw(self) -> None:
        """Show what has changed."""

    def now(self) -> float:
        """Return monotonic seconds."""

    def leave(self, code: int, message: str = "") -> None:
        """End the program with an exit code."""

    def quit_after_all(self) -> None:
        """End the program, the question having been answered."""

    def ring(self) -> None:
        """Ring the bell where that is wanted."""

    def copy(self, text: str) -> None:
        """Put text on the clipboard."""
