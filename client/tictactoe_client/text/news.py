"""What happens in a room and what is open there, in sentences; each face shows turn and board in its own way. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, Literal

from tictactoe_client.online import events
from tictactoe_client.online.changes import is_draw, standing
from tictactoe_client.text.answers import describe_lines
from tictactoe_client.text.wording import loser_of
from tictactoe_engine import format_cell
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import RoomState, SeatState
from tictactoe_protocol.wording import (
    describe_cell,
    describe_players,
    describe_reason,
    format_duration,
    join_words,
    name_of,
    seat_of,
)

_MOST_NAMED: Final = 6
"""How many moves that were taken back are told by their names."""
_WHY_OVER: Final = {
    "full": "The board is full.",
    "agreed": "Both agreed.",
    "claimed": "The game was claimed, as the other seat stayed empty.",
    "aborted": "The game was aborted, as not everybody had moved yet.",
    **dict.fromkeys(("resigned", "timeout"), "Nobody else is left in the game."),
}


def open_offers(state: RoomState, viewer: str) -> list[events.OfferKind]:
    """Return which offers wait for the viewer's answer."""
    own, offers = seat_of(state, viewer), state.offers
    if own is None:
        return []
    kinds: tuple[events.OfferKind, ...] = ("draw", "undo")
    found = [kind for kind in kinds if getattr(offers, kind) not in (None, own)]
    return [*found, "rematch"] if offers.rematch and own not in offers.rematch else found


def describe_take_back(state: RoomState, asker: str, moves: Sequence[int] | None = None) -> str:
    """Return what is taken back where `asker` asks: ``B2``, ``B2 and C3`` or, moves unknown, ``the last 2 moves``."""
    count = 1 if state.last is not None and state.board[state.last] == asker else 2
    known = (state.last,) if state.last is not None else ()
    cells = (moves if moves is not None and len(moves) == state.ply else known)[-count:]
    return name_moves(cells if len(cells) == count else (), count, state)


def name_moves(cells: Sequence[int], count: int, state: RoomState) -> str:
    """Return the cells of the last `count` moves by name, or their number where they are not known."""
    rules = state.rules.to_rules()
    return join_words([format_cell(cell, rules) for cell in cells]) or f"the last {count} moves"


def describe_choices(old: RoomState, new: RoomState, viewer: str) -> list[str]:
    """Return how to answer the offers that are new since `old`; nothing for watchers."""
    told, asked = [], open_offers(new, viewer)
    for kind in asked:
        yes, no = ("yes", "no") if len(asked) == 1 else (kind, f"{kind} decline")
        if getattr(new.offers, kind) == getattr(old.offers, kind):
            continue
        accept = f"Type {yes} to {'accept' if kind == 'draw' else 'let them'}, {no} to refuse."
        told.append("Type rematch or yes to accept." if kind == "rematch" else accept)
    is_deserted = old.status == "over" and can_play_again(old) and not can_play_again(new)
    if is_deserted and seat_of(new, viewer) is not None:
        told.append(f"No rematch, then. {describe_ways_on(new, viewer)}")
    return told


def can_play_again(state: RoomState) -> bool:
    """Tell whether everybody who played is still in the room, so that there may be a rematch."""
    return not any(seat is None or seat.left for seat in state.seats.values())


def describe_ways_on(state: RoomState, viewer: str) -> str:
    """Return what one may do after the end of a game."""
    if seat_of(state, viewer) is None:
        return "A rematch will be shown here. Type leave to go." if can_play_again(state) else "Type leave to go."
    return "Rematch? Type rematch, new or leave." if can_play_again(state) else "Type new or leave."


def cost_of_going(state: RoomState, viewer: str, *, aborts: bool) -> Literal["", "abort", "lose"]:
    """Return what going away does to the viewer's game; with `aborts` one of two that just begins is called off."""
    own = seat_of(state, viewer)
    playing = [mark for mark, seat in state.seats.items() if seat is not None and not seat.out]
    if state.status != "playing" or own not in playing:
        return ""
    is_beginning = any(mark not in state.board for mark in playing)
    return "abort" if aborts and is_beginning and len(playing) == 2 else "lose"


def ask_before_going(kind: str, state: RoomState | None, viewer: str, *, aborts: bool) -> str:
    """Return what is asked before what costs the game: ``Resign?``, ``Leave and lose this game?``"""
    cost = "" if state is None else cost_of_going(state, viewer, aborts=aborts)
    return "Resign?" if kind == "resign" else f"Leave and {cost or 'lose'} this game?"


