"""The list of tournaments (events), and the page of a tournament with its table, pairings and bracket."""

from __future__ import annotations

from typing import Final

from msgspec import UNSET
from rich.cells import set_cell_size
from textual.app import ComposeResult

from tictactoe_client.exits import describe_failure, judge
from tictactoe_client.input.record import RecordedRoom
from tictactoe_client.input.ways import Choice, EventWay
from tictactoe_client.online.client import Client
from tictactoe_client.online.errors import ClientError, Refused
from tictactoe_client.online.tournament import Tournament
from tictactoe_client.text.lobby import describe_terms
from tictactoe_client.text.programs import own_command
from tictactoe_client.tui.lists import ListPage, Rows, align
from tictactoe_client.tui.page import Part
from tictactoe_client.tui.room.screen import RoomScreen
from tictactoe_client.visit.event import carry_out, link_to
from tictactoe_engine.records import GameRecord
from tictactoe_protocol import clean_text
from tictactoe_protocol.events import EventState, EventSummary
from tictactoe_words import tournaments as words
from tictactoe_words.attendance import describe_progress, draw_bracket, list_notes, tabulate_games, tabulate_present
from tictactoe_words.catalogue import say
from tictactoe_words.commands import DEEDS

_REFRESH_SECONDS: Final = 5
_SURROUNDING_LINES: Final = 7
_MAX_WIDTH: Final = 100
_MIN_PAIRINGS: Final = 3
"""A bracket is shown only if this number of pairings stays visible above it."""


class EventsPage(ListPage):
    """The list of open and running events."""

    heading = "tournament title"
    wraps = False

    def __init__(self) -> None:
        super().__init__()
        self._events: tuple[EventSummary, ...] = ()

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(_REFRESH_SECONDS, self.opened)

    async def fetch(self, client: Client) -> None:
        self._events = await client.tournaments.list()
        self.redraw()

    def fill(self) -> None:
        self.show_table(words.list_events(self._events))
        command = own_command("event", "new", server=self.program.session.address)
        self.text("hint").show(("" if self._events else say("tournament none", command=command), "dim"))

    def open_row(self, name: str) -> None:
        self.program.open(EventPage(EventWay(name, watches=True)))


