"""Events on the full screen: the list of them, and the page of one with its table, the round, and who is waited for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from time import monotonic
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import BindingType

from tictactoe_client.exits import describe_failure, judge
from tictactoe_client.input.intents import BadInput
from tictactoe_client.input.tournament import carry_out, find_deed, link_to, list_deeds, word_for
from tictactoe_client.online.client import Choice, Client
from tictactoe_client.online.errors import ClientError, Refused
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
from tictactoe_protocol.events import EventSummary

_REFRESH_SECONDS: Final = 5


class EventsPage(ListPage):
    """The events that are open or on."""

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
        self.text("hint").show(("" if self._events else say("tournament nothing"), "dim"))

    def open_row(self, name: str) -> None:
        self.program.open(EventPage(lambda client: client.watch_event(name)))


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
        self._enter = lambda client: client.watch_event(event.code)
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
        return "" if event is None else f"{event.code}   {words.describe_terms(event.state.head)}"

    def fill(self) -> None:
        event = self._event
        if event is None:
            self.text("progress").show((say("tournament asking"), "dim"))
            return
        state = event.state
        progress = words.describe_progress(state, event.due_ms)
        self.text("progress").show(*((f"{line}\n", role) for line, role in zip(progress, ("", "warn"), strict=False)))
        _, pairings = align({"": ("", ""), **words.tabulate_pairings(state)})
        titles, rows = align(words.tabulate(state.table, event.viewer))
        self.keep([*pairings, *rows])
        self.rows.show(pairings, self.chosen)
        self.text("columns").show((titles if rows else "", "dim"))
        self.table.show(rows, self.chosen)
        hint = "" if rows else say("tournament empty", link=self._link)
        if event.is_organiser and not event.is_over:
            key = self.program.keymap.show_key(self.program.COMMAND_PALETTE_BINDING)
            hint = f"{hint}\n{say('tournament more', key=key)}".lstrip()
        self.text("hint").show((hint, "dim"))

    def describe_news(self) -> Part | None:
        link = self.program.link
        return connection_banner(link, monotonic(), width=self.size.width, holds_seat=False) or super().describe_news()

    # -- what one does ----------------------------------------------------------------------------------------------

    @property
    def _link(self) -> str:
        client = self.program.link.client
        return "" if client is None or self._event is None else link_to(client, self._event.code)

    def open_row(self, name: str) -> None:
        """Go to the board of a pairing, to play there or to watch."""
        for pairing in () if self._event is None else self._event.state.pairings:
            if pairing.id == name and pairing.room and self._event is not None:
                is_own = self._event.viewer in pairing.players.values() and pairing.state != "scored"
                self.program.ways_in.enter(Choice("join" if is_own else "watch", code=pairing.room), self)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        event = self._event
        if not action.startswith("event_"):
            return super().check_action(action, parameters)
        if event is None or event.is_over:
            return False
        may_enter = event.state.status == "open" or event.state.round <= event.state.head.late_until
        is_in = event.row is not None
        return {"event_begin": event.is_organiser, "event_pause": is_in}.get(action, may_enter and not is_in)

    def action_event_join(self) -> None:
        if self._event is not None and self._event.state.head.entry != "open":
            self._ask("join")
        else:
            self._do("join")

    def action_event_pause(self) -> None:
        row = None if self._event is None else self._event.row
        self._do("ready" if row is not None and row.status == "away" else "away")

    def action_event_begin(self) -> None:
        status = "" if self._event is None else self._event.state.status
        self._do({"open": "begin", "paused": "resume"}.get(status, "next"))

    def action_copy(self) -> None:
        self.program.copy_to_clipboard(self._link)
        self.program.say(say("tournament link", link=self._link), "good")

    def list_deeds(self) -> Iterable[tuple[str, Callable[[], object]]]:
        for deed in () if self._event is None else list_deeds(self._event):
            yield say(f"tournament do {deed}"), partial(self._ask, deed)

    def _ask(self, deed: str) -> None:
        """Ask whether a deed is meant, as a line of words to finish; the player in the chosen row is named in it."""
        state = None if self._event is None else self._event.state
        rows = {row.player: row.name for row in state.table} if state is not None else {}
        name = rows.get(self.chosen, "") if deed in ("expel", "forfeit", "void") else ""

        def take(line: str | None) -> None:
            try:
                self._do(*find_deed(line)) if line else None
            except BadInput as bad:
                self.program.say(bad.message)

        self.program.push_screen(Question(say(f"tournament do {deed}"), f"{word_for(deed)} {name}"), take)

    def _do(self, deed: str, argument: str = "") -> None:
        if (client := self.program.link.client) is not None and self._event is not None:
            self.program.start(self._carry_out(client, self._event, deed, argument))

    async def _carry_out(self, client: Client, event: Tournament, deed: str, argument: str) -> None:
        try:
            cards = await carry_out(client, event, deed, argument)
        except BadInput as bad:
            self.program.say(bad.message)
            return
        if cards:
            self.program.open(HelpPage([(say("tournament cards"), tuple(("", line) for line in cards))]))
