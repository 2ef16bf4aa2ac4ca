"""Every key of a situation has a visible effect, with the default keys and with remapped ones.

Each test performs all actions of a situation of the keymap; every key named in the bottom line must be among them.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.named_keys import last_line, named_keys
from tests.peer import play_out, two_playing
from tests.proxy import Proxy
from tests.tui.conftest import NEVER, Game, OpenScreen, ScreenUser
from tests.tui.test_replay_page import diagonal
from tictactoe_client.input import past
from tictactoe_client.input.ways import Choice
from tictactoe_client.tui import FirstPage
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings as ServerSettings
from tictactoe_words.commands import ACTIONS, SITUATIONS

_FREE_KEYS = [f"f{number}" for number in range(1, 25)] + [f"ctrl+{letter}" for letter in "abdefjkortvxz"]
REMAPPED = {action: (key,) for action, key in zip(ACTIONS, _FREE_KEYS, strict=False)}
ANYWHERE = {"leave", "quit", "redraw"}
AT_BOARD = set("123456789") | {"a cell"}
LOOKS = [{"colour": True}, {"colour": False, "changed_keys": REMAPPED}]
pytestmark = pytest.mark.parametrize("look", LOOKS, ids=["own-keys-and-colour", "other-keys-and-none"])


class Hand:
    """Performs actions at a screen and records them, with the keys that the bottom line named."""

    def __init__(self, user: ScreenUser, look: dict[str, Any]) -> None:
        self.user = user
        self._keys = {**ACTIONS, **look.get("changed_keys", {})}
        self._done: set[str] = set()
        self._named: set[str] = set()

    async def do(self, action: str, *words: str, gone: str | None = None) -> None:
        """Press the action's key; the words have to appear on the screen, and `gone` to disappear."""
        before = self.user.text
        assert any(word not in before for word in words) or (gone is not None and gone in before), before
        self._named |= named_keys(last_line(before))
        self._done.add(action)
        await self.user.press_until_seen(self._keys[action][0], *words, gone=gone)

    async def look_into(self, action: str, *words: str) -> None:
        """Open a page or a line by its action, and go back."""
        before = self._named | named_keys(last_line(self.user.text))
        await self.do(action, *words)
        await self.do("back", gone=words[0])
        self._named = before

    async def look_into_all(self) -> None:
        """Open each line and page of a room, and go back."""
        await self.look_into("chat", "say: _")
        await self.look_into("command", ":_")
        await self.look_into("help", "a move back")

    async def leave(self) -> None:
        await self.user.press(self.key("leave"))
        if not self.user.app.is_leaving:
            await self.user.press(self.key("leave"))
        assert self.user.app.is_leaving

    def key(self, action: str) -> str:
        return str(self._keys[action][0])

    def keys_of(self, *actions: str) -> frozenset[str]:
        return frozenset(key for action in actions for key in self._keys[action])

    def check(
        self, *situations: str, without: frozenset[str] = frozenset(), extra: frozenset[str] = frozenset()
    ) -> None:
        """Check that all actions of the situations were performed and that all named keys belong to them."""
        wanted = {action for situation in situations for action in SITUATIONS[situation] if action in ACTIONS}
        assert wanted - without - self._done == set()
        handled = {key for action in (self._done | ANYWHERE) - without for key in self._keys[action]}
        assert self._named - handled - extra == set()


