"""What lies on the desk and what may be done there: pages one upon another, settings, the connection, and the way out.

It knows no terminal library: what it must have shown, changed or ended is the `app`'s.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

from tictactoe_client.exits import LastGame, exit_code_for
from tictactoe_client.files.config import entry_of, show_path
from tictactoe_client.online.address import Address
from tictactoe_client.online.choosing import Choice
from tictactoe_client.online.errors import ClientError, ConnectionLost, Expelled, ProtocolBroken, Refused
from tictactoe_client.online.messages import Message
from tictactoe_client.session import house_for
from tictactoe_client.settings import ExitCode, Settings
from tictactoe_client.text.arrival import describe_giving_up
from tictactoe_client.text.news import describe_announcement, describe_notice
from tictactoe_client.tui.entering import Entering
from tictactoe_client.tui.keeper import Keeper
from tictactoe_client.tui.keymap import Keymap
from tictactoe_client.tui.link import Link
from tictactoe_client.tui.opening import Opening
from tictactoe_client.tui.page import Page
from tictactoe_client.tui.room.page import GamePage
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import Announcement, Notice


class Desktop:
    """The desk of one person, without the terminal under it; `last_words` are for standard error at the end."""

    def __init__(self, settings: Settings, address: Address, first: Choice | None, opening: Opening) -> None:
        self.settings = settings
        self.keymap = Keymap(settings.changed_keys)
        self.last_words = ""
        self.last_game = LastGame()
        self.failure: BaseException | None = None
        self._keeper = Keeper(self._note_kept)
        self._status: tuple[str, str] | None = None
        self._quit_code: int = ExitCode.NORMAL
        self._deeds: set[asyncio.Task[None]] = set()
        self.link = Link(
            settings,
            address,
            hear=self._hear,
            connected=self._connected,
            changed=self.redraw,
            failed=self._lose,
            token=opening.find_token(house_for(settings, address).urls, settings.name, first),
            watches=opening.page != "home" or (first is not None and first.way == "watch"),
        )
        self.entering = Entering(self.link)
        self._pages: list[Page] = opening.lay_pages(self, first)

    def redraw(self) -> None:
        """Show what has changed."""
        raise NotImplementedError

    def ring(self) -> None:
        """Ring the bell where that is wanted."""
        raise NotImplementedError

    def copy(self, text: str) -> None:
        """Put text on the clipboard, where the terminal lets us."""
        raise NotImplementedError

    def apply_setting(self, field: str) -> None:
        """Let a changed setting be seen on the terminal."""
        raise NotImplementedError

    def end(self, code: int) -> None:
        """Give the terminal back and end with this exit code."""
        raise NotImplementedError

    # -- pages ----------------------------------------------------------------------------------------------------

    @property
    def pages(self) -> list[Page]:
        """The pages, the visible one last."""
        return self._pages

    def open(self, page: Page) -> None:
        """Lay a page on top; a game whose connection has failed meanwhile is none any more."""
        if isinstance(page, GamePage) and self.link.phase == "failed":
            return
        for below in self._pages:
            below.covered(page)
        self._pages.append(page)
        self._status = None
        page.opened()
        self.redraw()

    def close_page(self) -> None:
        """Take the top page off; below the first the program ends."""
        if len(self._pages) == 1:
            self.leave(self._exit_code())
            return
        self._pages.pop().closed()
        self._pages[-1].opened()
        self.redraw()

    def go_home(self) -> None:
        """Take off all but the first page."""
        while len(self._pages) > 1:
            self._pages.pop().closed()
        self._pages[-1].opened()
        self.redraw()

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something that takes time."""
        task = asyncio.create_task(self._guard(work))
        self._deeds.add(task)
        task.add_done_callback(self._deeds.discard)

    def say(self, text: str, role: str = "warn") -> None:
        """Show something on the status line until the next key."""
        self._status = (clean_text(text), role)
        self.redraw()

    def hush(self) -> None:
        """Take what was said off the status line."""
        self._status = None

    def now(self) -> float:
        """Return monotonic seconds."""
        return time.monotonic()

    def leave(self, code: int, message: str = "") -> None:
        """End the program, having given up what others wait for."""
        self.last_words = self.last_words or message
        self.run(self._say_goodbye(code))

    def quit(self, code: int) -> None:
        """End the program, unless a page has a question first; the second time there is none."""
        if any(page.asks_first() for page in reversed(self._pages)):
            self._quit_code = code
        else:
            self.leave(code)

    def quit_after_all(self) -> None:
        """End the program, the page's question having been answered, with the exit code of the key that asked."""
        self.leave(self._quit_code or self._exit_code())

    # -- settings -------------------------------------------------------------------------------------------------

    def use_theme(self, name: str) -> None:
        """Change the colours, now and for later runs, and say so."""
        self.say(f"Theme: {name}", "dim")
        self.change("theme", name)

    def change(self, field: str, value: str | bool) -> None:
        """Change a setting, now and for later runs."""
        changed: Callable[..., Settings] = replace
        self.settings = changed(self.settings, **{field: value})
        self.apply_setting(field)
        self.run(self._keeper.keep(*entry_of(field, value)))

    def rename(self, name: str) -> None:
        """Be called otherwise, now and, where this run was not told a name, in later runs."""
        self.entering.give_up()
        self.link.rename(name)
        if self.settings.name_is_for_now:
            self.say("The name is for this run only: an option or the environment names another.", "dim")
        else:
            self.run(self._keeper.keep("name", name))

    @property
    def kept_in(self) -> str:
        """Where settings are kept for later runs, for people."""
        return show_path(self._keeper.path)

    @property
    def not_kept(self) -> str | None:
        """Why the last setting counts for this run only, or None."""
        return self._keeper.problem

    def _note_kept(self) -> None:
        """Say where a setting does not last."""
        if self._keeper.problem is None:
            self.redraw()
        else:
            self.say(f"For this run only: {self._keeper.problem}.")

    # -- the connection, and what goes wrong ----------------------------------------------------------------------

    def _attempt(self, deed: Any, *arguments: Any) -> None:
        try:
            deed(*arguments)
        except Exception as error:
            self._fail(error)
        self.redraw()

    def _hear(self, message: Message) -> None:
        for page in tuple(self._pages):
            self._attempt(page.hear, message)
        if isinstance(message.push, Notice):
            self.say(describe_notice(message.push))
        elif isinstance(message.push, Announcement):
            self.say(describe_announcement(message.push))

    def _connected(self) -> None:
        for page in tuple(reversed(self._pages)):
            self._attempt(page.connected)

    async def _guard(self, work: Coroutine[Any, Any, None]) -> None:
        """Tell what was refused; whatever else goes wrong is our mistake and ends the program."""
        try:
            await work
        except Refused as refused:
            self.say(refused.message)
        except ClientError as error:
            if self.link.phase != "failed":
                self.say(error.message)
        except Exception as error:
            self._fail(error)

    def _lose(self, failure: ClientError) -> None:
        """Leave a game that could not be gone back to; from anywhere else go home, where one may try again."""
        page = self._pages[-1]
        if isinstance(failure, (ProtocolBroken, Expelled)) and len(self._pages) > 1:
            self.leave(exit_code_for(failure), failure.message)
        elif isinstance(failure, ConnectionLost) and isinstance(page, GamePage) and page.table.is_live:
            reason = failure.reason
            text = describe_giving_up(page.table.state, page.table.viewer, self.link.address, reason)
            self.leave(ExitCode.CONNECTION_LOST, text)
        elif len(self._pages) > 1 and page.needs_server:
            self.go_home()

    def _fail(self, error: BaseException) -> None:
        if self.failure is None:
            self.failure = error
            self.end(ExitCode.OUR_BUG)

    async def _say_goodbye(self, code: int) -> None:
        if self.link.phase == "online":
            await self.entering.finish()
        for page in reversed(self._pages):
            self.last_words = self.last_words or await page.say_goodbye()
        await self._keeper.finish()
        is_asked = code == ExitCode.NORMAL and self.settings.result_code
        self.end(self.last_game.exit_code if is_asked else code)

    def _exit_code(self) -> int:
        """Return the code for one who ends the program now, but for what became of a game."""
        if self.link.phase == "away":
            return ExitCode.CONNECTION_LOST
        failure = self.link.failure
        return exit_code_for(failure) if failure is not None and self.link.phase == "failed" else ExitCode.NORMAL
