"""Carries out event commands for the command line, plain mode and the full screen."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, cast, get_args

from tictactoe_client.input.intents import BadInput
from tictactoe_client.input.ways import EventWay
from tictactoe_client.online.address import reachable_address
from tictactoe_client.online.client import Client
from tictactoe_client.online.tournament import Tournament
from tictactoe_client.text.language import means
from tictactoe_client.text.lobby import list_words
from tictactoe_client.text.wording import describe_unknown
from tictactoe_protocol import clean_text
from tictactoe_protocol.events import Card, EventState, RunAction
from tictactoe_words.catalogue import say
from tictactoe_words.commands import word_of

_RUN_DEEDS: Final[tuple[RunAction, ...]] = get_args(RunAction)
_NAMING_DEEDS: Final = ("expel", "forfeit", "void")
_OWN_DEEDS: Final = ("join", "leave", "away", "ready")


def find_deed(line: str, hint: str = "") -> tuple[str, str]:
    """Return the command of a typed line and its argument; `BadInput` with a hint for an unknown word."""
    word, _, argument = line.strip().partition(" ")
    for deed in (*_OWN_DEEDS, *_RUN_DEEDS):
        if means(word, deed):
            return deed, argument.strip()
    raise BadInput(describe_unknown(word, hint or list_words(map(word_of, (*_OWN_DEEDS, *_RUN_DEEDS)))))


async def carry_out(client: Client, tournament: Tournament, deed: str, argument: str = "") -> list[str]:
    """Carry out a command other than joining; return a line for each card. Raises `BadInput` or `Refused`."""
    if deed == "leave":
        await tournament.leave()
    elif deed in _OWN_DEEDS:
        await tournament.ready(on=deed == "ready")
    else:
        named = _name_what(tournament.state, deed, argument)
        return list_cards(client, tournament.code, await tournament.run(cast(RunAction, deed), **named))
    return []


def way_into(tournament: Tournament, argument: str) -> EventWay:
    """Return the way into an event with an argument: a ticket if the event has tickets, otherwise a name."""
    is_open = tournament.state.head.entry == "open"
    return EventWay(tournament.code, name=argument) if is_open else EventWay(tournament.code, ticket=argument)


def link_to(client: Client, event: str, ticket: str = "") -> str:
    """Return the link to an event; a link with a ticket enters the event."""
    address = reachable_address(client.cluster.given.first)
    return address.link_to(f"e/{event}#{ticket}" if ticket else f"e/{event}")


def list_cards(client: Client, event: str, cards: Iterable[Card]) -> list[str]:
    """Return a line for each card: the name, and the link that enters under it."""
    return [f"{clean_text(card.name)}: {link_to(client, event, clean_text(card.ticket))}" for card in cards]


def _name_what(state: EventState, deed: str, name: str) -> dict[str, str]:
    if not name and deed in (*_NAMING_DEEDS, "add"):
        raise BadInput(say("tournament whom", word=word_of(deed)))
    if deed not in _NAMING_DEEDS:
        return {"name": name} if deed == "add" else {}
    names = {pairing.players[mark]: name for pairing in state.pairings for mark, name in pairing.names.items()}
    names |= {row.player: row.name for row in state.table}
    player = next((id for id, listed in names.items() if clean_text(listed).casefold() == name.casefold()), None)
    if player is None:
        raise BadInput(say("tournament nobody", name=clean_text(name)))
    pairing = next((pairing.id for pairing in state.pairings if player in pairing.players.values()), "")
    return {"player": player} if deed == "expel" else {"player": player, "pairing": pairing}
