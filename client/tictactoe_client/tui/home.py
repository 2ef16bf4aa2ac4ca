"""The first screen: who one is, what one can do, who waits for an opponent, and what is going on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from textual import events
from textual.binding import BindingType
from textual.geometry import Region

from tictactoe_client.board.board import BoardStyle, BoardView
from tictactoe_client.board.fit import fit_board
from tictactoe_client.earlier import find_losses
from tictactoe_client.online.client import Choice, Client, against_computer
from tictactoe_client.online.errors import ClientError
from tictactoe_client.online.nearby import NearbyServer, follow_nearby
from tictactoe_client.text.lobby import name_with_time
from tictactoe_client.tui.foot import bind
from tictactoe_client.tui.history import HistoryScreen
from tictactoe_client.tui.lists import ListScreen, Rows, WatchScreen
from tictactoe_client.tui.lobby import (
    ASCII_NAME,
    COLUMNS,
    NAME,
    can_start_local,
    describe_no_server,
    describe_record,
    short_rules,
)
from tictactoe_client.tui.new_room import LEVELS, NewRoomScreen
from tictactoe_client.tui.picture import Picture, measure, shorten
from tictactoe_client.tui.question import Question
from tictactoe_client.tui.room.screen import RoomScreen
from tictactoe_client.tui.screen import draw_rule
from tictactoe_client.tui.settings import SettingsScreen
from tictactoe_engine import PRESETS, Rules
from tictactoe_protocol import BadName, clean_text, parse_name
from tictactoe_protocol.pushes import HeldSeat, LiveBoard, PastGame, RulesState

GAMES: Final = tuple(PRESETS)
Line = tuple[str, str, str]
"""What a line stands for, its title, and a note."""

_TITLE_WIDTH: Final = 18
_MENU_WIDTH: Final = 46
_LIST_WIDTH: Final = 72
_WIDE: Final = 72
"""From this width on there is room for boards beside the menu."""
_WIDEST: Final = 130
"""From this width on the rooms stand below the menu, and all beside them is the boards'."""
_NOWHERE: Final = Region()
_LEAST_LIVE: Final = 6
_LEAST_COLUMNS: Final = 7
_ALONE: Final = "Nobody else can come here. Others are met on a server that all of you reach."
_MOVES: Final = ("up", "down")
_QUIET_SECONDS: Final = 1.0
"""So long after the start it is listened for other servers: first of all the page is to stand there."""
_MOST_NEARBY: Final = 3
_PAGES: Final = {"new": NewRoomScreen, "watch": WatchScreen, "history": HistoryScreen}


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
        self._games: tuple[PastGame, ...] = ()
        self._nearby: tuple[NearbyServer, ...] = ()
        self._losses: list[str] = []
        self._game = 0
        self._level = 1

    # -- what it looks like ---------------------------------------------------------------------------------------

    def draw_body(self, page: Picture, body: Region) -> None:
        """Draw what there is: a server, none, or one to wait for."""
        link, client = self.desk.link, self.desk.link.client
        if client is not None and link.phase != "failed":
            self._draw_menu(page, body, client)
            return
        nearby = [(name, f"  {title}  {note}") for name, title, note in self._list_nearby()]
        self.keep([name for name, _ in nearby])
        self.lay_rows(_NOWHERE, (), self.rooms)
        lines = describe_no_server(link, self.desk.keymap, ascii_only=page.ascii_only, offers_own=True)
        if link.phase != "failed":
            lines = self._describe_connecting()
        y = body.y
        if body.height >= len(lines) + 5:
            y = self._draw_name(page, y) + 1
        self.draw_lines(page, y, lines)
        self.lay_rows(Region(2, body.bottom - len(nearby), body.width - 4, len(nearby)), nearby)

    def _draw_name(self, page: Picture, y: int) -> int:
        for line in ASCII_NAME if page.ascii_only else NAME:
            page.put(3, y, line, "title")
            y += 1
        return y

    def _draw_menu(self, page: Picture, body: Region, client: Client) -> None:
        """Draw the lines in a box and the rooms that wait below it, or all in one list where the window is low."""
        lines = self._list_lines(client)
        waiting = [] if self.desk.link.is_own else self.desk.lobby.waiting(client.player)
        rooms = [(room.room, self.desk.lobby.describe(room, ascii_only=page.ascii_only)) for room in waiting]
        self.keep([*(name for name, *_ in lines), *(name for name, _ in rooms)])
        needed = len(NAME) + len(lines) + 3 + (3 if rooms else 0) + (3 if self.desk.link.is_own else 1)
        is_high, is_wide = body.height >= needed, page.width >= _WIDE
        y = self._draw_player(page, self._draw_name(page, body.y) if is_high else body.y, client)
        aside = min(page.width, (_MENU_WIDTH if page.width < _WIDEST else _LIST_WIDTH) if is_wide else page.width)
        bottom = y + len(lines) + 3 if is_high else body.bottom
        if is_wide:
            below = body.bottom if page.width >= _WIDEST or not rooms else bottom
            self._draw_live(page, Region(aside, y, page.width - aside - 1, below - y))
        menu = [(name, self._draw_line(name, title)) for name, title, _ in lines]
        if not is_high:
            self._lay_low(page, Region(2, y, aside - 4, body.bottom - y), menu, rooms)
            return
        draw_frame(page, Region(1, y, aside - 2, len(lines) + 2))
        self.lay_rows(Region(2, y + 1, aside - 4, len(lines)), menu)
        page.put(4, bottom - 1, next((note for name, _, note in lines if name == self.chosen), ""), "dim", until=aside)
        width = (aside if page.width >= _WIDEST else page.width) - 2
        if rooms:
            draw_rule(page, 1, bottom, width, f"Rooms waiting ({len(rooms)})")
        place = Region(2, bottom + 1, width - 2, max(0, body.bottom - bottom - 1))
        self.lay_table(page, place, COLUMNS, rooms, self.rooms)

    def _lay_low(
        self,
        page: Picture,
        place: Region,
        menu: Sequence[tuple[str, str]],
        rooms: Sequence[tuple[str, Sequence[str]]],
    ) -> None:
        """Show the lines, and below them that there are rooms, or the rooms where one of them is chosen."""
        told, is_among = f"Rooms waiting ({len(rooms)})", self.chosen in dict(rooms)
        x, y, width, height = place
        if rooms:
            page.put(x + 2, y if is_among else place.bottom - 1, told, "title", until=place.right)
            height -= 1
        self.lay_rows(_NOWHERE if is_among else Region(x, y, width, height), menu)
        lines = [(name, f"  {'  '.join(cells)}") for name, cells in rooms]
        self.lay_rows(Region(x, y + 1, width, height) if is_among else _NOWHERE, lines, self.rooms)

    def _draw_player(self, page: Picture, y: int, client: Client) -> int:
        """Draw who one is, and how the last games went; return the line below it."""
        name, key = clean_text(client.name), self.desk.keymap.show("name")
        end = page.put_parts(3, y, ("Playing as  ", ""), (name, "title"), (f"   ({key}: change)", "dim"))
        record = describe_record(self._games, client.player)
        if record and end + len(record) + 6 <= page.width:
            page.put(end + 3, y, record, "dim")
        if not self.desk.link.is_own:
            return y + 1
        return page.put_lines(3, y + 1, page.width - 6, _ALONE, "dim")

    def _draw_live(self, page: Picture, place: Region) -> None:
        """Draw the boards of games that are on, in cells as large as there is room for."""
        boards = self.desk.lobby.boards
        if not boards or place.height < _LEAST_LIVE:
            return
        draw_frame(page, place, "Now here")
        across = range(len(boards), 0, -1)
        width, height = place.width - 4, place.height - 3
        style = BoardStyle(ascii=page.ascii_only, colour=self.desk.settings.colour)
        for many in across:
            share = (width - 3 * (many - 1)) // many
            views = [view_live(live) for live in boards[:many]]
            fits = [fit_board(view.rules, style, share, height).scroll(view.rules, view.last, None) for view in views]
            if many == 1 or all(
                fit.width <= share and (fit.window is None or fit.window.columns >= _LEAST_COLUMNS) for fit in fits
            ):
                break
        for live, view, fit, x in zip(boards, views, fits, range(place.x + 2, place.right, share + 3), strict=False):
            names = " v ".join(
                shorten(clean_text(name), max(3, share // len(live.names) - 2)) for name in live.names.values()
            )
            page.put(x, place.y + 1, names, "title", until=x + share)
            if fit.width <= share and fit.height <= height:
                page.paste(x, place.y + 2, fit.draw(view))

    def describe_head(self) -> tuple[Sequence[tuple[str, str]], str]:
        """Return the name, and where the server is and how long it takes, as much of it as there is room for."""
        link, dot = self.desk.link, "*" if self.desk.settings.ascii else "●"
        latency = f"  {link.latency_ms} ms" if link.phase == "online" else ""
        url, width = "a server of this run alone" if link.is_own else link.address.url, self.size.width - 16
        ways = (f"{url}  {dot}{latency}", f"{url}  {dot}", f"{url.partition('://')[2]}  {dot}", f"{dot}{latency}", dot)
        return [("tictactoe", "title")], next((way for way in ways if measure(way) <= width), dot)

    def _describe_connecting(self) -> list[list[tuple[str, str]]]:
        link = self.desk.link
        lines = [[(f"Connecting to {link.address.url} ...", "dim")]]
        if link.before is not None:
            lines += [[], [(f"{self.desk.keymap.show('back')} goes back to {link.before.url}", "dim")]]
        return lines

    def _draw_line(self, name: str, title: str) -> str:
        """Return a line; what it has a choice of stands between arrows, chosen or not."""
        value = {"match": self.game, "game": self.game, "bot": LEVELS[self._level]}.get(name, "")
        left, right = ("<", ">") if self.desk.settings.ascii else ("‹", "›")
        if value:
            value = f"{left} {value} {right}"
        elif name == "watch":
            value = f"  {len(self.desk.lobby.playing())} live"
        return f"  {title:<{_TITLE_WIDTH}}{value}".rstrip()

    def _list_lines(self, client: Client) -> list[Line]:
        """Return all lines: what each stands for, its title, and a note; those for seats left behind first."""
        before, rules = self.desk.link.before, describe_game(self.rules)
        if self.desk.settings.ascii:
            rules = rules.replace("è", "e")
        back = self._list_nearby()
        if before is not None:
            back.append(("return", f"Back to {before.url}", ""))
        if self.desk.link.is_own:
            note = "nobody else can come to this server"
            return [
                ("bot", "Play the computer", note),
                ("game", "The game", rules),
                ("new", "New room", "any board, against the computer"),
                ("join", "Join with a code", "type or paste it"),
                ("history", "Your games", "those of this run, move by move"),
                *back,
            ]
        held = [(seat.room, seat.seat, name_with_time(seat.room, client.held_ms(seat.room))) for seat in self.held]
        return [
            *((f"resume-{room}", f"Resume {name}", f"your seat is kept: you are {mark}") for room, mark, name in held),
            ("match", "Quick match", f"anyone, {rules}" if rules else "anyone"),
            ("bot", "Play the computer", self.game),
            ("new", "New room", "choose the board, invite a friend"),
            ("join", "Join with a code", "type or paste it, or a link"),
            ("watch", "Watch a game", "those that are on now"),
            ("history", "Your games", "the finished ones, move by move"),
            *back,
        ]

    def _list_nearby(self) -> list[Line]:
        """Return a line for each other server of the local network."""
        link = self.desk.link
        others = [
            server for server in self._nearby if server.address != link.before and not link.house.has(server.address)
        ]
        return [
            (f"near-{server.address.url}", f"Near you: {shorten(server.name, 24)}", server.address.url)
            for server in others[:_MOST_NEARBY]
        ]

    @property
    def rules(self) -> Rules:
        """The game to be played, with whoever comes and with the computer."""
        return PRESETS[GAMES[self._game]]

    @property
    def game(self) -> str:
        """The game's name, for the classic one its board: everybody knows that one by sight."""
        return "3x3" if GAMES[self._game] == "classic" else GAMES[self._game]

    # -- what happens ---------------------------------------------------------------------------------------------

    def on_mount(self) -> None:
        """Listen before long which servers are near."""
        self.set_timer(_QUIET_SECONDS, lambda: self.run_worker(follow_nearby(self._hear_nearby), exit_on_error=False))

    def _hear_nearby(self, servers: tuple[NearbyServer, ...]) -> None:
        self._nearby = servers
        self.redraw()

    def connected(self) -> None:
        """Learn the rooms, and go where the command line wanted to."""
        self.desk.lobby.follow()
        client, first = self.desk.link.client, self.desk.errands.first
        self.held = client.welcome.rooms if client else ()
        if client is not None:
            self.desk.start(self._tell_losses(client))
        if first is not None:
            if first.bots and first.bots[0] in LEVELS and first.rules.preset in GAMES:
                self._level, self._game = LEVELS.index(first.bots[0]), GAMES.index(first.rules.preset)
                self.choose("bot")
        elif self.held:
            self.choose(f"resume-{self.held[0].room}")
        self.desk.errands.go_on()

    async def _tell_losses(self, client: Client) -> None:
        """Say once which games, of those that an earlier run left, are not there to come back to any more."""
        self._losses += await find_losses(self.desk.link)
        self._say_losses()
        await self._learn_games(client)

    def _say_losses(self) -> None:
        """Say it here, and to nobody who is in a room or on the way there."""
        if self._losses and self.desk.screens[-1] is self and not self.desk.errands.errand:
            self.desk.say(" ".join(self._losses))
            self._losses = []

    async def _learn_games(self, client: Client) -> None:
        """Learn how one's last games went, where the server keeps them."""
        try:
            self._games = await client.history(10)
        except ClientError:
            self._games = ()
        self.desk.redraw()

    def opened(self) -> None:
        """Read the lists anew, as rooms may have come and gone unseen, and begin with no code to be typed."""
        self.desk.lobby.follow()
        self._say_losses()
        if self.chosen == "join":
            self.choose("match")
        client = self.desk.link.client
        if client is not None and self.desk.link.phase == "online":
            self.desk.start(self._learn_games(client))

    def covered(self, page: object) -> None:
        """Hear of no list while one is in a room."""
        if isinstance(page, RoomScreen):
            self.held = tuple(seat for seat in self.held if seat.room != page.room.code)
            self.desk.lobby.follow(on=False)

    def open_row(self, name: str) -> None:
        """Do what the chosen line says, or take a seat in a room that waits."""
        desk = self.desk
        if desk.errands.errand:
            return
        address = next((server.address for server in self._nearby if f"near-{server.address.url}" == name), None)
        if address is not None:
            desk.errands.travel(address)
        elif desk.link.phase != "online":
            desk.say("There is no connection yet.")
        elif name == "match":
            desk.errands.enter(Choice("match", self.rules))
        elif name in ("bot", "game"):
            desk.errands.enter(against_computer(LEVELS[self._level], self.rules))
        elif name == "join":
            desk.errands.ask_for_room("")
        elif name == "return":
            desk.errands.travel_back()
        elif name in _PAGES:
            desk.open(_PAGES[name]())
        elif name.startswith("resume-"):
            desk.errands.enter(Choice("join", code=name.removeprefix("resume-")))
        else:
            desk.errands.enter(Choice("join", code=name))

    def on_key(self, event: events.Key) -> None:
        """Begin a code where one is asked for, else choose the next line that begins with this letter."""
        letter, client = event.character, self.desk.link.client
        if letter is None or not letter.isalnum() or client is None:
            return
        does = self.desk.keymap.does
        if self.chosen == "join" and not any(does(event.key, action) for action in _MOVES):
            event.stop()
            self.desk.errands.ask_for_room(letter)
        elif event.key not in self.active_bindings:
            lines = self._list_lines(client)
            here = next((at for at, line in enumerate(lines) if line[0] == self.chosen), 0) + 1
            found = (name for name, title, _ in (*lines[here:], *lines[:here]) if title[0].lower() == letter.lower())
            self.choose(next(found, self.chosen))

    def on_paste(self, event: events.Paste) -> None:
        """Take a pasted link or code for where one wants to go."""
        if self.desk.link.client is not None:
            self.desk.errands.ask_for_room(event.text.strip())

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what there is: where a code is typed its letters do nothing else."""
        link = self.desk.link
        is_here = link.client is not None and link.phase != "failed"
        is_joining = is_here and self.chosen == "join"
        match action:
            case "settings" | "theme":
                return not is_joining
            case "refresh" | "ask_name":
                return is_here and not is_joining
            case "change":
                return is_here and self.chosen in ("match", "bot", "game")
            case "start_local":
                return can_start_local(link)
            case "travel_back":
                return not is_here and link.before is not None
            case "retry":
                return link.phase == "failed"
        return super().check_action(action, parameters)

    def action_change(self, by: int) -> None:
        """Change what the chosen line has a choice of."""
        if self.chosen == "bot":
            self._level = (self._level + by) % len(LEVELS)
        else:
            self._game = (self._game + by) % len(GAMES)
        self.redraw()

    def action_refresh(self) -> None:
        """Try the server at once, and read the lists anew."""
        self.desk.link.retry()
        self.desk.lobby.follow()

    def action_retry(self) -> None:
        """Try again to reach the server."""
        self.desk.link.retry()

    def action_start_local(self) -> None:
        """Start a server for this run."""
        self.desk.errands.stay()
        self.desk.link.start_local()

    def action_back(self) -> None:
        """Stop what is waited for, else say how to quit."""
        if not self.desk.errands.give_up():
            self.desk.say(f"This is the first page. {self.desk.keymap.show('quit')} quits.", "dim")

    def action_travel_back(self) -> None:
        """Go back to the server that we came from."""
        self.desk.errands.give_up()
        self.desk.errands.travel_back()

    def action_theme(self) -> None:
        """Show the next theme."""
        self.desk.action_theme()

    def action_settings(self) -> None:
        """Open the settings."""
        self.desk.open(SettingsScreen())

    def action_ask_name(self, typed: str = "", why: str = "") -> None:
        """Ask what one wants to be called."""

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
    corners, line, side = ("++++", "-", "|") if page.ascii_only else ("╭╮╰╯", "─", "│")
    for y, ends in ((place.y, corners[:2]), (place.bottom - 1, corners[2:])):
        page.put(place.x, y, f"{ends[0]}{line * (place.width - 2)}{ends[1]}", "dim")
    for y in range(place.y + 1, place.bottom - 1):
        page.put(place.x, y, side, "dim")
        page.put(place.right - 1, y, side, "dim")
    page.put(place.x + 2, place.y, title, "title")


def view_live(live: LiveBoard) -> BoardView:
    """Return a game's board as it is drawn; what wins is not told of it, and not needed."""
    rules = PRESETS.get(live.preset or "") or Rules(live.rows, live.columns, 2, "".join(live.names))
    line = frozenset(live.result.line) if live.result and live.result.line else frozenset()
    return BoardView(rules, live.board, live.last, line)


def describe_game(rules: Rules) -> str:
    """Return a game's board in very few words, nothing for the classic one: its board is its name."""
    return "" if rules == PRESETS["classic"] else short_rules(RulesState.of(rules))
