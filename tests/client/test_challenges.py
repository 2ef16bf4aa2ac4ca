import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import pytest

from tests.peer import until
from tests.proxy import Proxy
from tests.server.ratings.served import CLOCK, RULES, claimed, rating
from tictactoe_client import Client, Refused, Room, connect
from tictactoe_client.input.challenges import fetch_ladder
from tictactoe_client.online.backoff import Backoff
from tictactoe_client.online.events import ChallengeEnded
from tictactoe_protocol.days import Notify
from tictactoe_protocol.terms import ClockFields
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings

__all__ = ["rating"]

CLOCKED = ClockFields(**CLOCK)
ASKED: dict[str, Any] = {"rules": RULES, "clock": CLOCKED}


@pytest.fixture
async def ana(rating: Server) -> AsyncIterator[Client]:
    async with claimed(rating, "ana") as client:
        yield client


@pytest.fixture
async def bo(rating: Server) -> AsyncIterator[Client]:
    async with claimed(rating, "bo") as client:
        yield client


async def ask(asking: Client, asked: Client) -> tuple[asyncio.Task[Room], str]:
    """Challenge a player, and return the task that waits for the answer, and the challenge."""
    proposing = partial(asking.challenges.send, asked.player, **ASKED)
    waiting = asyncio.create_task(asking.challenges.meet(proposing()))
    await until(lambda: asked.player in [one.to for one in asked.challenges.open.values()])
    return waiting, list(asked.challenges.open)[-1]


async def test_the_end_of_a_challenge_is_reported_and_an_abandoned_one_withdrawn(ana: Client, bo: Client) -> None:
    waiting, challenge = await ask(ana, bo)
    await bo.challenges.answer(challenge, accept=False)
    with pytest.raises(Refused) as refused:
        await waiting
    assert refused.value.code == "declined"
    waiting, challenge = await ask(ana, bo)
    waiting.cancel()
    await until(lambda: not bo.challenges.open and not ana.challenges.open)


async def test_accepting_a_challenge_withdraws_the_players_own(rating: Server, ana: Client, bo: Client) -> None:
    async with claimed(rating, "cy") as cy:
        meeting, _ = await ask(ana, cy)
        waiting, challenge = await ask(bo, ana)
        await ana.challenges.answer(challenge, accept=True)
        assert (await meeting).code == (await waiting).code
        await until(lambda: not cy.challenges.open)


async def test_a_welcome_ends_a_missing_challenge_or_leads_to_its_seat(rating: Server, bo: Client) -> None:
    quick = Backoff((0.01,), longest=0.02, hold_seconds=60)
    async with (
        Proxy(rating.port) as proxy,
        connect(proxy.url, name="cy", reconnect=quick) as cy,
        cy.messages() as messages,
    ):
        asked = await bo.challenges.send(cy.player)
        own = await cy.challenges.send(bo.player)
        await until(lambda: len(cy.challenges.open) == len(bo.challenges.open) == 2)
        proxy.lose()
        await bo.challenges.answer(asked, accept=False)
        room = await bo.challenges.answer(own, accept=True)
        proxy.is_closed = False
        ended: dict[str, ChallengeEnded] = {}
        async for message in messages:
            if isinstance(message.event, ChallengeEnded):
                ended[message.event.over.challenge] = message.event
            if len(ended) == 2:
                break
        assert (ended[asked].over.how, ended[asked].leads) == ("over", False)
        assert (ended[own].over.how, ended[own].over.room, ended[own].leads) == ("accepted", room, True)


async def test_a_server_without_a_feature_refuses_its_requests_with_a_sentence() -> None:
    async with Server(Settings(host="127.0.0.1", port=0), features=()) as server, connect(server.url) as ana:
        for asking, code, told in (
            (ana.challenges.send("x"), "unsupported", "This server has no challenges."),
            (ana.challenges.block("x"), "unsupported", "This server has no challenges."),
            (fetch_ladder(ana, RULES), "unsupported", "This server has no rated games."),
            (ana.ask(Notify(feed=True)), "unsupported", "This server has no games over days."),
            (ana.rooms.create(rated=True), "not_allowed", "This server has no rated games."),
            (ana.rooms.match(rated=True), "not_allowed", "This server has no rated games."),
        ):
            with pytest.raises(Refused, match=told) as refused:
                await asking
            assert refused.value.code == code
