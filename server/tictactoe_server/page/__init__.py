"""What is answered in plain HTTP: the page in a browser and its parts, and text for terminals."""

from tictactoe_server.page.assets import Assets
from tictactoe_server.page.pages import Pages

__all__ = ["Assets", "Pages"]
