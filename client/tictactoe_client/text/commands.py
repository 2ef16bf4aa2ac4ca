"""What can be typed and pressed, once: help, completion and docs/client.md read these tables.

The words are in the catalogue. Keys stand here as the names of actions: who shows them hands in what they are called.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tictactoe_client.text.language import word_of, words_of
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.choices import Choices


@dataclass(frozen=True, slots=True)
class Command:
    """What may be typed by the words of `words`, behind a colon on the full screen, or pressed by the action.

    The sentence ``does ID`` says what it does. `argument` stands behind the word, or the word for `takes`. It is
    possible while one of these `deeds` is, and always where there are none.
    """

    id: str
    words: tuple[str, ...] | None = None
    argument: str = ""
    takes: str = ""
    keys: tuple[str, ...] = ()
    deeds: tuple[str, ...] = ()

    @property
    def does(self) -> str:
        """What it does, in few words."""
        return say(f"does {self.id}")

    @property
    def typed(self) -> tuple[str, ...]:
        """What is typed for it, the shortest first; nothing for a key that nothing can be typed for."""
        argument = word_of(self.takes) if self.takes else self.argument
        found = (word for id in (self.words if self.words is not None else (self.id,)) for word in words_of(id))
        return tuple(f"{word} {argument}".rstrip() for word in found)


COMMANDS: Final[dict[str, tuple[Command, ...]]] = {
    "topic ask": (Command("board"), Command("last"), Command("free"), Command("clock"), Command("who")),
    "topic read": (
        Command("read column", ("read",), "A"),
        Command("read row", ("read",), "1"),
        Command("read cell", ("read",), "b2"),
    ),
    "topic look": (
        Command("around cell", ("around",), "b2"),
        Command("diagonals of cell", ("diagonals",), "b2"),
        Command("around"),
        Command("diagonals"),
    ),
    "topic list": (
        Command("marks"),
        Command("marks of one", ("marks",), "x"),
        Command("runs"),
        Command("moves"),
        Command("moves last", ("moves",), "6"),
    ),
    "topic step": (
        Command("back", keys=("left",)),
        Command("next", keys=("right",)),
        Command("board at", argument="5"),
        Command("live", keys=("end",)),
    ),
    "topic worth": (
        Command("value", keys=("review",), deeds=("review",)),
        Command("value at", argument="5", deeds=("review",)),
        Command("mistakes", deeds=("mistakes",)),
        Command("next mistake", keys=("mistake",), deeds=("mistakes",)),
        Command("previous mistake", keys=("mistake_before",), deeds=("mistakes",)),
    ),
    "topic opening": tuple(
        Command(f"choose {way}", keys=(way,), deeds=(f"choose {way}",)) for way in ("swap", "stay", "more")
    ),
    "topic game": (
        Command("draw", deeds=("draw offer", "draw accept")),
        Command("undo", deeds=("undo offer", "undo accept")),
        Command("resign", deeds=("resign",)),
        Command("claim", keys=("claim",), deeds=("claim win",)),
        Command("claim draw", ("claim",), takes="way draw", keys=("claim_draw",), deeds=("claim draw",)),
    ),
    "topic offers": (
        Command("yes", keys=("accept",), deeds=("draw accept", "undo accept", "rematch accept")),
        Command("no", keys=("decline",), deeds=("draw decline", "undo decline")),
        Command("draw withdraw", ("draw",), takes="way withdraw", deeds=("draw withdraw",)),
        Command("undo withdraw", ("undo",), takes="way withdraw", deeds=("undo withdraw",)),
    ),
    "topic end": (
        Command("rematch", keys=("rematch",), deeds=("rematch",)),
        Command("new", keys=("another",), deeds=("new",)),
        Command("save", keys=("save",), deeds=("save",)),
        Command("save file", ("save",), takes="argument file", deeds=("save",)),
    ),
    "topic talk": (
        Command("chat", takes="argument text", keys=("chat",), deeds=("chat",)),
        Command("mute", takes="argument name"),
        Command("unmute", takes="argument name"),
        Command("mute nobody", ("mute",)),
    ),
    "topic also": (
        Command("help", keys=("help",)),
        Command("leave", ("leave", "quit"), keys=("back",)),
        Command("command", (), keys=("command",)),
        Command("redraw", (), keys=("redraw",)),
        Command("end", (), keys=("quit",)),
    ),
}
"""What can be done in a room, by what it is about."""

RECORD: Final[dict[str, tuple[Command, ...]]] = {
    "topic step": tuple(Command(f"record {id}") for id in ("next", "back", "number", "live", "quit")),
    "topic ask": (*(COMMANDS["topic ask"][:3]), Command("record who", ("who",))),
    **{topic: COMMANDS[topic] for topic in ("topic read", "topic look", "topic list", "topic worth")},
}
"""What can be typed while a recorded game is looked at."""

HOME: Final = (
    Command("home resume", ("resume",)),
    Command("home play", ("play",)),
    Command("home bot", ("bot",)),
    Command("home new", ("new",)),
    Command("home join", ("join",), takes="argument code"),
    Command("home watch", ("watch",)),
    Command("home rooms", ("rooms",)),
    Command("home history", ("history",)),
)
"""What can be done outside rooms; the other commands of the program can be typed as well."""


def list_commands(*, plays: bool, now: Choices | None = None) -> Iterator[tuple[str, Sequence[Command]]]:
    """Yield what can be done, by what it is about: all that who plays or watches may ever do, or what is possible."""
    for topic, commands in COMMANDS.items():
        found = [one for one in commands if now is None or not one.deeds or any(map(now.may, one.deeds))]
        if not plays:
            of_game = topic in ("topic opening", "topic game", "topic offers")
            found = [one for one in found if not of_game and one.id not in ("rematch", "new")]
        if found:
            yield topic, found
