"""The base class of screens, and the base class of the program, which screens use; `app` adds the actual screens."""

from __future__ import annotations

import asyncio
import math
import time
from abc import abstractmethod
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any, cast

from textual import events
from textual.app import App
from textual.screen import Screen

from tictactoe_client.exits import judge
from tictactoe_client.files.config import save_choices
from tictactoe_client.files.players import Identity, Role
from tictactoe_client.files.records import describe_fault, name_for, save_record
from tictactoe_client.files.writer import NotKept
from tictactoe_client.input.challenges import carry_out, find_asked
from tictactoe_client.input.ways import Choice, next_turn
from tictactoe_client.lobby import Lobby
from tictactoe_client.online.address import Address
from tictactoe_client.online.client import Client
from tictactoe_client.online.errors import ClientError, ConnectionLost, Expelled, ProtocolBroken, Refused
from tictactoe_client.online.events import ChallengeEnded
from tictactoe_client.online.messages import Message, Work
from tictactoe_client.online.room import Room
from tictactoe_client.session import Session, cluster_for
from tictactoe_client.settings import SCREEN_OPTIONS, ExitCode, Misuse, Settings
from tictactoe_client.streams.terminal import Terminal
from tictactoe_client.text.language import speak_as_chosen
from tictactoe_client.text.talk import describe_push
from tictactoe_client.themes import THEMES, resolve_theme
from tictactoe_client.tui.keymap import Keymap
from tictactoe_client.tui.line import hand_on
from tictactoe_client.tui.picture import measure
from tictactoe_client.tui.prompt import PromptScreen
from tictactoe_client.tui.ways_in import WaysIn
from tictactoe_client.visit.face import Prompt
from tictactoe_engine.records import GameRecord, RecordError, parse_record
from tictactoe_protocol import clean_text
from tictactoe_protocol.challenges import Challenged
from tictactoe_protocol.days import Turns
from tictactoe_protocol.events import Call
from tictactoe_protocol.pushes import Announcement, Notice, Welcome
from tictactoe_words.catalogue import say, speak
from tictactoe_words.commands import Verb
from tictactoe_words.ladders import describe_challenge, describe_challenge_end
from tictactoe_words.scene import describe_loss
from tictactoe_words.tournaments import describe_call

_IDLE_SECONDS = 10.0
"""The time without a key after which the person counts as away, if the terminal does not report its focus."""


class ClientScreen(Screen[None], inherit_bindings=False):
    """A screen, drawn only while it is visible. Subclasses override the hooks below."""

    needs_server = True
    """Whether to close the screen if no server can be reached; the home screen then shows why."""

    _is_dirty = False

    @property
    def program(self) -> Program:
        return cast(Program, self.app)

    @property
    def window_title(self) -> str:
        return say("window title")

    @property
    def is_current(self) -> bool:
        """Whether the screen is on top, or covered only by a prompt; Textual would also draw screens further below."""
        return self.is_active or (super().is_current and self.app.screen.is_modal)

    async def on_event(self, event: events.Event) -> None:
        try:
            if isinstance(event, events.Key):
                await asyncio.sleep(0)  # the previous key's task may open a prompt first, which then gets this key
            if not hand_on(event, self):
                await super().on_event(event)
        except Exception as error:
            self.program.fail(error)

    def redraw(self) -> None:
        """Schedule a single redraw for all changes made until then."""
        if not self._is_dirty and self.is_mounted:
            self._is_dirty = True
            self.program.start(self._draw())

    async def _draw(self) -> None:
        self._is_dirty, program = False, self.program
        if self.is_current and program.return_code is None:
            client = program.session.client
            turns = "" if client is None or not client.turns else f"({len(client.turns)}) "
            program.terminal.set_title(f"{turns}{self.window_title}")
            self.draw()

    on_screen_resume = on_resize = redraw

    @abstractmethod
    def draw(self) -> None: ...

    def tick(self) -> None:
        """Called once a second while the screen is on top."""
        self.redraw()

    def connected(self) -> None:
        """Called after each new session with a server, which may be another server than before."""

    def opened(self) -> None:
        """Called when the screen is opened, or the screens above it are closed."""

    def covered(self, screen: ClientScreen) -> None:
        """Called when another screen is opened above this one."""

    def closed(self) -> None: ...

    def note_person(self) -> None:
        """Called at each key or click, before it is handled and the status line is cleared."""

    def asks_first(self, leave: Callable[[], None]) -> bool:
        """Ask for confirmation if leaving costs something; return True if a question was opened.

        The question calls `leave` if the person confirms.
        """
        return False

    async def say_goodbye(self, *, gives_up: bool) -> str:
        """Called as the program ends: leave the room if `gives_up`; return a last line for the terminal, or ""."""
        return ""

    def describe_loss(self, reason: str) -> str:
        """Return a sentence about the running game if the connection is lost for good, or "" if there is no game."""
        return ""

    def survives_loss(self) -> bool:
        """Return True if the screen has to stay open even if the connection is lost for good."""
        return False

    def gives_way(self) -> bool:
        """Prepare to be covered by another board; return False if the person must not be interrupted."""
        return True

    def takes(self, action: str) -> bool:
        """Return True if this screen itself uses the key that otherwise answers challenges by `action`."""
        return False

    def describe_key(self, label: str) -> str:
        return say(label)


