"""What peers ask, and every answer."""

from tictactoe_server.desk.allowances import Allowances
from tictactoe_server.desk.desk import Desk
from tictactoe_server.desk.keeping import Keeping
from tictactoe_server.desk.past_games import PastGames, record_of
from tictactoe_server.desk.players import Players
from tictactoe_server.desk.reviews import Reviews
from tictactoe_server.desk.visits import Visits

__all__ = ["Allowances", "Desk", "Keeping", "PastGames", "Players", "Reviews", "Visits", "record_of"]
