"""Plain mode in a room: prints the game line by line, for pipes, logs and screen readers."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any

from tictactoe_client.exits import awaits_rating, dismiss, hear_rating
from tictactoe_client.input.actions import Actions
from tictactoe_client.input.ways import Choice
from tictactoe_client.online import events
from tictactoe_client.online.errors import EXPULSIONS, ConnectionLost, Interrupted, Refused, Unreachable
from tictactoe_client.online.messages import Changed, Stream
from tictactoe_client.online.room import Room
from tictactoe_client.online.tournament import Tournament
from tictactoe_client.plain.reminders import Reminders
from tictactoe_client.session import Session
from tictactoe_client.settings import ExitCode
from tictactoe_client.streams.keyboard import Keyboard, asking_before_interrupt, is_decision
from tictactoe_client.streams.output import Output, OutputFailed, is_terminal, print_error
from tictactoe_client.text import arrival
from tictactoe_client.text.language import means
from tictactoe_client.text.talk import Muted, describe_push, describe_turns
from tictactoe_client.text.wording import ask_for, describe_choices, describe_ways_on, has_moved_on
from tictactoe_client.visit.face import Prompt
from tictactoe_client.visit.visit import Visit, describe_wait
from tictactoe_protocol import clean_text
from tictactoe_protocol.challenges import Challenged
from tictactoe_protocol.days import Turns
from tictactoe_protocol.events import Call
from tictactoe_protocol.pushes import Announcement, Error, Notice, RoomState
from tictactoe_protocol.rated import Rated
from tictactoe_words.catalogue import say
from tictactoe_words.commands import word_of
from tictactoe_words.ladders import describe_challenge, describe_challenge_end
from tictactoe_words.telling import announce
from tictactoe_words.wording import count, describe_turn


class PlainFace:
    """The face of plain mode: prints to `output` and reads typed answers."""

    def __init__(self, output: Output, keyboard: Keyboard, *, asks: bool) -> None:
        self._output = output
        self._keyboard = keyboard
        self.asks = asks

    def show(self, *lines: str) -> None:
        self._output.print(*lines)

    async def ask(self, prompt: Prompt) -> str | None:
        if not self.asks:
            return None
        how = say("answer default", default=prompt.default) if prompt.default else ""
        if prompt.value is None:
            how = ask_for(word_of(prompt.word or "yes"), word_of("no"))
        self._output.print(*f"{prompt.text} {how}".rstrip().split("\n"))
        self._output.prompt()
        line = await self._keyboard.read_line()
        self._output.note_typed()
        if line is None or prompt.value is not None:
            return None if line is None else line.strip()
        return "" if means(line, "yes", *filter(None, [prompt.word])) else None


class PlainGame:
    """A run of plain mode, from entering a room to the exit code.

    Concurrent tasks print events, read lines, carry them out, and print reminders. The first task that fails, or sets
    the exit code, ends the run. `_actions` is None until a room is entered.
    """

    def __init__(self, session: Session, keyboard: Keyboard, output: Output) -> None:
        settings, client = session.settings, session.connection
        self._client = client
        self._address = client.address
        self._settings = settings
        self._keyboard = keyboard
        self._output = output
        self._session = session
        self._visit = Visit(PlainFace(output, keyboard, asks=settings.asks and is_terminal(0)), session)
        self._muted = Muted(client.player)
        self._reminders = Reminders(client.player, settings)
        self._actions: Actions | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._commands: set[asyncio.Task[None]] = set()
        self._changed = Changed()
        self._exit_code: int | None = None
        self._has_read_all = False
        self._rated: Rated | None = None
        self._away_seconds: float | None = None

    @property
    def _state(self) -> RoomState | None:
        return None if self._actions is None else self._actions.room.state

    @property
    def _is_over(self) -> bool:
        return self._state is not None and self._state.status == "over"

    async def run(self, choice: Choice) -> int | Tournament:
        """Enter a room and play, and return the exit code; if the code is an event's, return the event instead."""
        try:
            return await self._play(choice)
        except ConnectionLost as lost:
            if not lost.gave_up:
                raise
            viewer, shown = self._client.player, self._client.cluster.given.first
            print_error(arrival.describe_giving_up(self._state, viewer, shown, lost.reason))
            return ExitCode.CONNECTION_LOST
        except (asyncio.CancelledError, OutputFailed) as end:
            try:
                if isinstance(end, asyncio.CancelledError):
                    self._output.print(
                        say("goodbye") if is_decision(end) else arrival.describe_going(self._state, self._client)
                    )
            finally:
                await self._session.end_by(end)
            raise

    async def _play(self, choice: Choice) -> int | Tournament:
        if (event := await self._enter(choice)) is not None:
            return event
        self._begin(self._read())
        self._begin(self._remind())
        try:
            with asking_before_interrupt(self._ask_before_interrupt):
                while self._exit_code is None:
                    await self._changed.wait()
                    for task in [task for task in self._tasks if task.done()]:
                        self._tasks.discard(task)
                        task.result()
            return self._exit_code
        finally:
            await dismiss(*self._tasks)

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start a task; an error in it ends the run."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(lambda _: self._changed.note())
        return task

    async def _enter(self, choice: Choice) -> Tournament | None:
        entered = await self._visit.enter(choice)
        if not isinstance(entered, Room):
            return entered
        self._stay_in(entered, choice)
        return None

    def _stay_in(self, room: Room, choice: Choice) -> None:
        happenings = room.events()  # the first stream also has the events since we entered
        again, piped, tell = choice.again(room), not is_terminal(0), self._output.print
        actions = Actions(room, self._settings, client=self._client, again=again, piped=piped, tell=tell)
        actions.muted, self._rated = self._muted, None
        self._actions, self._reminders = actions, Reminders(room.viewer, self._settings)
        self._begin(self._hear_all(actions, happenings))

    async def _go_over(self, room: Room, choice: Choice) -> None:
        try:
            entered = await self._visit.move_on(room, choice)
        except (Refused, Interrupted) as failure:
            self._tell(clean_text(failure.message))
            return
        if entered is not None:
            self._stay_in(entered, choice)
            await room.leave(gives_up=not room.plays)
            self._session.forget_room(room.code)

    def _ask_before_interrupt(self) -> bool:
        """On a terminal, ask once before Ctrl-C gives up a running game; return True if the question was asked now."""
        self._output.note_interrupt()
        actions = self._actions
        if actions is None or actions.confirming == "quit" or not is_terminal(0, 1) or not actions.ask_before("quit"):
            return False
        leaving = actions.now.find("leave")
        self._tell(say("interrupt", question=say(f"ask leave and {leaving.cost if leaving else 'lose'}")))
        return True

    def _finish(self, code: ExitCode | None) -> None:
        room = None if self._actions is None else self._actions.room
        self._exit_code = self._visit.result(room) if code is None else code

    async def _read(self) -> None:
        """Carry out typed lines, each after all effects of the previous line; without a connection, do not wait."""
        while (line := await self._keyboard.read_line()) is not None:
            self._output.note_typed()
            try:
                await self._changed.until(lambda: self._exit_code is None and (self._is_offline or self._is_idle))
            except asyncio.CancelledError:
                self._keyboard.give_back(line)
                raise
            command = self._begin(self._do_line(line))
            self._commands.add(command)
            command.add_done_callback(self._commands.discard)
            await asyncio.sleep(0)
        self._has_read_all = True
        await self._changed.until(lambda: self._is_idle)
        if self._actions is not None:
            stay = self._visit.stay_after_input
            self._finish(await stay(self._actions.room, self._keyboard, self._changed, lambda: self._rated is not None))

    @property
    def _is_offline(self) -> bool:
        return self._actions is not None and not self._actions.is_online

    @property
    def _is_idle(self) -> bool:
        return not (self._is_offline or self._away_seconds is not None or self._commands)

    async def _do_line(self, line: str) -> None:
        """Carry out a line, and wait until the server's messages about it have been printed."""
        if (actions := self._actions) is None:
            return
        outcome = await actions.do_line(line)
        if outcome.lines:
            self._tell(*outcome.lines)
        if outcome.going == "leave":
            self._finish(await self._visit.leave(actions.room))
            return
        way = {"new": actions.again, "next": actions.next_turn}.get(outcome.going or "")
        if way is not None:
            self._output.print(f"{describe_wait(way)}.")
            await self._go_over(actions.room, way)
        if not (outcome.lines or self._is_offline):
            with contextlib.suppress(Refused, Unreachable):  # a lost connection is reported by its own event
                await self._client.ping()

    async def _end_with_game(self) -> None:
        await hear_rating(self._state, self._changed, lambda: self._rated is not None)
        self._finish(None)

    async def _remind(self) -> None:
        while True:
            try:
                async with asyncio.timeout_at(None if self._actions is None else self._reminders.next_at):
                    await self._changed.wait()
            except TimeoutError:
                if lines := self._reminders.speak(_now()):
                    self._tell(*lines)

    async def _hear_all(self, actions: Actions, happenings: Stream[events.RoomEvent]) -> None:
        async for event in happenings:
            if actions is self._actions:
                self._hear(event, actions)
                self._changed.note()
            if self._exit_code is not None:
                return

    def _hear(self, event: events.RoomEvent, actions: Actions) -> None:
        lines = actions.describe_event(event)
        match event:
            case events.Updated():
                self._take_update(event, actions)
            case events.Told(Rated() as push):
                self._rated = push
            case events.Told(Challenged() as push) if push.player != self._client.player:
                lines = [describe_challenge(push, self._client.player), say("challenge words")]
            case events.Told(Turns()) if actions.next_turn:
                lines = [describe_turns(self._client.turns)]
            case events.ChallengeEnded():
                lines = [describe_challenge_end(event.over, event.challenge, self._client.player, event.name)]
                if event.leads and not self._client.rooms.plays:
                    self._begin(self._go_over(actions.room, Choice("join", code=event.over.room or "")))
            case events.Told(Notice() | Announcement() | Error() | Call() as push) if (
                getattr(push, "code", None) not in EXPULSIONS
            ):
                lines = [describe_push(push)]
            case events.Lost():
                if self._away_seconds is None:
                    self._output.print(arrival.describe_attempts(event, holds_seat=actions.room.seat is not None))
                self._away_seconds = None
                self._reminders.lose_connection(_now())
            case events.Back(seconds=seconds):
                self._away_seconds = seconds
                self._output.print(*map(describe_push, self._client.tournaments.calls))
                if self._client.address != self._address:
                    self._address = self._client.address
                    self._output.print(say("now at", url=self._address.url))
            case events.RoomMoved():
                self._address = self._client.address
            case events.RoomUnanswered():
                lines = [event.message]
            case events.Closed() if self._is_over:
                self._finish(None)
            case events.Closed() | events.Gone():
                self._finish(ExitCode.NO_ROOM)
            case events.Replaced():
                self._finish(ExitCode.REFUSED)
        if lines:
            self._tell(*lines)

    def _take_update(self, update: events.Updated, actions: Actions) -> None:
        """Print the news and, if useful, the board; end the run after the game if no line can follow."""
        old, state, viewer = update.old, update.state, actions.room.viewer
        actor, answerer = actions.room.find_actor(state), actions.room.find_asked(state)
        has_moved = old is None or has_moved_on(old, state)
        if old is None:
            lines = arrival.greet(state, self._client, self._settings, actions.room)
        else:
            news = announce(update.news, state, viewer, after_loss=update.after_loss) + describe_choices(
                old, state, answerer
            )
            lines = self._prove_return(*news)
            if lines and not news:
                lines = [f"{lines[0]} {say('nothing missed')} {describe_turn(state, viewer)}"]
        lines += arrival.set_scene(old, state, viewer, self._settings, actor) if has_moved else []
        self._output.print(*lines)
        self._reminders.take(old, state, _now(), came_back=update.after_loss)
        if state.status == "over" and has_moved:
            if self._has_read_all or state.event or not self._settings.asks:
                self._begin(self._end_with_game()) if awaits_rating(state) else self._finish(None)
            else:
                self._output.print(describe_ways_on(state, actor))
        if lines:
            self._prompt()

    def _prove_return(self, *lines: str) -> list[str]:
        away, self._away_seconds = self._away_seconds, None
        if away is None:
            return [*lines]
        return [say("connected again", time=count(max(1, round(away)), "second")), *lines]

    def _tell(self, *lines: str) -> None:
        self._output.print(*self._prove_return(*lines))
        self._prompt()

    def _prompt(self) -> None:
        room = None if self._actions is None or self._exit_code is not None else self._actions.room
        if room is not None and room.seat is not None and (room.is_my_turn or self._is_over):
            self._output.prompt()


def _now() -> float:
    return asyncio.get_running_loop().time()
