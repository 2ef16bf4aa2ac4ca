"""What is answered in plain HTTP: the page in a browser and its parts, and text for terminals."""

from tictactoe_server.http.assets import Assets
from tictactoe_server.http.pages import Pages

__all__ = ["Assets", "Pages"]
