"""One's own finished games on the server, to look through any of them; more come as one gets to the end of the list.

What is known stays in sight while the server is away.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from tictactoe_client.input.record import RecordedRoom
from tictactoe_client.online.errors import ClientError, Refused
from tictactoe_client.tui.no_server import paint_no_server
from tictactoe_client.tui.page import Desk, Page, draw_frame
from tictactoe_client.tui.past_list import PastList
from tictactoe_client.tui.picture import Picture, measure, shorten, wrap
from tictactoe_client.tui.room.rows import lay_out_games
from tictactoe_client.tui.room.screen import RoomScreen
from tictactoe_client.tui.save_line import SaveLine
from tictactoe_engine.records import GameRecord, RecordError, parse_record
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import PastGame

_TOP = 3


class HistoryPage(Page):
    """The list; no more than `limit` games, None for all."""

    needs_server = False

    def __init__(self, desk: Desk, limit: int | None = None) -> None:
        super().__init__(desk)
        self._list = PastList(limit)
        self._saving = SaveLine(desk)
        self._is_asking = False
        self._fetching: object | None = None
        self._refusal = ""
        self._rows: dict[int, int] = {}
        self._table: tuple[tuple[tuple[PastGame, ...], str, int], tuple[str, list[str]]] | None = None

    # -- what the desk asks ---------------------------------------------------------------------------------------

    @property
    def window_title(self) -> str:
        """Say what this is."""
        return "your games: tictactoe"

    @property
    def seconds_to_change(self) -> float | None:
        """The next attempt counts by the second."""
        return 1.0 if self.desk.link.phase == "away" else None

    def connected(self) -> None:
        """Ask for the newest games."""
        self._ask(anew=True)

    def opened(self) -> None:
        """Ask for the newest games, unless they are known: one comes back from a replay to the same place."""
        if not self._list.is_known:
            self._ask(anew=True)

    def _ask(self, *, anew: bool) -> None:
        if not self._is_asking and self.desk.link.phase == "online":
            self._is_asking = True
            self.desk.start(self._learn(anew=anew))

    async def _learn(self, *, anew: bool) -> None:
        client = self.desk.link.client
        try:
            if client is not None:
                wanted, before = self._list.next_page(anew=anew)
                games = await client.history(wanted, before=before)
                self._list.take(games, wanted, anew=anew)
                self._refusal = ""
        except Refused as refused:
            keeps_none = refused.code == "unknown_type"
            self._refusal = "This server keeps no finished games." if keeps_none else clean_text(refused.message)
        finally:
            self._is_asking = False
            self.desk.redraw()

    # -- keys -----------------------------------------------------------------------------------------------------

    def press(self, key: str) -> None:
        """Choose, open and save."""
        does = self.desk.keymap.does
        if self._saving.press(key):
            return
        if does(key, "back"):
            if self._fetching is None:
                self.desk.close_page()
            self._fetching = None
        elif does(key, "refresh"):
            self.desk.link.retry()
            self._ask(anew=True)
        elif does(key, "open"):
            self._get(self._open)
        elif does(key, "save"):
            self._get(self._save)
        elif does(key, "help"):
            self.open_help()
        else:
            self._press_way(key)

    def paste(self, text: str) -> None:
        """Pasted text belongs to a file's name."""
        self._saving.paste(text)

    def click(self, x: int, y: int) -> None:
        """A click opens a line."""
        if y in self._rows:
            self._list.chosen = self._rows[y]
            self._get(self._open)

    def scroll(self, lines: int) -> None:
        """Move the choice, and ask for more where the list comes to its end."""
        self._list.move(lines)
        if self._list.wants_more:
            self._ask(anew=False)

    def _press_way(self, key: str) -> None:
        many, page = len(self._list.games), max(1, len(self._rows) - 1)
        ways = {"up": -1, "down": 1, "page_up": -page, "page_down": page, "home": -many, "end": many}
        by = next((by for action, by in ways.items() if self.desk.keymap.does(key, action)), None)
        if by is not None:
            self.scroll(by)

    # -- one game -------------------------------------------------------------------------------------------------

    def _get(self, deed: Callable[[GameRecord], None]) -> None:
        """Get the chosen game's record, and do something with it unless it is given up or another one is wanted."""
        game = self._list.game
        if game is None:
            return
        if self.desk.link.phase != "online":
            self.desk.say(f"There is no connection. {self.desk.keymap.show('refresh')} tries again.")
        else:
            self._fetching = object()
            self.desk.start(self._fetch(game, deed, self._fetching))

    async def _fetch(self, game: PastGame, deed: Callable[[GameRecord], None], wanted: object) -> None:
        client = self.desk.link.client
        try:
            text = "" if client is None else await client.record(game.id)
            if text and self._fetching is wanted and self in self.desk.pages:
                self._do(deed, text)
        except ClientError:
            if self._fetching is wanted:
                raise
        finally:
            if self._fetching is wanted:
                self._fetching = None

    def _do(self, deed: Callable[[GameRecord], None], text: str) -> None:
        """Do it with the record, in the place of what lies on the list."""
        try:
            record = parse_record(text)
        except RecordError as error:
            self.desk.say(f"This client cannot read the server's record: {error}")
            return
        while self.desk.pages[-1] is not self:
            self.desk.close_page()
        deed(record)

    def _open(self, record: GameRecord) -> None:
        self.desk.open(RoomScreen(self.desk, RecordedRoom(record)))

    def _save(self, record: GameRecord) -> None:
        self._saving.save(record)

    # -- drawing --------------------------------------------------------------------------------------------------

    def draw(self, picture: Picture, status: tuple[str, str] | None) -> None:
        """Draw the list, or say why there is none."""
        link, show = self.desk.link, self.desk.keymap.show
        arrows = self.desk.keymap.show_signs("up/down" if self.desk.settings.ascii else "↑↓", "up", "down")
        back = "back" if len(self.desk.pages) > 1 else "leave"
        hints = (
            f"{show('open')} replay  {show('back')} {back}  {arrows} choose  {show('save')} save  "
            f"{show('refresh')} refresh  {show('help')} help"
        )
        server = f"   on {link.address.url}"
        fits = len("Your games") + measure(server) + len(self._count()) + 4 <= picture.width
        title = (("Your games", "title"), (server if fits else "", "dim"))
        hints = self._saving.text or hints
        draw_frame(picture, title, (self._count(), "dim"), hints, ascii_only=self.desk.settings.ascii)
        self._rows = {}
        if self._list.games:
            self._draw_games(picture)
        elif link.phase == "failed":
            paint_no_server(picture, self.desk, offers_own=False)
        else:
            for number, line in enumerate(wrap(self._describe_nothing(), picture.width - 6)):
                picture.put(3, _TOP + number, line, "dim" if self._is_asking or link.client is None else "")
        text, role = status or self._describe_link()
        picture.put(1, picture.height - 3, shorten(text, picture.width - 2), role)

    def _count(self) -> str:
        count = len(self._list.games)
        if not count:
            return ""
        more = "" if self._list.is_complete else ", and more"
        return f"{'1 game' if count == 1 else f'{count} games'}{more}"

    def _describe_nothing(self) -> str:
        link = self.desk.link
        if link.client is None:
            return f"Connecting to {link.address.url} ..."
        if self._refusal:
            return self._refusal
        if not self._list.is_known:
            return "Asking for your games ..."
        return f"You have finished no game on {link.address.url} yet. This page lists them when you have."

    def _describe_link(self) -> tuple[str, str]:
        """Say what is wrong with the connection, or with the last answer, where games are in sight all the same."""
        link, show = self.desk.link, self.desk.keymap.show
        again = f"{show('refresh')} tries again"
        cross = "x" if self.desk.settings.ascii else "╳"
        if link.phase == "failed" and link.failure is not None and self._list.games:
            return f"{cross} {link.failure.message}   {again}", "bad"
        if link.phase == "away":
            seconds = max(0, math.ceil(link.retries_at - self.desk.now()))
            when = f"Trying again in {seconds} s" if seconds else "Trying now"
            return f"{cross} CONNECTION LOST. {when}.   {again}", "bad"
        if self._fetching is not None:
            return f"Fetching the game{'...' if self.desk.settings.ascii else '…'}   {show('back')} cancel", "warn"
        if self._list.games and self._refusal:
            return self._refusal, "warn"
        return ("Asking for more ...", "dim") if self._list.games and self._is_asking else ("", "")

    def _draw_games(self, picture: Picture) -> None:
        titles, rows = self._lay_out(picture.width - 6)
        picture.put(5, 2, titles, "dim")
        space = picture.height - 3 - _TOP
        start = max(0, min(self._list.chosen - space // 2, len(rows) - space))
        for y, number in enumerate(range(start, min(start + space, len(rows))), _TOP):
            is_chosen = number == self._list.chosen
            self._rows[y] = number
            picture.put(3, y, ">" if is_chosen else " ", "key")
            row = rows[number].replace("è", "e") if self.desk.settings.ascii else rows[number]
            picture.put(5, y, row, "title" if is_chosen else "")

    def _lay_out(self, width: int) -> tuple[str, list[str]]:
        """Return the table, made anew only where something about it has changed: it may be long."""
        client = self.desk.link.client
        wanted = (self._list.games, client.player if client is not None else "", width)
        if self._table is None or self._table[0] != wanted:
            self._table = (wanted, lay_out_games(*wanted))
        return self._table[1]
