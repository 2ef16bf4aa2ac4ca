"""Installed servers of other projects as contestants."""

from pathlib import Path

from tools.bench.contestants import Contestant
from tools.bench.peers.boardgame_io import seat_at_boardgame_io
from tools.bench.peers.colyseus import seat_at_colyseus


def peers_in(folder: Path) -> list[Contestant]:
    """Return the servers that are installed in this folder."""

    def node(program: str) -> tuple[str, ...]:
        return ("env", "NODE_ENV=production", "node", str(folder / program))

    return [
        Contestant("Colyseus", node("colyseus.mjs"), seat_at_colyseus),
        Contestant("boardgame.io", node("boardgame_io.mjs"), seat_at_boardgame_io),
    ]
