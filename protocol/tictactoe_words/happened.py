"""Derives what happened between two states of a room, for all clients. Pure.

A state has only the board and the last move, so the order of the moves follows from successive states. Events name
players by their marks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal, TypeGuard

from msgspec import UNSET, Struct
from msgspec.structs import replace

from tictactoe_engine import BLOCKED, FREE
from tictactoe_engine.opening import MORE, choices_of, placer_of, sits_now
from tictactoe_protocol.pushes import RESULT_REASONS, Offers, Result, RoomState, SeatState

__all__ = ["Change", "Chose", "Declined", "Dropped", "Ended", "Event", "Joined", "Lapsed", "Left", "Missed", "Moved"]
__all__ += ["OfferKind", "Offered", "PassedOver", "Renamed", "Returned", "Started", "TakenBack", "Withdrawn"]

OfferKind = Literal["draw", "undo", "rematch"]

NOBODYS: Final = FREE + BLOCKED


class Event(Struct, frozen=True):
    """An event in a room, or on the connection to it."""

    def __repr__(self) -> str:
        shown = (name for name in self.__struct_fields__ if name not in ("old", "state"))
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"


class Change(Event, frozen=True, kw_only=True):
    """An event between the states `old` and `state`."""

    old: RoomState
    state: RoomState


class Started(Change, frozen=True):
    """A game began. Games in a room are numbered from 1."""

    game: int


class Missed(Change, frozen=True):
    """Games ended, but the client received no state that shows their end.

    Attributes:
        first_game: The number of the first of these games.
        last_game: The number of the last of these games.
        winner: The mark that the winner had in the old state, if there was a single game and its winner is known.
        is_draw: Whether there was a single game, and it was drawn.
    """

    first_game: int
    last_game: int
    winner: str | None
    is_draw: bool


class TakenBack(Change, frozen=True):
    """Moves were taken back.

    Attributes:
        count: The number of moves.
        cells: The cells of these moves, or empty if they are unknown.
        by: The mark that asked for it, or None if it is unknown.
    """

    count: int
    cells: tuple[int, ...]
    by: str | None


class _OfMark(Change, frozen=True):
    mark: str


class Moved(_OfMark, frozen=True):
    """A cell was played.

    Attributes:
        ply: The number of moves, including this move.
        decides: Whether the move ended the game by completing a line.
        by: In an opening, the current mark of the player who placed the mark; otherwise "".
    """

    cell: int
    ply: int
    decides: bool
    by: str = ""


class Chose(_OfMark, frozen=True):
    """The player with `mark` made a choice in an opening.

    Attributes:
        take: The chosen mark, or ``more``.
        swaps: Whether the players have exchanged their seats.
    """

    take: str
    swaps: bool


class PassedOver(_OfMark, frozen=True):
    """A player is out of the game, and the others continue it."""


class Joined(_OfMark, frozen=True):
    """A player took a seat."""


class Renamed(_OfMark, frozen=True):
    """A player changed their name; `before` is the old name."""

    before: str


class Dropped(_OfMark, frozen=True):
    """A player lost the connection. The seat is held for `hold_ms`, or for an unknown time if it is None."""

    hold_ms: int | None


class Returned(_OfMark, frozen=True):
    """A player who had lost the connection has returned."""


class Left(_OfMark, frozen=True):
    """A player left for good.

    Attributes:
        seat: The seat of the player.
        frees: Whether the seat is now free; otherwise it remains the player's in this game.
    """

    seat: SeatState
    frees: bool


class _OfOffer(Change, frozen=True):
    kind: OfferKind
    by: str


class Offered(_OfOffer, frozen=True):
    """The player with the mark `by` offers a draw, asks for a rematch, or asks to take back moves.

    Attributes:
        count: The number of moves to take back.
        cells: The cells of these moves, or empty if they are unknown.
    """

    count: int = 0
    cells: tuple[int, ...] = ()


class Declined(_OfOffer, frozen=True):
    """The player with the mark `by` declined an offer."""


class Withdrawn(_OfOffer, frozen=True):
    """The player with the mark `by` withdrew their offer."""


class Lapsed(_OfOffer, frozen=True):
    """An offer by the player with the mark `by` lapsed.

    Attributes:
        cause: Whether a move or a taking back ended the offer; ``unknown`` if the states do not show it.
        mover: For ``move``, the mark that moved.
    """

    cause: Literal["move", "taking back", "unknown"]
    mover: str | None = None


class Ended(Change, frozen=True):
    """The game is over."""

    result: Result


def happened(
    old: RoomState, new: RoomState, *, moves: Sequence[int] | None = None, before: Sequence[int] | None = None
) -> list[Change]:
    """Return what happened between two states of the same room, in display order.

    Args:
        old: The earlier state.
        new: The later state.
        moves: The cells of all moves in the new state's game, or None if they are unknown.
        before: The cells of all moves in the old state's game, or None if they are unknown.
    """
    start, told = old, list[Change]()
    if new.game == old.game and new.chosen != old.chosen:
        start = _as_sitting_now(old, new)
    if new.game != old.game:
        start = _before_first_move(old, new)
        told += [*_missed_games(old, new), Started(new.game, old=old, state=new)]
    is_crowd_new = start.seats != new.seats
    if is_crowd_new:
        told += _arrivals(start, new)
    if new.game == old.game and old.status == "waiting" != new.status:
        told.append(Started(new.game, old=old, state=new))
    told += (play := _play(start, new, before, moves))
    if is_crowd_new:
        told += _departures(start, new)
    if start.offers != new.offers:
        is_taken_back = bool(play) and isinstance(play[0], TakenBack)
        told += _offers(start, new, moves, is_taken_back=is_taken_back)
    return told


def standing(state: RoomState, moves: Sequence[int] | None = None) -> list[Change]:
    """Return the events that explain a state to a newcomer: absent players, open offers, the end of the game."""
    seats = {mark: seat and replace(seat, online=True, left=False, out=False) for mark, seat in state.seats.items()}
    return happened(replace(state, seats=seats, offers=Offers(), result=None), state, moves=moves, before=moves)


def is_draw(result: Result) -> bool:
    """Return whether a result is a draw. Aborted games, forfeits and reasons that only newer servers know are not."""
    return result.winner is None and result.reason in RESULT_REASONS and result.reason not in ("aborted", "forfeit")


def _missed_games(old: RoomState, new: RoomState) -> Iterator[Change]:
    """Yield the `Missed` event, if there is one. The score shows the result if a single game was missed."""
    first, last = old.game + 1 if old.status == "over" else old.game, new.game - 1
    if first > last:
        return
    latest = None
    if new.result is not None:
        seat = new.seats.get(new.result.winner or "")
        latest = "draws" if is_draw(new.result) else seat.player if seat is not None else None

    def has_gained(who: str) -> bool:
        return first == last and new.score.get(who, 0) - (who == latest) > old.score.get(who, 0)

    winner = next((mark for mark, seat in old.seats.items() if seat is not None and has_gained(seat.player)), None)
    yield Missed(first, last, winner, winner is None and has_gained("draws"), old=old, state=new)


def _before_first_move(old: RoomState, new: RoomState) -> RoomState:
    """Return a state at the beginning of the new state's game, with the players as they were in the old state."""
    board = "".join(BLOCKED if mark == BLOCKED else FREE for mark in new.board)
    known = _players_of(old)
    seats = {mark: seat and replace(known.get(seat.player, seat), out=False) for mark, seat in new.seats.items()}
    start = replace(new, seq=old.seq, board=board, ply=0, last=None, result=None, status="playing", seats=seats)
    return replace(start, offers=Offers(), opening=UNSET, chosen=UNSET)


