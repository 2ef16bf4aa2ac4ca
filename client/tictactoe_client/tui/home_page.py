"""The first page: who one is, what one can do, and who waits for an opponent."""

from __future__ import annotations

from tictactoe_client.kept.left_behind import describe_losses
from tictactoe_client.kept.seats import Seats
from tictactoe_client.settings import ExitCode
from tictactoe_client.tui.editor import LineEditor
from tictactoe_client.tui.game_page import GamePage
from tictactoe_client.tui.home_menu import CHANGING, HomeMenu, Item
from tictactoe_client.tui.home_view import HomeView
from tictactoe_client.tui.page import Desk, Page
from tictactoe_client.tui.picture import Picture
from tictactoe_client.tui.room_list import RoomList
from tictactoe_client.wire.address import Address, parse_room
from tictactoe_client.wire.choosing import Choice, against_computer
from tictactoe_client.wire.client import Client
from tictactoe_client.wire.errors import BadAddress, Refused, Unreachable
from tictactoe_client.wire.invite import is_same_server
from tictactoe_client.wire.messages import Message
from tictactoe_protocol import BadName, BadRoomCode, clean_text, parse_name
from tictactoe_protocol.pushes import LobbyChange


class HomePage(Page):
    """Home; `first` is where the command line wanted to go at once."""

    def __init__(self, desk: Desk, first: Choice | None = None) -> None:
        super().__init__(desk)
        self._menu = HomeMenu()
        self._view = HomeView(desk, self._menu)
        self._first = first
        self._next: Choice | None = None
        self._is_entering = False

    # -- what the desk asks ---------------------------------------------------------------------------------------

    @property
    def rooms(self) -> RoomList:
        """The public rooms, kept up to date."""
        return self._menu.rooms

    @property
    def seconds_to_change(self) -> float | None:
        """The ages of rooms and the next attempt count by the second."""
        link = self.desk.link
        own = link.client.player if link.client else None
        waits = link.phase == "away" or (link.phase == "online" and self.rooms.waiting(own))
        return 1.0 if waits else None

    def connected(self) -> None:
        """Learn the rooms, and go where the command line wanted to."""
        self.desk.run(self._learn_rooms())
        link, client = self.desk.link, self.desk.link.client
        self._menu.before, self._menu.is_alone = link.before, link.is_own
        held = client.welcome.rooms if client else ()
        if client is not None:
            self.desk.run(self._tell_losses(client))
        if held and self._first is None:
            self._menu.choose("resume", held[0].room)
        if self._first is not None:
            first, self._first = self._first, None
            self._menu.play_again(first)
            self.desk.run(self._enter(first, is_first=True))
        elif self._next is not None:
            following, self._next = self._next, None
            self.desk.run(self._enter(following))

    async def _tell_losses(self, client: Client) -> None:
        """Say once which games, of those that an earlier run left, are not there to come back to any more."""
        if told := await describe_losses(client):
            self.desk.say(" ".join(told))

    def opened(self) -> None:
        """Read the list anew: rooms may have come and gone unseen."""
        if self.desk.link.phase == "online":
            self.desk.run(self._learn_rooms())

    def hear(self, message: Message) -> None:
        """Keep the list up to date."""
        if isinstance(message.push, LobbyChange):
            self.rooms.take(message.push, self.desk.now())

    async def _learn_rooms(self) -> None:
        client = self.desk.link.client
        if client is None:
            return
        await client.lobby(on=True)
        self.rooms.reset(await client.rooms(), self.desk.now())
        self.desk.redraw()

    def travel(self, address: Address, choice: Choice) -> None:
        """Go to another server, and into a room there."""
        saved = Seats().find(address.url, choice.code) if choice.way == "join" else None
        self.desk.go_home()
        self._leave_server(choice)
        self.desk.link.move(address, token=saved.token if saved else None, watches=choice.way == "watch")

    def _leave_server(self, following: Choice | None = None) -> None:
        self._next = following
        self.rooms.reset((), self.desk.now())

    # -- keys -----------------------------------------------------------------------------------------------------

    def press(self, key: str) -> None:
        """Take a key: into the line being typed, else for the list."""
        does = self.desk.keymap.does
        if does(key, "leave"):
            self.desk.leave(ExitCode.INTERRUPTED)
        elif self._menu.name is not None:
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
        self._menu.choose("join")
        if self.desk.link.client is not None:
            self._menu.code.clear()
            self._menu.code.type(text.strip())

    def click(self, x: int, y: int) -> None:
        """A click opens a line."""
        item = self._view.rows.get(y)
        if item is not None:
            self._menu.choose(item.kind, item.code)
            if item.kind != "join":
                self._open(item)

    def scroll(self, lines: int) -> None:
        """The wheel moves the choice."""
        self._move(lines)

    def _press_shortcut(self, key: str) -> None:
        does = self.desk.keymap.does
        link = self.desk.link
        if does(key, "help"):
            from tictactoe_client.tui.help_page import HelpPage

            self.desk.open(HelpPage(self.desk, None))
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
            self.desk.run(self._learn_rooms())
        elif does(key, "back"):
            self.desk.say(f"This is the first page. {self.desk.keymap.show('quit')} quits.", "dim")
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
            self._next = None
            self.desk.link.start_local()
        elif does(key, "help") or does(key, "theme") or does(key, "settings"):
            self._press_shortcut(key)

    def _press_code(self, key: str) -> bool:
        typed = self._menu.code
        if self.desk.keymap.does(key, "back"):
            return bool(typed.clear())
        is_text = len(key) == 1 or key in ("backspace", "space") or key.startswith("ctrl+")
        return is_text and key != "?" and typed.press(key)

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
        if self.desk.link.before is not None:
            self._leave_server()
            self.desk.link.move_back()
        else:
            self.desk.say(f"This is the first page. {self.desk.keymap.show('quit')} quits.", "dim")

    def _move(self, by: int) -> None:
        self._menu.move(by, self.desk.link.client)

    def _item(self) -> Item:
        return self._menu.chosen(self.desk.link.client)

    # -- ways in --------------------------------------------------------------------------------------------------

    def _open(self, item: Item) -> None:
        if self.desk.link.phase != "online":
            self.desk.say("There is no connection yet.")
        elif item.kind == "match":
            self.desk.run(self._enter(Choice("match", self._menu.rules)))
        elif item.kind in ("bot", "game"):
            self.desk.run(self._enter(against_computer(self._menu.level, self._menu.rules)))
        elif item.kind == "new":
            from tictactoe_client.tui.new_room_page import NewRoomPage

            self.desk.open(NewRoomPage(self.desk))
        elif item.kind == "watch":
            from tictactoe_client.tui.watch_page import WatchPage

            self.desk.open(WatchPage(self.desk, self.rooms, self.travel))
        elif item.kind == "history":
            from tictactoe_client.tui.history_page import HistoryPage

            self.desk.open(HistoryPage(self.desk))
        elif item.kind == "join":
            self._join_typed()
        elif item.kind == "return":
            self._return()
        else:
            self.desk.run(self._enter(Choice("join", code=item.code)))

    def _join_typed(self) -> None:
        typed = self._menu.code
        if not typed.text.strip():
            self.desk.say("Type or paste a room code or a link.")
            return
        typed.selected = True
        try:
            code, address = parse_room(typed.text)
        except (BadRoomCode, BadAddress) as bad:
            self.desk.say(clean_text(bad.message))
            return
        choice = Choice("join", code=code)
        if address is None or is_same_server(address, self.desk.link.address):
            self.desk.run(self._enter(choice))
        else:
            self.travel(address, choice)

    async def _enter(self, choice: Choice, *, is_first: bool = False) -> None:
        client = self.desk.link.client
        if client is None or self._is_entering:
            return
        self._is_entering = True
        try:
            room = await choice.enter(client)
        except Refused as refused:
            if refused.code == "room_full" and choice.way == "join":
                self.desk.say(f"{clean_text(refused.message)}")
                room = await client.watch(choice.code)
            elif is_first:
                from tictactoe_client.runs.failures import describe_failure, exit_code_for

                self.desk.leave(
                    exit_code_for(refused), describe_failure(refused, self.desk.settings, self.desk.link.address)
                )
                return
            else:
                raise
        finally:
            self._is_entering = False
        self._menu.code.clear()
        self.desk.open(GamePage(self.desk, room, choice.again))

    def draw(self, picture: Picture, status: tuple[str, str] | None) -> None:
        """Draw the page for what there is: a server, none, or one to wait for."""
        self._view.draw(picture, status)
