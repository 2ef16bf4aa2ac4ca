import gzip
import re

from tictactoe_server.http.assets import Assets


def weigh(language: str) -> dict[str, int]:
    """Return the compressed bytes of each file that a room's page loads in a language, and of the page itself."""
    assets = Assets()
    page = assets.page("ana v bo", "3 by 3", "", language, "game.js")
    parts = {path: assets.find(path) for path in re.findall(r'"(/assets/[^"]+)"', page.decode())}
    return {"/": len(gzip.compress(page))} | {
        path: len(part.packed) for path, part in parts.items() if part is not None
    }
