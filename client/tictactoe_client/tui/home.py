"""The first screen: who one is, what one can do, who waits for an opponent, and what is going on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, combinations
from typing import ClassVar, Final, NamedTuple

from textual import events
from textual.binding import BindingType
from textual.geometry import Region
from textual.worker import Worker

from tictactoe_client.board.board import BoardView, Cell, draw_board
from tictactoe_client.board.grid import BoardStyle, Grid, fit_board
from tictactoe_client.earlier import find_losses
from tictactoe_client.online.client import Choice, Client, against_computer
from tictactoe_client.online.errors import ClientError
from tictactoe_client.online.nearby import NearbyServer, follow_nearby
from tictactoe_client.text.lobby import name_with_time
from tictactoe_client.tui.foot import bind
from tictactoe_client.tui.form import Field
from tictactoe_client.tui.history import HistoryScreen
from tictactoe_client.tui.lists import ListScreen, Rows, WatchScreen
from tictactoe_client.tui.lobby import can_start_local, describe_no_server, describe_record, short_rules
from tictactoe_client.tui.new_room import LEVELS, NewRoomScreen
from tictactoe_client.tui.picture import Picture, measure, shorten
from tictactoe_client.tui.question import Question
from tictactoe_client.tui.room.screen import RoomScreen
from tictactoe_client.tui.screen import draw_rule
from tictactoe_client.tui.settings_page import SettingsScreen
from tictactoe_engine import PRESETS, Rules
from tictactoe_protocol import BadName, clean_text, parse_name
from tictactoe_protocol.pushes import HeldSeat, LiveBoard, PastGame, RulesState

_NAME: Final = (
    "╺┳╸╻┏━╸ ╺┳╸┏━┓┏━╸ ╺┳╸┏━┓┏━╸",
    " ┃ ┃┃    ┃ ┣━┫┃    ┃ ┃ ┃┣╸ ",
    " ╹ ╹┗━╸  ╹ ╹ ╹┗━╸  ╹ ┗━┛┗━╸",
)
_ASCII_NAME: Final = (
    "___ _ __  ___ __  __  ___ _  ___",
    " |  | |    |  |_| |    |  | | |_ ",
    " |  | |__  |  | | |__  |  |_| |__",
)


_LEAST_MENU: Final = 4
_LEAST_ROOMS: Final = 3
"""Lines of a low window: of the menu, and for the rooms that wait, with what stands above the first of them."""


class Entry(NamedTuple):
    """A line of the menu: its name and title, a note on it, what it does, and what it has a choice of."""

    name: str
    title: str
    note: str
    deed: Callable[[], object]
    choice: Field | None = None


class HomeScreen(ListScreen):
    """Home."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("left", "change(-1)", "change"),
        bind("right", "change(1)", "change"),
        bind("name", "ask_name"),
        bind("help", label="help"),
        bind("theme", label="theme"),
        bind("settings", label="settings"),
        bind("refresh", label="refresh"),
        bind("retry", label="retry"),
        bind("back", "travel_back", "back"),
        bind("back"),
        bind("local", "start_local", "start a server"),
    ]
    foot_first = ("retry", "back", "start a server")
    max_size = (160, 50)

    def __init__(self) -> None:
        self.rooms = Rows()
        super().__init__(self.rooms)
        self.held: tuple[HeldSeat, ...] = ()
        self._entries: dict[str, Entry] = {}
        self._games: tuple[PastGame, ...] = ()
        self._nearby: tuple[NearbyServer, ...] = ()
        self._losses: list[str] = []
        self._game = Field("", "classic", choices={"3x3" if name == "classic" else name: name for name in PRESETS})
        self._level = Field("", "medium", choices={level: level for level in LEVELS})

    def draw_body(self, page: Picture, body: Region) -> None:
        client = None if self.desk.link.phase == "failed" else self.desk.link.client
        self._entries = {entry.name: entry for entry in self._list_entries(client)}
        title = [(line, "title") for line in (_ASCII_NAME if page.ascii_only else _NAME)]
        if client is not None:
            self._draw_menu(page, body, client, title)
            return
        rows = [(name, f"{entry.title}  {entry.note}") for name, entry in self._entries.items()]
        lines = describe_no_server(self.desk.link, self.desk.keymap, offers_own=True)
        has_room = body.height >= len(lines) + 5
        self.draw_lines(page, body.y, [*title, ("", ""), *lines] if has_room else lines)
        self.lay_rows(Region(2, body.bottom - len(rows), body.width - 4, len(rows)), rows)
        self.lay_rows(Region(), (), self.rooms)

    def _draw_menu(self, page: Picture, body: Region, client: Client, title: Sequence[tuple[str, str]]) -> None:
        """Draw the menu and the rooms that wait below it; where that is too high, only that with the chosen line."""
        menu = [(name, self._describe(entry)) for name, entry in self._entries.items()]
        table = self.desk.lobby.tabulate("waiting", client.player)
        rooms = list(table)[1:]
        self.keep([*self._entries, *rooms])
        needed = len(_NAME) + len(menu) + 3 + (3 if rooms else 0) + (3 if self.desk.link.is_own else 1)
        is_high, is_wide, is_widest = body.height >= needed, page.width >= 72, page.width >= 130
        top = self._draw_player(page, self.draw_lines(page, body.y, title) if is_high else body.y, client)
        aside = 72 if is_widest else 46 if is_wide else page.width
        if is_high:
            draw_frame(page, Region(1, top, aside - 2, len(menu) + 2))
            self.lay_rows(Region(2, top + 1, aside - 4, len(menu)), menu, self.rows)
            if self.chosen in self._entries:
                page.put(4, top + len(menu) + 2, self._entries[self.chosen].note, "dim", until=aside)
            bottom = top + len(menu) + 3
        else:
            has_place = body.bottom - top >= _LEAST_MENU + _LEAST_ROOMS
            below = (_LEAST_ROOMS if has_place else 1) if rooms else 0
            bottom = top if self.chosen in rooms else min(body.bottom - below, top + len(menu))
            self.lay_rows(Region(2, top, aside - 4, bottom - top), menu, self.rows)
        spans = is_high and not is_widest
        width = page.width if spans else aside
        if rooms:
            draw_rule(page, 1, bottom, width - 2, f"Rooms waiting ({len(rooms)})")
        place = Region(2, bottom + 1, width - 4, max(0, body.bottom - bottom - 1))
        self.lay_table(page, place, table, self.rooms)
        if is_wide:
            below = bottom if spans and rooms else body.bottom
            self._draw_live(page, Region(aside, top, page.width - aside - 1, below - top))

    def _draw_player(self, page: Picture, y: int, client: Client) -> int:
        """Draw who one is, and how the last games went; return the line below it."""
        name, key = clean_text(client.name), self.desk.keymap.show("name")
        end = page.put_parts(3, y, ("Playing as  ", ""), (name, "title"), (f"   ({key}: change)", "dim"))
        record = describe_record(self._games, client.player)
        if record and end + len(record) + 6 <= page.width:
            page.put(end + 3, y, record, "dim")
        if not self.desk.link.is_own:
            return y + 1
        told = "Nobody else can come here. Others are met on a server that all of you reach."
        return page.put_lines(3, y + 1, page.width - 6, told, "dim")

    def _draw_live(self, page: Picture, place: Region) -> None:
        """Draw the boards of games that are on, as many as there is room for in cells as large as possible."""
        boards = self.desk.lobby.boards
        if not boards or place.height < 6:
            return
        draw_frame(page, place, "Now here")
        width, height = place.width - 4, place.height - 3
        style = BoardStyle(ascii=page.ascii_only, colour=self.desk.settings.colour)
        for chosen in chain.from_iterable(combinations(boards, many) for many in range(len(boards), 0, -1)):
            share = (width + 3) // len(chosen) - 3
            drawn = [draw_live(view_live(live), style, share, width, height) for live in chosen]
            widths = [max(map(len, rows), default=width) for rows in drawn]
            if sum(widths) + 3 * (len(chosen) - 1) <= width and all(drawn):
                break
        x = place.x + 2
        for live, rows, wide in zip(chosen, drawn, widths, strict=True):
            wide = max(wide, share) if max(widths) <= share else wide
            size = max(3, wide // len(live.names) - 2)
            names = " v ".join(shorten(clean_text(name), size) for name in live.names.values())
            page.put(x, place.y + 1, names, "title", until=x + wide)
            page.paste(x, place.y + 2, rows)
            x += wide + 3

    def describe_head(self) -> tuple[Sequence[tuple[str, str]], str]:
        link = self.desk.link
        latency = f"  {link.latency_ms} ms" if link.phase == "online" else ""
        url, width = "a server of this run alone" if link.is_own else link.address.url, self.size.width - 16
        ways = (f"{url}  ●{latency}", f"{url}  ●", f"{url.partition('://')[2]}  ●", f"●{latency}")
        return [("tictactoe", "title")], next((way for way in ways if measure(way) <= width), "●")

    def _describe(self, entry: Entry) -> str:
        value = f"‹ {entry.choice.text} ›" if entry.choice is not None else ""
        if entry.name == "watch":
            value = f"  {len(self.desk.lobby.list_rooms('playing'))} live"
        return f"{entry.title:<18}{value}"

    def _list_entries(self, client: Client | None) -> Iterator[Entry]:
        """Yield all lines, those for seats left behind first; without a connection those that lead elsewhere."""
        link, errands = self.desk.link, self.desk.errands
        if client is not None:
            yield from self._list_ways(client)
        near = [one for one in self._nearby if one.address != link.before and not link.cluster.has(one.address)]
        for server in near[:3]:
            url, travel = server.address.url, partial(errands.travel, server.address)
            yield Entry(f"near-{url}", f"Near you: {shorten(server.name, 24)}", url, travel)
        if client is not None and link.before is not None:
            yield Entry("return", f"Back to {link.before.url}", "", errands.travel_back)

    def _list_ways(self, client: Client) -> Iterator[Entry]:
        desk, enter, alone = self.desk, self.desk.errands.enter, self.desk.link.is_own
        for seat in self.held:
            title = f"Resume {name_with_time(seat.room, client.held_ms(seat.room))}"
            sit = partial(enter, Choice("join", code=seat.room))
            yield Entry(f"resume-{seat.room}", title, f"your seat is kept: you are {seat.seat}", sit)
        rules = PRESETS[self._game.value]
        told = "" if self._game.value == "classic" else short_rules(RulesState.of(rules))
        if not alone:
            meet = partial(enter, Choice("match", rules))
            note = "against whoever comes"
            yield Entry("match", "Quick match", f"{note}: {told}" if told else note, meet, self._game)
        note = "nobody else can come to this server" if alone else self._game.text
        play = partial(enter, against_computer(self._level.value, rules))
        yield Entry("bot", "Play the computer", note, play, self._level)
        if alone:
            yield Entry("game", "The game", told, play, self._game)
        note = "any board, against the computer" if alone else "choose the board, invite a friend"
        yield Entry("new", "New room", note, lambda: desk.open(NewRoomScreen()))
        yield Entry("join", "Join with a code", "type or paste it, or a link", lambda: desk.errands.ask_for_room(""))
        if not alone:
            yield Entry("watch", "Watch a game", "those that are on now", lambda: desk.open(WatchScreen()))
        yield Entry("history", "Your games", "the finished ones, move by move", lambda: desk.open(HistoryScreen()))

    def on_mount(self) -> None:
        """Listen which servers are near, once the page stands there; what comes to it under a room would be drawn."""
        self.app.set_timer(1.0, self.listen)

    def listen(self) -> Worker[None]:
        """Follow which servers are near until the program ends, be that before this begins."""
        return self.app.run_worker(partial(follow_nearby, self._hear_nearby), exit_on_error=False)

    def _hear_nearby(self, servers: tuple[NearbyServer, ...]) -> None:
        self._nearby = servers
        self.redraw()

    def connected(self) -> None:
        self.desk.lobby.follow()
        client, first = self.desk.link.client, self.desk.errands.first
        if client is not None:
            self.held = client.welcome.rooms
            self.desk.start(self._learn(client, anew=True))
        if first is not None and first.bots and first.bots[0] in LEVELS and first.rules.preset in PRESETS:
            self._level.value, self._game.value = first.bots[0], first.rules.preset
            self.choose("bot")
        elif first is None and self.held:
            self.choose(f"resume-{self.held[0].room}")
        elif self.chosen.startswith("near-"):
            self.choose("")  # it was the first while there was no other
        self.desk.errands.go_on()

    async def _learn(self, client: Client, *, anew: bool = False) -> None:
        """Learn how one's last games went; `anew` also which are lost that were left, said to nobody in a room."""
        if anew:
            self._losses += await find_losses(self.desk.link)
        if self._losses and self.desk.screens[-1] is self and not self.desk.errands.errand:
            self.desk.say(" ".join(self._losses))
            self._losses = []
        try:
            self._games = await client.history(10)
        except ClientError:
            self._games = ()
        self.desk.redraw()

    def opened(self) -> None:
        """Read the lists anew, as rooms may have come and gone unseen, and begin with no code to be typed."""
        self.desk.lobby.follow()
        if self.chosen == "join":
            self.choose("match")
        client = self.desk.link.client
        if client is not None and self.desk.link.phase == "online":
            self.desk.start(self._learn(client))

    def covered(self, page: object) -> None:
        """Hear of no list while one is in a room."""
        if isinstance(page, RoomScreen):
            self.held = tuple(seat for seat in self.held if seat.room != page.room.code)
            self.desk.lobby.follow(on=False)

    def open_row(self, name: str) -> None:
        if self.desk.errands.errand:
            return
        if self.desk.link.phase != "online" and not name.startswith("near-"):
            self.desk.say("There is no connection yet.")
        elif name in self._entries:
            self._entries[name].deed()
        else:
            self.desk.errands.enter(Choice("join", code=name))

    def on_key(self, event: events.Key) -> None:
        """Begin a code where one is asked for, else choose the next line that begins with this letter."""
        letter, does = event.character, self.desk.keymap.does
        if letter is None or not letter.isalnum() or "join" not in self._entries:
            return
        if self.chosen == "join" and not (does(event.key, "up") or does(event.key, "down")):
            event.stop()
            self.desk.errands.ask_for_room(letter)
        elif event.key not in self.active_bindings:
            names = list(self._entries)
            here = names.index(self.chosen) + 1 if self.chosen in names else 0
            onward = (*names[here:], *names[:here])
            found = (name for name in onward if self._entries[name].title[0].lower() == letter.lower())
            self.choose(next(found, self.chosen))

    def on_paste(self, event: events.Paste) -> None:
        if self.desk.link.client is not None:
            self.desk.errands.ask_for_room(event.text.strip())

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what there is: where a code is typed its letters do nothing else."""
        link, entry, is_here = self.desk.link, self._entries.get(self.chosen), "join" in self._entries
        is_joining = is_here and self.chosen == "join"
        offers = {
            "settings": not is_joining,
            "theme": not is_joining,
            "refresh": is_here and not is_joining,
            "ask_name": is_here and not is_joining,
            "change": entry is not None and entry.choice is not None,
            "start_local": can_start_local(link),
            "travel_back": not is_here and link.before is not None,
            "retry": link.phase == "failed",
        }
        return offers[action] if action in offers else super().check_action(action, parameters)

    def action_change(self, by: int) -> None:
        choice = self._entries[self.chosen].choice
        if choice is not None:
            choice.step(by)
            self.redraw()

    def action_refresh(self) -> None:
        self.desk.link.retry()
        self.desk.lobby.follow()

    def action_retry(self) -> None:
        self.desk.link.retry()

    def action_start_local(self) -> None:
        self.desk.errands.stay()
        self.desk.link.start_local()

    def action_back(self) -> None:
        if not self.desk.errands.give_up():
            self.desk.say(f"This is the first page. {self.desk.keymap.show('quit')} quits.", "dim")

    def action_travel_back(self) -> None:
        self.desk.errands.travel_back()

    def action_theme(self) -> None:
        self.desk.action_theme()

    def action_settings(self) -> None:
        self.desk.open(SettingsScreen())

    def action_ask_name(self, typed: str = "", why: str = "") -> None:
        def take(text: str | None) -> None:
            if text is None:
                return
            try:
                self.desk.rename(parse_name(text))
            except BadName as bad:
                self.action_ask_name(text, f"{bad.message}\n")

        self.desk.ask(Question(f"{why}Your name:", typed, limit=24), take)


def draw_frame(page: Picture, place: Region, title: str = "") -> None:
    """Draw a frame with a title in its upper line."""
    line, blank = "─" * (place.width - 2), " " * (place.width - 2)
    page.put(place.x, place.y, f"╭{line}╮", "dim")
    for y in range(place.y + 1, place.bottom - 1):
        page.put(place.x, y, f"│{blank}│", "dim")
    page.put(place.x, place.bottom - 1, f"╰{line}╯", "dim")
    page.put(place.x + 2, place.y, title, "title")


def draw_live(view: BoardView, style: BoardStyle, share: int, width: int, height: int) -> Sequence[Sequence[Cell]]:
    """Return a board as large as its share has room for, else without the names of its cells, else a part of it.

    The last two may be wider than the share; empty where none is to be had in this width.
    """
    grid, bare = fit_board(view.rules, style, share, height), Grid.of(view.rules, BoardStyle(ascii=style.ascii))
    wide = (bare.wide + 1) * len(bare.columns) + 1
    if not grid.is_whole and wide <= width and len(bare.rows) <= height:
        return [row[bare.left - 1 :][:wide] for row in draw_board(view, bare)[bare.top :]]
    grid = grid.scroll(view.last, None)
    has_room = grid.width <= width and grid.height <= height and (grid.is_whole or len(grid.columns) >= 7)
    return draw_board(view, grid) if has_room else ()


def view_live(live: LiveBoard) -> BoardView:
    """Return a game's board as it is drawn; what wins is not told of it, and not needed."""
    rules = PRESETS.get(live.preset or "") or Rules(live.rows, live.columns, 2, "".join(live.names))
    line = frozenset(live.result.line) if live.result and live.result.line else frozenset()
    return BoardView(rules, live.board, live.last, line)
