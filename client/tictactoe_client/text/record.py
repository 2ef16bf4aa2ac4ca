"""What is told of a recorded game: who played what and when, what happened with a move, how it ended. Pure.

A record holds only characters that can be printed; still, names and comments come from strangers.
"""

from __future__ import annotations

from typing import Any

from tictactoe_client.text.wording import count, describe_reason, describe_rules
from tictactoe_engine import Position
from tictactoe_engine.records import GameRecord, MoveClock, SeatClock
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import RulesState


def describe_record(record: GameRecord) -> list[str]:
    """Return what is known of the whole game: who, what, when and where, and how it ended."""
    facts = [describe_players(record), describe_rules(record.rules), *list_facts(record)]
    return [f"{', '.join(facts)}.", f"{count(len(record.moves), 'move')}. {describe_end(record)}"]


def describe_players(record: GameRecord) -> str:
    """Return who played which mark: ``ana (X) v bo (O)``."""
    return " v ".join(name_in(record, mark) for mark in record.rules.marks)


def name_in(record: GameRecord, mark: str) -> str:
    """Return who played a mark: ``ana (X)``, the mark alone where that is not known."""
    name = dict(record.players).get(mark)
    return mark if name is None else f"{clean_text(name) or '?'} ({mark})"


def list_facts(record: GameRecord) -> list[str]:
    """Return what the record says beside players and rules: its clock, date, room and number, where it does."""
    facts = [] if record.clock is None else [_describe_clock(record.clock)]
    facts += [] if record.date is None else [record.date]
    facts += [] if record.room is None else [f"room {clean_text(record.room)}"]
    return facts if record.game is None else [*facts, f"game {record.game}"]


def describe_end(record: GameRecord) -> str:
    """Return how the game ended: ``ana (X) wins by a line.``"""
    result = record.result
    if result is None:
        return "The game still runs."
    who = "A draw" if result.winner is None else f"{name_in(record, result.winner)} wins"
    return f"{who} {describe_reason(result.reason)}."


def describe_notes(record: GameRecord, ply: int) -> list[str]:
    """Return what the record notes after so many moves: who is out from here, comments, and at the end the result."""
    lines = [f"{name_in(record, mark)} is passed over from here." for at, mark in record.passed if at == ply]
    lines += [f"{{{clean_text(text)}}}" for at, text in record.comments if at == ply]
    return [*lines, describe_end(record)] if ply == len(record.moves) else lines


def summarise_record(record: GameRecord) -> dict[str, Any]:
    """Return the whole game for programs; `players` are by mark."""
    rules, result = RulesState.of(record.rules), record.result
    return {
        "rules": {name: getattr(rules, name) for name in RulesState.__struct_fields__},
        "players": dict(record.players),
        "date": record.date,
        "room": record.room,
        "game": record.game,
        "moves": record.moves,
        "passed": [{"ply": ply, "mark": mark} for ply, mark in record.passed],
        "result": None if result is None else {"winner": result.winner, "reason": result.reason},
    }


def summarise_position(record: GameRecord, position: Position) -> dict[str, Any]:
    """Return one position of the game for programs, in the words of a room's state."""
    is_over = position.ply == len(record.moves) and record.result is not None
    return {
        "ply": position.ply,
        "board": position.board,
        "turn": None if is_over else position.turn,
        "last": position.last,
        "line": position.outcome.line if position.outcome else (),
        "comments": [text for at, text in record.comments if at == position.ply],
    }


def _describe_clock(clock: SeatClock | MoveClock) -> str:
    if isinstance(clock, MoveClock):
        return f"{clock.move_ms / 1000:g} s a move"
    return f"{clock.initial_ms / 60_000:g}+{clock.increment_ms / 1000:g}"
