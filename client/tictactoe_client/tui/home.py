"""The home screen: the player, the menu, and the rooms that wait for opponents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final, NamedTuple

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.worker import Worker

from tictactoe_client.input.rule_options import parse_clock
from tictactoe_client.input.ways import Choice, against_computer, next_turn, together
from tictactoe_client.nearby import NearbyServer, follow_nearby
from tictactoe_client.online.address import Address
from tictactoe_client.online.client import Client
from tictactoe_client.online.room import Room
from tictactoe_client.text.lobby import describe_others, list_turns, name_with_time, short_rules
from tictactoe_client.text.talk import describe_device_news, list_greeting
from tictactoe_client.tui.events import EventsPage
from tictactoe_client.tui.form import SettingsPage
from tictactoe_client.tui.history import HistoryPage
from tictactoe_client.tui.ladders import CLOCK, LadderPage
from tictactoe_client.tui.lists import ListPage, Rows, WatchPage, align
from tictactoe_client.tui.names import NamesPage
from tictactoe_client.tui.new_room import NewRoomPage, name_games
from tictactoe_client.tui.page import Page
from tictactoe_client.tui.picture import measure, shorten
from tictactoe_client.tui.room.screen import RoomScreen
from tictactoe_client.visit.face import Prompt, ask_for
from tictactoe_engine import PRESETS
from tictactoe_protocol import clean_text, parse_name
from tictactoe_protocol.pushes import HeldSeat
from tictactoe_protocol.text import MAX_NAME_LENGTH
from tictactoe_words.catalogue import say
from tictactoe_words.emblems import emblem_of
from tictactoe_words.wording import LEVELS, describe_level

_TITLE: Final = 20
_MOST_GREETING: Final = 4  # the maximum number of lines of the operator's greeting
_PLAYER_MARGINS: Final = 7
"""The columns of the player's line that the margins and the player's emblem take."""
_VALUE_COLUMN: Final = 24
"""The first column of the menu's values."""


@dataclass(slots=True)
class MenuChoice:
    """A choice in a menu line: the possible values by label, and the current value."""

    value: str
    choices: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return next((text for text, value in self.choices.items() if value == self.value), "")

    def step(self, by: int) -> None:
        values = list(self.choices.values())
        self.value = values[(values.index(self.value) + by) % len(values)]


class Entry(NamedTuple):
    """A line of the menu.

    Attributes:
        open: Called when the line is opened.
        choice: The values that the line lets the person choose, or None.
    """

    title: str
    note: str
    open: Callable[[], object]
    choice: MenuChoice | None = None


class Listed(NamedTuple):
    """A page that the home screen opens.

    Attributes:
        note: The id of the note in its menu line, or "" if only a key opens the page.
        needs_ladders: Whether the page is listed only if the server has ladders.
        is_of_others: Whether the page is left out on the client's own server, because it is about other players.
    """

    page: type[Page]
    note: str = ""
    needs_ladders: bool = False
    is_of_others: bool = False


PAGES: Final[Mapping[str, Listed]] = {
    "watch": Listed(WatchPage, "home watch note", is_of_others=True),
    "events": Listed(EventsPage, "tournament note", is_of_others=True),
    "ladder": Listed(LadderPage, "ladder note", needs_ladders=True, is_of_others=True),
    "history": Listed(HistoryPage, "home history note"),
    "settings": Listed(SettingsPage),
    "devices": Listed(NamesPage),
}


