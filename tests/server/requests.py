"""Requests for the room of `tables`."""

from tests.server.tables import CODE
from tictactoe_protocol.requests import Choose, Claim, Draw, Leave, Move, Rematch, Resign, Undo
from tictactoe_protocol.terms import OfferAction

LEAVE, RESIGN, REMATCH = Leave(room=CODE), Resign(room=CODE), Rematch(room=CODE)
OFFER, ACCEPT, DECLINE = (Draw(room=CODE, action=action) for action in ("offer", "accept", "decline"))
ASK, ALLOW, REFUSE = (Undo(room=CODE, action=action) for action in ("offer", "accept", "decline"))
WIN, DRAW = (Claim(room=CODE, as_=kind) for kind in ("win", "draw"))


def move(cell: int, ply: int) -> Move:
    return Move(room=CODE, cell=cell, ply=ply)


def choose(take: str, ply: int) -> Choose:
    return Choose(room=CODE, take=take, ply=ply)


def draw(action: OfferAction, ply: int, game: int = 1) -> Draw:
    return Draw(room=CODE, action=action, game=game, ply=ply)


def undo(action: OfferAction, ply: int, game: int = 1) -> Undo:
    return Undo(room=CODE, action=action, game=game, ply=ply)


def rematch(game: int) -> Rematch:
    return Rematch(room=CODE, game=game)
