"""The feature for link previews. It needs the page and the libraries in the extra `previews`."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from typing import Final

from tictactoe_server.core.core import Service
from tictactoe_server.features.feature import Feature, Parts


def _make(parts: Parts) -> Iterable[Service]:
    if not (parts.settings.page and all(map(find_spec, ("aggdraw", "ttf_opensans")))):
        return ()
    from tictactoe_server.features.previews.service import Previews

    return (Previews(parts.core, parts.title),)


FEATURE: Final = Feature(make=_make)
