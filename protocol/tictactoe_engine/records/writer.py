"""Formats a record as text: the tags, a blank line, the moves in rounds, and the result."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from textwrap import TextWrapper
from typing import Final

from tictactoe_engine.notation import format_cell, mirror_rows
from tictactoe_engine.records.game_record import RULE_TAGS, WORD_TAGS, Clock, DayClock, GameRecord, MoveClock, Walk
from tictactoe_engine.rules import Rules

_fill: Final = TextWrapper(width=80, break_long_words=False, break_on_hyphens=False).fill


def format_record(record: GameRecord) -> str:
    """Return the text of a record, which `parse_record` reads back as an equal record.

    The texts of several records can be joined for `parse_records`.

    >>> print(format_record(GameRecord(moves=(4, 0), players=(("X", "ana"),))), end="")
    [Rules "classic"]
    [X "ana"]
    [Result "*"]
    <BLANKLINE>
    1. b2 a1 *
    <BLANKLINE>
    """
    tags = "".join(f'[{name} "{_escape(value)}"]\n' for name, value in _list_tags(record))
    return f"{tags}\n{_fill(' '.join(_list_words(record)))}\n\n"


def _list_tags(record: GameRecord) -> Iterator[tuple[str, str]]:
    yield from _list_rules(record.rules)
    yield from record.players
    for name in WORD_TAGS:
        if (value := getattr(record, name.lower())) is not None:
            yield name, value
    if record.game is not None:
        yield "Game", str(record.game)
    if record.clock is not None:
        yield "Clock", _format_clock(record.clock)
    if record.passed:
        yield "Passed", " ".join(f"{mark}@{ply}" for ply, mark in record.passed)
    yield "Result", _format_result(record)
    if record.result is not None:
        yield "Reason", record.result.reason
    yield from record.tags


def _list_rules(rules: Rules) -> Iterator[tuple[str, str]]:
    if rules.preset is not None:
        yield "Rules", rules.preset
        return
    for name in RULE_TAGS[1:]:
        value = getattr(rules, name.lower())
        if name == "Blocked":
            value = " ".join(_format_cell(cell, rules) for cell in sorted(rules.blocked))
        if value:
            yield name, "true" if value is True else str(value)


def _list_words(record: GameRecord) -> Iterator[str]:
    """Yield the round numbers, moves, words in comments and result, which spaces or line breaks may separate."""
    comments: dict[int, list[str]] = defaultdict(list)
    for ply, mark, take in record.position.choices:
        comments[ply] += f"{{{record.rules.opening} {mark} {take}}}".split()
    for ply, text in record.comments:
        comments[ply] += f"{{{text}}}".split()
    walk = Walk(record.rules, record.passed, record.chosen)
    for ply, cell in enumerate(record.moves):
        yield from comments[ply]
        if walk.opens_round:
            yield f"{walk.round}."
        yield _format_cell(cell, record.rules)
        walk.play(cell)
    yield from comments[len(record.moves)]
    yield _format_result(record)


def _format_result(record: GameRecord) -> str:
    result = record.result
    return "*" if result is None else result.winner or ("none" if result.nobody_wins else "draw")


def _format_cell(cell: int, rules: Rules) -> str:
    return format_cell(mirror_rows(cell, rules), rules).lower()  # records count rows from the top on every board


def _format_clock(clock: Clock) -> str:
    if isinstance(clock, DayClock):
        return f"{clock.days}d+{clock.bank_days}d"
    if isinstance(clock, MoveClock):
        return f"{_format_seconds(clock.move_ms)}/move"
    return f"{_format_seconds(clock.initial_ms)}+{_format_seconds(clock.increment_ms)}"


def _format_seconds(milliseconds: int) -> str:
    seconds, fraction = divmod(milliseconds, 1000)
    return f"{seconds}.{fraction:03}".rstrip("0") if fraction else str(seconds)


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')