async def test_in_a_replay(
    open_screen: OpenScreen, look: dict[str, Any], here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(past, "GAME_SECONDS", 0.1)
    monkeypatch.setattr(past, "_LEAST_COST", 9.0)
    first_page = FirstPage("replay", record=diagonal(32))
    async with open_screen("ws://127.0.0.1:1", first_page=first_page, **look) as ana:
        await ana.until("move 0 of 16")
        hand = Hand(ana, look)
        await hand.do("right", "move 1 of 16")
        await hand.do("left", "move 0 of 16")
        await hand.do("end", "move 16 of 16")
        await hand.do("home", "move 0 of 16")
        for there, back in (("down", "up"), ("aside_right", "aside_left")):
            before = ana.text
            await hand.do(there, gone=before)
            await hand.do(back, before)
        await hand.do("save", "Saved in")
        await hand.do("mistake", "There is no mistake after this move.")
        await hand.do("mistake_before", "There is no mistake before this move.")
        await hand.do("review", "to move:")
        await hand.do("review", gone="to move:")
        await hand.look_into("help", "a move back")
        await hand.look_into("command", ":_")
        await ana.do("1 6 enter", "move 16 of 16")
        hand.check("replay", extra=frozenset("0123456789") | {"enter"})
        await ana.press(hand.key("back"))
    assert ana.app.return_code == 0


async def test_while_one_waits_for_others(bots: Server, open_screen: OpenScreen, look: dict[str, Any]) -> None:
    async with open_screen(bots.url, Choice("create"), **look) as ana:
        await ana.until("Waiting for another player")
        hand = Hand(ana, look)
        await hand.do("copy", "Copied: http://")
        if look["colour"]:
            await hand.do("hide_code", gone="█")
        await hand.look_into_all()
        await hand.do("computer", "medium-bot")
        hand.check("waiting", without=frozenset() if look["colour"] else frozenset({"hide_code"}))
        await hand.do("back", "Leave and abort this game?")
        await hand.do("confirm", "Playing as")
    assert ana.app.failure is None


async def test_every_key_works_in_a_game_and_at_questions(game: Game, look: dict[str, Any]) -> None:
    async with game(**look) as (ana, bo, code):
        hand = Hand(ana, look)
        await hand.do("left", "[5]")
        await hand.do("left", "[4]")
        await hand.do("up", "[1]")
        await hand.do("down", "[4]")
        await hand.do("right", "[5]")
        await hand.do("place", "It's bo's move")
        await hand.look_into_all()
        await hand.look_into("back", "Leave and abort this game?")
        await bo.state(ply=1)
        await bo.ask("draw", room=code, action="offer")
        await ana.until("bo offers a draw.", " accept")
        await hand.do("decline", gone=" accept")
        await bo.ask("move", room=code, cell=0, ply=1)
        await ana.until("Your move")
        ana.app.pages[-1].model.quiet_until = 0.0
        await ana.press("9")
        await bo.state(ply=3)
        await bo.ask("draw", room=code, action="offer")
        await ana.until("bo offers a draw.", " accept")
        await hand.do("accept", "It's a draw. Both agreed")
        hand.check("playing", without=frozenset({"claim", "claim_draw"}), extra=frozenset(AT_BOARD))
    async with game(**look) as (ana, _, _):
        hand = Hand(ana, look)
        await ana.press(hand.key("leave"))
        await ana.until("Leave and abort this game?")
        await hand.do("back", gone="Leave and abort this game?")
        await ana.press(hand.key("back"))
        await ana.until("Leave and abort this game?")
        await hand.do("confirm", "Playing as")
        hand.check("asked", without=frozenset({"give_up"}))  # only in games over days


async def test_when_an_opponent_is_gone(game: Game, look: dict[str, Any]) -> None:
    hasty = ServerSettings(host="127.0.0.1", port=0, hold_seconds=0)
    for action, end in (("claim", "You win"), ("claim_draw", "It's a draw.")):
        async with Server(hasty) as server, game(at=server, **look) as (ana, bo, code):
            hand = Hand(ana, look)
            await hand.do("left", "[5]")
            await hand.do("right", "[6]")
            await hand.do("up", "[3]")
            await hand.do("down", "[6]")
            await hand.do("left", "[5]")
            await hand.do("place", "It's bo's move")
            await bo.state(ply=1)
            await bo.ask("move", room=code, cell=0, ply=1)
            await ana.until("Your move")
            await ana.press("9")
            await bo.state(ply=3)
            await bo.socket.close()
            await ana.until("bo has been away too long")
            await hand.look_into_all()
            await hand.look_into("back", "Leave and lose this game?")
            await hand.do(action, end)
            other = {"claim": "claim_draw", "claim_draw": "claim"}[action]
            hand.check("playing", without=frozenset({other, "accept", "decline"}), extra=frozenset(AT_BOARD))


async def test_while_one_watches(server: Server, open_screen: OpenScreen, look: dict[str, Any]) -> None:
    async with (
        two_playing(server, "cy", "di", analysis="open") as (cy, di, code),
        open_screen(server.url, Choice("watch", code=code), **look) as ana,
    ):
        await play_out({"X": cy, "O": di}, code, [0, 4])
        await ana.until("you watch", code, "cy's move", "move 2 of 2")
        hand = Hand(ana, look)
        await hand.do("left", "Move ", gone=None)
        await hand.do("home", "The start.")
        await hand.do("right", "Move 1 of ")
        await hand.do("end", "cy's move")
        await hand.do("review", "with best play")
        best = ana.text
        await hand.do("down", gone=best)
        pointed = ana.text
        await hand.do("down", gone=pointed)
        await hand.do("up", pointed)
        await hand.do("review", gone="hide values")
        await hand.do("mistake", "You can see what moves are worth")
        await hand.do("left", gone="You can see what")
        await hand.do("mistake_before", "You can see what moves are worth")
        await hand.do("end", gone="You can see what")
        await hand.look_into_all()
        await hand.do("back", "Playing as")
        hand.check("watching")
        await hand.leave()
    assert ana.app.return_code == 130


async def test_after_a_game(game: Game, look: dict[str, Any], here: Path) -> None:
    async with game(**look, moves=[0, 4], gives_up=True) as (ana, *_):
        hand = Hand(ana, look)
        at_end = ana.text
        await hand.do("review", "O to move:")
        for action in ("down", "down", "up", "left", "right"):
            await hand.do(action, gone=ana.text)
        await hand.do("home", gone=ana.text)
        await hand.do("end", gone=ana.text)
        await hand.do("review", gone="hide values")
        await hand.do("mistake", "There is no mistake after this move.")
        await hand.do("mistake_before", "There is no mistake before this move.")
        assert "You win" in at_end
        await hand.do("save", "Saved in")
        await hand.look_into_all()
        await hand.do("rematch", "You asked for a rematch.", gone="withdraw")
        await hand.do("another", "Waiting for another player")
        await hand.do("back", "Playing as")
        elsewhere = frozenset({"challenge", "accept", "decline"})  # see test_ladders and test_offers
        hand.check("over", without=elsewhere, extra=hand.keys_of("copy", "hide_code", "computer"))
        await hand.leave()
    assert ana.app.return_code == 130


async def test_while_the_connection_is_lost(proxy: Proxy, game: Game, look: dict[str, Any]) -> None:
    async with game(url=proxy.url, backoff=NEVER, **look) as (ana, *_):
        hand = Hand(ana, look)
        proxy.cut()
        await ana.until("Connection lost")
        await hand.look_into_all()
        await hand.do("retry", "Back after", gone="Connection lost")
        proxy.cut()
        await ana.until("Connection lost")
        hand.check("away")
        await ana.press(hand.key("back"))
    assert ana.app.return_code == 7
