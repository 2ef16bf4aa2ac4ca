"""The program on a terminal: its screens one upon another, its settings, the one connection, and the way out."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from io import StringIO
from typing import Any, ClassVar, Literal

from rich.console import Console
from textual import events
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.filter import LineFilter, Monochrome, NoColor
from textual.screen import Screen

from tictactoe_client.exits import LastGame, describe_failure, exit_code_for
from tictactoe_client.files.records import STANDARD_STREAM, name_for, write_record
from tictactoe_client.files.writer import keeping_debug_log, report_bug
from tictactoe_client.input.record import RecordedRoom
from tictactoe_client.online.address import Address
from tictactoe_client.online.client import Choice
from tictactoe_client.online.errors import BadAddress, ClientError, ConnectionLost, Expelled, ProtocolBroken, Refused
from tictactoe_client.online.messages import Message
from tictactoe_client.online.room import Room
from tictactoe_client.session import Role, Session, house_for
from tictactoe_client.settings import SCREEN_OPTIONS, ExitCode, Misuse, Settings
from tictactoe_client.streams.keyboard import hear_signals
from tictactoe_client.streams.output import print_error
from tictactoe_client.text.arrival import describe_giving_up
from tictactoe_client.text.news import describe_push
from tictactoe_client.tui.errands import Errands
from tictactoe_client.tui.history import HistoryScreen
from tictactoe_client.tui.home import HomeScreen
from tictactoe_client.tui.keymap import Keymap
from tictactoe_client.tui.lists import WatchScreen
from tictactoe_client.tui.lobby import Lobby
from tictactoe_client.tui.question import Question
from tictactoe_client.tui.room.screen import RoomScreen
from tictactoe_client.tui.screen import ClientScreen, bind
from tictactoe_client.tui.settings import Keeper
from tictactoe_client.tui.terminal import Terminal, remember_terminal, watch_terminal
from tictactoe_client.tui.themes import (
    STYLE,
    THEMES,
    library_theme,
    next_theme,
    resolve_theme,
    style_variables,
    theme_named,
)
from tictactoe_engine.records import GameRecord
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import Announcement, Notice

_IDLE_SECONDS = 10.0
"""Without a key for so long a person counts as away, where the terminal does not say."""


@dataclass(frozen=True, slots=True)
class Opening:
    """The first page; `limit` is how many finished games to list at most, None for all.

    `record` is what to replay without a server, first seen after `ply` moves, with the `note` on the status line.
    """

    page: Literal["home", "watch", "history", "replay"] = "home"
    limit: int | None = None
    record: GameRecord | None = None
    ply: int = 0
    note: str = ""

    def role_for(self, first: Choice | None) -> Role:
        """Return who one is on the server: whoever only watches is nobody in particular."""
        if self.page == "history":
            return "reader"
        return "nobody" if self.page == "watch" or (first is not None and first.way == "watch") else "player"


class TicTacToe(App[int], inherit_bindings=False):
    """The program; `first` is where the command line wants to go at once, `last_words` are for standard error.

    What went wrong in the library's hands is in `unhandled`: nothing is printed over the terminal.
    """

    TITLE = "tictactoe"
    CSS = STYLE
    COMMAND_PALETTE_BINDING = "ctrl+p"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("quit", "ask_to_quit", "quit", priority=True),
        bind("leave", "interrupt", priority=True),
        bind("redraw", priority=True),
    ]

    def __init__(
        self, settings: Settings, address: Address, first: Choice | None = None, *, opening: Opening | None = None
    ) -> None:
        self.terminal = Terminal()
        self.settings = settings
        super().__init__()
        self.unhandled = StringIO()
        self.error_console = Console(file=self.unhandled, width=120)
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (72, "-wide")]
        self.VERTICAL_BREAKPOINTS = [(0, "-low"), (20, "-high")]
        for name in THEMES[1:]:
            if name not in self.available_themes:
                self.register_theme(library_theme(name))
        self.theme = resolve_theme(settings.theme, colour=settings.colour)
        self.set_keymap({action: ",".join(keys) for action, keys in settings.changed_keys.items()})
        self.keymap = Keymap(settings.changed_keys)
        self.last_words = ""
        self.last_game = LastGame()
        self.failure: BaseException | None = None
        self.is_ending = False
        self.status: tuple[str, str] | None = None
        self.keeper = Keeper(self._note_kept)
        self._quit_code: int = ExitCode.NORMAL
        self._deeds: set[asyncio.Task[None]] = set()
        self._is_focused: bool | None = None
        self._last_key = time.monotonic()
        opening = opening or Opening()
        self._connects = opening.record is None
        self.link = Session(
            settings,
            house_for(settings, address),
            opening.role_for(first),
            room=first.code if first is not None and first.way == "join" else None,
            resumes=first is None,
            tell=self.say,
            hear=self._hear,
            connected=self._connected,
            changed=self.redraw,
            failed=self._lose,
        )
        self.errands = Errands(self, first)
        self.lobby = Lobby(self)
        self._opening = self._lay_screens(opening)

    # -- screens --------------------------------------------------------------------------------------------------

    def _lay_screens(self, opening: Opening) -> list[ClientScreen]:
        """Return the screens to begin with; where home is not among them, going back ends the program."""
        if opening.record is not None:
            return [RoomScreen(self, RecordedRoom(opening.record), news=opening.note, ply=opening.ply)]
        if opening.page == "history":
            return [HistoryScreen(opening.limit)]
        return [HomeScreen(), WatchScreen()] if opening.page == "watch" else [HomeScreen()]

    def get_default_screen(self) -> Screen[Any]:
        """Return the screen that lies under all others."""
        return self._opening[0]

    @property
    def screens(self) -> Sequence[ClientScreen]:
        """Our screens, the visible one last; questions of the library's own are none."""
        if not self.is_running:
            return self._opening
        return [screen for screen in self.screen_stack if isinstance(screen, ClientScreen)]

    def open(self, screen: ClientScreen) -> None:
        """Lay a screen on top; a game whose connection has failed meanwhile is none any more."""
        if isinstance(screen, RoomScreen) and screen.needs_server and self.link.phase == "failed":
            return
        for below in self.screens:
            below.covered(screen)
        self.push_screen(screen)
        self.status = None
        screen.opened()
        self.redraw()

    def open_room(self, room: Room, again: Choice | None, over: ClientScreen | None) -> None:
        """Open a room that was entered over this screen, or else the first, whatever lies on it by now."""
        below = over if over in self.screens else self.screens[0]
        while self.screens[-1] is not below:
            self.close_page()
        self.open(RoomScreen(self, room, again))

    def close_page(self) -> None:
        """Take the top screen off; below the first the program ends."""
        if len(self.screens) == 1:
            self.leave(self._exit_code())
            return
        self._take_off()
        self.screens[-1].opened()
        self.redraw()

    def go_home(self) -> None:
        """Take off all but the first screen."""
        while len(self.screens) > 1:
            self._take_off()
        self.screens[-1].opened()
        self.redraw()

    def redraw(self) -> None:
        """Show what has changed."""
        if not self.is_running or not self.screen_stack:
            return
        try:
            screen = self.screens[-1]
            screen.redraw()
            self.terminal.set_title(screen.window_title)
        except Exception as error:
            self._fail(error)

    def _take_off(self) -> None:
        screen = self.screens[-1]
        while self.screen is not screen:
            self.pop_screen()
        self.pop_screen()
        screen.closed()

    # -- what screens may ask -------------------------------------------------------------------------------------

    def start(self, work: Coroutine[Any, Any, object]) -> None:
        """Do something that takes time; refusals are told on the status line, other failures end the program."""
        task = asyncio.create_task(self._guard(work))
        self._deeds.add(task)
        task.add_done_callback(self._deeds.discard)

    def attempt(self, deed: Callable[..., object], *arguments: Any, shows: bool = True) -> None:
        """Do something at once, and show what has become of it where it `shows`; what goes wrong is our mistake."""
        try:
            deed(*arguments)
        except Exception as error:
            self._fail(error)
        if shows:
            self.redraw()

    def say(self, text: str, role: str = "warn") -> None:
        """Show something on the status line until the next key."""
        self.status = (clean_text(text), role)
        self.redraw()

    def hush(self) -> None:
        """Take what was said off the status line: it is no longer true."""
        self.status = None

    def now(self) -> float:
        """Return monotonic seconds."""
        return time.monotonic()

    def action_ask_to_quit(self) -> None:
        """End the program, unless something is lost by that."""
        self.attempt(self.quit, self._exit_code())

    def action_interrupt(self) -> None:
        """End the program as an interrupt does, unless something is lost by that."""
        self.attempt(self.quit, ExitCode.INTERRUPTED)

    def action_redraw(self) -> None:
        """Send the whole screen anew."""
        self.screen.refresh(layout=True, repaint=True)

    def action_theme(self) -> None:
        """Show the next theme."""
        self.use_theme(next_theme(self.settings.theme))

    def save(self, record: GameRecord, name: str = "") -> None:
        """Write a record to a file, under the name that it has by itself; where that is taken ask for another one."""
        name = name or name_for(record)
        try:
            if name == STANDARD_STREAM:
                raise Misuse("Save needs the name of a file.")
            write_record(name, record)
        except Misuse as misuse:

            def take(answer: str | None) -> None:
                if answer is not None:
                    self.save(record, answer)

            self.push_screen(Question(f"{misuse.message} Save as:", name, limit=200), take)
        else:
            self.say(f"The game is saved in {clean_text(name)}", "good")

    def ring(self) -> None:
        """Ring the bell where that is wanted: always, or while the person looks elsewhere."""
        mode = self.settings.bell
        idle = time.monotonic() - self._last_key > _IDLE_SECONDS
        is_away = idle if self._is_focused is None else not self._is_focused
        if mode == "always" or (mode == "away" and is_away):
            self.bell()

    def copy(self, text: str) -> None:
        """Put text on the clipboard, where the terminal lets us."""
        self.copy_to_clipboard(text)

    def leave(self, code: int, message: str = "") -> None:
        """End the program with this exit code and a line on standard error, having given up what others wait for."""
        self.last_words = self.last_words or message
        self.start(self._say_goodbye(code))

    def quit(self, code: int) -> None:
        """End the program, unless a screen has a question first; the second time there is none."""
        if any(screen.asks_first() for screen in reversed(self.screens)):
            self._quit_code = code
        else:
            self.leave(code)

    def quit_after_all(self) -> None:
        """End the program, the question having been answered, with the exit code of the key that asked."""
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
        if field in ("theme", "colour"):
            self.theme = resolve_theme(self.settings.theme, colour=self.settings.colour)
            theme = theme_named(self.settings.theme, colour=self.settings.colour)
            for screen in self.screens:
                if isinstance(screen, RoomScreen):
                    screen.canvas.use_theme(theme)
        elif field == "ascii":
            self.set_class(self.settings.ascii, "-ascii")
        elif field == "mouse":
            self.terminal.use_mouse(wanted=self.settings.mouse)
        option = SCREEN_OPTIONS[field]
        self.start(self.keeper.keep(option.key, option.entry_of(value)))
        self.redraw()

    def rename(self, name: str) -> None:
        """Be called otherwise, now and, where this run was not told a name, in later runs."""
        self.errands.give_up()
        self.link.rename(name)
        if self.settings.name_is_for_now:
            self.say("The name is for this run only: an option or the environment names another.", "dim")
        else:
            self.start(self.keeper.keep("name", name))

    def _note_kept(self) -> None:
        """Say where a setting does not last."""
        if self.keeper.problem is None:
            self.redraw()
        else:
            self.say(f"For this run only: {self.keeper.problem}.")

    # -- what happens ---------------------------------------------------------------------------------------------

    def get_driver_class(self) -> type[Driver]:
        """Return the library's driver for this terminal, known to `terminal`."""
        return self.terminal.drive_with(super().get_driver_class())

    def get_css_variables(self) -> dict[str, str]:
        """Return the colours of the theme by name, with ours for all that is drawn."""
        return {**super().get_css_variables(), **style_variables(self.theme)}

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return the library's, but for those that obey NO_COLOR, even an empty one: our settings do."""
        return [one for one in super().get_line_filters() if not isinstance(one, (Monochrome, NoColor))]

    def get_key_display(self, binding: Binding) -> str:
        """Return a key's name for people."""
        return self.keymap.show_key(binding.key, ascii_only=self.settings.ascii)

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Offer what the keys of the screen do, for those who look for it by its name; and every theme."""
        for active in screen.active_bindings.values():
            if active.enabled and active.binding.show:
                label = active.binding.description.capitalize()
                press = partial(self.call_later, self.simulate_key, active.binding.key)
                yield SystemCommand(label, self.get_key_display(active.binding), press)
        for name in THEMES:
            yield SystemCommand(f"Theme: {name}", "Colours of the full screen", partial(self.use_theme, name))

    async def on_event(self, event: events.Event) -> None:
        """Take note that somebody is at the keys, before anything else is done with them."""
        if isinstance(event, (events.Key, events.Click)) and not event.is_forwarded:
            self._last_key = time.monotonic()
            self.screens[-1].note_person()
            self.status = None  # it has been read
        await super().on_event(event)

    def on_mount(self) -> None:
        """Show something at once, then connect, unless that which is shown needs no server."""
        self.set_class(self.settings.ascii, "-ascii")
        for screen in self._opening[1:]:
            self.push_screen(screen)
        for doubt in self.settings.doubts[:1]:
            self.say(doubt)
        self.redraw()
        if self._connects:
            self.start(self.link.run())

    def on_app_focus(self) -> None:
        """Take note that the person looks here."""
        self._is_focused = True

    def on_app_blur(self) -> None:
        """Take note that the person looks elsewhere."""
        self._is_focused = False

    def _hear(self, message: Message) -> None:
        top = self.screens[-1]
        for screen in self.screens:
            if type(screen).hear is not ClientScreen.hear:
                self.attempt(screen.hear, message, shows=screen is top)
        if isinstance(message.push, (Notice, Announcement)):
            self.say(describe_push(message.push))

    def _connected(self) -> None:
        for screen in reversed(self.screens):
            self.attempt(screen.connected)

    async def _guard(self, work: Coroutine[Any, Any, object]) -> None:
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
        screen, is_first = self.screens[-1], len(self.screens) == 1
        if isinstance(failure, (ProtocolBroken, Expelled)) and not is_first:
            self.leave(exit_code_for(failure), failure.message)
        elif isinstance(failure, ConnectionLost) and isinstance(screen, RoomScreen) and screen.table.plays:
            reason = failure.reason
            text = describe_giving_up(screen.table.state, screen.table.viewer, self.link.address, reason)
            self.leave(ExitCode.CONNECTION_LOST, text)
        elif not is_first and screen.needs_server:
            self.go_home()

    def _fail(self, error: BaseException) -> None:
        if self.failure is None:
            self.failure = error
            self._end(ExitCode.OUR_BUG)

    async def _say_goodbye(self, code: int) -> None:
        if self.link.phase == "online":
            await self.errands.finish()
        for screen in reversed(self.screens):
            self.last_words = self.last_words or await screen.say_goodbye()
        await self.keeper.finish()
        await self.link.finish()
        is_asked = code == ExitCode.NORMAL and self.settings.result_code
        self._end(self.last_game.exit_code if is_asked else code)

    def _end(self, code: int) -> None:
        """Give the terminal back and end with this exit code."""
        self.is_ending = True
        self.terminal.use_mouse(wanted=False)
        self.exit(code, return_code=code)

    def _exit_code(self) -> int:
        """Return the code for one who ends the program now, but for what became of a game."""
        if self.link.phase == "away":
            return ExitCode.CONNECTION_LOST
        failure = self.link.failure
        return exit_code_for(failure) if failure is not None and self.link.phase == "failed" else ExitCode.NORMAL


def run_screen(
    settings: Settings, address: Address | None, first: Choice | None = None, *, opening: Opening | None = None
) -> int:
    """Open the full screen, in the room of `first` or at another page, and return the exit code."""
    try:
        target = house_for(settings, address).first
    except BadAddress as bad:
        print_error(describe_failure(bad, settings))
        return exit_code_for(bad)
    with keeping_debug_log(is_wanted=settings.debug):
        return asyncio.run(show_screen(settings, target, first, opening=opening))


async def show_screen(
    settings: Settings, address: Address, first: Choice | None = None, *, opening: Opening | None = None
) -> int:
    """Show the full screen until it is left, for a caller that keeps the debug log; return the exit code."""
    app = TicTacToe(settings, address, first, opening=opening)
    code: int | None = None
    try:
        hear_signals(lambda number: app.leave(128 + number), remember_terminal())
        loop = asyncio.get_running_loop()
        watch_terminal(lambda: loop.call_soon_threadsafe(app.leave, 128 + signal.SIGHUP))
        code = await app.run_async(mouse=settings.mouse)
    except Exception as error:
        app.failure = app.failure or error
    if (task := asyncio.current_task()) is not None and task.cancelling():
        raise asyncio.CancelledError  # the library may swallow an interrupt that came before it heard of signals
    if app.failure is None and (unhandled := app.unhandled.getvalue()):
        app.failure = RuntimeError(unhandled)
    if app.failure is not None:
        print_error(report_bug(app.failure))
        return ExitCode.OUR_BUG
    if app.last_words:
        print_error(app.last_words)
    return app.return_code or code or ExitCode.NORMAL