def _as_sitting_now(old: RoomState, new: RoomState) -> RoomState:
    """Return the old state with its seats and its draw offer moved to the players' new marks."""
    known, offerer = _players_of(old), old.seats.get(old.offers.draw or "")
    seats = {mark: seat and known.get(seat.player) for mark, seat in new.seats.items()}
    draw = next((mark for mark, seat in seats.items() if seat is not None and seat is offerer), None)
    return replace(old, seats=seats, offers=replace(old.offers, draw=draw))


def _players_of(state: RoomState) -> dict[str, SeatState]:
    return {seat.player: seat for seat in state.seats.values() if seat is not None}


def _arrivals(old: RoomState, new: RoomState) -> Iterator[Change]:
    for mark, seat in new.seats.items():
        before = old.seats.get(mark)
        if seat is None:
            continue
        if _is_same(before, seat, new):
            if before.name != seat.name:
                yield Renamed(mark, before.name, old=old, state=new)
            if seat.online and not before.online:
                yield Returned(mark, old=old, state=new)
            continue
        if before is not None:
            yield Left(mark, before, frees=True, old=old, state=new)
        yield Joined(mark, old=old, state=new)


def _is_same(before: SeatState | None, seat: SeatState, state: RoomState) -> TypeGuard[SeatState]:
    """Return whether a seat has the same player as before, possibly with another id after a card changed devices."""
    by_card = bool(state.event) and before is not None and before.name == seat.name
    return before is not None and (before.player == seat.player or by_card)


def _order(
    known: Sequence[int] | None, state: RoomState, other: RoomState, guide: Sequence[int] | None
) -> Sequence[int]:
    """Return the cells of the moves in a state's game in order, or in a likely order if the order is unknown.

    The likely order assumes that no move in the other state was taken back: its cells come first, ordered as in
    `guide`.

    Args:
        known: The cells of the moves, used if their number is that of the state.
    """
    if known is not None and len(known) == state.ply:
        return known
    places = {cell: number for number, cell in enumerate(guide or ())}

    def place(cell: int) -> tuple[bool, int]:
        is_new = state.board[cell] != other.board[cell]
        return is_new, cell == state.last if is_new else places.get(cell, cell)

    return sorted((cell for cell, mark in enumerate(state.board) if mark not in NOBODYS), key=place)


