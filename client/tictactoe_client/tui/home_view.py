"""How the home page looks: who one is, the lines to choose from, the rooms that wait; or why there is no server."""

from __future__ import annotations

from tictactoe_client.client import Client
from tictactoe_client.tui.home_menu import LEVELS, HomeMenu, Item
from tictactoe_client.tui.no_server import paint_no_server
from tictactoe_client.tui.page import Desk, draw_frame
from tictactoe_client.tui.picture import Picture
from tictactoe_client.tui.room_list import describe_room
from tictactoe_protocol import clean_text

_VALUES_AT = 24
"""The column of what stands behind a line's title."""
_NOTES_AT = 45
"""The column of what stands behind a choice."""


class HomeView:
    """The page's picture; `rows` says which line was drawn where."""

    def __init__(self, desk: Desk, menu: HomeMenu) -> None:
        self.desk = desk
        self.menu = menu
        self.rows: dict[int, Item] = {}

    def draw(self, picture: Picture, status: tuple[str, str] | None) -> None:
        """Draw the page for what there is: a server, none, or one to wait for."""
        link = self.desk.link
        self._draw_frame(picture)
        self.rows = {}
        if link.phase == "failed":
            paint_no_server(picture, self.desk, offers_own=True)
        elif link.client is None:
            picture.put(3, 3, f"Connecting to {link.address.url} ...", "dim")
        else:
            self._draw_items(picture, link.client)
        if status is not None:
            picture.put(1, picture.height - 3, status[0], status[1])

    def _draw_frame(self, picture: Picture) -> None:
        settings, link, show = self.desk.settings, self.desk.link, self.desk.keymap.show
        dot = "*" if settings.ascii else "●"
        latency = f"  {link.latency_ms} ms" if link.phase == "online" else ""
        role = "dim" if link.phase == "online" else "bad"
        arrows = "arrows" if settings.ascii else "↑↓"
        hints = (
            f"{arrows} choose  {show('open')} open  {self._hint_at_line()}  {show('help')} help  "
            f"{show('theme')} theme  {show('settings')} settings  {show('quit')} quit"
        )
        if link.phase == "failed":
            hints = f"{show('retry')} retry  {show('help')} help  {show('theme')} theme  {show('quit')} quit"
        where = (f"{link.address.url}  {dot}{latency}", role)
        draw_frame(picture, (("tictactoe", "title"),), where, hints, ascii_only=settings.ascii)

    def _hint_at_line(self) -> str:
        """Say what the arrows to the side change on the chosen line, where they do; else how to read the list anew."""
        changed = {"match": "game", "bot": "level"}.get(self.menu.chosen(self.desk.link.client).kind)
        if changed is None:
            return f"{self.desk.keymap.show('refresh')} refresh"
        return f"{'<>' if self.desk.settings.ascii else '←→'} {changed}"

    def _draw_items(self, picture: Picture, client: Client) -> None:
        self._draw_name(picture, client)
        y, items, chosen = 4, self.menu.items(client), self.menu.chosen(client)
        first_room = next((index for index, item in enumerate(items) if item.kind == "room"), len(items))
        space = max(1, picture.height - 9 - first_room)
        rooms = items[first_room:]
        start = max(0, min(len(rooms) - space, rooms.index(chosen) - space // 2)) if chosen in rooms else 0
        for item in items[:first_room]:
            self._draw_item(picture, y, item, client, is_chosen=item == chosen)
            y += 1
        if rooms:
            hidden = f"  ({len(rooms)})" if len(rooms) > space else ""
            picture.put(3, y, f"Rooms waiting{hidden}", "dim")
            for item in rooms[start : start + space]:
                y += 1
                self._draw_item(picture, y, item, client, is_chosen=item == chosen)

    def _draw_name(self, picture: Picture, client: Client) -> None:
        typed = self.menu.name
        if typed is not None:
            picture.put_parts(3, 2, ("Your name  ", ""), (f"{typed.text}_", "title"), ("   Enter, or Esc", "dim"))
        else:
            change = f"   ({self.desk.keymap.show('name')}: change)"
            picture.put_parts(3, 2, ("Playing as  ", ""), (clean_text(client.name), "title"), (change, "dim"))

    def _draw_item(self, picture: Picture, y: int, item: Item, client: Client, *, is_chosen: bool) -> None:
        self.rows[y] = item
        picture.put(3, y, ">" if is_chosen else " ", "key")
        role = "title" if is_chosen else ""
        if item.kind == "room":
            rooms = self.menu.rooms
            room = next(room for room in rooms.waiting(client.player) if room.room == item.code)
            age_ms = rooms.age_ms(room, self.desk.now())
            picture.put(5, y, describe_room(room, age_ms, picture.width - 6), role)
            return
        picture.put(5, y, item.title, role)
        if item.kind == "match":
            self._draw_game(picture, y, item.note, is_chosen=is_chosen)
        elif item.kind == "bot":
            self._draw_levels(picture, y)
        elif item.kind == "join":
            typed = self.menu.code.text
            picture.put(_VALUES_AT, y, f"{typed}_" if typed and is_chosen else typed or "______")
        else:
            picture.put(_VALUES_AT, y, item.note, "dim")

    def _draw_game(self, picture: Picture, y: int, note: str, *, is_chosen: bool) -> None:
        left, right = ("<", ">") if self.desk.settings.ascii else ("‹", "›")
        game = f"{left} {self.menu.game} {right}" if is_chosen else f"  {self.menu.game}"
        picture.put(_VALUES_AT, y, game, "title" if is_chosen else "")
        picture.put(_NOTES_AT, y, note.replace("è", "e") if self.desk.settings.ascii else note, "dim")

    def _draw_levels(self, picture: Picture, y: int) -> None:
        x = _VALUES_AT
        for level in LEVELS:
            is_level = level == self.menu.level
            x = picture.put(x, y, f"[{level}]" if is_level else f" {level} ", "title" if is_level else "dim")
        picture.put(_NOTES_AT, y, self.menu.game, "dim")
