"""Players of the house: they hold seats, see the same states and send the same commands as people.

What they think is computed outside the event loop, so that nobody's move ever waits for it.
"""

from tictactoe_server.services.bots.bots import Bots
from tictactoe_server.services.bots.levels import LEVEL_NAMES, level_of
from tictactoe_server.services.bots.pool import ThinkingPool

__all__ = ["LEVEL_NAMES", "Bots", "ThinkingPool", "level_of"]
