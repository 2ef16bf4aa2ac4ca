"""The first screen: who one is, what one can do, who waits for an opponent, and what is going on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Final

from textual import events
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import DataTable, OptionList, Static

from tictactoe_client.earlier import find_losses
from tictactoe_client.online.client import Choice, Client, against_computer
from tictactoe_client.online.errors import ClientError
from tictactoe_client.text.lobby import name_with_time
from tictactoe_client.tui.foot import bind
from tictactoe_client.tui.history import HistoryScreen
from tictactoe_client.tui.lists import Menu, Table, WatchScreen
from tictactoe_client.tui.lobby import (
    ASCII_NAME,
    COLUMNS,
    NAME,
    can_start_local,
    describe_live,
    describe_no_server,
    describe_record,
    put_side_by_side,
    short_rules,
)
from tictactoe_client.tui.new_room import LEVELS, NewRoomScreen
from tictactoe_client.tui.picture import measure
from tictactoe_client.tui.question import Question
from tictactoe_client.tui.room.screen import RoomScreen
from tictactoe_client.tui.screen import FramedScreen
from tictactoe_client.tui.settings import SettingsScreen
from tictactoe_engine import PRESETS, Rules
from tictactoe_protocol import BadName, clean_text, parse_name
from tictactoe_protocol.pushes import HeldSeat, PastGame, RulesState

GAMES: Final = tuple(PRESETS)
_TITLE_WIDTH: Final = 18


class HomeMenu(Menu):
    """The lines; left and right change the game or the level on those that have one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("left", "screen.change(-1)", "change"),
        bind("right", "screen.change(1)", "change"),
    ]

    def action_cursor_up(self) -> None:
        """Go to the line above, above the first one to the last of what waits."""
        if self.highlighted != 0 or not self.screen.query_one(Rooms).enter(-1):
            super().action_cursor_up()

    def action_cursor_down(self) -> None:
        """Go to the line below, below the last one to the first of what waits."""
        if self.highlighted != self.option_count - 1 or not self.screen.query_one(Rooms).enter(0):
            super().action_cursor_down()


class Rooms(Table):
    """The rooms that wait, below the menu."""

    def enter(self, row: int) -> bool:
        """Take the keys, on this row; tell whether there is any."""
        if not self.row_count:
            return False
        self.focus()
        self.move_cursor(row=row % self.row_count)
        return True

    def action_cursor_up(self) -> None:
        """Go up, above the first row into the menu."""
        self._leave_at(0, super().action_cursor_up)

    def action_cursor_down(self) -> None:
        """Go down, below the last row back to the menu's first line."""
        self._leave_at(self.row_count - 1, super().action_cursor_down)

    def _leave_at(self, row: int, otherwise: object) -> None:
        if self.cursor_row != row:
            otherwise()  # type: ignore[operator]
            return
        menu = self.screen.query_one(HomeMenu)
        menu.focus()
        menu.highlighted = menu.option_count - 1 if row == 0 else 0


