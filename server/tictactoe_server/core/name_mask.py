"""Hides the names and ids of people in public views, and assigns names on servers where nobody chooses one."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Final, TypeVar

from msgspec.structs import replace

from tictactoe_protocol.pushes import LiveBoard, PastPlayer, RoomState, RoomSummary, SeatState, is_server_bot
from tictactoe_server.rooms.finished import FinishedGame
from tictactoe_server.rooms.view import RoomListing

Shown = TypeVar("Shown", RoomSummary, RoomState, FinishedGame)
Holder = TypeVar("Holder", SeatState, PastPlayer)

# The words are the same in English and German.
_FIRST: Final = """
    Aqua Bingo Boogie Cosmo Disco Domino Hula Indigo Jazz Karate Lava Limbo Magma Mambo Mango Ninja Opal Pixel Polar
    Polka Radio Robo Safari Salsa Samba Sonar Super Tango Turbo Ultra Yoga Zen
"""
_ANIMALS: Final = """
    Alligator Ara Axolotl Beagle Bison Collie Dingo Emu Flamingo Gecko Gnu Hamster Husky Ibis Impala Jaguar Kiwi Koala
    Labrador Lemur Leopard Mustang Okapi Opossum Orca Otter Panda Pony Puma Python Serval Tapir Terrier Tiger Wolf
    Wombat Yak Zebra
"""


class NameMask:
    """Replaces people's names and ids with their marks in public views, if the settings hide names."""

    def __init__(self, *, hides_names: bool) -> None:
        self._hides_names = hides_names

    def public(self, one: Shown) -> Shown:
        if not self._hides_names:
            return one
        if isinstance(one, FinishedGame):
            return replace(one, players=by_marks(one.players))
        seats = by_marks(one.seats)
        if isinstance(one, RoomSummary):
            return replace(one, seats=seats)
        pairs = zip(one.seats.values(), seats.values(), strict=True)
        ids = {"draws": "draws"} | {seat.player: shown.player for seat, shown in pairs if seat and shown}
        return replace(one, seats=seats, score={ids[id]: won for id, won in one.score.items() if id in ids})

    def public_board(self, listed: RoomListing, board: LiveBoard) -> LiveBoard:
        if not self._hides_names:
            return board
        seats = by_marks(listed.room.seats)
        return replace(board, names={mark: seat.name for mark, seat in seats.items() if seat is not None})


def by_marks(seats: Mapping[str, Holder | None]) -> dict[str, Holder | None]:
    """Return seats with marks in place of people's names and ids."""
    return {
        mark: seat if seat is None or is_server_bot(seat.bot) else replace(seat, player=mark, name=mark)
        for mark, seat in seats.items()
    }


def give_name(id: str) -> str:
    """Return the name assigned to the player or guest with this id. It is the same on every server.

    >>> give_name("p5K2dW8xQnA")
    'Yoga Leopard 56'
    """
    first, animal, number = blake2b(id.encode(), digest_size=3).digest()
    firsts, animals = _FIRST.split(), _ANIMALS.split()
    return f"{firsts[first % len(firsts)]} {animals[animal % len(animals)]} {10 + number % 90}"
