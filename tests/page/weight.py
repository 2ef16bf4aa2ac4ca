import gzip
import re

from tictactoe_server.http.assets import Assets


def weigh(language: str) -> dict[str, int]:
    """Return the compressed bytes of each file that a room's page loads in a language, and of the page itself."""
    assets = Assets()
    page = assets.page("ana v bo", "3 by 3", "", language, "game.js")
    needed = re.findall(r'(?<!rel="prefetch" href=)"(/assets/[^"]+)"', page.decode())
    parts = {path: assets.find(path) for path in needed}
    return {"/": len(gzip.compress(page))} | {
        path: len(part.packed) for path, part in parts.items() if part is not None
    }
