"""What a visit needs from a face, such as plain mode or the full screen: to show lines, and to ask."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from tictactoe_client.online.errors import ClientError
from tictactoe_protocol import BadName
from tictactoe_protocol.text import MAX_NAME_LENGTH, parse_name
from tictactoe_words.catalogue import say
from tictactoe_words.refusals import describe_fault

Parsed = TypeVar("Parsed")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A question.

    Attributes:
        value: The initial text of the line to type; None asks for a confirmation.
        default: What an empty line means where the initial text is not shown.
        limit: The most characters of the line.
        replaces: Whether typing replaces the initial text.
        yes: The id of the label of the key that confirms.
        word: The id of a command that confirms like "yes" if it is typed, or "".
        claims_name: Whether the person is to claim a name; a face may show its own page for this.
    """

    text: str
    value: str | None = None
    default: str = ""
    limit: int = 2000
    replaces: bool = False
    yes: str = "key yes"
    word: str = ""
    claims_name: bool = False


class Face(Protocol):
    """A user interface; `asks` tells whether there is a person to ask."""

    asks: bool

    async def ask(self, prompt: Prompt) -> str | None:
        """Return the typed text, "" for a confirmation, or None for no and without a person to ask."""

    def show(self, *lines: str) -> None:
        """Show lines to the person."""


class NoPerson:
    """The face of a program, without a person who reads or answers."""

    asks = False

    async def ask(self, _: Prompt) -> str | None:
        """Return None."""

    def show(self, *_: str) -> None:
        """Do nothing."""


async def confirm(face: Face, prompt: Prompt) -> bool:
    """Return True if a person agrees; without a person, nothing has to be confirmed."""
    return not face.asks or await face.ask(prompt) is not None


async def ask_for(
    face: Face, prompt: Prompt, parse: Callable[[str], Parsed], *, replaces: bool = False
) -> Parsed | None:
    """Ask until `parse` accepts the text, and return the result, or None if the person gives up.

    With `replaces`, typing replaces a refused text.
    """
    why = ""
    while (text := await face.ask(replace(prompt, text=f"{why}{prompt.text}"))) is not None:
        try:
            return parse(text or prompt.default)
        except (BadName, ClientError) as bad:
            fault = bad.message if isinstance(bad, ClientError) else describe_fault(bad)
            why, prompt = f"{fault}\n", replace(prompt, value=text, replaces=replaces or prompt.replaces)
    return None


async def choose_name(face: Face, proposed: str) -> str:
    """Ask for the player's name, and return the proposed one if the person does not choose."""
    prompt = Prompt(say("name question"), proposed, default=proposed, limit=MAX_NAME_LENGTH, replaces=True)
    return await ask_for(face, prompt, parse_name) or parse_name(proposed)