def _play(old: RoomState, new: RoomState, before: Sequence[int] | None, moves: Sequence[int] | None) -> list[Change]:
    told: list[Change] = []
    laid = _order(before, old, new, moves)
    lies = _order(moves, new, old, laid)
    pairs = enumerate(zip(laid, lies, strict=False))
    kept = next((count for count, (one, other) in pairs if one != other), min(len(laid), len(lies)))
    if taken := tuple(laid[kept:]):
        asker = old.offers.undo if new.seq <= old.seq + 1 else None
        named = taken if laid is before or len(taken) <= 2 else ()
        told.append(TakenBack(len(taken), named, asker, old=old, state=new))
    result = new.result if old.result is None else None
    has_opening = new.rules.opening is not None  # skips the search for choices in other games
    told += choices_at(new, kept, old) if has_opening else []
    for ply, cell in enumerate(lies[kept:], kept + 1):
        decides = result is not None and cell in result.line and ply == new.ply
        by = placer(new, ply - 1) if has_opening else ""
        told.append(Moved(new.board[cell], cell, ply, decides, by, old=old, state=new))
        told += choices_at(new, ply, old) if has_opening else []
    for mark, seat in new.seats.items():
        was = old.seats.get(mark)
        if seat is not None and seat.out and (was is None or not was.out):
            told.append(PassedOver(mark, old=old, state=new))
    if result is not None:
        told.append(Ended(result, old=old, state=new))
    return told


def choices_at(state: RoomState, ply: int, old: RoomState | None = None) -> list[Chose]:
    """Return the opening choices made after `ply` moves; with `old`, only the choices that are not in that state."""
    rules, chosen, known = state.rules.to_rules(), state.chosen or (), 0 if old is None else len(old.chosen or ())
    made = [each for each in choices_of(rules.opening, rules.marks, chosen)[known:] if each.ply == ply]
    sits = [sits_now(rules.opening, rules.marks, chosen, mark) for _, mark, _ in made]
    return [
        Chose(now, take, take not in (MORE, mark), old=old or state, state=state)
        for now, (_, mark, take) in zip(sits, made, strict=True)
    ]


def placer(state: RoomState, ply: int) -> str:
    """Return the current mark of the player who made move `ply` (from 0) in an opening, or "" for a later move."""
    rules = state.rules.to_rules()
    return placer_of(rules.opening, rules.marks, ply, state.chosen or ()) or ""


def mover_of(state: RoomState) -> str | None:
    """Return the current mark of the player who made the last move, or None before the first move."""
    return None if state.last is None else placer(state, state.ply - 1) or state.board[state.last]


def _departures(old: RoomState, new: RoomState) -> Iterator[Change]:
    for mark, seat in new.seats.items():
        before = old.seats.get(mark)
        if seat is None and before is not None:
            yield Left(mark, before, frees=True, old=old, state=new)
        if seat is None or (before is not None and before.left):
            continue
        if seat.left:
            yield Left(mark, seat, frees=False, old=old, state=new)
        elif not seat.online and (before is None or not _is_same(before, seat, new) or before.online):
            hold_ms = seat.hold_ms if isinstance(seat.hold_ms, int) else None
            yield Dropped(mark, hold_ms, old=old, state=new)


def _offers(old: RoomState, new: RoomState, moves: Sequence[int] | None, *, is_taken_back: bool) -> Iterator[Change]:
    """Yield the events about new offers, and about offers that ended without being accepted."""
    kinds: tuple[Literal["draw", "undo"], ...] = ("draw", "undo")
    for kind in kinds:
        offerer: str | None = getattr(old.offers, kind)
        now: str | None = getattr(new.offers, kind)
        is_granted = new.result is not None or (is_taken_back and kind == "undo")
        if now is not None and now != offerer:
            count = 0 if kind == "draw" else taken_back_by(new, now)
            known = moves if moves is not None and len(moves) == new.ply else () if new.last is None else (new.last,)
            cells = tuple(known[-count:]) if 0 < count <= len(known) else ()
            yield Offered(kind, now, count, cells, old=old, state=new)
        elif offerer is not None and now is None and not is_granted:
            yield _how_it_ended(old, new, kind, offerer, is_taken_back=is_taken_back)
    for mark in new.offers.rematch:
        if mark not in old.offers.rematch:
            yield Offered("rematch", mark, old=old, state=new)


def taken_back_by(state: RoomState, mark: str) -> int:
    """Return how many moves would be taken back if the player with `mark` asked for it."""
    return 1 if state.last is not None and state.board[state.last] == mark else 2


def _how_it_ended(
    old: RoomState, new: RoomState, kind: Literal["draw", "undo"], offerer: str, *, is_taken_back: bool
) -> Change:
    if new.offers.ended is not UNSET and (ended := new.offers.ended.get(kind)):
        return (Withdrawn if ended.how == "withdrawn" else Declined)(kind, ended.by, old=old, state=new)
    is_next, mover = new.seq <= old.seq + 1, mover_of(new) if new.ply > old.ply else None
    if is_next and is_taken_back:
        return Lapsed(kind, offerer, "taking back", old=old, state=new)
    if is_next and mover is not None and (mover != offerer or kind == "undo"):
        return Lapsed(kind, offerer, "move", mover, old=old, state=new)
    return Lapsed(kind, offerer, "unknown", old=old, state=new)
