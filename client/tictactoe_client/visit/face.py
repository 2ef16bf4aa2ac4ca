"""The face: what a visit needs from a user interface, such as plain mode or the full screen."""

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
    """A question to the person: a line to type, or a confirmation.

    Attributes:
        value: The initial text of the line; None asks for a confirmation.
        default: The value of an empty line, for faces that do not show the initial text.
        limit: The maximum length of the line.
        replaces: Whether typing replaces the initial text.
        yes: The id of the label of the key that confirms.
        word: The id of a command that, if typed, confirms like "yes"; or "".
        claims_name: Whether the question asks the person to claim a name; a face may show its own page instead.
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
    """A user interface; `asks` is True if there is a person to ask."""

    asks: bool

    async def ask(self, prompt: Prompt) -> str | None:
        """Return the typed text, or "" for yes; return None for no, or if there is no person to ask."""

    def show(self, *lines: str) -> None:
        """Show lines to the person."""


class NoPerson:
    """The face for programs: no person reads or answers."""

    asks = False

    async def ask(self, _: Prompt) -> str | None:
        """Return None."""

    def show(self, *_: str) -> None:
        """Do nothing."""


async def confirm(face: Face, prompt: Prompt) -> bool:
    """Return True if the person agrees, or if there is no person to ask."""
    return not face.asks or await face.ask(prompt) is not None


async def ask_for(
    face: Face, prompt: Prompt, parse: Callable[[str], Parsed], *, replaces: bool = False
) -> Parsed | None:
    """Ask until `parse` accepts the text, and return the result, or None if the person gives up.

    If `replaces`, typing replaces a refused text.
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
    """Ask for the player's name and return it, or the proposed one if the person does not choose."""
    prompt = Prompt(say("name question"), proposed, default=proposed, limit=MAX_NAME_LENGTH, replaces=True)
    return await ask_for(face, prompt, parse_name) or parse_name(proposed)