class NoServer(Static, can_focus=True):
    """What home says while there is no server."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("retry", "screen.retry", "retry"),
        bind("back", "screen.travel_back", "back"),
        bind("local", "screen.start_local", "start a server"),
    ]


class HomeScreen(FramedScreen):
    """Home."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("name", "ask_name"),
        bind("help", label="help"),
        bind("theme", "app.theme", "theme"),
        bind("settings", label="settings"),
        bind("refresh", label="refresh"),
        bind("back"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.held: tuple[HeldSeat, ...] = ()
        self._games: tuple[PastGame, ...] = ()
        self._losses: list[str] = []
        self._game = 0
        self._level = 1
        self._wish = ""

    @property
    def chosen(self) -> str:
        """What the chosen line stands for."""
        return self.query_one(HomeMenu).chosen if self.query(HomeMenu) else ""

    # -- what it looks like ---------------------------------------------------------------------------------------

    def lay_out(self) -> Iterable[Widget]:
        """Lay out the name, the menu beside what is going on, and the rooms that wait."""
        yield Static(id="name", markup=False)
        yield Static(id="player")
        with Horizontal(id="middle"):
            with Vertical(id="left"):
                yield HomeMenu(id="first", compact=True)
                yield Static(id="hint")
            yield Static(id="live")
        yield Rooms(*COLUMNS, id="rooms")
        yield NoServer(id="no-server")

    def show(self) -> None:
        """Show what there is: a server, none, or one to wait for."""
        link, client = self.desk.link, self.desk.link.client
        is_here, has_failed = client is not None and link.phase != "failed", link.phase == "failed"
        for name, is_shown in (("middle", is_here), ("player", is_here), ("no-server", not is_here)):
            self.query_one(f"#{name}").display = is_shown
        self.put("#name", "\n".join(ASCII_NAME if self.desk.settings.ascii else NAME))
        if has_failed:
            self.put(
                "#no-server",
                describe_no_server(
                    self.desk.link, self.desk.keymap, ascii_only=self.desk.settings.ascii, offers_own=True
                ),
            )
        elif client is None:
            self.put("#no-server", self._describe_connecting())
        else:
            self._show_menu(client)
        rooms = self.query_one(Rooms)
        waiting = self.desk.lobby.waiting(client.player) if client is not None and is_here and not link.is_own else []
        rooms.show_rows(
            [(room.room, self.desk.lobby.describe(room, ascii_only=self.desk.settings.ascii)) for room in waiting]
        )
        rooms.display = bool(waiting)
        set_title(rooms, f"Rooms waiting ({len(waiting)})")
        self._keep_focus()

    def _keep_focus(self) -> None:
        """Let what is in sight have the keys."""
        if self.focused is None or not self.focused.display or not self.focused.is_on_screen:
            self.set_focus(self.query_one("#first" if self.query_one("#middle").display else "#no-server"))

    def describe_head(self) -> tuple[Content, str]:
        """Return the name, and where the server is and how long it takes, as much of it as there is room for."""
        link, dot = self.desk.link, "*" if self.desk.settings.ascii else "●"
        latency = f"  {link.latency_ms} ms" if link.phase == "online" else ""
        url, width = "a server of this run alone" if link.is_own else link.address.url, self.size.width - 16
        ways = (f"{url}  {dot}{latency}", f"{url}  {dot}", f"{url.partition('://')[2]}  {dot}", f"{dot}{latency}", dot)
        return Content.styled("tictactoe", "bold $title"), next((way for way in ways if measure(way) <= width), dot)

    def _describe_connecting(self) -> Content:
        link = self.desk.link
        back = f"\n\n{self.desk.keymap.show('back')} goes back to {link.before.url}" if link.before is not None else ""
        return Content.styled(f"Connecting to {link.address.url} ...{back}", "$dim")

    def _show_menu(self, client: Client) -> None:
        menu, key = self.query_one(HomeMenu), self.desk.keymap.show("name")
        player = "Playing as  [bold $title]$name[/]   [$dim]($key: change)[/]"
        alone = "\nNobody else can come here. Others are met on a server that all of you reach."
        who = Content.from_markup(player, name=clean_text(client.name), key=key)
        record = describe_record(self._games, client.player)
        if record and who.cell_length + len(record) + 3 <= self.query_one("#player").content_size.width:
            who = who.append(Content.styled(f"   {record}", "$dim"))
        self.put("#player", who.append(Content.styled(alone, "$dim")) if self.desk.link.is_own else who)
        lines = self._list_lines(client)
        menu.show_lines([(name, self._draw_line(name, title)) for name, title, _ in lines])
        if self._wish:
            menu.choose(self._wish)
            self._wish = ""
        self.put("#hint", next((note for name, _, note in lines if name == menu.chosen), ""))
        live, width = self.query_one("#live", Static), self.query_one("#live").content_size.width
        boards = [describe_live(board, width // 3) for board in self.desk.lobby.boards]
        set_title(live, "Now here" if boards else "")
        live.set_class(not boards, "-nothing")
        self.put("#live", put_side_by_side(boards, width))

    def _draw_line(self, name: str, title: str) -> Content:
        """Return a line; what it has a choice of stands between arrows, chosen or not."""
        value = {"match": self.game, "game": self.game, "bot": LEVELS[self._level]}.get(name, "")
        left, right = ("<", ">") if self.desk.settings.ascii else ("‹", "›")
        if value:
            value = f"{left} {value} {right}"
        elif name == "watch":
            value = f"  {len(self.desk.lobby.playing())} live"
        return Content(f"  {title:<{_TITLE_WIDTH}}{value}".rstrip())

    def _list_lines(self, client: Client) -> list[tuple[str, str, str]]:
        """Return all lines: what each stands for, its title, and a note; those for seats left behind first."""
        before, rules = self.desk.link.before, describe_game(self.rules)
        if self.desk.settings.ascii:
            rules = rules.replace("è", "e")
        back = [("return", f"Back to {before.url}", "")] if before is not None else []
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

    @property
    def rules(self) -> Rules:
        """The game to be played, with whoever comes and with the computer."""
        return PRESETS[GAMES[self._game]]

    @property
    def game(self) -> str:
        """The game's name, for the classic one its board: everybody knows that one by sight."""
        return "3x3" if GAMES[self._game] == "classic" else GAMES[self._game]

    # -- what happens ---------------------------------------------------------------------------------------------

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
                self._wish = "bot"
        elif self.held:
            self._wish = f"resume-{self.held[0].room}"
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
            self._wish = "match"
        client = self.desk.link.client
        if client is not None and self.desk.link.phase == "online":
            self.desk.start(self._learn_games(client))

    def covered(self, page: object) -> None:
        """Hear of no list while one is in a room."""
        if isinstance(page, RoomScreen):
            self.held = tuple(seat for seat in self.held if seat.room != page.room.code)
            self.desk.lobby.follow(on=False)

    def on_descendant_focus(self) -> None:
        """Let the rooms that wait have a low window, while one chooses among them."""
        self.set_class(self.focused is self.query_one(Rooms), "-among-rooms")

    def on_option_list_option_highlighted(self) -> None:
        """Show what the chosen line has a choice of."""
        self.redraw()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Do what the chosen line says."""
        name, desk = event.option_id or "", self.desk
        if desk.errands.errand:
            return
        if desk.link.phase != "online":
            desk.say("There is no connection yet.")
        elif name == "match":
            desk.errands.enter(Choice("match", self.rules))
        elif name in ("bot", "game"):
            desk.errands.enter(against_computer(LEVELS[self._level], self.rules))
        elif name == "join":
            desk.errands.ask_for_room("")
        elif name == "return":
            desk.errands.travel_back()
        elif name.startswith("resume-"):
            desk.errands.enter(Choice("join", code=name.removeprefix("resume-")))
        else:
            self._open(name)

    def _open(self, name: str) -> None:
        self.desk.open({"new": NewRoomScreen, "watch": WatchScreen, "history": HistoryScreen}[name]())

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        """Take a seat in a room that waits."""
        if event.row_key.value is not None:
            self.desk.errands.enter(Choice("join", code=event.row_key.value))

    def on_key(self, event: events.Key) -> None:
        """Begin a code where one is asked for, else choose the next line that begins with this letter."""
        letter = event.character
        if letter is None or not letter.isalnum() or self.desk.link.client is None or self.focused is None:
            return
        active = self.active_bindings.get(event.key)
        moves = active is not None and active.binding.action.startswith("cursor_")
        if self.chosen == "join" and self.focused.id == "first" and not moves:
            event.stop()
            self.desk.errands.ask_for_room(letter)
        elif active is None:
            lines = self._list_lines(self.desk.link.client)
            here = next((at for at, line in enumerate(lines) if line[0] == self.chosen), 0) + 1
            found = (name for name, title, _ in (*lines[here:], *lines[:here]) if title[0].lower() == letter.lower())
            self._wish = next(found, self.chosen)
            self.query_one("#first").focus()
            self.redraw()

    def on_paste(self, event: events.Paste) -> None:
        """Take a pasted link or code for where one wants to go."""
        if self.desk.link.client is not None:
            self.desk.errands.ask_for_room(event.text.strip())

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what there is: where a code is typed its letters do nothing else."""
        is_joining = self.chosen == "join" and self.desk.link.client is not None
        if action in ("theme", "settings", "refresh", "ask_name"):
            return not is_joining and (self.desk.link.client is not None or action in ("theme", "settings"))
        if action == "change":
            return self.chosen in ("match", "bot", "game")
        if action == "start_local":
            return can_start_local(self.desk.link)
        if action == "travel_back":
            return self.desk.link.before is not None
        if action == "retry":
            return self.desk.link.phase == "failed"
        return True

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


def set_title(panel: Widget, title: str) -> None:
    """Let a panel have this title, and be sent only where it had another."""
    if panel.border_title != title:
        panel.border_title = title


def describe_game(rules: Rules) -> str:
    """Return a game's board in very few words, nothing for the classic one: its board is its name."""
    return "" if rules == PRESETS["classic"] else short_rules(RulesState.of(rules))
