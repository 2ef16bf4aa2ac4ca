"""The first page: who one is, what one can do, and who waits for an opponent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tictactoe_client.address import parse_room
from tictactoe_client.choosing import Choice, against_computer
from tictactoe_client.errors import BadAddress, Refused, Unreachable, VersionRefused
from tictactoe_client.messages import Message
from tictactoe_client.settings import ExitCode
from tictactoe_client.tui.editor import LineEditor
from tictactoe_client.tui.game_page import GamePage
from tictactoe_client.tui.page import Desk, Page, draw_frame
from tictactoe_client.tui.picture import Picture, wrap
from tictactoe_client.tui.room_list import RoomList, describe_room
from tictactoe_protocol import BadName, BadRoomCode, clean_text, parse_name
from tictactoe_protocol.pushes import LobbyChange

LEVELS = ("easy", "medium", "hard")
Kind = Literal["resume", "match", "bot", "new", "join", "watch", "room"]


@dataclass(frozen=True, slots=True)
class Item:
    """One line that can be chosen; `code` is a room's where the line stands for one."""

    kind: Kind
    title: str
    note: str = ""
    code: str = ""


class HomePage(Page):
    """Home; `first` is where the command line wanted to go at once."""

    def __init__(self, desk: Desk, first: Choice | None = None) -> None:
        super().__init__(desk)
        self.rooms = RoomList()
        self._first = first
        self._chosen: tuple[Kind, str] = ("match", "")
        self._level = 1
        self._code = LineEditor(limit=120)
        self._name: LineEditor | None = None
        self._rows: dict[int, Item] = {}
        self._is_entering = False

    # -- what the desk asks ---------------------------------------------------------------------------------------

    @property
    def seconds_to_change(self) -> float | None:
        """The ages of rooms and the next attempt count by the second."""
        link = self.desk.link
        waits = link.phase == "away" or (link.phase == "online" and self.rooms.waiting(self._own()))
        return 1.0 if waits else None

    def connected(self) -> None:
        """Learn the rooms, and go where the command line wanted to."""
        self.desk.run(self._learn_rooms())
        client = self.desk.link.client
        held = client.welcome.rooms if client else ()
        if held and self._first is None:
            self._chosen = ("resume", held[0].room)
        if self._first is not None:
            first, self._first = self._first, None
            self.desk.run(self._enter(first, is_first=True))

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

    # -- keys -----------------------------------------------------------------------------------------------------

    def press(self, key: str) -> None:
        """Take a key: into the line being typed, else for the list."""
        does = self.desk.keymap.does
        if does(key, "leave"):
            self.desk.leave(ExitCode.INTERRUPTED)
        elif self._name is not None:
            self._press_name(key)
        elif self.desk.link.phase == "failed":
            self._press_failed(key)
        elif does(key, "up") or does(key, "down"):
            self._move(-1 if does(key, "up") else 1)
        elif does(key, "open"):
            self._open(self._item())
        elif self._item().kind == "join" and self._press_code(key):
            return
        elif self._item().kind == "bot" and (does(key, "left") or does(key, "right")):
            self._level = (self._level + (1 if does(key, "right") else -1)) % len(LEVELS)
        else:
            self._press_shortcut(key)

    def paste(self, text: str) -> None:
        """A pasted link or code is where one wants to go."""
        self._chosen = ("join", "")
        self._code.clear()
        self._code.type(text.strip())

    def click(self, x: int, y: int) -> None:
        """A click opens a line."""
        item = self._rows.get(y)
        if item is not None:
            self._chosen = (item.kind, item.code)
            if item.kind != "join":
                self._open(item)

    def scroll(self, lines: int) -> None:
        """The wheel moves the choice."""
        self._move(lines)

    def _press_shortcut(self, key: str) -> None:
        does = self.desk.keymap.does
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
            self._name = LineEditor(limit=24)
        elif does(key, "refresh"):
            self.desk.link.retry()
            self.desk.run(self._learn_rooms())

    def _press_failed(self, key: str) -> None:
        does = self.desk.keymap.does
        if does(key, "retry"):
            self.desk.link.retry()
        elif (
            does(key, "local")
            and isinstance(self.desk.link.failure, Unreachable)
            and self.desk.link.address.is_loopback
        ):
            self.desk.link.start_local()
        elif does(key, "help") or does(key, "theme") or does(key, "settings"):
            self._press_shortcut(key)

    def _press_code(self, key: str) -> bool:
        if self.desk.keymap.does(key, "back"):
            self._code.clear()
            return True
        return (
            (len(key) == 1 or key == "backspace" or key.startswith("ctrl+"))
            and key
            not in (
                "?",
                *("ctrl+q", "ctrl+l"),
            )
            and self._code.press(key)
        )

    def _press_name(self, key: str) -> None:
        assert self._name is not None
        if key == "escape":
            self._name = None
        elif key == "enter":
            try:
                name = parse_name(self._name.text.strip())
            except BadName as bad:
                self.desk.say(bad.message)
                return
            self._name = None
            self.desk.link.rename(name)
        else:
            self._name.press(key)

    def _move(self, by: int) -> None:
        items = self._items()
        keys = [(item.kind, item.code) for item in items]
        here = keys.index(self._chosen) if self._chosen in keys else 0
        self._chosen = keys[(here + by) % len(keys)]

    # -- ways in --------------------------------------------------------------------------------------------------

    def _open(self, item: Item) -> None:
        if self.desk.link.phase != "online":
            self.desk.say("There is no connection yet.")
        elif item.kind == "match":
            self.desk.run(self._enter(Choice("match")))
        elif item.kind == "bot":
            self.desk.run(self._enter(against_computer(LEVELS[self._level])))
        elif item.kind == "new":
            from tictactoe_client.tui.new_room_page import NewRoomPage

            self.desk.open(NewRoomPage(self.desk))
        elif item.kind == "watch":
            from tictactoe_client.tui.watch_page import WatchPage

            self.desk.open(WatchPage(self.desk, self.rooms))
        elif item.kind == "join":
            self._join_typed()
        else:
            self.desk.run(self._enter(Choice("join", code=item.code)))

    def _join_typed(self) -> None:
        text = self._code.text.strip()
        if not text:
            self.desk.say("Type or paste a room code or a link.")
            return
        try:
            code, address = parse_room(text)
        except (BadRoomCode, BadAddress) as bad:
            self.desk.say(clean_text(bad.message))
            return
        here = self.desk.link.address
        if address is not None and (address.host, address.port) != (here.host, here.port) and not here.is_loopback:
            self.desk.say(f"That room is on another server: tictactoe-client join {address.link_to(code)}")
            return
        self._code.clear()
        self.desk.run(self._enter(Choice("join", code=code)))

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
                from tictactoe_client.session import describe_failure, exit_code_for

                self.desk.leave(exit_code_for(refused), describe_failure(refused, self.desk.settings))
                return
            else:
                raise
        finally:
            self._is_entering = False
        self.desk.open(GamePage(self.desk, room, choice.again))

    # -- drawing --------------------------------------------------------------------------------------------------

    def _own(self) -> str | None:
        return self.desk.link.client.player if self.desk.link.client else None

    def _items(self) -> list[Item]:
        client = self.desk.link.client
        held = client.welcome.rooms if client is not None else ()
        live = len(self.rooms.playing())
        return [
            *(Item("resume", f"Resume {seat.room}", f"you are {seat.seat}", seat.room) for seat in held),
            Item("match", "Quick match", "3x3, anyone"),
            Item("bot", "Play the computer"),
            Item("new", "New room", "choose the board, invite a friend"),
            Item("join", "Join with a code"),
            Item("watch", "Watch a game", f"{live} live"),
            *(Item("room", room.room, "", room.room) for room in self.rooms.waiting(self._own())),
        ]

    def _item(self) -> Item:
        items = self._items()
        return next((item for item in items if (item.kind, item.code) == self._chosen), items[0])

    def draw(self, picture: Picture, status: tuple[str, str] | None) -> None:
        """Draw the page for what there is: a server, none, or one to wait for."""
        settings, link, show = self.desk.settings, self.desk.link, self.desk.keymap.show
        dot = "*" if settings.ascii else "●"
        latency = f"  {link.latency_ms} ms" if link.phase == "online" else ""
        role = "dim" if link.phase == "online" else "bad"
        arrows = "up/down" if settings.ascii else "↑↓"
        hints = (
            f"{arrows} choose  {show('open')} open  {show('refresh')} refresh  {show('help')} help  "
            f"{show('theme')} theme  {show('settings')} settings  {show('quit')} quit"
        )
        if link.phase == "failed":
            hints = f"{show('retry')} retry  {show('help')} help  {show('theme')} theme  {show('quit')} quit"
        where = (f"{link.address.url}  {dot}{latency}", role)
        draw_frame(picture, (("tictactoe", "title"),), where, hints, ascii_only=settings.ascii)
        self._rows = {}
        if link.phase == "failed":
            self._draw_failure(picture)
        elif link.client is None:
            picture.put(3, 3, f"Connecting to {link.address.url} ...", "dim")
        else:
            self._draw_items(picture)
        if status is not None:
            picture.put(1, picture.height - 3, status[0], status[1])

    def _draw_items(self, picture: Picture) -> None:
        client = self.desk.link.client
        assert client is not None
        if self._name is not None:
            picture.put_parts(3, 2, ("Your name  ", ""), (f"{self._name.text}_", "title"), ("   Enter, or Esc", "dim"))
        else:
            change = f"   ({self.desk.keymap.show('name')}: change)"
            picture.put_parts(3, 2, ("Playing as  ", ""), (clean_text(client.name), "title"), (change, "dim"))
        y, items, chosen = 4, self._items(), self._item()
        first_room = next((index for index, item in enumerate(items) if item.kind == "room"), len(items))
        space = max(1, picture.height - 9 - first_room)
        rooms = items[first_room:]
        start = max(0, min(len(rooms) - space, rooms.index(chosen) - space // 2)) if chosen in rooms else 0
        for item in items[:first_room]:
            self._draw_item(picture, y, item, is_chosen=item == chosen)
            y += 1
        if rooms:
            hidden = f"  ({len(rooms)})" if len(rooms) > space else ""
            picture.put(3, y, f"Rooms waiting{hidden}", "dim")
            for item in rooms[start : start + space]:
                y += 1
                self._draw_item(picture, y, item, is_chosen=item == chosen)

    def _draw_item(self, picture: Picture, y: int, item: Item, *, is_chosen: bool) -> None:
        self._rows[y] = item
        picture.put(3, y, ">" if is_chosen else " ", "key")
        role = "title" if is_chosen else ""
        if item.kind == "room":
            rooms = self.rooms.waiting(self._own())
            room = next(room for room in rooms if room.room == item.code)
            age_ms = self.rooms.age_ms(room, self.desk.now())
            picture.put(5, y, describe_room(room, age_ms, picture.width - 6), role)
            return
        picture.put(5, y, item.title, role)
        if item.kind == "bot":
            x = 24
            for number, level in enumerate(LEVELS):
                is_level = number == self._level
                x = picture.put(x, y, f"[{level}]" if is_level else f" {level} ", "title" if is_level else "dim")
        elif item.kind == "join":
            code = f"{self._code.text}_" if is_chosen else self._code.text or "______"
            picture.put(24, y, code if is_chosen and self._code.text else "______" if not self._code.text else code)
        else:
            picture.put(24, y, item.note, "dim")

    def _draw_failure(self, picture: Picture) -> None:
        """Say why there is no server, and what helps."""
        link = self.desk.link
        failure = link.failure
        assert failure is not None
        cross = "x" if self.desk.settings.ascii else "✗"
        lines = wrap(f"{cross} {clean_text(failure.message)}", picture.width - 6)
        for number, line in enumerate(lines):
            picture.put(3, 3 + number, line, "bad")
        y = 4 + len(lines)
        helps: list[tuple[str, str]] = []
        if isinstance(failure, Unreachable):
            helps.append(("Is the server running?  Start one:", "tictactoe-server"))
            if link.address.is_loopback:
                helps.append(("Or one for this run alone:", f"press {self.desk.keymap.show('local')}"))
            helps.append(("Or point elsewhere:", "tictactoe-client -s wss://host"))
        elif isinstance(failure, VersionRefused):
            helps.append(("Nothing can be played until then.", ""))
        for text, command in helps:
            picture.put_parts(5, y, (f"{text:<35} ", ""), (command, "key"))
            y += 1
        picture.put(5, y + 1, f"{self.desk.keymap.show('retry')} tries again", "dim")
