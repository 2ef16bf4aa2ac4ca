"""Sentences about a room's state, with names made safe. `viewer` is the public id of the reader, called "you"."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence
from typing import Final

from tictactoe_engine import Keys, Rules, format_cell, format_column, has_single_keys
from tictactoe_engine.notation import parse_column
from tictactoe_engine.position import free_cells
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.terms import ClockTerms
from tictactoe_words.catalogue import say
from tictactoe_words.choices import choices, describe_deed, describe_question
from tictactoe_words.commands import word_of
from tictactoe_words.wording import count, describe_clock, describe_turn, join_words, name_of, seat_of

MOST_FREE_AFTER_MISTAKE: Final = 9
_SIMILAR_ENOUGH: Final = 0.7


def describe_connection(latency_seconds: float) -> str:
    """Return a sentence which says that we are connected, and the latency."""
    return say("connected", ms=max(1, round(latency_seconds * 1000)))


def describe_unknown(typed: str, hint: str, known: Sequence[str] = ()) -> str:
    """Say that a typed text is unknown, and suggest a similar text of `known`, or else give the hint."""
    close = difflib.get_close_matches(typed.lower(), known, 1, _SIMILAR_ENOUGH) if len(typed) < 40 else []
    return say("unknown", typed=clean_text(typed), hint=say("did you mean", word=close[0]) if close else hint)


def name_played(state: RoomState, cells: Sequence[int]) -> list[str]:
    """Return played cells with their marks, such as ``X B2``."""
    rules = state.rules.to_rules()
    return [f"{state.board[cell]} {format_cell(cell, rules)}" for cell in cells]


def has_moved_on(old: RoomState, state: RoomState) -> bool:
    """Return True if the board, the turn or the opening's next step has changed."""
    before = (old.game, old.board, old.status, old.turn, old.opening)
    return before != (state.game, state.board, state.status, state.turn, state.opening)


def describe_due(state: RoomState, viewer: str, actor: str | None = None) -> list[str]:
    """Return lines about whose turn it is, and the options if `actor` (by default the viewer) has to choose."""
    turn, asked = describe_turn(state, viewer), choices(state, actor or viewer).questions
    if not asked or asked[0].id != "choose":
        return [turn]
    ways = enumerate(asked[0].deeds, 1)
    lines = [say("way to choose", n=n, word=word_of(deed.name), does=describe_deed(deed, state)) for n, deed in ways]
    return [turn, describe_question(asked[0], state), say("please type", words="; ".join(lines))]


def describe_clock_in_words(clock: ClockTerms | None) -> str:
    """Describe a clock in words: ``3 min each + 2 s a move``, ``10 s a move``, or ``no clock``."""
    if clock is None or clock.move_ms or clock.counts_days:
        return describe_clock(clock)
    seconds, more = (clock.initial_ms or 0) / 1000, (clock.increment_ms or 0) / 1000
    minutes = seconds / 60
    time = say("clock minutes", n=f"{minutes:g}") if minutes >= 1 else say("clock seconds", n=f"{seconds:g}")
    return say("clock each and more" if more else "clock each", time=time, more=f"{more:g}")


def describe_seconds(seconds: float) -> str:
    """Return a time in words: whole seconds, or whole minutes if it is a minute or longer."""
    return count(int(seconds // 60), "minute") if seconds >= 60 else count(int(seconds), "second")


def list_free(state: RoomState, limit: int) -> str:
    """Return a sentence with at most `limit` free cells, such as ``Free: A2 C2.``"""
    rules = state.rules.to_rules()
    free = free_cells(state.board, rules)
    if not free:
        return say("free none")
    cells, more = " ".join(format_cell(cell, rules) for cell in free[:limit]), len(free) - limit
    return say("free cells", cells=say("cells and more", cells=cells, n=more) if more > 0 else cells)


def is_move_by_letter(line: str, rules: Rules, keys: Keys | str) -> bool:
    """Return True if a player's line is a move typed as a letter, or could be mistaken for such a move.

    >>> four = Rules(6, 7, 4, gravity=True)
    >>> [is_move_by_letter(line, four, "phone") for line in ("d", "G", "h", "?", "d b2")]
    [True, True, False, False, False]
    """
    letter = line.split()[0]
    if not (len(letter) == 1 and letter.isascii() and letter.isalpha()):
        return False
    if has_single_keys(rules) and keys == Keys.LETTERS:
        return True
    return rules.gravity and letter == line and parse_column(letter) < rules.columns


def name_columns(rules: Rules) -> str:
    """Return the range of columns, such as ``A to G``."""
    last = format_column(rules.columns - 1)
    return "A" if last == "A" else say("reach", first="A", last=last)


def describe_choices(old: RoomState, new: RoomState, viewer: str) -> list[str]:
    """Return a line about how to answer each new question to the viewer; [] for watchers."""
    before = {(question.id, question.marks) for question in choices(old, viewer).questions}
    asked = choices(new, viewer).questions
    claimed = {mark for id, marks in before if id == "claim" for mark in marks}
    is_one = len([one for one in asked if one.id in ("draw", "undo", "rematch")]) == 1
    lines = []
    for question in asked:
        if (question.id, question.marks) in before:
            continue
        if question.id in ("draw", "undo"):
            full = [f"{word_of(question.id)} {word_of(f'way {way}')}" for way in ("accept", "decline")]
            lines.append(ask_for(word_of("yes"), word_of("no")) if is_one else ask_for(*full))
        elif question.id == "rematch":
            lines.append(say("answer rematch"))
        elif question.id == "deserted" and old.status == "over":
            lines.append(say("no rematch then", ways=describe_ways_on(new, viewer)))
        elif question.id == "claim" and (gone := [mark for mark in question.marks if mark not in claimed]):
            lines.append(describe_claim(new, gone))
    return lines


def ask_for(yes: str, no: str) -> str:
    """Return a sentence that asks the person to type one of two answers."""
    return say("please type", words=say("or", first=yes, last=no))


def can_play_again(state: RoomState) -> bool:
    """Return True if all players are still in the room, so that a rematch is possible."""
    return not any(seat is None or seat.left for seat in state.seats.values())


def describe_ways_on(state: RoomState, viewer: str) -> str:
    """Return a sentence about what to do after a game."""
    deserted = bool(state.rated) or not can_play_again(state)
    if seat_of(state, viewer) is None:
        return say("ways on, watching deserted" if deserted else "ways on, watching")
    if state.rated:
        return say("ways on, rated")
    return say("ways on, deserted" if deserted else "ways on")


def describe_claim(state: RoomState, marks: Collection[str]) -> str:
    """Say that we can claim the game because these opponents are absent, or abort it before all have moved."""
    names = join_words([name_of(state, mark) for mark in marks])
    is_beginning = any(request.endswith("abort") for requests in state.may.values() for request in requests)
    way = ", to abort" if is_beginning else ", or draw" if len(state.seats) == 2 else ""
    return say(f"claim possible{way}", n=len(marks), names=names)
