"""What every page is: something that draws itself and answers keys; and what it may ask of the desk it lies on."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Protocol

from tictactoe_client.messages import Message
from tictactoe_client.settings import Settings
from tictactoe_client.tui.keymap import Keymap
from tictactoe_client.tui.picture import Picture

if TYPE_CHECKING:
    from tictactoe_client.tui.link import Link

MIN_WIDTH = 36
MIN_HEIGHT = 10


class Desk(Protocol):
    """Where pages lie one upon the other, with the connection that they share."""

    settings: Settings
    keymap: Keymap
    link: Link

    @property
    def pages(self) -> list[Page]:
        """The pages, the visible one last."""

    def open(self, page: Page) -> None:
        """Lay a page on top."""

    def close_page(self) -> None:
        """Take the top page off; below the first there is none, and the program ends."""

    def go_home(self) -> None:
        """Take off all but the first page."""

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something that takes time; refusals are told on the status line, other failures end the program."""

    def say(self, text: str, role: str = "warn") -> None:
        """Show something on the status line until the next key."""

    def hush(self) -> None:
        """Take what was said off the status line: it is no longer true."""

    def redraw(self) -> None:
        """Show what has changed."""

    def now(self) -> float:
        """Return monotonic seconds."""

    def leave(self, code: int, message: str = "") -> None:
        """End the program with an exit code, and a line on standard error."""

    def ring(self) -> None:
        """Ring the bell where that is wanted."""

    def copy(self, text: str) -> None:
        """Put text on the clipboard, where the terminal lets us."""

    def use_theme(self, name: str) -> None:
        """Change the colours."""


class Page:
    """One page; the methods below are what a page may do, and what it does where it says nothing."""

    min_width = MIN_WIDTH
    min_height = MIN_HEIGHT
    needs_server = True
    """Whether the page means nothing once there is no server to be had; home then says so in its place."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    @property
    def window_title(self) -> str:
        """What the terminal's window is called meanwhile."""
        return "tictactoe"

    @property
    def seconds_to_change(self) -> float | None:
        """After how long the page looks different though nothing happened, None for never."""
        return None

    def draw(self, picture: Picture, status: tuple[str, str] | None) -> None:
        """Draw the page; `status` is what was said last, with its role."""
        raise NotImplementedError

    def press(self, key: str) -> None:
        """Take a key."""

    def paste(self, text: str) -> None:
        """Take pasted text."""

    def click(self, x: int, y: int) -> None:
        """Take a click."""

    def scroll(self, lines: int) -> None:
        """Take a turn of the wheel."""

    def hear(self, message: Message) -> None:
        """Take a message of the server."""

    def connected(self) -> None:
        """Take note that there is a connection, perhaps again, to a server that may not know of us."""

    def opened(self) -> None:
        """Take note that the page came to lie on top."""

    def tick(self) -> None:
        """Take note that time has passed."""

    def closed(self) -> None:
        """Take note that the page was taken off."""

    async def say_goodbye(self) -> None:
        """Give up what others wait for, as the program ends."""


def draw_frame(
    picture: Picture, title: tuple[tuple[str, str], ...], right: tuple[str, str], hints: str, *, ascii_only: bool
) -> None:
    """Draw a title line, rules, and a line of keys at the bottom."""
    rule = ("-" if ascii_only else "─") * (picture.width - 2)
    picture.put_parts(1, 0, *title)
    picture.put_right(0, *right)
    picture.put(1, 1, rule, "dim")
    picture.put(1, picture.height - 2, rule, "dim")
    picture.put(1, picture.height - 1, hints, "dim")
