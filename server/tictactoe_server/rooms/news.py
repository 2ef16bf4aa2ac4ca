"""The events of a single change of a room, in display order."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UNSET

from tictactoe_engine import Position
from tictactoe_protocol.pushes import Happening
from tictactoe_server.rooms.room import Room, ply_before_last


def news_of(before: Room, after: Room) -> tuple[Happening, ...]:
    """Return what the change from `before` to `after` adds."""
    if after.seats is before.seats and after.offers is before.offers and not after.happened:
        news = (_last_move(after.position),) if len(after.position.moves) > len(before.position.moves) else ()
        return news if after.result is None or before.result else (*news, Happening("ended", result=after.result))
    if after.game != before.game:
        return (Happening("began", game=after.game),)
    # In an opening, players may have exchanged their marks; all but a choice refer to the marks after that.
    has_opening = after.rules.opening is not None
    is_swap = has_opening and after.position.is_swapped and not before.position.is_swapped
    change = dict(zip(after.seats, reversed(after.seats) if is_swap else after.seats, strict=True))
    arrivals, departures = ([], []) if after.seats is before.seats else _list_people(before, after, change)
    offers = () if after.offers is before.offers else _list_offers(before, after, change)
    return (*arrivals, *_list_play(before, after), *departures, *offers)


def _list_people(before: Room, after: Room, change: dict[str, str]) -> tuple[list[Happening], list[Happening]]:
    """Return the events before and after those of the game."""
    arrivals, departures = list[Happening](), list[Happening]()
    for was_at, mark in change.items():
        was, seat = before.seats[was_at], after.seats[mark]
        if seat is not None and was is None:
            arrivals.append(Happening("joined", mark, name=seat.name))
        elif seat is not None and was is not None and not seat.left:
            if seat.name != was.name:
                arrivals.append(Happening("renamed", mark, name=seat.name, before=was.name))
            if seat.online != was.online:
                (arrivals if seat.online else departures).append(Happening("back" if seat.online else "dropped", mark))
        elif was is not None and not was.left:
            departures.append(Happening("left", mark, name=was.name))
    if before.status == "waiting" != after.status:
        arrivals.append(Happening("began", game=after.game))
    return arrivals, departures


def _list_play(before: Room, after: Room) -> Iterator[Happening]:
    position, played = after.position, before.position.ply
    if position.ply < played:
        yield Happening("taken back", before.offers.undo or UNSET, cells=before.position.moves[position.ply :])
    if position.ply > played:
        yield _last_move(position)
    yield from after.happened
    if after.result is not None and before.result is None:
        yield Happening("ended", result=after.result)


def _last_move(position: Position) -> Happening:
    cell, by = position.moves[-1], UNSET if position.rules.opening is None else position.player_of(position.ply - 1)
    mark = position.board[cell]
    return Happening("moved", mark, cell=cell, by=UNSET if by == mark else by)


def _list_offers(before: Room, after: Room, change: dict[str, str]) -> Iterator[Happening]:
    """Yield the new offers, and the offers that ended without being accepted or replaced by the end of the game."""
    old, new, gained = before.offers, after.offers, after.position.ply - before.position.ply
    for kind, was, mark in (("draw", old.draw, new.draw), ("undo", old.undo, new.undo)):
        if mark is not None and was is None:
            cells = after.position.moves[ply_before_last(after.position, mark) :] if kind == "undo" else UNSET
            yield Happening("offered", mark, kind=kind, cells=cells)
        is_accepted = after.result is not None or (kind == "undo" and gained < 0)
        if was is None or mark is not None or is_accepted:
            continue
        if ended := (new.ended or {}).get(kind):
            yield Happening(ended.how, ended.by, kind=kind)
        else:
            why = "move" if gained > 0 else "taking back" if gained else UNSET
            yield Happening("lapsed", change[was], why, kind=kind)
    for mark in after.seats:
        if (mark in old.rematch) != (mark in new.rematch):
            yield Happening("offered" if mark in new.rematch else "lapsed", mark, kind="rematch")
