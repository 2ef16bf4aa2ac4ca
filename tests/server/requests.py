"""Requests for the room of `tables`."""

from tests.server.tables import CODE
from tictactoe_protocol.requests import Claim, Draw, Leave, Rematch, Resign, Undo

LEAVE, RESIGN, REMATCH = Leave(room=CODE), Resign(room=CODE), Rematch(room=CODE)
OFFER, ACCEPT, DECLINE = (Draw(room=CODE, action=action) for action in ("offer", "accept", "decline"))
ASK, ALLOW, REFUSE = (Undo(room=CODE, action=action) for action in ("offer", "accept", "decline"))
WIN, DRAW = (Claim(room=CODE, as_=kind) for kind in ("win", "draw"))
