"""Several servers that keep their rooms in one store and serve them together, whichever one a player connects to."""

from tictactoe_server.house.guests import Guest
from tictactoe_server.house.house import GRACE_SECONDS, NOTE_SECONDS, House
from tictactoe_server.house.roll_call import Living, ask_living, call_roll
from tictactoe_server.house.uninterrupted import Uninterrupted

__all__ = ["GRACE_SECONDS", "NOTE_SECONDS", "Guest", "House", "Living", "Uninterrupted", "ask_living", "call_roll"]
