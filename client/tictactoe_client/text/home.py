"""What the home of plain mode says: who one is, a game that still waits, and what can be typed. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from tictactoe_client.online.address import Address
from tictactoe_client.text.help import HOME
from tictactoe_client.text.lists import describe_outcome
from tictactoe_client.text.program import own_command
from tictactoe_client.text.wording import format_duration
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import PastGame

WORDS = tuple(command.typed[0] for command in HOME[1:])
"""What is offered where no game waits."""


def describe_self(name: str, latency_seconds: float) -> str:
    """Return that there is a connection, and who one is on it."""
    return f"Connected, {max(1, round(latency_seconds * 1000))} ms. You are {clean_text(name)}."


def offer_games(games: Sequence[tuple[str, int | None]]) -> list[str]:
    """Return a line for each room where a seat still waits, given with the ms for which it is held.

    >>> offer_games([("K7M4PQ", 31_000)])
    ['You have a game in K7M4PQ (0:31 left): type resume.']
    """
    ways = ["resume"] if len(games) == 1 else [f"resume {room}" for room, _ in games]
    return [
        f"You have a game in {name_with_time(room, held_ms)}: type {way}."
        for (room, held_ms), way in zip(games, ways, strict=True)
    ]


def list_words(*, is_waited_for: bool) -> str:
    """Return what can be typed in one line; `resume` only where a game waits."""
    words = ["resume"] if is_waited_for else []
    return f"Type {', '.join([*words, *WORDS])}, help or quit."


def describe_home_help(*, is_waited_for: bool) -> list[str]:
    """Return what each word does, one a line."""
    return [
        *(f"{command.typed[0]}: {command.does}." for command in HOME[0 if is_waited_for else 1 :]),
        "help: these lines. quit: the end of the program.",
        "Options may follow, such as play --rules gomoku; play --help names them. In a game, leave leads back here.",
    ]


def describe_unknown(word: str, known: Sequence[str], *, is_waited_for: bool) -> str:
    """Return that a word means nothing here, and what was perhaps meant, else what can be typed."""
    close = difflib.get_close_matches(word.lower(), known, 1)
    hint = f"Did you mean {close[0]}?" if close else list_words(is_waited_for=is_waited_for)
    return f'I don\'t know "{clean_text(word)}". {hint}'


def describe_way_back(room: str, held_ms: int | None, address: Address) -> str:
    """Return that a game waits, for how long, and the command that takes its seat up again."""
    return f"You have a game in {name_with_time(room, held_ms)}: {own_command('join', address.word_for(room))}"


def name_with_time(room: str, held_ms: int | None) -> str:
    """Return a room with how long one's seat there is held, None where that is not known.

    >>> name_with_time("K7M4PQ", 31_000), name_with_time("K7M4PQ", 0), name_with_time("K7M4PQ", None)
    ('K7M4PQ (0:31 left)', 'K7M4PQ (yours until it is claimed)', 'K7M4PQ')
    """
    if held_ms is None:
        return room
    return f"{room} ({f'{format_duration(held_ms)} left' if held_ms else 'yours until it is claimed'})"


def describe_loss(room: str, ended: PastGame | None, viewer: str, replay_from: Address | None = None) -> str:
    """Return how the game of a room ended, or that it is closed where no game was played to an end there.

    With the server to replay it from, the command for that follows.
    """
    if ended is None:
        return f"Your room {room} is closed."
    told = f"Your game in {room} is over: {describe_outcome(ended, viewer)}."
    if replay_from is None:
        return told
    return f"{told} {own_command('replay', clean_text(ended.id), server=replay_from)}"
