"""The sentences that a page gets: those alone that one of its modules may say."""

from __future__ import annotations

from pathlib import Path

from tictactoe_protocol.catalogue import LANGUAGES
from tictactoe_server.http.assets import Assets


def served_catalogues(folder: Path) -> Path:
    """Write the catalogue of each language into a folder as the server sends it; return the folder."""
    assets = Assets()
    for language in LANGUAGES:
        served = assets.named(f"{language}.json")
        assert served is not None
        (folder / f"{language}.json").write_bytes(served.body)
    return folder
