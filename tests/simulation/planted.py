"""Faults to plant in the server, to see whether the simulation finds them: each replaces one small part.

They test the checks more than the server. `test_planted` plants each, and it must be found within 60 seeds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tictactoe_server.core.served_time import ServedTime

Patch = Callable[[], None]

FAULTS: Final[dict[str, Patch]] = {}
"""The faults by name; a name is what the fault does, with dashes."""


def fault(patch: Patch) -> Patch:
    FAULTS[patch.__name__.replace("_", "-")] = patch
    return patch


def plant(name: str) -> None:
    """Plant a fault in this process; raises `SystemExit` with all names if there is none of this name."""
    if name not in FAULTS:
        raise SystemExit(f'There is no fault "{name}". There are: {", ".join(FAULTS)}.')
    FAULTS[name]()


def replace(owner: type[Any], name: str, make: Callable[[Any], Any]) -> None:
    """Replace a method or property of a class by what `make` returns for it."""
    setattr(owner, name, make(owner.__dict__[name]))


@fault
def count_the_time_of_a_silent_disk() -> None:
    """Served time goes on while the disk does not answer."""
    replace(ServedTime, "_watch_store", lambda real: lambda self: None)