def absent_opponents(state: RoomState, viewer: str) -> dict[str, int]:
    """Return the marks of opponents who dropped from the viewer's running game, and the ms that each seat is held."""
    own = seat_of(state, viewer)
    seat = None if own is None else state.seats[own]
    if seat is None or seat.out or state.status != "playing":
        return {}
    others = ((mark, seat) for mark, seat in state.seats.items() if seat is not None and mark != own)
    gone = ((mark, seat.hold_ms) for mark, seat in others if not (seat.online or seat.left or seat.out))
    return {mark: hold_ms for mark, hold_ms in gone if isinstance(hold_ms, int)}


def find_absent(state: RoomState) -> frozenset[str]:
    """Return the marks of all who are away, and have not left."""
    return frozenset(mark for mark, seat in state.seats.items() if seat and not (seat.online or seat.left))


def describe_claim(state: RoomState, marks: Collection[str]) -> str:
    """Return that the seats of these opponents may be claimed, and how."""
    names = join_words([name_of(state, mark) for mark in marks])
    verb = "have" if len(marks) > 1 else "has"
    draw = ", claim draw to call it a draw" if len(state.seats) == 2 else ""
    return f"{names} {verb} been gone too long. Type claim to take the win{draw}, or just wait."


def announce(
    changes: Sequence[events.Change], viewer: str, *, sees_board: bool = False, after_loss: bool = False
) -> list[str]:
    """Return what one state brought, a sentence for each event; the result stands behind the move that made it.

    With `sees_board` it is for whoever sees the board change. After a loss of the viewer's own connection nobody is
    said to have dropped: all may have lost the server.
    """
    if sees_board:
        begun = next((one for one in changes if isinstance(one, events.Started) and one.old.game != one.game), None)
        seen = (events.Missed, events.Moved, events.Ended)
        changes = [one for one in changes if not isinstance(one, seen)] if begun is None else [begun]
    told: list[str] = []
    last_move = ""
    for change in changes:
        sentence = _say(change, viewer, sees_board=sees_board, after_loss=after_loss)
        if isinstance(change, events.Moved):
            last_move = sentence
        elif isinstance(change, events.Ended) and change.result.reason in ("line", "full") and last_move:
            told.remove(last_move)
            sentence = f"{last_move} {sentence}"
        if sentence:
            told.append(sentence)
    return told


def announce_standing(state: RoomState, viewer: str, moves: Sequence[int] | None = None) -> list[str]:
    """Return what somebody who comes now must know beside players and moves: who is away, what is offered, the end."""
    told = announce(standing(state, moves), viewer)
    return [f"This is game {state.game} of the room.", *told] if state.game > 1 else told


def describe_result(state: RoomState, viewer: str) -> str:
    """Return how a game ended, the deciding line first: ``Row 1 is X X X. You lose.``"""
    result, own = state.result, seat_of(state, viewer)
    if result is None:
        return ""
    if result.winner is None:
        verdict = "It's a draw." if is_draw(result) else "It has no winner."
    elif result.winner == own:
        verdict = "You win."
    else:
        is_lost = own is not None and len(state.seats) == 2
        verdict = "You lose." if is_lost else f"{name_of(state, result.winner)} wins."
    why = _WHY_OVER.get(result.reason, f"The game ended {describe_reason(result.reason)}.")
    if result.reason == "aborted":
        verdict = "It doesn't count."
    elif result.reason == "line":
        why = describe_lines(state)
    elif result.reason in ("resigned", "timeout") and (loser := loser_of(state)) is not None:
        deed = _say_why_out(state.seats.get(loser), is_late=result.reason == "timeout")
        why = _say_who(state, loser, deed, viewer)
    return f"{why} {verdict}"


