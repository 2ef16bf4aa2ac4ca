"""Carries out the command ``plan``, which stores replies that the server plays for us in a game over days."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET

from tictactoe_client.input.intents import BadInput, parse_intent
from tictactoe_client.online.client import Client
from tictactoe_client.settings import Settings
from tictactoe_engine import format_cell
from tictactoe_engine.position import lowest_free
from tictactoe_protocol.days import MAX_BRANCHES, MAX_PLIES, Plan
from tictactoe_protocol.pushes import RoomState
from tictactoe_words.catalogue import say
from tictactoe_words.commands import Place, word_of


async def carry_out(client: Client, text: str, state: RoomState, settings: Settings, usage: str) -> str:
    """Store a plan such as ``b2 c3, b1 a1``, or delete it for ``none``; return a line about the plan now stored.

    For "", only the stored plan is fetched. `usage` is shown if none is stored, and raised as `BadInput` for an invalid
    plan. May also raise `Refused`.
    """
    branches = UNSET if not text else () if text == "none" else _parse(text, state, settings, usage)
    plan = await client.ask(Plan(room=state.room, moves=branches))
    told = describe(plan.plan or (), state)
    return told if text or plan.plan else f"{told} {usage}"


def describe_usage(colon: str = "") -> str:
    """Return a sentence about how to type a plan; `colon` is what has to be typed before a command."""
    return say("plan how", word=f"{colon}{word_of('plan')}", branches=MAX_BRANCHES, moves=MAX_PLIES)


def describe(branches: Sequence[Sequence[int]], state: RoomState) -> str:
    """Return a line about a plan, such as ``Planned: B2 C3, B1 A1.``"""
    rules = state.rules.to_rules()
    lines = [" ".join(format_cell(cell, rules) for cell in branch) for branch in branches]
    return say("planned", moves=", ".join(lines)) if lines else say("planned nothing")


def _parse(text: str, state: RoomState, settings: Settings, usage: str) -> tuple[tuple[int, ...], ...]:
    branches = tuple(_parse_branch(part, state, settings, usage) for part in text.split(","))
    if len(branches) > MAX_BRANCHES or not all(2 <= len(branch) <= MAX_PLIES for branch in branches):
        raise BadInput(usage)
    return branches


def _parse_branch(text: str, state: RoomState, settings: Settings, usage: str) -> tuple[int, ...]:
    rules, board, cells = state.rules.to_rules(), state.board, list[int]()
    for word in text.split():
        place = parse_intent(word, rules, keys=settings.keys, coordinates=settings.coordinates)
        if not isinstance(place, Place):
            raise BadInput(usage)
        cell = place.cell
        if rules.gravity:  # any cell of the column means its lowest free cell
            landing = lowest_free(board, cell, rules.columns)
            cell = cell if landing is None else landing
        board = f"{board[:cell]}?{board[cell + 1 :]}"
        cells.append(cell)
    return tuple(cells)