class EventPage(ListPage):
    """One event: its progress, the pairings of the round, the table of players, and the bracket.

    Args:
        way: How to enter or watch the event.
        is_first: Whether the command line asked for this page, so that a refusal ends the program.
    """

    situation = "event"
    heading = "tournament title"
    wraps = False

    def __init__(self, way: EventWay, *, is_first: bool = False) -> None:
        super().__init__()
        self.table = Rows("table")
        self._way = way
        self._is_first = is_first
        self._event: Tournament | None = None

    def opened(self) -> None:
        if self._event is None:
            self.connected()

    def connected(self) -> None:
        self.program.start_online(self._follow)

    async def _follow(self, client: Client) -> None:
        """Enter the event, and redraw the page at every change."""
        try:
            event = await self.program.ways_in.enter(self._way)
        except ClientError as error:
            self._give_up(error)
            return
        if isinstance(event, Tournament):
            self._event, self._way = event, EventWay(event.code, watches=True)
            async for _ in event:
                self.redraw()

    def _give_up(self, error: ClientError) -> None:
        if self._is_first and isinstance(error, Refused):
            reason = describe_failure(error, self.program.settings, self.program.session.address)
            self.program.leave(judge(error)[0], reason)
        elif self in self.program.screens:
            self.program.close(self)
            self.program.say(error.message)

    def closed(self) -> None:
        if (event := self._event) is not None:
            self.program.start_online(lambda _: event.unwatch())

    def compose_body(self) -> ComposeResult:
        yield self.text("progress")
        yield self.rows
        yield self.text("columns")
        yield self.table
        yield self.text("bracket")
        yield self.text("hint")

    def describe_heading(self) -> str:
        return super().describe_heading() if self._event is None else clean_text(self._event.state.head.title)

    def describe_about(self) -> str:
        event = self._event
        return "" if event is None else f"{event.code}   {describe_terms(event.state.head)}"

    def fill(self) -> None:
        event = self._event
        if event is None:
            self.text("progress").show((say("loading"), "dim"))
            return
        state, age_ms = event.state, event.age_ms
        progress, *waits = describe_progress(state, event.due_ms, age_ms)
        notes = list_notes(state)
        lines_above = 1 + len(waits) + (len(notes) + 1 if notes else 0)
        self.text("progress").show((f"{progress}\n", ""), *((f"{line}\n", "warn") for line in waits))
        games = tabulate_games(state, age_ms)
        _, pairings = align({"": ("", ""), **games})
        bracket, shows_table = self._draw_bracket(state, lines_above, len(pairings), len(state.table))
        titles, rows = align(tabulate_present(state, event.viewer, age_ms)) if shows_table else ("", {})
        if not shows_table:  # show only the last pairings that fit
            lines_left = self.size.height - _SURROUNDING_LINES - lines_above - len(bracket)
            pairings = dict([*pairings.items()][-lines_left:])
        self.keep([*pairings, *rows])
        self.rows.show(pairings, self.chosen)
        self.text("columns").show((titles if rows else "", "dim"))
        self.table.show(rows, self.chosen)
        self.text("bracket").show(
            *((f"{line}\n", "") for line in ([*notes, ""] if notes else [])),
            *((f"{line}\n", "") for line in bracket),
        )
        self.text("hint").show(("" if rows or bracket else say("tournament empty", link=self._link), "dim"))

    def _draw_bracket(self, state: EventState, lines_above: int, pairings: int, rows: int) -> tuple[list[str], bool]:
        rounds = () if state.bracket is UNSET else state.bracket
        lines_left = self.size.height - _SURROUNDING_LINES - lines_above
        width = max(20, min(self.size.width, _MAX_WIDTH) - 4)
        bracket = draw_bracket(rounds, state.head.rounds, width, set_cell_size) if rounds else []
        if len(bracket) + min(pairings, _MIN_PAIRINGS) > lines_left:
            return [], True
        return bracket, not bracket or len(bracket) + pairings + rows + 2 <= lines_left

    def describe_news(self) -> Part | None:
        return self.program.describe_connection(self.size.width) or super().describe_news()

    @property
    def _commands(self) -> tuple[str, ...]:
        return () if self._event is None else words.list_deeds(self._event.state, self._event.viewer)

    @property
    def _link(self) -> str:
        client = self.program.session.client
        return "" if client is None or self._event is None else link_to(client, self._event.code)

    def open_row(self, name: str) -> None:
        """Open the board of a pairing, to play if it is ours or else to watch; replay a game that is over."""
        event = self._event
        for pairing in () if event is None else event.state.pairings:
            if pairing.id != name or event is None:
                continue
            if (game := pairing.game_id) is not None:
                self.program.start_online(lambda client: self.program.read_game(client, game, self._replay))
            elif pairing.room:
                is_own = event.viewer in pairing.players.values() and pairing.state != "scored"
                self.program.ways_in.go(Choice("join" if is_own else "watch", code=pairing.room), self)

    def _replay(self, record: GameRecord) -> None:
        if self.program.screens[-1] is self:
            self.program.open(RoomScreen(self.program, RecordedRoom(record)))

    def _find_command(self, key: str) -> str | None:
        return next((command for command in self._commands if command in DEEDS[key]), None)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "deed":
            return self._find_command(str(parameters[0])) is not None
        return super().check_action(action, parameters)

    def action_deed(self, key: str) -> None:
        if (command := self._find_command(key)) is not None:
            self._start(command)

    def action_copy(self) -> None:
        self.program.copy_to_clipboard(self._link)
        self.program.say(f"{say('invitation link')}: {self._link}", "good")

    def _start(self, command: str) -> None:
        if (event := self._event) is not None:
            self.program.start_online(lambda _: carry_out(self.program.ways_in, event, command))
