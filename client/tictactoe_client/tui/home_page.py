"""The first page: who one is, what one can do, and who waits for an opponent."""

from __future__ import annotations

from tictactoe_client.history import find_losses
from tictactoe_client.online.choice import Choice, against_computer
from tictactoe_client.online.errors import Unreachable
from tictactoe_client.online.messages import Message
from tictactoe_client.tui.editor import LineEditor
from tictactoe_client.tui.entrance import Entrance
from tictactoe_client.tui.home_menu import CHANGING, HomeMenu, Item
from tictactoe_client.tui.home_view import HomeView
from tictactoe_client.tui.lobby import Lobby
from tictactoe_client.tui.page import Desk, Page, describe_wait
from tictactoe_client.tui.picture import Picture
from tictactoe_client.tui.room.screen import RoomScreen
from tictactoe_client.tui.room_list import RoomList
from tictactoe_protocol import BadName, parse_name


class HomePage(Page):
    """Home; `first` is where the command line wanted to go at once."""

    def __init__(self, desk: Desk, first: Choice | None = None) -> None:
        super().__init__(desk)
        self._menu = HomeMenu()
        self._view = HomeView(desk, self._menu)
        self._lobby = Lobby(desk, self._menu.rooms)
        self._entrance = Entrance(desk, self._menu, self._lobby, first)
        self._losses: list[str] = []

    # -- what the desk asks ---------------------------------------------------------------------------------------

    @property
    def rooms(self) -> RoomList:
        """The public rooms, kept up to date."""
        return self._menu.rooms

    @property
    def seconds_to_change(self) -> float | None:
        """The ages of rooms, the next attempt and what is left of a seat's hold count by the second."""
        link, client = self.desk.link, self.desk.link.client
        own = client.player if client else None
        is_held = client is not None and any(client.held_ms(seat.room) for seat in client.welcome.rooms)
        waits = link.phase == "away" or (link.phase == "online" and (is_held or self.rooms.waiting(own)))
        return 1.0 if waits else None

    def connected(self) -> None:
        """Learn the rooms, and go where the command line wanted to."""
        self._lobby.follow()
        self._menu.full = None
        link, client = self.desk.link, self.desk.link.client
        self._menu.before, self._menu.is_alone = link.before, link.is_own
        held = self._menu.held = client.welcome.rooms if client else ()
        if client is not None:
            self.desk.start(self._tell_losses())
        first = self._entrance.first
        if first is not None:
            self._menu.play_again(first)
        elif held:
            self._menu.choose("resume", held[0].room)
        self._entrance.go_on()

    async def _tell_losses(self) -> None:
        """Say once which games, of those that an earlier run left, are not there to come back to any more."""
        self._losses += await find_losses(self.desk.link)
        self._say_losses()

    def _say_losses(self) -> None:
        """Say them where they are in nobody's way: not in a room that one has gone to meanwhile."""
        if self._losses and self.desk.pages[-1] is self:
            self.desk.say(" ".join(self._losses))
            self._losses.clear()

    def opened(self) -> None:
        """Read the list anew: rooms may have come and gone unseen."""
        self._lobby.follow()
        self._say_losses()

    def covered(self, page: Page) -> None:
        """Hear of no list while one is in a room."""
        if isinstance(page, RoomScreen):
            self._lobby.leave()

    def hear(self, message: Message) -> None:
        """Keep the list up to date."""
        self._lobby.hear(message)

    # -- keys -----------------------------------------------------------------------------------------------------

    def press(self, key: str) -> None:
        """Take a key: into the line being typed, else for the list."""
        if self._menu.name is None and self._press_full(key):
            return
        does = self._view.keymap.does
        if self._menu.name is not None:
            self._press_name(key)
        elif self.desk.link.phase == "failed":
            self._press_failed(key)
        elif self.desk.link.client is None:
            self._press_connecting(key)
        elif does(key, "up") or does(key, "down"):
            self._move(-1 if does(key, "up") else 1)
        elif does(key, "open"):
            self._open(self._item())
        elif self._item().kind == "join" and self._press_code(key):
            return
        elif self._item().kind in CHANGING and (does(key, "left") or does(key, "right")):
            self._menu.change(self._item().kind, 1 if does(key, "right") else -1)
        else:
            self._press_shortcut(key)

    def paste(self, text: str) -> None:
        """A pasted link or code is where one wants to go."""
        self._menu.full = None
        self._menu.choose("join")
        if self.desk.link.client is not None:
            self._menu.code.clear()
            self._menu.code.type(text.strip())

    def click(self, x: int, y: int) -> None:
        """A click opens a line."""
        item, self._menu.full = self._view.rows.get(y), None
        if item is not None:
            self._menu.choose(item.kind, item.code)
            if item.kind != "join":
                self._open(item)

    def scroll(self, lines: int) -> None:
        """The wheel moves the choice."""
        self._move(lines)

    def _press_full(self, key: str) -> bool:
        """Take the answer to whether a full room is to be watched; any other key means what it means otherwise."""
        code, self._menu.full = self._menu.full, None
        if code is not None and self._view.keymap.does(key, "open"):
            self._entrance.enter(Choice("watch", code=code))
            return True
        return code is not None and self._view.keymap.does(key, "back")

    def _press_shortcut(self, key: str) -> None:
        does = self._view.keymap.does
        link = self.desk.link
        if does(key, "help"):
            self.open_help()
        elif does(key, "theme"):
            from tictactoe_client.tui.settings_page import next_theme

            self.desk.use_theme(next_theme(self.desk.settings.theme))
        elif does(key, "settings"):
            from tictactoe_client.tui.settings_page import SettingsPage

            self.desk.open(SettingsPage(self.desk))
        elif does(key, "name"):
            self._menu.name = LineEditor(limit=24)
        elif does(key, "refresh"):
            link.retry()
            self._lobby.follow()
        elif does(key, "back"):
            if not self.desk.entering.give_up():
                self._say_how_to_quit()
        elif link.client is not None:
            self._menu.choose_by_letter(key, link.client)

    def _press_connecting(self, key: str) -> None:
        if self.desk.keymap.does(key, "back"):
            self._return()
        else:
            self._press_shortcut(key)

    def _press_failed(self, key: str) -> None:
        does = self.desk.keymap.does
        if does(key, "retry"):
            self.desk.link.retry()
        elif does(key, "back"):
            self._return()
        elif (
            does(key, "local")
            and isinstance(self.desk.link.failure, Unreachable)
            and self.desk.link.address.is_loopback
        ):
            self._entrance.stay()
            self.desk.link.start_local()
        elif does(key, "help") or does(key, "theme") or does(key, "settings"):
            self._press_shortcut(key)

    def _press_code(self, key: str) -> bool:
        typed = self._menu.code
        if self._view.keymap.does(key, "back"):
            return not self.desk.entering.errand and bool(typed.clear())
        return not self._view.keymap.does(key, "help") and typed.press(key)

    def _press_name(self, key: str) -> None:
        typed = self._menu.name
        if typed is None:
            return
        if key == "escape":
            self._menu.name = None
        elif key == "enter":
            try:
                name = parse_name(typed.text.strip())
            except BadName as bad:
                self.desk.say(bad.message)
                return
            self._menu.name = None
            self.desk.rename(name)
        else:
            typed.press(key)

    def _return(self) -> None:
        """Go back to the server that we came from; where there is none, say how to quit."""
        if not self._entrance.travel_back():
            self._say_how_to_quit()

    def _say_how_to_quit(self) -> None:
        self.desk.say(f"This is the first page. {self.desk.keymap.show('quit')} quits.", "dim")

    def _move(self, by: int) -> None:
        self._menu.move(by, self.desk.link.client)

    def _item(self) -> Item:
        return self._menu.chosen(self.desk.link.client)

    # -- ways in --------------------------------------------------------------------------------------------------

    def list_games(self) -> Page:
        """Return the page of games to watch, to lie on this one."""
        from tictactoe_client.tui.watch_page import WatchPage

        return WatchPage(self.desk, self._lobby, self._entrance.travel)

    def _open(self, item: Item) -> None:
        if self.desk.entering.errand:
            return
        if self.desk.link.phase != "online":
            self.desk.say("There is no connection yet.")
        elif item.kind == "match":
            self._entrance.enter(Choice("match", self._menu.rules))
        elif item.kind in ("bot", "game"):
            self._entrance.enter(against_computer(self._menu.level, self._menu.rules))
        elif item.kind == "new":
            from tictactoe_client.tui.new_room_page import NewRoomPage

            self.desk.open(NewRoomPage(self.desk))
        elif item.kind == "watch":
            self.desk.open(self.list_games())
        elif item.kind == "history":
            from tictactoe_client.tui.history_page import HistoryPage

            self.desk.open(HistoryPage(self.desk))
        elif item.kind == "join":
            self._entrance.enter_typed()
        elif item.kind == "return":
            self._return()
        else:
            self._entrance.enter(Choice("join", code=item.code))

    def draw(self, picture: Picture, status: tuple[str, str] | None) -> None:
        """Draw the page for what there is: a server, none, or one to wait for."""
        full = self._menu.full
        asked = (f"Room {full} is full; you may watch it.", "warn") if full is not None else None
        self._view.draw(picture, status or asked or describe_wait(self.desk, self._view.keymap))
