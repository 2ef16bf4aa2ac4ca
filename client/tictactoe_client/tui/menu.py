"""The menu of the first page: what one can do there, as things are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from tictactoe_client.online.client import Choice, Client, against_computer
from tictactoe_client.online.nearby import NearbyServer
from tictactoe_client.text.lobby import name_with_time, short_rules
from tictactoe_client.tui.events import EventsPage
from tictactoe_client.tui.form import Field
from tictactoe_client.tui.history import HistoryPage
from tictactoe_client.tui.lists import WatchPage
from tictactoe_client.tui.new_room import NewRoomPage, name_games
from tictactoe_client.tui.picture import shorten
from tictactoe_client.tui.program import Program
from tictactoe_engine import PRESETS
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.pushes import HeldSeat
from tictactoe_protocol.wording import LEVELS, describe_level


class Entry(NamedTuple):
    """A line of the menu: its title, a note on it, what it does, and what it has a choice of."""

    title: str
    note: str
    deed: Callable[[], object]
    choice: Field | None = None


class Menu:
    """The lines by their names, with the game and the level that are chosen in them.

    `held` are the seats of earlier runs that wait, `nearby` the servers of this network.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.game, self.level = Field("", "classic"), Field("", "medium")
        self.held: tuple[HeldSeat, ...] = ()
        self.nearby: tuple[NearbyServer, ...] = ()

    def list_entries(self, client: Client | None) -> Iterator[tuple[str, Entry]]:
        """Yield all lines by their names, those for seats left behind first; without a connection what leads away."""
        link, ways_in = self.program.link, self.program.ways_in
        self.game.choices = name_games()
        self.level.choices = {describe_level(level): level for level in LEVELS}
        if client is not None:
            yield from self._list_ways(client)
        near = [one for one in self.nearby if one.address != link.before and not link.cluster.has(one.address)]
        for server in near[:3]:
            url, travel = server.address.url, partial(ways_in.travel, server.address)
            yield f"near-{url}", Entry(say("home near", name=shorten(server.name, 24)), url, travel)
        if client is not None and link.before is not None:
            yield "return", Entry(say("home back", url=link.before.url), "", ways_in.travel_back)

    def _list_ways(self, client: Client) -> Iterator[tuple[str, Entry]]:
        program, enter, alone = self.program, self.program.ways_in.enter, self.program.link.is_own
        rules = PRESETS[self.game.value]
        for seat in self.held:
            title = say("home resume", room=name_with_time(seat.room, client.held_ms(seat.room)))
            sit = partial(enter, Choice("join", code=seat.room))
            yield f"resume-{seat.room}", Entry(title, say("home seat kept", mark=seat.seat), sit)
        if not alone:
            note = say("home anyone", rules=short_rules(rules))
            yield "match", Entry(say("home match"), note, partial(enter, Choice("match", rules)), self.game)
        note = say("home nobody comes") if alone else self.game.text
        play = partial(enter, against_computer(self.level.value, rules))
        yield "bot", Entry(say("home computer"), note, play, self.level)
        if alone:
            yield "game", Entry(say("home game"), short_rules(rules), play, self.game)
        note = say("home new note alone" if alone else "home new note")
        yield "new", Entry(say("new room title"), note, lambda: program.open(NewRoomPage()))
        yield "join", Entry(say("home join"), say("home join note"), lambda: program.ways_in.ask_for_room(""))
        if not alone:
            yield "watch", Entry(say("watch title"), say("home watch note"), lambda: program.open(WatchPage()))
        if "events" in client.features and not alone:
            yield "events", Entry(say("tournament title"), say("tournament note"), lambda: program.open(EventsPage()))
        yield "history", Entry(say("history title"), say("home history note"), lambda: program.open(HistoryPage()))
