"""Plain mode at an event: prints changes, carries out typed commands, and plays the games that we are called to."""

from __future__ import annotations

import asyncio

from msgspec import UNSET

from tictactoe_client.exits import dismiss
from tictactoe_client.input.intents import BadInput
from tictactoe_client.input.ways import Choice, EventWay
from tictactoe_client.online.errors import Interrupted, Refused
from tictactoe_client.online.events import Back, Lost
from tictactoe_client.online.messages import Message, Messages
from tictactoe_client.online.tournament import Tournament
from tictactoe_client.plain.game import PlainFace, PlainGame
from tictactoe_client.session import Session
from tictactoe_client.settings import ExitCode
from tictactoe_client.streams.keyboard import Keyboard
from tictactoe_client.streams.output import Output
from tictactoe_client.text import arrival
from tictactoe_client.text.language import means
from tictactoe_client.text.lobby import align_columns, describe_terms, list_words
from tictactoe_client.text.talk import describe_push
from tictactoe_client.visit.event import carry_out, parse_command
from tictactoe_client.visit.visit import Visit
from tictactoe_protocol import clean_text
from tictactoe_protocol.events import Call, EventState
from tictactoe_protocol.pushes import Announcement, Notice
from tictactoe_words import attendance
from tictactoe_words import tournaments as words
from tictactoe_words.catalogue import say
from tictactoe_words.commands import word_of
from tictactoe_words.wording import count


class PlainEvent:
    """A run of plain mode at an event; if the input is a pipe, it continues after the end of the input."""

    _tournament: Tournament

    def __init__(self, session: Session, keyboard: Keyboard) -> None:
        self._client = session.connection
        self._keyboard = keyboard
        self._session = session
        self._output = Output(prompts=keyboard.is_terminal)
        self._face = PlainFace(self._output, keyboard, asks=session.settings.asks and keyboard.is_terminal)
        self._visit = Visit(self._face, session)
        self._shown: EventState | None = None
        self._has_quit = False
        self._rooms: set[str] = set()

    async def run(self, way: EventWay) -> int:
        entered = await self._visit.enter(way)
        assert isinstance(entered, Tournament)
        self._tournament = entered
        head = self._tournament.state.head
        self._output.print(f"{clean_text(head.title)}: {describe_terms(head)}.")
        if (row := self._tournament.row) is not None and not self._tournament.is_over:
            self._output.print(say("tournament you are in", name=clean_text(row.name)))
        if self._keyboard.is_terminal and not self._tournament.is_over:
            self._output.print(self._hint)
        while (call := await self._attend()) is not None:
            self._output.print(words.describe_call(call))
            self._rooms.add(call.room)
            try:
                await PlainGame(self._session, self._keyboard, self._output).run(Choice("join", code=call.room))
            except Refused as refused:
                self._output.print(clean_text(refused.message))
            self._session.forget_room(call.room)
        return ExitCode.NORMAL

    async def _attend(self) -> Call | None:
        async with self._client.messages() as messages:
            reading = asyncio.create_task(self._read(messages))
            try:
                while True:
                    self._tell_changes()
                    if self._has_quit or self._tournament.is_over:
                        return None
                    for call in self._client.tournaments.calls:
                        if call.room not in self._rooms:
                            return call
                    self._hear(await anext(messages, None))
            finally:
                await dismiss(reading)

    def _hear(self, message: Message | None) -> None:
        match message and (message.event or message.push):
            case Lost() as lost:
                self._output.print(arrival.describe_attempts(lost, holds_seat=False))
            case Back(seconds=seconds):
                self._output.print(say("connected again", time=count(max(1, round(seconds)), "second")))
            case Call(room=room):
                self._rooms.discard(room)
            case Notice() | Announcement() as push:
                self._output.print(describe_push(push))

    async def _read(self, messages: Messages) -> None:
        """Carry out typed lines; end the stream `messages` to quit, or to report an unexpected error."""
        try:
            while not self._has_quit and (line := await self._keyboard.read_line()) is not None:
                self._output.note_typed()
                try:
                    self._output.print(*await self._do(line))
                except (BadInput, Refused, Interrupted) as error:
                    self._output.print(clean_text(error.message))
                self._output.prompt()
            self._has_quit = self._has_quit or self._keyboard.is_terminal
            if self._has_quit:
                messages.put(None)
        except Exception as error:
            messages.put(error)

    async def _do(self, line: str) -> list[str]:
        word, event = line.strip().partition(" ")[0], self._tournament
        if means(word, "quit", "q"):
            self._has_quit = True
            return [say("goodbye")]
        if means(word, "table"):
            return self._show_table()
        if means(word, "round"):
            pairings = align_columns(attendance.tabulate_games(event.state, event.age_ms).values())
            return [*pairings, *attendance.describe_progress(event.state, event.due_ms, event.age_ms)]
        if not word or means(word, "help"):
            return [self._hint]
        return await carry_out(self._visit, event, *parse_command(line, self._hint))

    def _show_table(self) -> list[str]:
        event, state = self._tournament, self._tournament.state
        lines = align_columns(attendance.tabulate_present(state, event.viewer, event.age_ms).values())
        rounds = () if state.bracket is UNSET else state.bracket
        return [*lines, *attendance.list_notes(state), *attendance.list_bracket(rounds, state.head.rounds)]

    @property
    def _hint(self) -> str:
        event = self._tournament
        return list_words(map(word_of, ("table", "round", *words.list_deeds(event.state, event.viewer))))

    def _tell_changes(self) -> None:
        old, state = self._shown, self._tournament.state
        if state is old or any(pairing.room in self._rooms and pairing.state != "scored" for pairing in state.pairings):
            return  # there is nothing new, or it can wait until our own game is scored in a moment
        self._shown = state
        if old is None or (old.status, old.round) != (state.status, state.round):
            lines = [
                *attendance.describe_progress(state, None),
                *align_columns(words.tabulate_pairings(state).values()),
            ]
        else:
            lines = words.announce_changes(old, state)
            row = self._tournament.row
            before = None if row is None else words.row_of(old, row.player)
            if row is not None and before is not None and before.status != row.status:
                lines.append(words.describe_own(state, row.player))
            if words.list_scored(old, state):
                lines += attendance.list_waits(state, self._tournament.due_ms)
        if self._tournament.is_over:
            lines += self._show_table()
        self._output.print(*lines)
        if lines:
            self._output.prompt()
