"""The rules of classic tic-tac-toe as the protocol sends them."""

from typing import Any, Final

CLASSIC_RULES: Final[dict[str, Any]] = {
    "preset": "classic",
    "rows": 3,
    "columns": 3,
    "line": 3,
    "marks": "XO",
    "blocked": [],
    "misere": False,
    "gravity": False,
}
