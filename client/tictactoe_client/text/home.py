"""What the home of plain mode says: who one is, a game that still waits, and what can be typed. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from tictactoe_client.text.left_behind import name_with_time
from tictactoe_protocol import clean_text

COMMANDS = ("play", "bot", "new", "join", "watch", "rooms", "history")
"""What is offered; the other commands of the program can be typed as well."""

_MEANINGS = (
    ("play", "whoever comes"),
    ("bot", "the computer; bot --level hard plays well"),
    ("new", "a room of your own, to invite others to"),
    ("join CODE", "a seat in a room, by its code or its link"),
    ("watch", "a game that is being played, chosen from a list; watch CODE, a certain one"),
    ("rooms", "the public rooms"),
    ("history", "your finished games; replay steps through the last one, replay 17 through number 17"),
)


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
    words += ["join CODE" if word == "join" else word for word in COMMANDS]
    return f"Type {', '.join(words)}, help or quit."


def describe_home_help(*, is_waited_for: bool) -> list[str]:
    """Return what each word does, one a line."""
    meanings = (("resume", "your game that still waits"), *_MEANINGS) if is_waited_for else _MEANINGS
    return [
        *(f"{word}: {meaning}." for word, meaning in meanings),
        "help: these lines. quit: the end of the program.",
        "Options may follow, such as play --rules gomoku; play --help names them. In a game, leave leads back here.",
    ]


def describe_unknown(word: str, known: Sequence[str], *, is_waited_for: bool) -> str:
    """Return that a word means nothing here, and what was perhaps meant, else what can be typed."""
    close = difflib.get_close_matches(word.lower(), known, 1)
    hint = f"Did you mean {close[0]}?" if close else list_words(is_waited_for=is_waited_for)
    return f'I don\'t know "{clean_text(word)}". {hint}'