class Program(App[int], inherit_bindings=False):
    """The program as its screens see it.

    Attributes:
        last_words: A line to print on standard error at the end, or "".
        last_game: The exit code for the result of the latest game, or None.
        status: The message on the status line and its style, or None.
        save_problem: Why the latest change of a setting could not be saved, or "".
        saving: Held while settings are saved.
    """

    asks = True

    def __init__(
        self, settings: Settings, address: Address, first: Choice | None, role: Role, terminal: Terminal
    ) -> None:
        self.settings = settings
        self.terminal = terminal
        super().__init__()
        speak(in_ascii=settings.ascii)
        self.keymap = Keymap(settings.changed_keys)
        self.last_words = ""
        self.last_game: ExitCode | None = None
        self.failure: Exception | None = None
        self.status: tuple[str, str] | None = None
        self.save_problem = ""
        self.saving = asyncio.Lock()
        self._unsaved: dict[str, str | bool | float] = {}
        self._work = Work()
        self._is_focused: bool | None = None
        self._last_key = time.monotonic()
        seat_in = first.code if first is not None and first.way == "join" else None
        self.session = Session(
            settings,
            cluster_for(settings, address),
            Identity(settings.name, role, seat_in, resumes=first is None, tell=self.say),
            hear=self._hear,
            connected=self._connected,
            changed=self.redraw,
            failed=self._handle_loss,
        )
        self._rung: set[str] = set()
        self._answered: set[str] = set()
        self._shown = ""  # the id of the challenge on the screen, the only one that keys answer
        self._told_call: tuple[str, str] | None = None
        self.lobby = Lobby(self.session, self.start)
        self.ways_in = WaysIn(self, first)

    @property
    def screens(self) -> Sequence[ClientScreen]:
        """The screens of this client, the top one last, without prompts and Textual's own screens."""
        return [screen for screen in self.screen_stack if isinstance(screen, ClientScreen)]

    def open(self, screen: ClientScreen) -> None:
        for below in self.screens:
            below.covered(screen)
        self.push_screen(screen)
        self.status = None
        screen.opened()
        self.redraw()

    def open_room(self, room: Room, choice: Choice, over: Screen[Any] | None, news: str = "") -> None:
        """Open a room's screen above `over`, by default above the first screen, unless the connection has failed."""
        raise NotImplementedError

    def open_event(self, code: str, ticket: str, address: Address | None) -> None:
        """Open the page of an event, moving to the server at `address` if given; a ticket enters the event."""
        raise NotImplementedError

    async def claim_name(self, why: str) -> str | None:
        """Open the page about names, showing why; return "" if the name is claimed when it closes, else None."""
        raise NotImplementedError

    async def ask(self, prompt: Prompt) -> str | None:
        """Ask as `Face.ask` does, above the current screen; closing the prompt without an answer cancels the caller."""
        if prompt.claims_name:
            return await self.claim_name(prompt.text)
        screen = PromptScreen(prompt, self.keymap)
        self.push_screen(screen)
        return await screen.answered

    def show(self, *lines: str) -> None:
        self.say(" ".join(lines))

    def close(self, screen: ClientScreen) -> None:
        """Close a screen and all screens above it; closing the first screen ends the program."""
        if screen is self.screens[0]:
            self.leave(self._exit_code())
        elif screen in self.screens:
            self.go_back_to(self.screens[self.screens.index(screen) - 1])

    def go_home(self) -> None:
        self.go_back_to(self.screens[0])

    def go_back_to(self, below: ClientScreen) -> None:
        if below is self.screens[-1]:
            return
        while self.screen is not below:
            screen = self.screen
            self.pop_screen()
            if isinstance(screen, ClientScreen | PromptScreen):
                screen.closed()
        below.opened()
        self.redraw()

    def redraw(self) -> None:
        if self.is_running and (screens := self.screens):
            screens[-1].redraw()

    def start(self, work: Coroutine[Any, Any, object]) -> asyncio.Task[None]:
        """Start a task; its client errors are shown on the status line, other exceptions end the program."""
        return self._work.start(self._guard(work))

    def start_online(self, work: Callable[[Client], Coroutine[Any, Any, object]]) -> bool:
        """Start a task that needs the server; return False if there is no connection."""
        client = self.session.client if self.session.phase == "online" else None
        if client is not None:
            self.start(work(client))
        return client is not None

    async def read_game(self, client: Client, game: str, show: Callable[[GameRecord], object]) -> None:
        """Fetch the record of a game and pass it to `show`, or say why it is unreadable."""
        try:
            record = parse_record(await client.games.record(game))
        except RecordError as error:
            self.say(say("history unreadable", why=describe_fault(error)))
        else:
            show(record)

    def say(self, text: str, role: str = "warn") -> None:
        """Show a text on the status line until the next key."""
        self.status = (clean_text(text), role)
        self.redraw()

    def describe_connection(self, width: int, *, holds_seat: bool = False) -> tuple[str, str] | None:
        """Return a text about the lost connection and its style, or None if the connection is not lost.

        With `holds_seat`, the text says how long the seat is still held.
        """
        session, now = self.session, time.monotonic()
        if session.phase != "away" or session.retrying is None:
            is_returning = session.phase == "connecting" and session.client is not None
            return (say("banner connecting"), "warn") if is_returning else None
        seconds = max(0, math.ceil(session.retries_at - now))
        held_ms = round((session.held_until - now) * 1000) if holds_seat else 0
        loss = f"╳ {describe_loss(seconds, held_ms)}"
        return loss if measure(loss) <= width else f"╳ {describe_loss(None, held_ms)}", "bad"

    def action_redraw(self) -> None:
        self.screen.refresh(layout=True, repaint=True)

    def action_theme(self) -> None:
        self.use_theme(THEMES[(THEMES.index(self.settings.theme) + 1) % len(THEMES)])

    async def save(self, record: GameRecord) -> None:
        name: str | None = name_for(record)
        while name is not None:
            try:
                self.say(save_record(record, name or name_for(record)), "good")
                return
            except Misuse as misuse:
                name = await self.ask(Prompt(say("program save as", why=misuse.message), name, limit=200))

    def ring(self) -> None:
        """Ring the bell if the settings ask for it: always, or only while the person is away."""
        is_idle = time.monotonic() - self._last_key > _IDLE_SECONDS
        is_away = is_idle if self._is_focused is None else not self._is_focused
        if self.settings.bell == "always" or (self.settings.bell == "away" and is_away):
            self.bell()

    def leave(self, code: int, message: str = "") -> None:
        """Leave the room and end the program with this exit code; print `message` on standard error."""
        self.last_words = self.last_words or message
        self.start(self._say_goodbye(code))

    def action_ask_to_quit(self, code: int = ExitCode.NORMAL) -> None:
        def leave() -> None:
            self.leave(code or self._exit_code())

        if any(screen.asks_first(leave) for screen in reversed(self.screens)):
            self.redraw()
        else:
            leave()

    def action_interrupt(self) -> None:
        self.action_ask_to_quit(ExitCode.INTERRUPTED)

    def use_theme(self, name: str) -> None:
        self.say(say("program theme", name=say(f"setting theme {name}")), "dim")
        self.change("theme", name)

    def show_theme(self) -> None:
        """Apply the theme of the settings; the theme `auto` depends on the environment."""
        self.theme = resolve_theme(self.settings.theme, colour=self.settings.colour)
        self.redraw()

    def change(self, field: str, value: str | bool) -> None:
        """Change a setting at once, and save it for later runs unless `client.toml` sets it."""
        changed: Callable[..., Settings] = replace
        self.settings = changed(self.settings, **{field: value})
        if field == "mouse":
            self.terminal.use_mouse(wanted=self.settings.mouse)
        elif field in ("ascii", "language"):
            self.set_class(self.settings.ascii, "-ascii")
            speak_as_chosen(self.settings.language)
            speak(in_ascii=self.settings.ascii)
        option = SCREEN_OPTIONS[field]
        if option.key not in self.settings.fixed:
            self.start(self._save_choice(option.key, option.entry_of(value)))
        self.show_theme()

    def rename(self, name: str) -> None:
        """Change our name at once, and save it as `keep_name` does."""
        self.ways_in.give_up()
        self.session.rename(name)
        self.keep_name(name)

    def keep_name(self, name: str) -> None:
        """Use a name from the next hello on, and save it for later runs.

        It is not saved if the name comes from the command line, the environment or `client.toml`.
        """
        self.session.identity.name = name
        if self.settings.name_is_for_now or "name" in self.settings.fixed:
            self.say(say("program name for now"), "dim")
        else:
            self.start(self._save_choice("name", name))

    async def _save_choice(self, name: str, value: str | bool) -> None:
        """Save a setting, and earlier settings that could not be saved."""
        async with self.saving:
            self._unsaved[name] = value
            try:
                await asyncio.to_thread(save_choices, self._unsaved)
            except NotKept as error:
                self.save_problem = error.message
                self.say(say("settings not kept", why=error.message))
            else:
                self._unsaved, self.save_problem = {}, ""
        self.redraw()

    def heed_call(self, *, is_wanted: bool = False) -> None:
        """Open the board that a tournament calls us to; announce the call if the person must not be interrupted.

        Each call opens its board only once, unless `is_wanted`.
        """
        call = next(iter(self.session.client.tournaments.calls), None) if self.session.client is not None else None
        if self.status is self._told_call:
            self.status = None
        if call is None or self.ways_in.waits_for:
            return
        if call.room not in self._rung:
            self._rung.add(call.room)
            self.ring()
        is_free = self.screen is self.screens[-1] and call.room not in self._answered
        if is_wanted or (is_free and self.screens[-1].gives_way()):
            self._answered.add(call.room)
            self.ways_in.go(Choice("join", code=call.room), self.screens[-1])
        elif self.status is None:
            self.say(f"{describe_call(call)} {say('tournament go', key=self.keymap.show('call'))}")
            self._told_call = self.status

    def action_call(self) -> None:
        """Go to the board of a call; if there is none, go to the next game over days that awaits our move."""
        client, screen = self.session.client, self.screens[-1]
        room = getattr(screen, "room", None)
        way = next_turn(client, room.code if isinstance(room, Room) else "")
        if client is None or client.tournaments.calls or way is None:
            self.heed_call(is_wanted=True)
        elif not self.ways_in.waits_for and screen.gives_way():
            self.ways_in.go(way)

    def describe_status(self, *, plays: bool = False) -> tuple[str, str] | None:
        """Return the status line and its style: the last message, or else an open challenge unless we play; or None."""
        self._shown = ""
        return self.describe_challenge() if self.status is None and not plays else self.status

    def describe_challenge(self) -> tuple[str, str] | None:
        """Return a text about an open challenge and its style, or None; from now on the keys answer this challenge."""
        client = self.session.client
        challenge = find_asked(client, or_own=True) if client and self.session.phase == "online" else None
        if challenge is None or client is None:
            return None
        self._shown = challenge.challenge
        own = {"decline": "deed withdraw"} if challenge.player == client.player else {}
        keys = own or {"accept": "deed accept", "decline": "deed decline", "block": "key block"}
        hints = (f"{self.keymap.show(key)} {say(label)}" for key, label in keys.items())
        return "   ".join(
            (describe_challenge(challenge, client.player, client.challenges.own.get(challenge.challenge, "")), *hints)
        ), "warn"

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the keys that answer challenges if there is no challenge, or if the top screen needs them."""
        client, way = self.session.client, str(parameters[0] if parameters else "")
        if action != "answer":
            return super().check_action(action, parameters)
        is_asked = client is not None and find_asked(client, or_own=way == "decline") is not None
        return is_asked and self.screen is self.screens[-1] and not self.screens[-1].takes(way)

    def action_answer(self, way: str) -> None:
        """Answer the challenge on the screen; if another has replaced it, show that first. Ignored during a game."""
        client = self.session.client
        challenge = find_asked(client, or_own=True) if client is not None and not client.rooms.plays else None
        if challenge is not None and challenge.challenge != self._shown:
            self.redraw()
            return
        if client is not None:
            self.start(self._answer(client, Verb("block") if way == "block" else Verb("challenge", way)))

    async def _answer(self, client: Client, verb: Verb) -> None:
        if line := await carry_out(client, verb):
            self.say(line)

    @property
    def has_challenged(self) -> bool:
        client = self.session.client
        return client is not None and any(
            challenge.player == client.player for challenge in client.challenges.open.values()
        )

    def _end_challenge(self, end: ChallengeEnded, viewer: str) -> None:
        if end.leads and not self.ways_in.waits_for and self.screens[-1].gives_way():
            self.ways_in.go(Choice("join", code=end.over.room or ""), self.screens[-1])
        self.say(describe_challenge_end(end.over, end.challenge, viewer, end.name))

    def _hear(self, message: Message) -> None:
        if self.lobby.hear(message):
            self.redraw()
        if isinstance(message.push, Challenged):
            if self.session.client is not None and not self.session.client.rooms.plays:
                self.status = None
            self.ring()
            self.redraw()
        if isinstance(message.event, ChallengeEnded) and self.session.client is not None:
            self._end_challenge(message.event, self.session.client.player)
        if isinstance(message.push, Call):
            self._answered.discard(message.push.room)
        if isinstance(message.push, (Call, Welcome)):
            self.heed_call()
        if isinstance(message.push, Turns):
            self._tell_turns(len(message.push.turns))
        if isinstance(message.push, (Notice, Announcement)):
            self.say(describe_push(message.push))

    def _tell_turns(self, count: int) -> None:
        """In a game over days, say how many games await our move, and which key goes to the next one."""
        room = getattr(self.screens[-1], "room", None)
        if isinstance(room, Room) and room.keeps_seat and next_turn(self.session.client, room.code):
            self.say(f"{say('turns await', n=count)} {say('tournament go', key=self.keymap.show('call'))}", "good")
        self.redraw()

    def _connected(self) -> None:
        for screen in reversed(self.screens):
            screen.connected()

    async def _guard(self, work: Coroutine[Any, Any, object]) -> None:
        """Show client errors on the status line; any other exception is a bug and ends the program."""
        try:
            await work
        except ClientError as error:
            if isinstance(error, Refused) or self.session.phase not in ("connecting", "failed"):
                self.say(error.message)
        except Exception as error:
            self.fail(error)

    def fail(self, error: Exception) -> None:
        """End the program after a bug; `show_screen` raises the error. Textual would print all local variables."""
        self.failure = self.failure or error
        self._end(ExitCode.OUR_BUG)

    def _handle_loss(self, failure: ClientError) -> None:
        """Handle the final loss of the connection: return to a page that survives it, end the program, or go home."""
        screen, is_first = self.screens[-1], len(self.screens) == 1
        if survivor := next((below for below in reversed(self.screens) if below.survives_loss()), None):
            self.go_back_to(survivor)
        elif isinstance(failure, (ProtocolBroken, Expelled)) and not is_first:
            self.leave(judge(failure)[0], failure.message)
        elif isinstance(failure, ConnectionLost) and (loss := screen.describe_loss(failure.reason)):
            self.leave(ExitCode.CONNECTION_LOST, loss)
        elif screen.needs_server:
            self.go_home()

    async def _say_goodbye(self, code: int) -> None:
        """Leave the rooms and end the program; after a hang-up or SIGTERM, keep the seats."""
        gives_up = code not in (ExitCode.HANGUP, ExitCode.TERMINATED) and self.session.phase == "online"
        if gives_up:
            await self.ways_in.finish()
        for screen in reversed(self.screens):
            self.last_words = self.last_words or await screen.say_goodbye(gives_up=gives_up)
        async with self.saving:
            pass
        await self.session.identity.release()
        is_asked = code == ExitCode.NORMAL and self.settings.result_code
        self._end((self.last_game or ExitCode.NORMAL) if is_asked else code)

    def _end(self, code: int) -> None:
        self.terminal.use_mouse(wanted=False)
        self.exit(code, return_code=code)

    def _exit_code(self) -> int:
        if self.session.phase == "away":
            return ExitCode.CONNECTION_LOST
        failure = self.session.failure
        return judge(failure)[0] if failure is not None and self.session.phase == "failed" else ExitCode.NORMAL
