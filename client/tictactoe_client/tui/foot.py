"""The keys of a screen: how one is bound to what it does, and which of them its last line names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from textual.binding import Binding
from textual.screen import Screen

from tictactoe_client.tui.keymap import ACTIONS
from tictactoe_client.tui.picture import measure

_LASTING = ("help", "quit")
"""What the foot says of keys as long as there is any room."""


def bind(name: str, action: str = "", label: str = "", *, priority: bool = False) -> Binding:
    """Return the binding of one of the `ACTIONS`, whose keys a person may change; with a label the foot shows it."""
    return Binding(",".join(ACTIONS[name]), action or name, label, priority=priority, id=name, show=bool(label))


def list_keys(
    screen: Screen[Any], width: int, first: Sequence[str], renames: Mapping[str, str]
) -> Sequence[tuple[str, str]]:
    """Return the keys that count now with what they do, as many as there is room for, those called `first` first."""
    items: dict[str, list[str]] = {}
    seen = set()
    order = _order_of(type(screen))
    for active in sorted(screen.active_bindings.values(), key=lambda active: order.get(active.binding.id, len(order))):
        binding = active.binding
        if binding.show and active.enabled and binding.action not in seen:
            seen.add(binding.action)
            label = renames.get(binding.description, binding.description)
            items.setdefault(label, []).append(screen.app.get_key_display(binding))
    parts = [("".join(keys) if keys[0] in "↑←" else "/".join(keys), label) for label, keys in items.items()]
    parts.sort(key=lambda part: first.index(part[1]) if part[1] in first else len(first))
    while sum(measure(keys + label) + 3 for keys, label in parts) - 2 > width:
        goes = [part for part in parts if part[1] not in (*first, *_LASTING)]
        parts.remove((goes or parts)[-1])
    return parts


@cache
def _order_of(kind: type[Screen[Any]]) -> dict[str | None, int]:
    """Return the ids of a screen's bindings in the order in which they are declared, whatever their keys are."""
    declared = (cls.__dict__.get("BINDINGS", ()) for cls in reversed(kind.__mro__))
    ids = [binding.id for bindings in declared for binding in bindings if isinstance(binding, Binding)]
    return {name: number for number, name in enumerate(dict.fromkeys(ids))}
