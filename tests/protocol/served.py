"""The sentences that are sent to a page: its modules use all of them."""

import json
from pathlib import Path

from tictactoe_server.http.assets import Assets
from tictactoe_words.catalogue import LANGUAGES


def served_catalogues(folder: Path) -> Path:
    """Write the catalogue of each language into a folder as the server sends it; return the folder."""
    assets = Assets()
    for language in LANGUAGES:
        sentences: dict[str, object] = {}
        for place in ("", "more."):
            served = assets.named(f"{place}{language}.json")
            assert served is not None
            sentences |= json.loads(served.body)
        (folder / f"{language}.json").write_text(json.dumps(sentences), encoding="utf-8")
    return folder