def _say(change: events.Change, viewer: str, *, sees_board: bool, after_loss: bool) -> str:
    """Return one event in a sentence, "" where another tells it, or for the viewer's own coming and going."""
    state = change.state
    match change:
        case events.Started(game):
            return f"Game {game}. {describe_players(state, viewer)}" if change.old.game != game else ""
        case events.Missed(first, last, winner, is_drawn):
            if first < last:
                return f"Games {first} to {last} have been played unseen."
            if winner is not None:
                return f"Game {first} has ended: {name_of(change.old, winner)} won."
            return f"Game {first} has ended {'in a draw' if is_drawn else 'without a winner'}."
        case events.Moved(mark, cell):
            rules = state.rules.to_rules()
            where = format_cell(cell, rules) if change.decides else describe_cell(cell, rules)
            return _say_who(state, mark, f"play{{}} {where}", viewer)
        case events.TakenBack(count, cells, by):
            names = name_moves(cells, count, state) if cells and count <= _MOST_NAMED else ""
            if names and by is not None:
                return _say_who(state, by, f"take{{}} back {names}", viewer)
            moves = names or ("The last move" if count == 1 else f"The last {count} moves")
            return f"{moves} {'is' if count == 1 else 'are'} taken back."
        case events.PassedOver(mark):
            return _say_passed_over(state, mark, viewer)
        case events.Ended():
            return describe_result(state, viewer)
        case events.Offered() | events.Declined() | events.Withdrawn() | events.Lapsed():
            return _say_offer(change, viewer)
        case events.Left():
            return "" if change.seat.player == viewer else _say_left(change)
        case events.Joined(mark) | events.Renamed(mark) | events.Returned(mark) | events.Dropped(mark):
            seat = state.seats[mark]
            if seat is None or seat.player == viewer:
                return ""
    name = name_of(state, mark)
    match change:
        case events.Joined():
            return f"{name} joins as {mark}."
        case events.Renamed(_, before):
            return f"{clean_text(before)} is now called {name}."
        case events.Dropped(_, hold_ms):
            is_held = hold_ms and not sees_board and state.status == "playing"
            held = f" Waiting for them: {format_duration(hold_ms or 0)}." if is_held else ""
            return f"{name} {'is not here' if after_loss else 'has dropped'}.{held}"
    return f"{name} is back."


def _say_offer(change: events.Offered | events.Declined | events.Withdrawn | events.Lapsed, viewer: str) -> str:
    state, by = change.state, change.by
    offer = "draw offer" if change.kind == "draw" else "request to take a move back"
    match change:
        case events.Offered("draw"):
            verb = "offer{} a draw"
        case events.Offered("undo", _, count, cells):
            verb = f"ask{{}} to take back {name_moves(cells, count, state)}"
        case events.Offered():
            verb = "ask{} for a rematch" if by == seat_of(state, viewer) else "want{} a rematch"
        case events.Declined(kind):
            verb = "decline{} the draw" if kind == "draw" else "let{} the move stand"
        case events.Withdrawn():
            verb = f"withdraw{{}} the {offer}"
        case events.Lapsed(cause="taking back"):
            return f"The {offer} lapses with the taking back."
        case events.Lapsed(mover=str(mover)):
            who = "you play" if mover == seat_of(state, viewer) else f"{name_of(state, mover)} plays"
            return f"The {offer} lapses, as {who} on."
        case _:
            return f"The {offer} is off."
    return _say_who(state, by, verb, viewer)


def _say_left(left: events.Left) -> str:
    """Return who went for good, "" where the result or the passing over tells it."""
    state, old, mark = left.state, left.old, left.mark
    if left.frees:
        free = f" The seat {mark} is free." if state.seats.get(mark) is None else ""
        return f"{name_of(old, mark)} has left.{free}"
    before = old.seats.get(mark)
    is_just_out = left.seat.out and not (before is not None and before.out)
    is_just_over = old.result is None and state.result is not None and state.result.reason == "resigned"
    if is_just_out or (is_just_over and mark == loser_of(state)):
        return ""
    return f"{name_of(state, mark)} left the {'room' if state.status == 'over' else 'game'}."


def _say_passed_over(state: RoomState, mark: str, viewer: str) -> str:
    """Return who is out of a game that the others play on, and why, as far as a state tells."""
    seat, verb = state.seats[mark], "are" if mark == seat_of(state, viewer) else "is"
    is_here = seat is None or not seat.left
    is_late = is_here and state.clock is not None and state.clock.remaining_ms.get(mark) == 0
    is_away = seat is not None and not (seat.left or is_late or seat.online) and seat.hold_ms == 0
    why = "stayed away too long" if is_away else _say_why_out(seat, is_late=is_late)
    return _say_who(state, mark, f"{why} and {verb} passed over from now on", viewer)


def _say_why_out(seat: SeatState | None, *, is_late: bool) -> str:
    if is_late:
        return "ran out of time"
    return "left the game" if seat is not None and seat.left else "resign{}"


def _say_who(state: RoomState, mark: str, verb: str, viewer: str) -> str:
    if mark == seat_of(state, viewer):
        return f"You {verb.format('')}."
    return f"{name_of(state, mark)} {verb.format('s')}."
