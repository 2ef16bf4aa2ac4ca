"""What of a person is kept, and how it goes: each table says by its spec whom its values name.

Who is forgotten is known by a hash of the id, which tells nobody who it was. So what comes back with a backup can be
forgotten again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, Generic

import msgspec

from tictactoe_server.storage.store import Value


def _gone(value: Any, id: str, stand_in: str) -> None:
    """Return nothing: the value goes with the person."""


@dataclass(frozen=True, slots=True)
class Persons(Generic[Value]):
    """Whom a value names, by their `ids`.

    `without` takes a value, the id of one who is forgotten, and the name and id that stand for them from now on; it
    returns what is left, None where all of it goes. `shown` is what a person is given of it as JSON.
    """

    ids: Callable[[Value], Collection[str]]
    without: Callable[[Value, str, str], Value | None] = _gone
    shown: Callable[[Value], Any] = msgspec.to_builtins


NOBODY: Final[Persons[Any]] = Persons(lambda value: ())
"""For a table that names no person."""


def hash_id(id: str) -> str:
    """Return by what one is known who is forgotten."""
    return sha256(id.encode()).hexdigest()
