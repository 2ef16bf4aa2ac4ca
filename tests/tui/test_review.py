import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from tests.client.states import BO, state
from tests.client.test_room import FakeCourier
from tests.peer import PATIENCE_SECONDS
from tests.protocol.test_worth import DRAW, analysed
from tictactoe_client.input.actions import Actions
from tictactoe_client.online.errors import Refused
from tictactoe_client.online.room import Room
from tictactoe_client.settings import Settings
from tictactoe_client.tui.room.review import Review
from tictactoe_protocol.pushes import Ok
from tictactoe_protocol.requests import Analyse, Request

WATCHER = "p-wat"
MOVES = [0, 4, 8, 2]


class Server(FakeCourier):
    """Answers analyses of `moves` with the engine, and records the requests; `refusals` come first."""

    def __init__(self, *refusals: Refused) -> None:
        super().__init__()
        self.moves: Sequence[int] = MOVES
        self.plies: list[int] = []
        self.changes: dict[str, Any] = {}
        self.refusals = list(refusals)
        self.was_asked = asyncio.Event()
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def request(self, request: Request) -> Ok:
        if not isinstance(request, Analyse):
            return await super().request(request)
        assert isinstance(request.ply, int)
        self.plies.append(request.ply)
        self.was_asked.set()
        moves = list(self.moves)[: request.ply]
        await self.may_answer.wait()
        if self.refusals:
            raise self.refusals.pop(0)
        return Ok(id="1", analysis=replace(analysed(moves), **self.changes))


class Eye:
    """A viewer of a game of a server, with the answers received and the running requests."""

    def __init__(self, *refusals: Refused, viewer: str = WATCHER, moves: Sequence[int] = MOVES) -> None:
        self.server = Server(*refusals)
        self.server.player = viewer
        self.server.moves = moves
        self.room = Room(self.server, "K7M4PQ")
        self.actions = Actions(self.room, Settings(), shows=True)
        self.told: list[str] = []
        self.work: list[asyncio.Task[None]] = []
        self.review = Review(
            self.actions, run=self.run, tell=self.told.append, redraw=lambda: None, settle_seconds=0.001
        )
        self.seen = 0
        self.see(moves)

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        self.work.append(asyncio.create_task(work))

    def see(self, moves: Sequence[int]) -> None:
        self.seen += 1
        self.room._enter(Ok(id="1", room="K7M4PQ", seat="X"))
        self.room._receive(replace(state(moves), seq=self.seen))
        self.review.look()

    def step(self, by: int) -> None:
        self.actions.timeline = self.actions.timeline.jump(self.actions.timeline.here + by)
        self.review.look()

    async def look(self) -> None:
        self.review.switch(on=True)
        await self.rest()

    async def rest(self) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await asyncio.gather(*self.work)

    def ply(self) -> int | None:
        """Return the ply whose value is shown, or None."""
        return self.review.analysis.ply if self.review.analysis else None


async def test_nothing_is_asked_unless_values_are_wanted() -> None:
    eye = Eye()
    eye.step(-1)
    eye.review.switch(on=True)
    eye.review.switch(on=False)
    await eye.rest()
    assert (eye.server.plies, eye.ply()) == ([], None)


async def test_only_the_moment_displayed_for_a_while_is_analysed() -> None:
    eye = Eye()
    eye.review.switch(on=True)
    for _ in range(3):
        eye.step(-1)
    assert eye.review.is_waiting
    await eye.rest()
    assert (eye.server.plies, eye.ply()) == ([1], 1)
    assert not eye.review.is_waiting


async def test_known_analyses_are_not_requested_again() -> None:
    eye = Eye()
    eye.review.switch(on=True)
    for step in (-1, 1, -1, 1):
        await eye.rest()
        eye.step(step)
    await eye.rest()
    assert (eye.server.plies, eye.ply()) == ([4, 3], 4)


async def test_an_answer_that_comes_late_is_kept_for_its_own_moment() -> None:
    eye = Eye()
    eye.server.may_answer.clear()
    eye.review.switch(on=True)
    async with asyncio.timeout(PATIENCE_SECONDS):
        await eye.server.was_asked.wait()
    eye.step(-2)
    assert eye.ply() is None
    eye.server.may_answer.set()
    await eye.rest()
    assert (eye.server.plies, eye.ply()) == ([4, 2], 2)
    eye.step(2)
    assert eye.ply() == 4


async def test_a_review_follows_a_running_game() -> None:
    eye = Eye()
    await eye.look()
    eye.server.moves = [*MOVES, 6]
    eye.see(eye.server.moves)
    assert eye.ply() is None
    await eye.rest()
    assert (eye.server.plies, eye.ply()) == ([4, 5], 5)


async def test_a_move_that_was_taken_back_leaves_no_wrong_worth_behind() -> None:
    eye = Eye()
    await eye.look()
    eye.server.moves = [0, 4, 8, 6]
    eye.see(eye.server.moves[:3])
    eye.see(eye.server.moves)
    assert eye.ply() is None
    await eye.rest()
    assert eye.review.analysis is not None
    assert 2 in eye.review.analysis.cells


@pytest.mark.parametrize(
    "changes",
    [
        {"best": (99,)},
        {"best": (4,)},
        {"cells": {99: DRAW}, "best": ()},
        {"cells": analysed([0, 4, 8, 6]).cells},
        {"turn": "?"},
        {"ply": 2},
    ],
)
async def test_an_answer_that_makes_no_sense_is_not_shown(changes: dict[str, Any]) -> None:
    eye = Eye()
    eye.server.changes = changes
    await eye.look()
    assert (eye.server.plies, eye.ply(), eye.review.is_waiting) == ([4], None, False)


async def test_refusals_that_pass_are_waited_out_in_silence() -> None:
    eye = Eye(Refused("rate_limited", "You ask too much.", retry_ms=1), Refused("busy", "No time.", retry_ms=1))
    await eye.look()
    assert (eye.server.plies, eye.ply(), eye.told) == ([4, 4, 4], 4, [])


async def test_a_permanent_refusal_is_shown_once_and_not_retried() -> None:
    eye = Eye(Refused("not_allowed", "You play this game."))
    await eye.look()
    eye.review.look()
    await eye.rest()
    assert (eye.server.plies, eye.told) == ([4], ["You play this game."])


async def test_a_players_running_game_is_never_analysed() -> None:
    eye = Eye(viewer=BO)
    await eye.look()
    assert (eye.server.plies, eye.review.is_on) == ([], False)


async def test_the_end_of_a_game_has_no_worth_but_each_moment_before_it() -> None:
    eye = Eye(viewer=BO, moves=[0, 3, 1, 4, 2])
    await eye.look()
    assert (eye.server.plies, eye.review.is_on, eye.review.is_waiting) == ([], True, False)
    eye.step(-1)
    await eye.rest()
    assert eye.ply() == 4
