"""What peers ask, and every answer."""

from tictactoe_server.services.allowances import Allowances
from tictactoe_server.services.desk import Desk
from tictactoe_server.services.keeping import Keeping
from tictactoe_server.services.past_games import PastGames, record_of
from tictactoe_server.services.players import Players
from tictactoe_server.services.reviews import Reviews
from tictactoe_server.services.visits import Visits

__all__ = ["Allowances", "Desk", "Keeping", "PastGames", "Players", "Reviews", "Visits", "record_of"]
