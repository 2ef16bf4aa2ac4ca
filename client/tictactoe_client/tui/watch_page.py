"""The games that are being played, to watch one of them."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from tictactoe_client.online.address import Address
from tictactoe_client.online.choice import Choice
from tictactoe_client.online.room import Room
from tictactoe_client.tui.editor import LineEditor
from tictactoe_client.tui.entering import describe_errand
from tictactoe_client.tui.keymap import Keymap
from tictactoe_client.tui.lobby import Lobby
from tictactoe_client.tui.page import Desk, Page, describe_wait, draw_frame, draw_status
from tictactoe_client.tui.picture import Picture, fold, shorten_left, wrap
from tictactoe_client.tui.room.screen import RoomScreen
from tictactoe_client.tui.room_list import describe_room
from tictactoe_client.tui.typed_room import read_room


class WatchPage(Page):
    """A list of games, and a line for the code of one that is not in it.

    The home page lies below: it keeps the `lobby` up to date. `travel` goes to another server, where a link names one.
    """

    def __init__(self, desk: Desk, lobby: Lobby, travel: Callable[[Address, Choice], None]) -> None:
        super().__init__(desk)
        self._lobby = lobby
        self._rooms = lobby.rooms
        self._travel = travel
        self._typed = LineEditor()
        self._chosen: str | None = None
        self._lines: dict[int, str] = {}

    @property
    def seconds_to_change(self) -> float | None:
        """The ages count by the second."""
        return 1.0 if self._rooms.playing() else None

    def opened(self) -> None:
        """Read the list anew."""
        self._lobby.follow()

    def closed(self) -> None:
        """Whoever went back wants to watch nothing."""
        self.desk.entering.give_up()

    def press(self, key: str) -> None:
        """Choose and open."""
        does = self._keymap.does
        if does(key, "back"):
            if self.desk.entering.errand or not self._typed.clear():
                self.desk.close_page()
        elif does(key, "open"):
            if self._typed.text.strip():
                self._open_typed()
            else:
                self._open(self._code())
        elif does(key, "help"):
            self.open_help()
        elif self._typed.text or (key.isascii() and key.isalnum() and len(key) == 1):
            self._typed.press(key)
        else:
            self._press_way(key)

    @property
    def _keymap(self) -> Keymap:
        """The keys that count: letters and digits are those of a code."""
        return self.desk.keymap.typing

    def paste(self, text: str) -> None:
        """Pasted text is a code or a link."""
        self._typed.clear()
        self._typed.type(text.strip())

    def click(self, x: int, y: int) -> None:
        """A click opens a line."""
        self._open(self._lines.get(y))

    def scroll(self, lines: int) -> None:
        """Move the choice, round and round."""
        codes, here = self._codes(), self._code()
        if here is not None:
            self._chosen = codes[(codes.index(here) + lines) % len(codes)]

    def _press_way(self, key: str) -> None:
        """Move the choice as far as a key says; by more than a line it stops at the ends."""
        does = self._keymap.does
        if does(key, "up") or does(key, "down"):
            self.scroll(-1 if does(key, "up") else 1)
            return
        codes, here = self._codes(), self._code()
        many, page = len(codes), max(1, len(self._lines) - 1)
        ways = {"page_up": -page, "page_down": page, "home": -many, "end": many}
        by = next((by for action, by in ways.items() if does(key, action)), None)
        if by is not None and here is not None:
            self._chosen = codes[max(0, min(codes.index(here) + by, many - 1))]

    def _codes(self) -> list[str]:
        return [room.room for room in self._rooms.playing()]

    def _code(self) -> str | None:
        """Return the chosen game, the first one where that is gone, or None of no games."""
        codes = self._codes()
        return self._chosen if self._chosen in codes else next(iter(codes), None)

    def _open(self, code: str | None) -> None:
        if code is not None and not self.desk.entering.errand:
            choice = Choice("watch", code=code)
            self.desk.start(self._arrive(self.desk.entering.enter(describe_errand(choice), choice.enter)))

    def _open_typed(self) -> None:
        room = read_room(self._typed, self.desk)
        if room is None or self.desk.entering.errand:
            return
        if room.elsewhere is None:
            self._open(room.code)
        else:
            self._travel(room.elsewhere, Choice("watch", code=room.code))

    async def _arrive(self, coming: Coroutine[Any, Any, Room | None]) -> None:
        """Open the page of the room when we are in, in the place of what lies on the list."""
        room = await coming
        if room is not None:
            self._typed.clear()
            while self.desk.pages[-1] is not self:
                self.desk.close_page()
            self.desk.open(RoomScreen(self.desk, room))

    def draw(self, picture: Picture, status: tuple[str, str] | None) -> None:
        """Draw the list, or say that it is empty."""
        settings, show = self.desk.settings, self._keymap.show
        arrows = self._keymap.show_signs("up/down" if settings.ascii else "↑↓", "up", "down")
        keys = f"{arrows} choose  {show('open')} watch  or type a code"
        hints = f"{keys}  {show('back')} back  {show('help')} help"
        playing = self._rooms.playing()
        draw_frame(
            picture, (("Watch a game", "title"),), (f"{len(playing)} live", "dim"), hints, ascii_only=settings.ascii
        )
        self._lines = {}
        if not playing:
            text = "No public game is being played now. This page shows it when one begins."
            for y, line in enumerate(wrap(text, picture.width - 6)[: picture.height - 6], 3):
                picture.put(3, y, line)
        code = self._code()
        space = picture.height - 6
        here = next((index for index, room in enumerate(playing) if room.room == code), 0)
        start = max(0, min(len(playing) - space, here - space // 2))
        for y, room in enumerate(playing[start : start + space], 3):
            self._lines[y] = room.room
            picture.put(3, y, ">" if room.room == code else " ", "key")
            age_ms = self._rooms.age_ms(room, self.desk.now())
            picture.put(5, y, describe_room(room, age_ms, picture.width - 6), "title" if room.room == code else "")
        self._draw_code(picture)
        told = status or describe_wait(self.desk, self._keymap)
        if told is not None:
            draw_status(picture, told)

    def _draw_code(self, picture: Picture) -> None:
        """Draw the code that is being typed, or say what that is good for."""
        y, typed = picture.height - 3, self._typed
        if typed.text:
            text = shorten_left(typed.text, picture.width - 12)
            picture.put_parts(3, y, ("Code: ", ""), (f"{text}{'' if typed.selected else '_'}", "title"))
            return
        picture.put(
            3, y, fold("Private games are not listed: type their code, or paste it.", picture.width - 4, 1)[0], "dim"
        )
