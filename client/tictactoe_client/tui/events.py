"""Events on the full screen: the list of them, and the page of one with its table, the round, and who is waited for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import ClassVar, Final

from msgspec import UNSET
from rich.cells import set_cell_size
from textual.app import ComposeResult
from textual.binding import BindingType

from tictactoe_client.exits import describe_failure, judge
from tictactoe_client.input.record import RecordedRoom
from tictactoe_client.input.tournament import NAMING_DEEDS, carry_out, find_deed, link_to, way_into
from tictactoe_client.input.ways import Choice, EventWay
from tictactoe_client.online.client import Client
from tictactoe_client.online.errors import ClientError, Refused
from tictactoe_client.online.tournament import Tournament
from tictactoe_client.session import Enter
from tictactoe_client.text.lobby import describe_terms
from tictactoe_client.tui.foot import bind_keys
from tictactoe_client.tui.lists import ListPage, Rows, align
from tictactoe_client.tui.page import HelpPage, Part
from tictactoe_client.tui.picture import measure
from tictactoe_client.tui.question import Question
from tictactoe_client.tui.room.screen import RoomScreen
from tictactoe_engine.records import GameRecord
from tictactoe_protocol import clean_text
from tictactoe_protocol import tournaments as words
from tictactoe_protocol.attendance import (
    ask_to_begin,
    describe_progress,
    draw_bracket,
    list_notes,
    tabulate_games,
    tabulate_present,
)
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.commands import DEEDS, word_of
from tictactoe_protocol.events import EventState, EventSummary

_REFRESH_SECONDS: Final = 5
_AROUND: Final = 7  # lines of a page around what it shows
_WIDEST: Final = 100  # how wide it is at most
_MARGINS: Final = 5  # columns of a line that are not its row's
_LEAST_PAIRINGS: Final = 3
"""How many pairings are seen beside a bracket at least."""


class EventsPage(ListPage):
    """The events that are open or on."""

    heading = "tournament title"
    wraps = False

    def __init__(self) -> None:
        super().__init__()
        self._events: tuple[EventSummary, ...] = ()

    def opened(self) -> None:
        self.program.ask(self._learn)

    connected = opened

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(_REFRESH_SECONDS, self.opened)

    async def _learn(self, client: Client) -> None:
        self._events = await client.events()
        self.redraw()

    def fill(self) -> None:
        self.show_table(words.list_events(self._events))
        self.text("hint").show(("" if self._events else say("tournament nothing"), "dim"))

    def open_row(self, name: str) -> None:
        self.program.open(EventPage(lambda client: client.watch_event(name)))


class EventPage(ListPage):
    """One event, to which `enter` leads: how far it is, the pairings of the round, and the table with its sums.

    Where it `is_first` somebody wanted there from the command line: refused, the program ends.
    """

    situation = "event"
    BINDINGS: ClassVar[list[BindingType]] = bind_keys(situation)
    heading = "tournament title"
    wraps = False

    def __init__(self, enter: Enter[Tournament], *, is_first: bool = False) -> None:
        super().__init__()
        self.table = Rows("table")
        self._enter = enter
        self._is_first = is_first
        self._event: Tournament | None = None
        self._cut = ""

    # -- following it -----------------------------------------------------------------------------------------------

    def opened(self) -> None:
        if self._event is None:
            self.connected()

    def connected(self) -> None:
        self.program.ask(self._follow)

    async def _follow(self, client: Client, way: EventWay | None = None) -> None:
        """Go there, by another way than at first where it is told, and show what changes."""
        try:
            event = self._event = await (way or self._enter)(client)
        except ClientError as error:
            if not self._asks_to_play_here(way or self._enter, client, error):
                self._give_up(error)
            return
        self._enter = lambda client: client.watch_event(event.code)
        async for _ in event:
            self.redraw()

    def _asks_to_play_here(self, way: Enter[Tournament], client: Client, error: ClientError) -> bool:
        """Ask whether to take the place of the device where the card is in use; tell whether there is one."""
        instead = way.instead(client, error) if isinstance(way, EventWay) else None
        if instead is None:
            return False

        def take(answer: str | None) -> None:
            if answer is not None:
                self.program.ask(instead if self._event is not None else partial(self._follow, way=instead))
            elif self._event is None:
                self._give_up(error)

        self.program.push_screen(Question(f"{error.message} {say('card here')}", yes="key play here"), take)
        return True

    def _give_up(self, error: ClientError) -> None:
        """Leave a page whose event could not be gone to."""
        if self._is_first and isinstance(error, Refused):
            told = describe_failure(error, self.program.settings, self.program.session.address)
            self.program.leave(judge(error)[0], told)
        elif self in self.program.screens:
            self.program.close(self)
            self.program.say(error.message)

    def closed(self) -> None:
        if (event := self._event) is not None:
            self.program.ask(lambda _: event.unwatch())

    # -- what it shows ----------------------------------------------------------------------------------------------

    def compose_body(self) -> ComposeResult:
        yield self.text("progress")
        yield self.rows
        yield self.text("columns")
        yield self.table
        yield self.text("bracket")
        yield self.text("hint")

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(1, self._go_on)

    def _go_on(self) -> None:
        """Have clocks run, and the time that somebody has been away."""
        state = None if self._event is None else self._event.state
        if state is not None and (state.away or state.games):
            self.redraw()

    def describe_heading(self) -> str:
        return super().describe_heading() if self._event is None else clean_text(self._event.state.head.title)

    def describe_about(self) -> str:
        event = self._event
        return "" if event is None else f"{event.code}   {describe_terms(event.state.head)}"

    def fill(self) -> None:
        event = self._event
        if event is None:
            self.text("progress").show((say("tournament asking"), "dim"))
            return
        state, age_ms = event.state, event.age_ms
        told, *waits = describe_progress(state, event.due_ms, age_ms)
        notes = list_notes(state)
        above = 1 + len(waits) + (len(notes) + 1 if notes else 0)
        self.text("progress").show((f"{told}\n", ""), *((f"{line}\n", "warn") for line in waits))
        games = tabulate_games(state, age_ms)
        _, pairings = align({"": ("", ""), **games})
        bracket, has_room = self._draw_bracket(state, above, len(pairings), len(state.table))
        titles, rows = align(tabulate_present(state, event.viewer, age_ms)) if has_room else ("", {})
        if not has_room:  # the newest games of the round
            left = self.size.height - _AROUND - above - len(bracket)
            pairings = dict([*pairings.items()][-left:])
        self.keep([*pairings, *rows])
        self.rows.show(pairings, self.chosen)
        is_cut = measure(pairings.get(self.chosen, "")) > self.size.width - _MARGINS
        self._cut = games[self.chosen][1] if is_cut else ""
        self.text("columns").show((titles if rows else "", "dim"))
        self.table.show(rows, self.chosen)
        self.text("bracket").show(
            *((f"{line}\n", "") for line in ([*notes, ""] if notes else [])),
            *((f"{line}\n", "") for line in bracket),
        )
        hint = "" if rows or bracket else say("tournament empty", link=self._link)
        if event.is_organiser and not event.is_over:
            key = self.program.keymap.show_key(self.program.COMMAND_PALETTE_BINDING)
            hint = f"{hint}\n{say('tournament more', key=key)}".lstrip()
        self.text("hint").show((hint, "dim"))

    def _draw_bracket(self, state: EventState, told: int, pairings: int, rows: int) -> tuple[list[str], bool]:
        """Return the bracket, where it is whole below so many lines, and whether the table has room beside it."""
        rounds, room = () if state.bracket is UNSET else state.bracket, self.size.height - _AROUND - told
        width = max(20, min(self.size.width, _WIDEST) - 4)
        bracket = draw_bracket(rounds, state.head.rounds, width, set_cell_size) if rounds else []
        if len(bracket) + min(pairings, _LEAST_PAIRINGS) > room:
            return [], True
        return bracket, not bracket or len(bracket) + pairings + rows + 2 <= room

    def describe_news(self) -> Part | None:
        """Say how the connection is, else how far the chosen game is where its line has no room for that."""
        told = self.program.describe_connection(self.size.width) or super().describe_news()
        return told or ((self._cut, "dim") if self._cut else None)

    # -- what one does ----------------------------------------------------------------------------------------------

    @property
    def _deeds(self) -> tuple[str, ...]:
        return () if self._event is None else words.event_choices(self._event.state, self._event.viewer).deeds

    @property
    def _link(self) -> str:
        client = self.program.session.client
        return "" if client is None or self._event is None else link_to(client, self._event.code)

    def open_row(self, name: str) -> None:
        """Go to the board of a pairing, to play there or to watch; of one that is scored, look through its game."""
        event = self._event
        for pairing in () if event is None else event.state.pairings:
            if pairing.id != name or event is None:
                continue
            if (game := pairing.game) is not None:
                self.program.ask(lambda client: self.program.read_game(client, game, self._look_through))
            elif pairing.room:
                is_own = event.viewer in pairing.players.values() and pairing.state != "scored"
                self.program.ways_in.enter(Choice("join" if is_own else "watch", code=pairing.room), self)

    def _look_through(self, record: GameRecord) -> None:
        if self.program.screens[-1] is self:
            self.program.open(RoomScreen(self.program, RecordedRoom(record)))

    def _find_deed(self, key: str) -> str | None:
        """Return what a key is for now, None for nothing."""
        return next((deed for deed in self._deeds if deed in DEEDS[key]), None)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "deed":
            return self._find_deed(str(parameters[0])) is not None
        return super().check_action(action, parameters)

    def action_deed(self, key: str) -> None:
        """Do it at once, but where a ticket is wanted."""
        deed, event = self._find_deed(key), self._event
        if deed == "join" and event is not None and event.state.head.entry != "open":
            self._ask(deed)
        elif deed == "begin" and event is not None and (question := ask_to_begin(event.state, event.age_ms)):
            self._ask(deed, question)
        elif deed is not None:
            self._do(word_of(deed))

    def action_copy(self) -> None:
        self.program.copy_to_clipboard(self._link)
        self.program.say(say("tournament link", link=self._link), "good")

    def list_deeds(self) -> Iterable[tuple[str, Callable[[], object]]]:
        for deed in self._deeds:
            yield say(f"tournament do {deed}"), partial(self._ask, deed)

    def _ask(self, deed: str, question: str = "") -> None:
        """Ask whether a deed is meant, as a line of words to finish; the player in the chosen row is named in it."""
        rows = {} if self._event is None else {row.player: row.name for row in self._event.state.table}
        name = rows.get(self.chosen, "") if deed in NAMING_DEEDS else ""
        self.program.push_screen(
            Question(question or say(f"tournament do {deed}"), f"{word_of(deed)} {name}"), self._do
        )

    def _do(self, line: str | None) -> None:
        if line:
            self.program.ask(lambda client: self._carry_out(client, line))

    async def _carry_out(self, client: Client, line: str) -> None:
        assert self._event is not None  # or there would be nothing to do
        deed, argument = find_deed(line)
        if deed == "join":
            way = way_into(self._event, argument)
            try:
                await way(client)
            except ClientError as error:
                if not self._asks_to_play_here(way, client, error):
                    raise
        elif cards := await carry_out(client, self._event, deed, argument):
            self.program.open(HelpPage([(say("tournament cards"), tuple(("", line) for line in cards))]))
