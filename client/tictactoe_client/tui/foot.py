"""The keys of a screen: how one is bound to what it does, and the line that shows those that count at the moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual.binding import Binding
from textual.content import Content
from textual.widgets import Static

from tictactoe_client.tui.keymap import ACTIONS
from tictactoe_client.tui.picture import measure

_LASTING = ("help", "quit")
"""What the foot says of keys as long as there is any room."""


def bind(name: str, action: str = "", label: str = "", *, priority: bool = False) -> Binding:
    """Return the binding of one of the `ACTIONS`, whose keys a person may change; with a label the foot shows it."""
    return Binding(",".join(ACTIONS[name]), action or name, label, priority=priority, id=name, show=bool(label))


class Foot(Static):
    """The keys that count at the moment, those called `first` before the others; where room is short, the last ones go.

    The way to the help and the way out stay. `renames` says what a screen calls a key that others call otherwise.
    """

    def __init__(self, id: str, first: Sequence[str] = (), renames: Mapping[str, str] | None = None) -> None:
        super().__init__(id=id)
        self._first = first
        self._renames = {"Dismiss menu": "back", **(renames or {})}

    def on_mount(self) -> None:
        """Follow what the keys do."""
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self.show())

    def on_resize(self) -> None:
        """Fit the keys to the window."""
        self.show()

    def show(self) -> None:
        """Show the keys as many of which there is room for."""
        items: dict[str, list[str]] = {}
        seen = set()
        for active in self.screen.active_bindings.values():
            binding = active.binding
            if binding.show and active.enabled and binding.action not in seen:
                seen.add(binding.action)
                label = self._renames.get(binding.description, binding.description)
                items.setdefault(label, []).append(self.app.get_key_display(binding))
        parts = [("".join(keys) if keys[0] in "↑←" else "/".join(keys), label) for label, keys in items.items()]
        parts.sort(key=lambda part: self._first.index(part[1]) if part[1] in self._first else len(self._first))
        while sum(measure(key + label) + 3 for key, label in parts) - 2 > self.size.width:
            goes = [part for part in parts if part[1] not in (*self._first, *_LASTING)]
            parts.remove((goes or parts)[-1])
        shown = [
            Content.from_markup("[bold $key]$key[/] [$dim]$label[/]", key=key, label=label) for key, label in parts
        ]
        content = Content("  ").join(shown)
        if content != self.content:
            self.update(content, layout=False)