class HomePage(ListPage):
    """The home screen.

    Attributes:
        game, level: The game and the computer's level that the menu lets the person choose.
        held: Our seats from earlier runs.
        nearby: The servers found in this network.
    """

    situation = "home"

    def __init__(self) -> None:
        super().__init__()
        self.rooms = Rows("rooms")
        self.menu, self.waiting = Vertical(id="menu"), Vertical(id="waiting")
        self.game, self.level = MenuChoice("classic"), MenuChoice("medium")
        self.held: tuple[HeldSeat, ...] = ()
        self._left: Room | None = None
        self.nearby: tuple[NearbyServer, ...] = ()
        self._entries: dict[str, Entry] = {}
        self._wants_rated = False

    def compose_body(self) -> ComposeResult:
        yield self.text("player")
        yield self.text("nothing")
        with self.menu:
            yield self.rows
            yield self.text("how")
        with self.waiting:
            yield self.text("rooms-title")
            yield self.text("columns")
            yield self.rooms

    def fill(self) -> None:
        client = None if self.program.session.phase == "failed" else self.program.session.client
        self._entries = dict(self._list_entries(client))
        titles, rooms = align(self.program.lobby.tabulate("waiting", client.player if client else None))
        rooms = rooms if client else {}
        self.keep([*self._entries, *rooms])
        self.rows.show({name: self._describe(entry) for name, entry in self._entries.items()}, self.chosen)
        self.rows.styles.max_height = len(self._entries) + 2
        self.menu.set_class(client is None, "-nowhere")
        self._fill_player(client)
        entry = self._entries.get(self.chosen)
        self.text("how").show((say(f"rules of {self.game.value}") if entry and entry.choice else "", "dim"))
        greeting = [(line, "dim") for line in list_greeting(client.welcome)[:_MOST_GREETING]] if client else []
        if client and (news := describe_device_news(client.welcome)):
            greeting.insert(0, (f"{news}   {self.show_key('devices')} {say('page name devices')}", "bold"))
        lines = greeting if client else self.describe_no_server(offers_own=True)
        self.text("nothing").show(*((f"{text}\n", role) for text, role in lines))
        self.waiting.display = bool(rooms)
        self.waiting.styles.height = min(len(rooms) + 2, max(3, self.size.height * 2 // 5 - 2))
        self.text("rooms-title").show((say("home waiting", n=len(rooms)), "title"))
        self.text("columns").show((titles, "dim"))
        self.rooms.show(rooms, self.chosen)

    def _list_entries(self, client: Client | None) -> Iterator[tuple[str, Entry]]:
        session, ways_in = self.program.session, self.program.ways_in
        self.game.choices = name_games()
        self.level.choices = {describe_level(level): level for level in LEVELS}
        if client is not None:
            yield from self._list_ways(client)
        near = [one for one in self.nearby if one.address != session.before and not session.cluster.has(one.address)]
        for server in near[:3]:
            url, travel = server.address.url, partial(ways_in.travel, server.address)
            yield f"near-{url}", Entry(say("home near", name=shorten(server.name, 24)), url, travel)
        if client is not None and session.before is not None:
            yield "return", Entry(say("home back", url=session.before.url), "", partial(ways_in.travel, session.before))

    def _list_ways(self, client: Client) -> Iterator[tuple[str, Entry]]:
        program, enter, alone = self.program, self.program.ways_in.go, self.program.session.is_own
        rules = PRESETS[self.game.value]
        turns, way = client.turns, next_turn(client)
        if way is not None:
            yield "turns", Entry(say("turns await", n=len(turns)), list_turns(turns)[0], partial(enter, way))
        for seat in (seat for seat in self.held if all(seat.room != turn.room for turn in turns)):
            title = say("home resume", room=name_with_time(seat.room, client.rooms.held_ms(seat.room)))
            sit = partial(enter, Choice("join", code=seat.room))
            yield f"resume-{seat.room}", Entry(title, say("home seat kept", mark=seat.seat), sit)
        if not alone:
            rated = self.is_rated
            offer = f"({self.show_key('rated')}: {say('rated')})" if self._may_rate else say("home match note")
            note = f"{say('rated')}, {CLOCK}" if rated else offer
            match = Choice("match", rules, parse_clock(CLOCK) if rated else None, rated=rated)
            yield "match", Entry(say("home match"), note, partial(enter, match), self.game)
        note = say("home nobody comes") if alone else self.game.text
        play = partial(enter, against_computer(self.level.value, rules))
        yield "bot", Entry(say("home computer"), note, play, self.level)
        if alone:
            yield "game", Entry(say("home game"), short_rules(rules), play, self.game)
        title, note = ("new room title", "home new note alone") if alone else ("home invite", "home invite note")
        yield "new", Entry(say(title), say(note), lambda: program.open(NewRoomPage()))
        yield "join", Entry(say("home join"), say("home join note"), partial(program.ways_in.ask_for_room, ""))
        yield "together", Entry(say("home together"), say("home together note"), self._play_together, self.game)
        for name, (page, note, needs_ladders, is_of_others) in PAGES.items():
            if note and not (alone and is_of_others) and (client.welcome.ladders or not needs_ladders):
                yield name, Entry(say(page.heading), say(note), partial(self.action_open_page, name))

    @property
    def _chooses_name(self) -> bool:
        """Whether players choose their own names; a server may assign names, for example at a school."""
        client = self.program.session.client
        return client is None or client.welcome.names != "given"

    @property
    def _may_rate(self) -> bool:
        """Whether the server rates the chosen game."""
        client = self.program.session.client
        return client is not None and self._chooses_name and self.game.value in client.welcome.ladders

    @property
    def is_rated(self) -> bool:
        """Whether "match" looks for a rated game: the person wants one, and the name is claimed."""
        client = self.program.session.client
        return self._wants_rated and self._may_rate and client is not None and client.welcome.claimed is True

    def _fill_player(self, client: Client | None) -> None:
        if client is None:
            self.text("player").show()
            return
        label, name = f"{say('home playing as')}  ", clean_text(client.name)
        sign, colour = emblem_of(client.player) if not self.program.settings.ascii else ("", 0)
        change = f"   ({say('home change', key=self.show_key('name'))})" if self._chooses_name else ""
        if self.has_class("-low") and measure(f"{label}{name}{change}") + _PLAYER_MARGINS > self.size.width:
            change = ""
        room = self.size.width - measure(f"{label}{name}{change}") - 11
        about = say("name others", name=name) if client.welcome.claimed is False else ""
        longer = f"{about}   {describe_others(self.program.lobby.online)}"
        if self.program.session.is_own:
            about = say("home alone")
        elif measure(longer) <= room:
            about = longer.strip()
        player_parts = (name, "title"), (f" {sign}", f"mark{colour}"), (change, "dim")
        parts = (label, ""), *player_parts, (f"   {about}", "dim")
        self.text("player").show(*parts)

    def describe_heading(self) -> str:
        return say("window title")

    def describe_about(self) -> str:
        """Return the server's address and latency, as far as they fit."""
        session = self.program.session
        latency = f"  {session.latency_ms} ms" if session.phase == "online" else ""
        url, width = say("home own") if session.is_own else session.address.url, self.size.width - 16
        forms = (f"{url}  ●{latency}", f"{url}  ●", f"{url.partition('://')[2]}  ●", f"●{latency}")
        return next((form for form in forms if measure(form) <= width), "●")

    def _describe(self, entry: Entry) -> str:
        room, value = self.size.width - _VALUE_COLUMN - 1, ""
        if entry.choice is not None:
            value = f"‹ {entry.choice.text} ›"
            value = value if measure(value) <= room else f"‹{entry.choice.text}›"
        if "join" not in self._entries:
            return f"{entry.title}  {entry.note}"
        live = len(self.program.lobby.list_rooms("playing"))
        if entry is self._entries.get("watch") and live:
            value = say("watch live", n=live)
        title = f"{entry.title:<{_TITLE - 1 if measure(value) <= room else _TITLE - 2}} "
        is_short = self.has_class("-narrow") and not (self.is_rated and entry is self._entries.get("match"))
        note = "" if is_short else entry.note
        return f"{title}{value}  {note}".rstrip() if value else f"{title}{note}"

    def on_mount(self) -> None:
        """Look for nearby servers once the page has been drawn."""
        self.app.set_timer(1.0, self.listen)

    def listen(self) -> Worker[None]:
        return self.app.run_worker(partial(follow_nearby, self._hear_nearby), exit_on_error=False)

    def _hear_nearby(self, servers: tuple[NearbyServer, ...]) -> None:
        self.nearby = servers
        self.redraw()

    def connected(self) -> None:
        self.program.lobby.follow()
        client, first = self.program.session.client, self.program.ways_in.first
        if client is not None:
            self.held = client.welcome.rooms
        if first is not None and first.bots and first.bots[0] in LEVELS and first.rules.preset in PRESETS:
            self.level.value, self.game.value = first.bots[0], first.rules.preset or self.game.value
            self.choose("bot")
        elif first is None and client is not None and client.turns:
            self.choose("turns")
        elif first is None and self.held:
            self.choose(f"resume-{self.held[0].room}")
        elif self.chosen.startswith("near-"):
            self.choose("")  # choose the first row; the nearby server was chosen only for lack of other rows
        self.program.ways_in.go_on()

    def opened(self) -> None:
        """Refresh the lists, and choose another line than the one for room codes, where letters are not shortcuts."""
        self.program.lobby.follow()
        client, room = self.program.session.client, self._left
        if room is not None and room.ended == "replaced" and room.plays:
            seat = HeldSeat(room.code, room.seat or "", room.state.rules, {}, room.state.turn)
            self.held = (seat, *self.held)
            self.choose(f"resume-{room.code}")
        elif client is not None and client.turns:
            self.choose("turns")
        elif self.chosen == "join":
            self.choose("match")
        self._left = None

    def covered(self, screen: object) -> None:
        if isinstance(screen, RoomScreen):
            self._left = screen.room
            self.held = tuple(seat for seat in self.held if seat.room != screen.room.code)
            self.program.lobby.follow(on=False)

    def open_row(self, name: str) -> None:
        if self.program.ways_in.waits_for:
            return
        if self.program.session.phase != "online" and not name.startswith("near-"):
            self.program.say(say("why offline"))
        elif name in self._entries:
            self._entries[name].open()
        else:
            self.program.ways_in.go(Choice("join", code=name))

    def on_key(self, event: events.Key) -> None:
        """On the "join" line, start typing a room code; elsewhere choose the next line that begins with the letter."""
        letter, does = event.character, self.program.keymap.does
        if letter is None or not letter.isalnum() or "join" not in self._entries:
            return
        if self.chosen == "join" and not (does(event.key, "up") or does(event.key, "down")):
            event.stop()
            self.program.ways_in.ask_for_room(letter)
        elif event.key not in self.active_bindings:
            # Wait until earlier keys are handled: if one of them opens a prompt, this letter belongs to its input.
            self.app.call_later(self._choose_by_letter, letter.lower())

    def _choose_by_letter(self, letter: str) -> None:
        """Choose the next entry whose title begins with the letter, unless another screen has been opened."""
        if not self.is_active:
            return
        names = list(self._entries)
        start = names.index(self.chosen) + 1 if self.chosen in names else 0
        candidates = (*names[start:], *names[:start])
        self.choose(next((name for name in candidates if self._entries[name].title[0].lower() == letter), self.chosen))

    def on_paste(self, event: events.Paste) -> None:
        if self.program.session.client is not None:
            self.program.ways_in.ask_for_room(event.text.strip())

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Enable only the keys that work now; on the "join" line, letters are text."""
        name = str(parameters[0]) if action == "open_page" else action
        entry, is_here = self._entries.get(self.chosen), "join" in self._entries
        is_joining = is_here and self.chosen == "join"
        offers = {
            "settings": not is_joining,
            "theme": not is_joining,
            "refresh": is_here and not is_joining,
            "name": is_here and not is_joining and self._chooses_name,
            "devices": is_here and not is_joining and self._chooses_name,
            "rated": self.chosen == "match" and self._may_rate,
            "change": entry is not None and entry.choice is not None,
            "local": self.can_start_local,
            "retry": self.program.session.phase == "failed",
        }
        return offers[name] if name in offers else super().check_action(action, parameters)

    def action_change(self, by: int) -> None:
        if (choice := self._entries[self.chosen].choice) is not None:
            choice.step(by)
            self.redraw()

    def action_rated(self) -> None:
        """Toggle whether "match" looks for a rated game; if the name is not claimed, open the page to claim it."""
        client, self._wants_rated = self.program.session.client, not self.is_rated
        if client is not None and client.welcome.claimed is not True:
            self.program.open(NamesPage())
        self.redraw()

    def action_retry(self) -> None:
        self.program.session.retry()

    def action_refresh(self) -> None:
        self.program.session.retry()
        self.program.lobby.follow()

    def action_local(self) -> None:
        self.program.ways_in.stay()
        self.program.session.start_local()

    @property
    def _server_before(self) -> Address | None:
        """The previous server, or None; while there is no connection, Esc returns to it."""
        return None if "join" in self._entries else self.program.session.before

    def name_key(self, id: str) -> str:
        return "" if id == "key back" and self._server_before is None else id

    def action_back(self) -> None:
        if (before := self._server_before) is not None:
            self.program.ways_in.travel(before)
        elif not self.program.ways_in.give_up():
            self.program.say(say("home first page", key=self.show_key("quit")), "dim")

    def action_theme(self) -> None:
        self.program.action_theme()

    def action_open_page(self, name: str) -> None:
        self.program.open(PAGES[name].page())

    def _play_together(self) -> None:
        self.program.start(self._ask_for_names())

    async def _ask_for_names(self) -> None:
        """Ask for the name of each player at this keyboard, then begin; the first name becomes our own."""
        rules, own_name = PRESETS[self.game.value], self.program.session.identity.name or ""
        names: list[str] = []
        for mark in rules.marks:
            prompt = Prompt(say("page new name of", mark=mark), "" if names else own_name, limit=MAX_NAME_LENGTH)
            if (name := await ask_for(self.program, prompt, parse_name)) is None:
                return
            names.append(name)
        self.program.ways_in.go_as(names[0], together(rules, names[1:]))

    def action_name(self) -> None:
        self.program.start(self._change_name())

    async def _change_name(self) -> None:
        name = await ask_for(self.program, Prompt(say("name question"), "", limit=MAX_NAME_LENGTH), parse_name)
        if name is not None:
            self.program.rename(name)
