import json
from collections.abc import AsyncIterator

import pytest

from tests.end_to_end.clients import outcome, run_client
from tests.peer import until
from tests.server.ratings.served import CLOCK, RULES, claimed, rating
from tictactoe_client import Client
from tictactoe_protocol.terms import ClockFields
from tictactoe_server.server import Server

__all__ = ["rating"]

TERMS = ("--rules", RULES, "--clock", "10+0")


@pytest.fixture
async def bo(rating: Server) -> AsyncIterator[Client]:
    async with claimed(rating, "bo") as client:
        yield client


async def run(server: Server, *words: str) -> list[str]:
    """Return the output of a command that succeeds."""
    return (await outcome(*words, "-s", server.url, code=0)).output.splitlines()


async def answer(bo: Client, *, accept: bool) -> str:
    await until(lambda: bool(bo.challenges.open))
    return await bo.challenges.answer(next(iter(bo.challenges.open)), accept=accept) or ""


async def test_a_challenger_waits_and_enters_the_room_of_the_accepted_challenge(rating: Server, bo: Client) -> None:
    async with run_client("challenge", bo.player, *TERMS, "--side", "X", "-s", rating.url, "--plain", "--stay") as ana:
        await ana.until("You challenge ", "The challenge is open for one minute. Ctrl+C withdraws it.")
        room = await bo.rooms.join(await answer(bo, accept=True))
        await ana.until("You are X", "Your move, X.")
        ana_s_id = next(seat.player for seat in room.state.seats.values() if seat and seat.player != bo.player)
        await bo.challenges.send(ana_s_id)
        await ana.until("bo challenges you: 3 by 3", "Answer with: challenge yes, challenge no, or block")
        await ana.ask("challenge yes", "You are in a game")
        await ana.ask("help", "Challenges: challenge NAME asks")
        await ana.ask("accept", "You are in a game")
        await ana.ask("decline", "You decline.")
        await bo.challenges.send(ana_s_id)
        await ana.until("bo challenges you: 3 by 3")
        await room.draw()
        await ana.until("bo offers a draw.")
        await ana.ask("decline", "You decline.")
        await ana.ask("challenge no", "You decline.")
        await room.resign()
        await ana.until("The game doesn't count. It was aborted")
        await bo.challenges.send(ana_s_id)
        await ana.until("bo challenges you: 3 by 3")
        await ana.ask("challenge yes", "You accept. Your game is in room", "Connected, ")
        await bo.challenges.send(ana_s_id)
        await ana.until("bo challenges you")
        await ana.ask("block", "bo is blocked")
        await ana.ask("block bo--off", "Nobody here is called bo--off.")
        await ana.ask("block BO --off", "You see challenges and chat from bo again.")
        await ana.ask("block", "You have blocked nobody.")
        await ana.ask("block bo", "bo is blocked")
        await ana.ask("block", "You have blocked 1 player: ")
        await ana.ask("block nobody", "Nobody here is called nobody.")


async def test_the_end_of_a_challenge_is_printed(rating: Server, bo: Client) -> None:
    async with run_client("challenge", bo.player, "-s", rating.url, "--json") as ana:
        await answer(bo, accept=False)
        assert (await ana.message(type="challenge_over"))["how"] == "declined"
        assert (await ana.message(type="error", **{"from": "client"}))["code"] == "declined"
        assert await ana.end() == 6


async def test_a_ladder_and_a_player_are_printed(rating: Server, bo: Client) -> None:
    assert "Nobody here is called eve." in (await outcome("block", "eve", "-s", rating.url, code=6)).errors
    assert await run(rating, "block") == ["You have blocked nobody."]
    assert "No rated game yet." in (await outcome("player", "-s", rating.url, code=6)).errors
    await run(rating, "name", "claim", "ana")
    terms = (*TERMS, "--rated", "-s", rating.url, "--plain")
    async with run_client("new", *terms) as ana:
        await ana.until("Connected, ")
        theirs = await bo.rooms.match(RULES, clock=ClockFields(**CLOCK), rated=True)
        await ana.until("Your move")
        ana.type("a")
        await until(lambda: theirs.is_my_turn)
        await theirs.move(36)
        await theirs.resign()
        await ana.until("Your rating: 1662? (+162).", "bo: 1338? (-162), ")
    assert RULES in await run(rating, "ladder")
    assert (await run(rating, "ladder", RULES))[-1] == "1 rated game."
    lines = await run(rating, "player", bo.player)
    assert lines[0] == "bo"
    assert lines[2].startswith(f"{RULES}  1338?")
    assert lines[2].split()[-3:] == ["0", "0", "1"]
    assert lines[3] == "You and bo: 1 won, 0 drawn, 0 lost."
    assert "lost by resignation" in lines[4]
    answers = [json.loads(line) for line in await run(rating, "player", "--json")]
    (profile,) = [one["profile"] for one in answers if "profile" in one]
    assert profile["ladders"][0]["wins"] == 1


async def test_a_script_without_a_claimed_name_is_told_how_to_claim_one(rating: Server) -> None:
    async with run_client("play", *TERMS, "--rated", "--plain", "-s", rating.url) as ana:
        assert await ana.end() == 6
        assert f"name claim NAME --server {rating.url}" in await ana.errors()


async def test_a_rated_games_changes_are_printed_first(rating: Server, bo: Client) -> None:
    await run(rating, "name", "claim", "ana")
    async with run_client("new", *TERMS, "--rated", "-s", rating.url, "--json") as ana:
        await ana.message(type="room")
        theirs = await bo.rooms.match(RULES, clock=ClockFields(**CLOCK), rated=True)
        ana.send(type="move", cell=35)
        await until(lambda: theirs.is_my_turn)
        await theirs.move(36)
        ana.send(type="resign")
        ana.end_input()
        assert await ana.end() == 0
        assert any('"type":"rated"' in line for line in ana.lines)
