"""Where no server answers: why that is, what may help, and the keys for that."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Static

from tictactoe_client.online.address import is_this_machine
from tictactoe_client.online.errors import Unreachable, VersionRefused
from tictactoe_client.text.help import own_command, server_command
from tictactoe_client.tui.screen import bind
from tictactoe_protocol import clean_text

if TYPE_CHECKING:
    from tictactoe_client.tui.app import TicTacToe


class NoServer(Static, can_focus=True):
    """What home says while there is no server."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("retry", "screen.retry", "retry"),
        bind("back", "screen.travel_back", "back"),
        bind("local", "screen.start_local", "start a server"),
    ]


def describe_no_server(desk: TicTacToe, *, offers_own: bool) -> Content:
    """Say why there is no server, and what helps; with `offers_own` the screen takes a key for a server of this run."""
    failure = desk.link.failure
    if failure is None:
        return Content()
    cross = "x" if desk.settings.ascii else "✗"
    lines = [Content.styled(f"{cross} {clean_text(failure.message)}", "$bad"), Content()]
    for text, command in _list_helps(desk, offers_own=offers_own):
        lines.append(Content.from_markup("  $text\n    [bold $key]$command[/]", text=text, command=command))
    key = desk.keymap.show("retry" if offers_own else "refresh")
    return Content("\n").join([*lines, Content(), Content.from_markup("  [bold $key]$key[/] tries again", key=key)])


def can_start_local(desk: TicTacToe) -> bool:
    """Tell whether a server of this run alone would help."""
    return isinstance(desk.link.failure, Unreachable) and desk.link.address.is_loopback


def _list_helps(desk: TicTacToe, *, offers_own: bool) -> list[tuple[str, str]]:
    """Return what helps, each with the command or the key that does it."""
    link, show = desk.link, desk.keymap.show
    helps = []
    if link.before is not None and offers_own:
        helps.append((f"Back to {link.before.url}:", f"press {show('back')}"))
    if isinstance(link.failure, Unreachable):
        if is_this_machine(link.address):
            helps.append(("Is the server running?  Start one:", server_command()))
        if offers_own and can_start_local(desk):
            helps.append(("Or one for this run alone:", f"press {show('local')}"))
        if not is_this_machine(link.address):
            helps.append(("Play without any server:", own_command("bot")))
        helps.append(("Or point elsewhere:", own_command("-s", "wss://host")))
    elif isinstance(link.failure, VersionRefused):
        helps.append(("Nothing can be played there until then.", ""))
    return helps
