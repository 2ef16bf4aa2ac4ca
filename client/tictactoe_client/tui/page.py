"""What every page is: something that draws itself and answers keys; and what it may ask of the desk it lies on."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Protocol

from tictactoe_client.exits import LastGame
from tictactoe_client.online.messages import Message
from tictactoe_client.settings import Settings
from tictactoe_client.tui.foot import fit_keys
from tictactoe_client.tui.keymap import Keymap
from tictactoe_client.tui.picture import Picture, fold, shorten_left
from tictactoe_client.tui.room.desk import Desk as RoomDesk

if TYPE_CHECKING:
    from tictactoe_client.session import Session
    from tictactoe_client.tui.entering import Entering

MIN_WIDTH = 36
MIN_HEIGHT = 10
MAX_WIDTH = 100
MAX_HEIGHT = 28


class Desk(RoomDesk, Protocol):
    """Where pages lie one upon the other, with the connection that they share."""

    settings: Settings
    keymap: Keymap
    link: Session
    last_game: LastGame
    entering: Entering

    @property
    def pages(self) -> list[Any]:
        """The pages, the visible one last."""

    def open(self, page: Any) -> None:
        """Lay a page on top."""

    def close_page(self) -> None:
        """Take the top page off; below the first there is none, and the program ends."""

    def go_home(self) -> None:
        """Take off all but the first page."""

    def start(self, work: Coroutine[Any, Any, None]) -> None:
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

    def quit(self, code: int) -> None:
        """End the program, unless a page has a question first; the second time there is none."""

    def quit_after_all(self) -> None:
        """End the program, the page's question having been answered, with the exit code of the key that asked."""

    def ring(self) -> None:
        """Ring the bell where that is wanted."""

    def copy(self, text: str) -> None:
        """Put text on the clipboard, where the terminal lets us."""

    def use_theme(self, name: str) -> None:
        """Change the colours, now and for later runs, and say so."""

    def change(self, field: str, value: str | bool) -> None:
        """Change a setting, now and for later runs."""

    def rename(self, name: str) -> None:
        """Be called otherwise, now and, where this run was not told a name, in later runs."""

    @property
    def kept_in(self) -> str:
        """Where settings are kept for later runs, for people."""

    @property
    def not_kept(self) -> str | None:
        """Why the last setting counts for this run only, or None."""


class Page:
    """One page; the methods below are what a page may do, and what it does where it says nothing."""

    min_width = MIN_WIDTH
    min_height = MIN_HEIGHT
    needs_server = True
    """Whether the page means nothing once there is no server to be had; home then says so in its place."""
    max_width = MAX_WIDTH
    max_height = MAX_HEIGHT

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def needed_size(self) -> tuple[int, int]:
        """Return the width and height of the smallest window that shows the page."""
        return self.min_width, self.min_height

    def wanted_size(self, width: int, height: int) -> tuple[int, int]:
        """Return how much of a window of this size the page can use; a stage of at most that size is what it draws."""
        return min(width, self.max_width), min(height, self.max_height)

    @property
    def window_title(self) -> str:
        """What the terminal's window is called meanwhile."""
        return "tictactoe"

    @property
    def question(self) -> str:
        """What is asked before the program ends, for a window that is too small for the page; empty for nothing."""
        return ""

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

    def covered(self, page: Page) -> None:
        """Take note that another page came to lie above."""

    def tick(self) -> None:
        """Take note that time has passed."""

    def closed(self) -> None:
        """Take note that the page was taken off."""

    def list_help(self) -> list[str]:
        """Return the lines of help for what one can do here."""
        from tictactoe_client.tui.home_help import list_home_help

        return list_home_help(self.desk.keymap, self.desk.settings)

    def open_help(self) -> None:
        """Lay the page of help on top."""
        from tictactoe_client.tui.help_page import HelpPage

        self.desk.open(HelpPage(self.desk, self.list_help))

    def asks_first(self) -> bool:
        """Ask before the program ends, where that costs something and was not asked yet; tell whether it is asked."""
        return False

    async def say_goodbye(self) -> str:
        """Give up what others wait for, as the program ends; return a line for the terminal, or nothing."""
        return ""


def describe_wait(desk: Desk, keymap: Keymap) -> tuple[str, str] | None:
    """Return what is waited for on the way into a room and how to stop it, with its role; None for nothing."""
    if not desk.entering.errand:
        return None
    dots = "..." if desk.settings.ascii else "…"
    return f"{desk.entering.errand}{dots}   {keymap.show('back')} cancel", "warn"


def draw_status(picture: Picture, status: tuple[str, str], *, x: int = 1, most: int = 2) -> None:
    """Draw what was said last above the lower rule, in more than one line where it is long."""
    lines = fold(status[0], picture.width - x - 1, most)
    for y, line in enumerate(lines, picture.height - 2 - len(lines)):
        picture.put(0, y, " " * picture.width)
        picture.put(x, y, line, status[1])


def draw_frame(
    picture: Picture, title: tuple[tuple[str, str], ...], right: tuple[str, str], hints: str, *, ascii_only: bool
) -> None:
    """Draw a title line, rules, and a line of keys at the bottom, two spaces apart, as many as fit."""
    rule = ("-" if ascii_only else "─") * (picture.width - 2)
    end = picture.put_parts(1, 0, *title, until=picture.width - 1)
    picture.put_right(0, shorten_left(right[0], max(1, picture.width - end - 3)), right[1])
    picture.put(1, 1, rule, "dim")
    picture.put(1, picture.height - 2, rule, "dim")
    picture.put(1, picture.height - 1, fit_keys(hints, picture.width - 2), "dim")
