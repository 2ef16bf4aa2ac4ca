"""Events on the full screen: the list of them, and the page of one with its table, the round, and who is waited for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from time import monotonic
from typing import ClassVar, Final

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType

from tictactoe_client.exits import describe_failure, judge
from tictactoe_client.input.intents import BadInput
from tictactoe_client.input.tournament import RUN_DEEDS, carry_out, link_to
from tictactoe_client.online.address import parse_event
from tictactoe_client.online.client import Choice, Client
from tictactoe_client.online.errors import BadAddress, BadRoomCode, ClientError, Refused
from tictactoe_client.online.tournament import Tournament
from tictactoe_client.session import Enter
from tictactoe_client.text import tournament as words
from tictactoe_client.tui.foot import bind
from tictactoe_client.tui.lists import ListPage, Rows, align
from tictactoe_client.tui.page import HelpPage, Part
from tictactoe_client.tui.question import Question
from tictactoe_client.tui.room.foot import connection_banner
from tictactoe_protocol import clean_text
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.events import EventPairing, EventState, EventSummary

_REFRESH_SECONDS: Final = 5
_NEEDS_NAME: Final = frozenset({"add"})
_NEEDS_ROW: Final = frozenset({"expel", "forfeit", "void"})
_FINAL: Final = frozenset({"expel", "forfeit", "void", "close"})
"""Deeds that are asked about first."""


class EventsPage(ListPage):
    """The events that are open or on; the code or the link of one may be typed."""

    BINDINGS: ClassVar[list[BindingType]] = [bind("back", label="key back"), bind("help", label="key help")]
    heading = "tournament title"
    first_keys = ("key open", "key back")
    wraps = False

    def __init__(self) -> None:
        super().__init__()
        self._events: tuple[EventSummary, ...] = ()

    def opened(self) -> None:
        if (client := self.program.link.client) is not None and self.program.link.phase == "online":
            self.program.start(self._learn(client))

    connected = opened

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(_REFRESH_SECONDS, self.opened)

    async def _learn(self, client: Client) -> None:
        self._events = await client.events()
        self.redraw()

    def fill(self) -> None:
        self.show_table(words.list_events(self._events))
        nothing = "" if self._events else f"{say('tournament nothing')}\n\n"
        self.text("hint").show((nothing, ""), (say("tournament type a code"), "dim"))

    def open_row(self, name: str) -> None:
        self.program.open(EventPage(partial(_watch, name)))

    def on_key(self, event: events.Key) -> None:
        """Begin a code, which may be that of an event that is not in the list."""
        if event.character is not None and event.character.isalnum():
            event.stop()
            self._ask_for_event(event.character)

    def _ask_for_event(self, typed: str, why: str = "") -> None:
        def take(text: str | None) -> None:
            try:
                code, ticket, _ = parse_event(text or "")
            except (BadRoomCode, BadAddress) as bad:
                if text:
                    self._ask_for_event(text, f"{clean_text(bad.message)}\n")
                return
            enter = partial(_join, code, ticket) if ticket else partial(_watch, code)
            self.program.open(EventPage(enter))

        self.program.push_screen(Question(why + say("tournament code"), typed, anew=bool(why)), take)


async def _watch(code: str, client: Client) -> Tournament:
    return await client.watch_event(code)


async def _join(code: str, ticket: str, client: Client) -> Tournament:
    return await client.join_event(code, ticket=ticket)


class EventPage(ListPage):
    """One event, to which `enter` leads: how far it is, the pairings of the round, and the table with its sums.

    Where it `is_first` somebody wanted there from the command line: refused, the program ends.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("event_join", label="key event join"),
        bind("event_begin", label="key event begin"),
        bind("event_pause", label="key event pause"),
        bind("back", label="key back"),
        bind("copy", label="deed copy"),
        bind("help", label="key help"),
    ]
    heading = "tournament title"
    opens = "key watch"
    first_keys = ("key event join", "key event begin", "key event pause")
    wraps = False

    def __init__(self, enter: Enter[Tournament], *, is_first: bool = False) -> None:
        super().__init__()
        self.table = Rows("table")
        self._enter = enter
        self._is_first = is_first
        self._event: Tournament | None = None

    # -- following it -----------------------------------------------------------------------------------------------

    def opened(self) -> None:
        if self._event is None:
            self.connected()

    def connected(self) -> None:
        if (client := self.program.link.client) is not None and self.program.link.phase == "online":
            self.program.start(self._follow(client))

    async def _follow(self, client: Client) -> None:
        try:
            event = self._event = await self._enter(client)
        except ClientError as error:
            told = describe_failure(error, self.program.settings, self.program.link.address)
            if self._is_first and isinstance(error, Refused):
                self.program.leave(judge(error)[0], told)
            elif self in self.program.screens:
                self.program.close(self)
                self.program.say(error.message)
            return
        self._enter = partial(_watch, event.code)
        async for _ in event:
            self.redraw()

    def closed(self) -> None:
        if (event := self._event) is not None and self.program.link.phase == "online":
            self.program.start(event.unwatch())

    # -- what it shows ----------------------------------------------------------------------------------------------

    def compose_body(self) -> ComposeResult:
        yield self.text("progress")
        yield self.rows
        yield self.text("columns")
        yield self.table
        yield self.text("hint")

    def describe_heading(self) -> str:
        return super().describe_heading() if self._event is None else clean_text(self._event.state.head.title)

    def describe_about(self) -> str:
        event = self._event
        return "" if event is None else f"{words.describe_terms(event.state.head)}   {event.code}"

    def fill(self) -> None:
        event = self._event
        if event is None:
            self.text("progress").show((say("tournament asking"), "dim"))
            return
        state = event.state
        waiting = words.describe_waiting(state, event.due_ms)
        progress = f"{words.describe_progress(state)}\n"
        self.text("progress").show((progress, ""), (f"{waiting}\n" if waiting else "", "warn"))
        _, pairings = align({"": ("", ""), **words.tabulate_pairings(state)})
        titles, rows = align(words.tabulate(state.table, event.viewer))
        self.keep([*pairings, *rows])
        self.rows.show(pairings, self.chosen)
        self.text("columns").show((titles if rows else "", "dim"))
        self.table.show(rows, self.chosen)
        self.text("hint").show(("" if rows else say("tournament empty", link=self._link), "dim"))

    def describe_news(self) -> Part | None:
        link = self.program.link
        return connection_banner(link, monotonic(), width=self.size.width, holds_seat=False) or super().describe_news()

    # -- what one does ----------------------------------------------------------------------------------------------

    @property
    def _state(self) -> EventState | None:
        return None if self._event is None else self._event.state

    @property
    def _link(self) -> str:
        client = self.program.link.client
        return "" if client is None or self._event is None else link_to(client, self._event.code)

    @property
    def _chosen_pairing(self) -> EventPairing | None:
        pairings = () if self._state is None else self._state.pairings
        return next((one for one in pairings if one.id == self.chosen), None)

    def open_row(self, name: str) -> None:
        """Go to the board of a pairing, to play there or to watch."""
        pairing = self._chosen_pairing
        if pairing is None or not pairing.room or self._event is None:
            return
        is_own = self._event.viewer in pairing.players.values() and pairing.state != "scored"
        self.program.ways_in.enter(Choice("join" if is_own else "watch", code=pairing.room), self)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        event = self._event
        if not action.startswith("event_"):
            return super().check_action(action, parameters)
        if event is None or event.is_over:
            return False
        if action == "event_begin":
            return event.is_organiser
        if action == "event_pause":
            return event.row is not None
        return event.row is None and (event.state.status == "open" or event.state.round <= event.state.head.late_until)

    def name_key(self, id: str) -> str:
        """Return what a key does as things are."""
        event = self._event
        if event is not None and id == "key event pause" and event.row is not None and event.row.status == "away":
            return "key event ready"
        if event is not None and id == "key event begin":
            return f"key event {self._way_on(event.state)}"
        return super().name_key(id)

    def action_event_join(self) -> None:
        if self._state is not None and self._state.head.entry != "open":
            self._ask(say("tournament ticket"), partial(self._do, "join"))
        else:
            self._do("join", "")

    def action_event_pause(self) -> None:
        row = None if self._event is None else self._event.row
        self._do("ready" if row is not None and row.status == "away" else "away", "")

    def action_event_begin(self) -> None:
        if self._state is not None:
            self._do(self._way_on(self._state), "")

    def action_copy(self) -> None:
        self.program.copy_to_clipboard(self._link)
        self.program.say(say("tournament link", link=self._link), "good")

    def list_deeds(self) -> Iterable[tuple[str, Callable[[], object]]]:
        """Return what has no key: to leave, and what its organiser may, some of it with the row that is chosen."""
        event = self._event
        if event is not None and event.row is not None:
            yield say("tournament do leave"), partial(self._prepare, "leave")
        for deed in RUN_DEEDS if event is not None and event.is_organiser else ():
            yield say(f"tournament do {deed}"), partial(self._prepare, deed)

    def _prepare(self, deed: str) -> None:
        """Ask for what a deed needs, or whether it is meant, and do it."""
        name = self._name_chosen() if deed in _NEEDS_ROW else ""
        if deed in _NEEDS_NAME:
            self._ask(say("tournament whose name"), partial(self._do, deed))
        elif deed in _FINAL:
            what = say(f"tournament do {deed}")
            self._ask(say("tournament sure", what=what, name=name), lambda _: self._do(deed, name), value=None)
        else:
            self._do(deed, "")

    def _ask(self, what: str, do: Callable[[str], object], *, value: str | None = "") -> None:
        """Ask for a text, or with None whether something is meant, and do it with the answer where there is one."""

        def take(answer: str | None) -> None:
            if answer or (answer is not None and value is None):
                do(answer)

        self.program.push_screen(Question(what, value), take)

    def _do(self, deed: str, argument: str) -> None:
        if (client := self.program.link.client) is not None and self._event is not None:
            self.program.start(self._carry_out(client, self._event, deed, argument))

    async def _carry_out(self, client: Client, event: Tournament, deed: str, argument: str) -> None:
        try:
            told = await carry_out(client, event, deed, argument)
        except BadInput as bad:
            self.program.say(bad.message)
            return
        if told:
            self.program.open(HelpPage([(say("tournament cards"), tuple(("", line) for line in told))]))

    def _name_chosen(self) -> str:
        """Return the name in the chosen row; of a pairing the first."""
        rows = () if self._state is None else self._state.table
        pairing = self._chosen_pairing
        names = [*pairing.names.values()] if pairing is not None else []
        return (names + [row.name for row in rows if row.player == self.chosen] + [""])[0]

    @staticmethod
    def _way_on(state: EventState) -> str:
        return {"open": "begin", "paused": "resume"}.get(state.status, "next")
