"""The page of our finished games; the list stays while the server is unreachable."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from tictactoe_client.input.record import RecordedRoom
from tictactoe_client.online.client import Client
from tictactoe_client.online.errors import Refused
from tictactoe_client.text.lobby import describe_outcome, format_date, short_rules, tally
from tictactoe_client.tui.lists import ListPage
from tictactoe_client.tui.page import Part
from tictactoe_client.tui.picture import measure
from tictactoe_client.tui.room.screen import RoomScreen
from tictactoe_engine import PRESETS
from tictactoe_engine.records import GameRecord
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import PastGame
from tictactoe_words.catalogue import say

PAGE_GAMES: Final = 50


class HistoryPage(ListPage):
    """The list of at most `limit` games, newest first."""

    situation = "history"
    heading = "history title"
    needs_server = False
    wraps = False

    def __init__(self, limit: int | None = None) -> None:
        super().__init__()
        self.games: tuple[PastGame, ...] = ()
        self.is_complete = False
        self._viewer = ""
        self._limit = limit
        self._is_asking = False
        self._fetching: asyncio.Task[None] | None = None
        self._refusal = ""
        self._shared: set[str] = set()

    def name_key(self, id: str) -> str:
        """Label the back key "quit" if this list is the only screen."""
        return "key quit" if id == "key back" and len(self.program.screens) == 1 else super().name_key(id)

    def connected(self) -> None:
        self._ask(anew=True)

    def opened(self) -> None:
        """Fetch the newest games when the page opens; on the return from a replay, keep the list."""
        if not self._viewer:
            self._ask(anew=True)

    def chose(self) -> None:
        """Fetch more games when the chosen row is near the end of the list."""
        if not self.is_complete and self.at + 10 >= len(self.games):
            self._ask(anew=False)

    def _ask(self, *, anew: bool) -> None:
        if not self._is_asking:
            known = () if anew else self.games
            self._is_asking = self.program.start_online(lambda client: self._load(client, known))

    async def ask_for(self, client: Client, many: int, before: str | None) -> tuple[str, tuple[PastGame, ...]]:
        """Return the player's id, and at most `many` of their games, older than the game `before` if given."""
        return client.player, await client.games.list(many, before=before)

    async def _load(self, client: Client, known: tuple[PastGame, ...]) -> None:
        count = PAGE_GAMES if self._limit is None else min(PAGE_GAMES, self._limit - len(known))
        try:
            viewer, games = await self.ask_for(client, count, known[-1].game_id if known else None)
            self._viewer, self.games, self._refusal = viewer, (*known, *games), ""
            self.is_complete = len(games) < count or len(self.games) == self._limit
        except Refused as refused:
            self._refusal = clean_text(refused.message)
        finally:
            self._is_asking = False
            self.program.redraw()

    def open_row(self, name: str) -> None:
        self._get(lambda record: self.program.open(RoomScreen(self.program, RecordedRoom(record))))

    def action_save(self) -> None:
        self._get(lambda record: self.program.start(self.program.save(record)))

    def _get(self, use: Callable[[GameRecord], object]) -> None:
        """Fetch the record of the chosen game and pass it to `use`, unless the person cancels or picks another game."""
        self._stop_fetching()
        self._fetching = self.program.start(self._fetch(self.chosen, use))

    async def _fetch(self, game: str, use: Callable[[GameRecord], object]) -> None:
        client = self.program.session.client
        if client is None or self.program.session.phase != "online":
            self.program.say(f"{say('why offline')} {say('page retries', key=self.show_key('refresh'))}")
            return

        def show(record: GameRecord) -> None:
            self.program.go_back_to(self)
            use(record)

        await self.program.read_game(client, game, show)

    def _stop_fetching(self) -> bool:
        return self._fetching is not None and self._fetching.cancel()

    def action_back(self) -> None:
        if not self._stop_fetching():
            super().action_back()

    def closed(self) -> None:
        self._stop_fetching()

    def action_share(self) -> None:
        """Share the chosen game and copy its link; if the game is shared, stop sharing it."""
        if (client := self.program.session.client) is not None:
            self.program.start(self._share(client, self.chosen))

    async def _share(self, client: Client, game: str) -> None:
        link = await client.games.share(game, on=game not in self._shared)
        self._shared ^= {game}
        if link is None:
            self.program.say(say("history not shared"), "good")
        else:
            self.program.copy_to_clipboard(link)
            self.program.say(say("history shared", link=link, key=self.show_key("share")), "good")

    def action_refresh(self) -> None:
        self.program.session.retry()
        self._ask(anew=True)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        client = self.program.session.client
        if action == "share":
            return bool(self.games) and client is not None and client.welcome.sharing
        return bool(self.games) if action == "save" else super().check_action(action, parameters)

    def describe_about(self) -> str:
        """Return a summary of the results and the server's address, as far as they fit."""
        if not self.games:
            return self.program.session.address.url
        summary = tally(self.games, self._viewer, is_complete=self.is_complete)
        count = say("count game", n=len(self.games))
        room = self.size.width - measure(self.describe_heading()) - 6
        return next(
            (text for text in (f"{summary}   {self.program.session.address.url}", summary) if measure(text) <= room),
            count,
        )

    def describe_news(self) -> Part | None:
        """Describe a problem of the connection or the last request, or the progress of loading; else return None."""
        session = self.program.session
        lost = self.program.describe_connection(40)
        if session.phase == "failed" and session.failure is not None and self.games:
            lost = f"╳ {session.failure.message}", "bad"
        if lost is not None:
            return f"{lost[0]}   {say('page retries', key=self.show_key('refresh'))}", lost[1]
        if self._fetching is not None and not self._fetching.done():
            return say("page wait", what=say("history fetching"), key=self.show_key("back")), "warn"
        if self.games and self._refusal:
            return self._refusal, "warn"
        return (say("loading"), "dim") if self.games and self._is_asking else None

    def fill(self) -> None:
        width = len(f"{len(self.games)}.")
        ids = ("game", "against", "result", "moves", "date")
        table: dict[str, tuple[str, ...]] = {"": ("", *(say(f"column {id}") for id in ids))}
        for number, game in enumerate(self.games, 1):
            table[game.game_id] = (f"{number}.".rjust(width), *self._describe(game))
        self.show_table(table)
        self.text("hint").show(*((f"{text}\n", role) for text, role in self._describe_nothing()))

    def _describe(self, game: PastGame) -> tuple[str, ...]:
        players = game.players.values()
        others = ", ".join(clean_text(player.name) for player in players if player.player != self._viewer)
        outcome = describe_outcome(game, self._viewer)
        rules = say(f"name of {game.rules.preset}") if game.rules.preset in PRESETS else short_rules(game.rules)
        return rules, others or "-", outcome, str(game.moves), format_date(game.at)

    def _describe_nothing(self) -> list[Part]:
        session = self.program.session
        if self.games:
            return []
        if session.phase == "failed" or session.client is None:
            return self.describe_no_server()
        return [(self._refusal or self.describe_nothing(), "")]

    def describe_nothing(self) -> str:
        """Explain why the list is empty: there are no games, or they are still loading."""
        explanation = say("page games none")
        return explanation if self._viewer else say("loading")
