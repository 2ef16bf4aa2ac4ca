"""The page of a ladder, and a player's page with ratings, results against us and the latest rated games."""

from __future__ import annotations

from typing import Final

from msgspec import UNSET
from textual.app import ComposeResult

from tictactoe_client.input.challenges import fetch_ladder, fetch_profile
from tictactoe_client.input.rule_options import parse_clock
from tictactoe_client.input.ways import Choice
from tictactoe_client.online.client import Client
from tictactoe_client.tui.history import HistoryPage
from tictactoe_client.tui.lists import ListPage, align
from tictactoe_client.visit.face import Prompt
from tictactoe_engine import PRESETS
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import PastGame, PlayerProfile
from tictactoe_protocol.rated import LadderState
from tictactoe_protocol.text import MAX_NAME_LENGTH
from tictactoe_words.catalogue import say
from tictactoe_words.ladders import describe_ladder, describe_meetings, tabulate_ladder, tabulate_standings

CLOCK: Final = "3+2"

_BY_NAME: Final = "?"
"""The name of the row that asks for a player's name."""

_PLAY: Final = "+"
"""The name of the row that looks for an opponent in a rated game."""


class LadderPage(ListPage):
    """A ladder: the players ranked near us, then the best players."""

    situation = "ladder"
    heading = "ladder title"
    wraps = False

    def __init__(self) -> None:
        super().__init__()
        self._keys: tuple[str, ...] | None = None
        self._ladders: tuple[LadderState, ...] = ()

    action_refresh = ListPage.opened

    async def fetch(self, client: Client) -> None:
        self._keys = self._keys or tuple(key for key in client.welcome.ladders if key in PRESETS)
        if keys := self._keys:
            near_and_best = await fetch_ladder(client, keys[0])
            self._ladders = near_and_best if self._keys[0] == keys[0] else self._ladders
        self.redraw()

    def action_change(self, by: int) -> None:
        if self._keys:
            self._keys = (*self._keys[by:], *self._keys[:by])
            self.opened()

    def describe_about(self) -> str:
        return f"‹ {say(f'name of {self._keys[0]}')} ›" if self._keys else ""

    def fill(self) -> None:
        rows = {name: row for ladder in self._ladders for name, row in tabulate_ladder(ladder).items()}
        extra_rows = {_BY_NAME: "ladder by name"}
        if self._ladders and self._ladders[0].closed is UNSET:
            extra_rows = {_PLAY: "page ladder play", **extra_rows}
        more: dict[str, tuple[str, ...]] = (
            {name: ("", say(id), "", "", "") for name, id in extra_rows.items()} if self._ladders else {}
        )
        self.show_table((rows or {"": ()}) | more)
        lines = [say("refused not_allowed ladders off")] if self._keys == () else []
        for ladder in self._ladders[1:]:
            lines += describe_ladder(ladder)
        self.text("hint").show(("\n".join(lines), "dim"))

    def name_key(self, id: str) -> str:
        """Hide the refresh key to make room for the key of our own page."""
        return "" if id == "key refresh" else id

    def open_row(self, name: str) -> None:
        if name == _BY_NAME:
            self.program.start(self._ask_for_player())
        elif name == _PLAY:
            rules = PRESETS[self._ladders[0].rules]
            self.program.ways_in.go(Choice("match", rules, parse_clock(CLOCK), rated=True))
        else:
            self._open_player(name)

    async def _ask_for_player(self) -> None:
        self._open_player(await self.program.ask(Prompt(say("ladder which name"), "", limit=MAX_NAME_LENGTH)))

    def _open_player(self, player: str | None) -> None:
        if player:
            self.program.open(PlayerPage(player, self._ladders[0].rules))

    def action_name(self) -> None:
        if self._ladders and (client := self.program.session.client) is not None:
            self.open_row(client.player)


class PlayerPage(HistoryPage):
    """A player's page, with a key to challenge the player to a rated game."""

    situation = "player"
    heading = "player title"
    needs_server = True

    def __init__(self, player: str, rules: str) -> None:
        super().__init__()
        self._player, self._rules = player, rules
        self._profile: PlayerProfile | None = None

    def compose_body(self) -> ComposeResult:
        yield self.text("standings")
        yield from super().compose_body()

    async def ask_for(self, client: Client, many: int, before: str | None) -> tuple[str, tuple[PastGame, ...]]:
        profile = self._profile = await fetch_profile(client, self._player)
        self._player = profile.player  # the page may have been opened by name
        return self._player, profile.games

    def describe_nothing(self) -> str:
        return say("ladder no games") if self._profile else say("loading")

    def describe_heading(self) -> str:
        return clean_text(self._profile.name) if self._profile else super().describe_heading()

    def fill(self) -> None:
        super().fill()
        if self._profile is not None:
            titles, rows = align(tabulate_standings(self._profile))
            lines = [*(f"  {row}" for row in rows.values()), describe_meetings(self._profile)]
            self.text("standings").show((f"{titles}\n", "dim"), ("\n".join(lines), ""))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        client = self.program.session.client
        if action in ("challenge", "answer"):
            if client is None or self._profile is None:
                return False
            return client.welcome.challenges is not UNSET and self._player != client.player
        return action != "share" and super().check_action(action, parameters)

    def action_challenge(self) -> None:
        """Challenge the player to a rated game of this ladder, with the clock `CLOCK`."""
        terms, name = (PRESETS[self._rules], parse_clock(CLOCK)), self.describe_heading()
        self.program.ways_in.go(Choice("challenge", *terms, player=self._player, name=name, rated=True))

    def action_answer(self, way: str) -> None:
        self.program.start_online(self._switch_block)

    async def _switch_block(self, client: Client) -> None:
        shows = self._player in await client.challenges.block()
        await client.challenges.block(self._player, on=not shows)
        self.program.say(say("page unblocked" if shows else "blocked now", name=self.describe_heading()))
