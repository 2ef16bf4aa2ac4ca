"""How the home page looks: who one is, the lines to choose from, the rooms that wait; or why there is no server."""

from __future__ import annotations

from tictactoe_client.online.client import Client
from tictactoe_client.text.home import name_with_time
from tictactoe_client.tui.home_menu import LEVELS, HomeMenu, Item
from tictactoe_client.tui.keymap import Keymap
from tictactoe_client.tui.no_server import paint_no_server
from tictactoe_client.tui.page import Desk, draw_frame, draw_status
from tictactoe_client.tui.picture import Picture, fold, measure, shorten_left, wrap
from tictactoe_client.tui.room_list import describe_room
from tictactoe_protocol import clean_text

_WIDE = 60
"""From this width on all values stand in columns; in a narrower window each follows its title."""
_LOW = 16
"""Below this height no line is left empty."""
_TOP = 4
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

    @property
    def keymap(self) -> Keymap:
        """The keys that count on the chosen line: where a code is typed its letters are none."""
        keymap, client = self.desk.keymap, self.desk.link.client
        return keymap.typing if client is not None and self.menu.chosen(client).kind == "join" else keymap

    def draw(self, picture: Picture, status: tuple[str, str] | None) -> None:
        """Draw the page for what there is: a server, none, or one to wait for."""
        link = self.desk.link
        self._draw_frame(picture)
        self.rows = {}
        said = fold(status[0], picture.width - 2, 2) if status is not None else []
        if link.phase == "failed":
            paint_no_server(picture, self.desk, offers_own=True)
        elif link.client is None:
            self._draw_connecting(picture)
        else:
            self._draw_name(picture, link.client)
            self._draw_items(picture, link.client, picture.height - 2 - len(said))
        if status is not None:
            draw_status(picture, status)

    def _draw_frame(self, picture: Picture) -> None:
        settings, link, show = self.desk.settings, self.desk.link, self.keymap.show
        role = "dim" if link.phase == "online" else "bad"
        arrows = self.keymap.show_signs("arrows" if settings.ascii else "↑↓", "up", "down")
        hints = (
            f"{arrows} choose  {show('open')} open  {self._hint_at_line()}  {show('help')} help  "
            f"{show('theme')} theme  {show('settings')} settings  {show('quit')} quit"
        )
        if self.menu.name is not None:
            hints = f"Enter keep the name  Esc back  {show('quit')} quit"
        elif self.menu.full is not None:
            hints = f"{show('open')} watch  {show('back')} no  {show('quit')} quit"
        elif link.client is not None and self.menu.chosen(link.client).kind == "join":
            hints = f"{show('open')} join  {arrows} choose  Ctrl+U clear  {show('quit')} quit"
        back = f"{show('back')} back  " if link.before is not None else ""
        if link.phase == "failed":
            hints = f"{show('retry')} retry  {back}{show('help')} help  {show('theme')} theme  {show('quit')} quit"
        elif link.client is None:
            hints = f"{back}{show('help')} help  {show('quit')} quit"
        where = (self._describe_server(picture.width - len("tictactoe") - 5), role)
        draw_frame(picture, (("tictactoe", "title"),), where, hints, ascii_only=settings.ascii)

    def _describe_server(self, width: int) -> str:
        """Return where the server is and how long it takes, as much of it as there is room for."""
        link, dot = self.desk.link, "*" if self.desk.settings.ascii else "●"
        latency = f"  {link.latency_ms} ms" if link.phase == "online" else ""
        url = link.address.url
        if link.is_own:
            alone = "a server of this run alone"
            return next((way for way in (f"{alone}  {dot}{latency}", alone) if measure(way) <= width), dot)
        ways = (f"{url}  {dot}{latency}", f"{url}  {dot}", f"{url.partition('://')[2]}  {dot}", f"{dot}{latency}")
        return next((way for way in ways if measure(way) <= width), dot)

    def _draw_connecting(self, picture: Picture) -> None:
        link = self.desk.link
        lines = wrap(f"Connecting to {link.address.url} ...", picture.width - 6)
        if link.before is not None:
            back = f"{self.desk.keymap.show('back')} goes back to {link.before.url}"
            lines += ["", *wrap(back, picture.width - 6)]
        for y, line in enumerate(lines, 3):
            picture.put(3, y, line, "dim")

    def _hint_at_line(self) -> str:
        """Say what the arrows to the side change on the chosen line, where they do; else how to read the list anew."""
        changed = {"match": "game", "game": "game", "bot": "level"}.get(self.menu.chosen(self.desk.link.client).kind)
        if changed is None:
            return f"{self.desk.keymap.show('refresh')} refresh"
        sides = self.desk.keymap.show_signs("<>" if self.desk.settings.ascii else "←→", "left", "right")
        return f"{sides} {changed}"

    def _draw_items(self, picture: Picture, client: Client, bottom: int) -> None:
        """Draw the lines above this one, those about the chosen one where there is no room for all."""
        items, chosen = self.menu.items(client), self.menu.chosen(client)
        fixed = [item for item in items if item.kind != "room"]
        rooms = [item for item in items if item.kind == "room"]
        top = _TOP if picture.height >= _LOW else _TOP - 1
        if self.menu.is_alone:
            top = self._draw_alone(picture, top)
        space = bottom - top
        shown: list[Item | None] = [*fixed, None, *rooms] if rooms else [*fixed]
        if len(fixed) + 2 < space:
            many = space - len(fixed) - 2
            start = rooms.index(chosen) - many // 2 if chosen in rooms else 0
            start = max(0, min(len(rooms) - many, start))
            shown[len(fixed) + 1 :] = rooms[start : start + many]
        else:
            start = max(0, min(len(shown) - space, shown.index(chosen) - space // 2))
            shown = shown[start : start + space]
        hidden = f"  ({len(rooms)})" if len(rooms) > sum(item in rooms for item in shown) else ""
        for y, item in enumerate(shown, top):
            if item is None:
                picture.put(3, y, f"Rooms waiting{hidden}", "dim")
            else:
                self._draw_item(picture, y, item, client, is_chosen=item == chosen)

    def _draw_alone(self, picture: Picture, top: int) -> int:
        """Say that nobody comes here, where there is room; return the line below."""
        lines = wrap("Nobody else can come here. Others are met on a server that all of you reach.", picture.width - 6)
        if picture.height < _LOW:
            return top
        for y, line in enumerate(lines, top - 1):
            picture.put(3, y, line, "dim")
        return top + len(lines)

    def _draw_name(self, picture: Picture, client: Client) -> None:
        typed = self.menu.name
        if typed is not None:
            what = (("Your name  ", ""), (f"{typed.text}_", "title"))
            note = "   Enter, or Esc"
        else:
            what = (("Playing as  ", ""), (clean_text(client.name), "title"))
            note = f"   ({self.desk.keymap.show('name')}: change)"
        self._put_note(picture, picture.put_parts(3, 2, *what), 2, note)

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
        x = picture.put(5, y, self._title_of(item, client), role) + 2
        x = max(x, _VALUES_AT) if picture.width >= _WIDE else x
        if item.kind in ("match", "game"):
            self._draw_game(picture, x, y, item.note, is_chosen=is_chosen)
        elif item.kind == "bot":
            self._draw_level(picture, x, y, is_chosen=is_chosen)
        elif item.kind == "join":
            self._draw_code(picture, x, y, is_chosen=is_chosen)
        else:
            self._put_note(picture, x, y, item.note)

    @staticmethod
    def _title_of(item: Item, client: Client) -> str:
        """Return the title, for a seat left behind with how long it is still held."""
        if item.kind != "resume":
            return item.title
        return f"Resume {name_with_time(item.code, client.held_ms(item.code))}"

    def _draw_code(self, picture: Picture, x: int, y: int, *, is_chosen: bool) -> None:
        typed = self.menu.code
        if not typed.text:
            picture.put(x, y, "______")
            return
        cursor = "_" if is_chosen and not typed.selected else ""
        picture.put(x, y, f"{shorten_left(typed.text, picture.width - x - 2)}{cursor}", "title" if is_chosen else "")

    def _draw_game(self, picture: Picture, x: int, y: int, note: str, *, is_chosen: bool) -> None:
        end = self._draw_choice(picture, x, y, self.menu.game, is_chosen=is_chosen)
        note = note.replace("è", "e") if self.desk.settings.ascii else note
        self._put_note(picture, max(_NOTES_AT, end + 1), y, note)

    def _draw_level(self, picture: Picture, x: int, y: int, *, is_chosen: bool) -> None:
        """Draw how well the computer is to play among all levels, alone where there is no room for them."""
        if picture.width < _WIDE:
            self._draw_choice(picture, x, y, self.menu.level, is_chosen=is_chosen)
            return
        for level in LEVELS:
            is_level = level == self.menu.level
            x = picture.put(x, y, f"[{level}]" if is_level else f" {level} ", "title" if is_level else "dim")
        self._put_note(picture, max(_NOTES_AT, x + 1), y, self.menu.game)

    def _draw_choice(self, picture: Picture, x: int, y: int, value: str, *, is_chosen: bool) -> int:
        left, right = ("<", ">") if self.desk.settings.ascii else ("‹", "›")
        shown = f"{left} {value} {right}" if is_chosen else f"  {value}"
        return picture.put(x, y, shown, "title" if is_chosen else "")

    def _put_note(self, picture: Picture, x: int, y: int, note: str) -> None:
        """Write what explains a line, where there is room for all of it."""
        if x + measure(note) < picture.width:
            picture.put(x, y, note, "dim")
