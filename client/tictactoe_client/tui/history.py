"""One's own finished games on the server, to look through any of them, also while the server is away."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Final

from textual.binding import BindingType
from textual.geometry import Region

from tictactoe_client.earlier import OwnGame, PastGames
from tictactoe_client.input.record import RecordedRoom
from tictactoe_client.online.errors import Refused
from tictactoe_client.text.lobby import describe_no_games, describe_outcome, format_date
from tictactoe_client.tui.foot import bind
from tictactoe_client.tui.lists import ListScreen
from tictactoe_client.tui.lobby import describe_no_server, short_rules
from tictactoe_client.tui.picture import Picture, measure
from tictactoe_client.tui.room.banners import connection_banner
from tictactoe_client.tui.room.screen import RoomScreen
from tictactoe_engine.records import GameRecord, RecordError, parse_record
from tictactoe_protocol import clean_text
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.wording import count

PAGE_GAMES: Final = 50
"""How many games are asked for at once."""


class HistoryScreen(ListScreen):
    """The list, newest first; no more than `limit` games, None for all."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("back", label="back"),
        bind("help", label="help"),
        bind("save", "save_game", "save"),
        bind("share", label="share"),
        bind("refresh", label="refresh"),
    ]
    heading = "Your games"
    foot_first = ("replay", "back", "leave")
    needs_server = False
    wraps = False

    def __init__(self, limit: int | None = None) -> None:
        super().__init__()
        self.games: tuple[OwnGame, ...] = ()
        self.is_complete = False
        self._past: PastGames | None = None
        self._limit = limit
        self._asking: asyncio.Task[None] | None = None
        self._fetching: asyncio.Task[None] | None = None
        self._refusal = ""
        self._shared: set[str] = set()

    @property
    def foot_renames(self) -> Mapping[str, str]:  # type: ignore[override]
        """Where the list is all that there is, going back leaves the program."""
        return {"open": "replay", "back": "leave" if len(self.desk.screens) == 1 else "back"}

    def connected(self) -> None:
        self._ask(anew=True)

    def opened(self) -> None:
        """Ask for the newest games, unless they are known: one comes back from a replay to the same place."""
        if self._past is None:
            self._ask(anew=True)

    def chose(self) -> None:
        """Ask for more games ten before the end of those that are known."""
        if not self.is_complete and self.at + 10 >= len(self.games):
            self._ask(anew=False)

    def _ask(self, *, anew: bool) -> None:
        if self.desk.link.phase != "online" or _is_under_way(self._asking):
            return
        if anew or self._past is None:
            self._asking = self.desk.start(self._learn(PastGames(self.desk.link), ()))
        else:
            self._asking = self.desk.start(self._learn(self._past, self.games))

    async def _learn(self, past: PastGames, known: tuple[OwnGame, ...]) -> None:
        wanted = PAGE_GAMES if self._limit is None else min(PAGE_GAMES, self._limit - len(known))
        try:
            games = await past.read(wanted)
            self._past, self.games, self._refusal = past, (*known, *games), ""
            self.is_complete = len(games) < wanted or len(self.games) == self._limit
        except Refused as refused:
            keeps_none = refused.code == "unknown_type"
            self._refusal = "This server keeps no finished games." if keeps_none else clean_text(refused.message)
        finally:
            self.desk.redraw()

    def open_row(self, name: str) -> None:
        self._get(lambda record: self.desk.open(RoomScreen(self.desk, RecordedRoom(record))))

    def action_save_game(self) -> None:
        self._get(self.desk.save)

    def _get(self, deed: Callable[[GameRecord], None]) -> None:
        """Get the chosen game's record, and do something with it unless it is given up or another one is wanted."""
        self._stop_fetching()
        self._fetching = self.desk.start(self._fetch(self.chosen, deed))

    async def _fetch(self, game: str, deed: Callable[[GameRecord], None]) -> None:
        if self._past is None or self.desk.link.phase != "online":
            self.desk.say(f"{say('why offline')} {self.desk.keymap.show('refresh')} tries again.")
            return
        try:
            record = parse_record(await self._past.record(game))
        except RecordError as error:
            self.desk.say(f"This client cannot read the server's record: {error}")
            return
        self.desk.go_back_to(self)
        deed(record)

    def _stop_fetching(self) -> bool:
        return self._fetching is not None and self._fetching.cancel()

    def action_back(self) -> None:
        """Want the game no more that is on its way, else go back."""
        if not self._stop_fetching():
            super().action_back()

    def closed(self) -> None:
        self._stop_fetching()

    def action_share(self) -> None:
        """Show the chosen game to all who know its link, which is copied; or take back what was shared here."""
        if self._past is not None:
            self.desk.start(self._share(self._past, self.chosen))

    async def _share(self, past: PastGames, game: str) -> None:
        link = await past.share(game, on=game not in self._shared)
        self._shared ^= {game}
        if link is None:
            self.desk.say("The game is not shared any more.", "good")
        else:
            self.desk.copy_to_clipboard(link)
            self.desk.say(f"Copied: {link}   {self.desk.keymap.show('share')} takes it back", "good")

    def action_refresh(self) -> None:
        self.desk.link.retry()
        self._ask(anew=True)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        client = self.desk.link.client
        if action == "share":
            return bool(self.games) and client is not None and "share" in client.features
        return bool(self.games) if action == "save_game" else super().check_action(action, parameters)

    def describe_head(self) -> tuple[Sequence[tuple[str, str]], str]:
        many = count(len(self.games), "game") + ("" if self.is_complete else ", and more") if self.games else ""
        server = f"   on {self.desk.link.address.url}"
        has_room = self.size.width > len(self.heading) + measure(server) + len(many) + 6
        return [(self.heading, "title"), (server if has_room else "", "dim")], many

    def describe_status(self) -> tuple[str, str] | None:
        """Say what is wrong with the connection, or with the last answer, where games are in sight all the same."""
        desk, link, key = self.desk, self.desk.link, self.desk.keymap.show
        lost = connection_banner(link, time.monotonic(), width=40, holds_seat=False)
        if link.phase == "failed" and link.failure is not None and self.games:
            lost = f"╳ {link.failure.message}", "bad"
        if lost is not None:
            return f"{lost[0]}   {key('refresh')} tries again", lost[1]
        if _is_under_way(self._fetching):
            return f"Fetching the game{'...' if desk.settings.ascii else '…'}   {key('back')} cancel", "warn"
        if self.games and self._refusal:
            return self._refusal, "warn"
        return ("Asking for more ...", "dim") if self.games and _is_under_way(self._asking) else None

    def draw_body(self, page: Picture, body: Region) -> None:
        if not self.games:
            self.draw_lines(page, body.y + 1, self._describe_nothing())
        width = len(f"{len(self.games)}.")
        table: dict[str, tuple[str, ...]] = {"": ("", "game", "against", "result", "moves", "date")}
        for number, own in enumerate(self.games, 1):
            table[own.game.id] = (f"{number}.".rjust(width), *self._describe(own))
        self.lay_table(page, Region(2, body.y, body.width - 4, body.height), table)

    def _describe(self, own: OwnGame) -> tuple[str, ...]:
        game, viewer = own.game, own.viewer
        others = ", ".join(clean_text(player.name) for player in game.players.values() if player.player != viewer)
        whose = f"{own.whose}: " if self._past is not None and self._past.is_shared else ""
        outcome = f"{whose}{describe_outcome(game, viewer)}"
        rules = clean_text(game.rules.preset or short_rules(game.rules))
        return rules, others or "-", outcome, str(game.moves), format_date(game.at)

    def _describe_nothing(self) -> list[tuple[str, str]]:
        link = self.desk.link
        if link.phase == "failed" or link.client is None:
            return describe_no_server(link, self.desk.keymap, offers_own=False)
        told = f"{describe_no_games(link.address)} This page lists them when you have."
        return [(self._refusal or (told if self._past is not None else "Asking for your games ..."), "")]


def _is_under_way(task: asyncio.Task[None] | None) -> bool:
    return task is not None and not task.done()
