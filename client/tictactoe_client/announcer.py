"""From one state of a room to the next, in sentences: every event once, in the order in which it happened.

Pure. It is for whoever cannot see the board change: screen readers, logs, pipes. The turn and the board are not
told here, as each face of the client draws them in its own way.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from tictactoe_client.wording import (
    describe_cell,
    describe_lines,
    describe_players,
    format_duration,
    name_of,
    seat_of,
)
from tictactoe_engine import format_cell
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import ChatLine, RoomState


def announce(old: RoomState, new: RoomState, viewer: str, moves: Sequence[int] | None = None) -> list[str]:
    """Return what happened between two states of one room, `viewer` being the public id of whoever reads.

    `moves` are all cells played in the new state's game so far, which puts a gap of several moves in order; None
    where they are not known.
    """
    if new.game != old.game:
        return _announce_new_game(old, new, viewer, moves)
    return [
        *_announce_arrivals(old, new, viewer),
        *_announce_moves(old, new, viewer, moves),
        *_announce_departures(old, new, viewer),
        *_announce_offers(old, new, viewer),
    ]


def announce_company(old: RoomState, new: RoomState, viewer: str) -> list[str]:
    """Return what happened between two states apart from moves and results, for those who see the board."""
    if new.game != old.game:
        return [f"Game {new.game}. {describe_players(new, viewer)}"]
    return [
        *_announce_arrivals(old, new, viewer),
        *_announce_departures(old, new, viewer),
        *_announce_offers(old, new, viewer),
    ]


def announce_chat(line: ChatLine) -> str:
    """Return what somebody said, safe to print; a watcher is marked as one."""
    role = "" if line.seat else " (watching)"
    return f"{clean_text(line.from_)}{role}: {clean_text(line.text)}"


def count_kept(old: RoomState, new: RoomState) -> int:
    """Return how many of the old state's moves still lie on the new one's board, in a state of the same game."""
    taken_back = sum(mark not in ".#" and mark != new.board[cell] for cell, mark in enumerate(old.board))
    return old.ply - taken_back


def follow_moves(moves: tuple[int, ...], old: RoomState | None, new: RoomState) -> tuple[int, ...]:
    """Return all cells played in the new state's game, `moves` being those of the old one's, as far as can be told.

    Fewer than `new.ply` where several moves passed unseen: the server knows those.
    """
    if old is not None:
        moves = moves[: count_kept(old, new)] if old.game == new.game else ()
    if new.ply == len(moves) + 1 and new.last is not None:
        moves = (*moves, new.last)
    return moves[: new.ply]


def _announce_new_game(old: RoomState, new: RoomState, viewer: str, moves: Sequence[int] | None) -> list[str]:
    told = [f"Game {new.game}. {describe_players(new, viewer)}"]
    if old.status != "over":
        told.insert(0, _announce_missed_end(old, new))
    empty = _before_first_move(new)
    return [*told, *_announce_moves(empty, new, viewer, moves), *_announce_departures(empty, new, viewer)]


def _announce_missed_end(old: RoomState, new: RoomState) -> str:
    for mark, seat in old.seats.items():
        if seat is not None and new.score.get(seat.player, 0) > old.score.get(seat.player, 0):
            return f"Game {old.game} has ended: {name_of(old, mark)} won."
    return f"Game {old.game} has ended in a draw."


def _before_first_move(state: RoomState) -> RoomState:
    board = "".join("#" if mark == "#" else "." for mark in state.board)
    return replace(state, board=board, ply=0, last=None, result=None, status="playing")


def _announce_arrivals(old: RoomState, new: RoomState, viewer: str) -> list[str]:
    told = []
    for mark, seat in new.seats.items():
        before = old.seats.get(mark)
        if seat is not None and seat.player != viewer and before is None:
            told.append(f"{name_of(new, mark)} joins as {mark}.")
        elif seat is not None and before is not None and seat.online and not before.online and seat.player != viewer:
            told.append(f"{name_of(new, mark)} is back.")
    return told


def _announce_moves(old: RoomState, new: RoomState, viewer: str, moves: Sequence[int] | None) -> list[str]:
    rules, own = new.rules.to_rules(), seat_of(new, viewer)
    told = []
    count = old.ply - count_kept(old, new)
    if count:
        told.append("The last move is taken back." if count == 1 else f"The last {count} moves are taken back.")
    played = _cells_between(old, new, moves)
    for position, cell in enumerate(played):
        mark = new.board[cell]
        who = "You play" if mark == own else f"{name_of(new, mark)} plays"
        decides = new.result is not None and cell in new.result.line and position == len(played) - 1
        told.append(f"{who} {format_cell(cell, rules) if decides else describe_cell(cell, rules)}.")
    if new.result is not None and old.result is None:
        if played:
            told[-1] = f"{told[-1]} {describe_result(new, viewer)}"
        else:
            told.append(describe_result(new, viewer))
    return told


def _cells_between(old: RoomState, new: RoomState, moves: Sequence[int] | None) -> list[int]:
    """Return the cells played since `old` in their order, as far as it can be known."""
    kept = count_kept(old, new)
    if new.last is None or new.ply <= kept:
        return []
    if new.ply == kept + 1:
        return [new.last]
    if moves is not None and len(moves) >= new.ply:
        return list(moves[kept : new.ply])
    fresh = [cell for cell, mark in enumerate(new.board) if mark != old.board[cell] and cell != new.last]
    return [*fresh, new.last]


def describe_result(state: RoomState, viewer: str) -> str:
    """Return how a game ended, the deciding line first: ``Row 1 is X X X. You lose.``"""
    result = state.result
    if result is None:
        return ""
    verdict = _verdict(state, viewer)
    if result.reason == "line":
        return f"{describe_lines(state)} {verdict}"
    if result.reason == "full":
        return f"The board is full. {verdict}"
    if result.reason == "agreed":
        return f"Both agreed. {verdict}"
    if result.reason == "claimed":
        return f"The game was claimed, as the other seat stayed empty. {verdict}"
    loser = _last_out(state)
    if loser is None:
        return f"Nobody else is left in the game. {verdict}"
    who = "You" if loser == seat_of(state, viewer) else name_of(state, loser)
    if result.reason == "timeout":
        return f"{who} ran out of time. {verdict}"
    seat = state.seats.get(loser)
    if seat is not None and seat.left:
        return f"{who} left the game. {verdict}"
    return f"{who} {'resign' if who == 'You' else 'resigns'}. {verdict}"


def _last_out(state: RoomState) -> str | None:
    """Return the one mark that did not win, or None in a game of three and more."""
    losers = [mark for mark in state.seats if state.result is not None and mark != state.result.winner]
    return losers[0] if len(losers) == 1 else None


def _verdict(state: RoomState, viewer: str) -> str:
    winner = state.result.winner if state.result is not None else None
    own = seat_of(state, viewer)
    if winner is None:
        return "It's a draw."
    if winner == own:
        return "You win."
    if own is not None and len(state.seats) == 2:
        return "You lose."
    return f"{name_of(state, winner)} wins."


def _announce_departures(old: RoomState, new: RoomState, viewer: str) -> list[str]:
    told = []
    for mark, seat in new.seats.items():
        before = old.seats.get(mark)
        if seat is not None and before is not None and seat.out and not before.out and not seat.left:
            who = "You are" if seat.player == viewer else f"{name_of(new, mark)} is"
            told.append(f"{who} out of the game and passed over.")
    just_over = new.result is not None and old.result is None and new.result.reason == "resigned"
    for mark, before in old.seats.items():
        seat = new.seats.get(mark)
        if before is None or before.player == viewer:
            continue
        if seat is None:
            told.append(f"{name_of(old, mark)} has left. The seat {mark} is free.")
        elif seat.left and not before.left:
            if not (just_over and len(new.seats) == 2):
                told.append(f"{name_of(new, mark)} left the {'room' if new.status == 'over' else 'game'}.")
        elif not seat.online and before.online and not seat.left:
            held = f" Waiting for them: {format_duration(seat.hold_ms)}." if seat.hold_ms else ""
            told.append(f"{name_of(new, mark)} has dropped.{held}")
    return told


def _announce_offers(old: RoomState, new: RoomState, viewer: str) -> list[str]:
    own = seat_of(new, viewer)
    told = []
    for kind, before, now in (
        ("draw", old.offers.draw, new.offers.draw),
        ("undo", old.offers.undo, new.offers.undo),
    ):
        if now is not None and now != before:
            asks = "a draw" if kind == "draw" else "to take a move back"
            verb = "offer" if kind == "draw" else "ask"
            told.append(f"You {verb} {asks}." if now == own else f"{name_of(new, now)} {verb}s {asks}.")
        elif before is not None and now is None and new.result is None and new.ply == old.ply:
            told.append("The draw offer is off." if kind == "draw" else "The move stays: no taking back.")
    for mark in new.offers.rematch:
        if mark not in old.offers.rematch:
            told.append("You ask for a rematch." if mark == own else f"{name_of(new, mark)} wants a rematch.")
    return told
