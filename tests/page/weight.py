"""What travels to a browser until it shows a first board, packed, in bytes."""

from __future__ import annotations

import gzip
import re

from tictactoe_server.http.assets import Assets


def weigh(language: str) -> dict[str, int]:
    """Return what each file weighs that the page of a room asks for in a language, and that page itself."""
    assets = Assets()
    page = assets.page("ana v bo", "3 by 3", "", language, "game.js")
    parts = {path: assets.find(path) for path in re.findall(r'"(/assets/[^"]+)"', page.decode())}
    return {"/": len(gzip.compress(page))} | {
        path: len(part.packed) for path, part in parts.items() if part is not None
    }
