"""Parses and carries out the commands of a tournament, for every user interface."""

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
from tictactoe_client.visit.face import Prompt, confirm
from tictactoe_client.visit.visit import Visit
from tictactoe_protocol import clean_text
from tictactoe_protocol.events import Card, EventState, RunAction
from tictactoe_words.attendance import ask_to_begin
from tictactoe_words.catalogue import say
from tictactoe_words.commands import word_of

_RUN: Final[tuple[RunAction, ...]] = get_args(RunAction)
_NAMING: Final = ("expel", "forfeit", "void")
_OWN: Final = ("join", "leave", "away", "ready")


def parse_command(line: str, hint: str = "") -> tuple[str, str]:
    """Return the command of a typed line and its argument; raises `BadInput` with the hint for an unknown word."""
    word, _, argument = line.strip().partition(" ")
    for command in (*_OWN, *_RUN):
        if means(word, command):
            return command, argument.strip()
    raise BadInput(describe_unknown(word, hint or list_words(map(word_of, (*_OWN, *_RUN)))))


async def carry_out(visit: Visit, event: Tournament, command: str, argument: str = "") -> list[str]:
    """Carry out a command; return a line for each card that it issued. Raises `BadInput`, `Refused` or `Interrupted`.

    The person is asked for the ticket if the tournament requires one, and has to confirm ``begin`` and ``leave``.
    """
    face, prompt = visit.face, None
    if command == "leave":
        prompt = Prompt(say("tournament sure to leave"), yes="deed leave")
    elif command == "begin" and (question := ask_to_begin(event.state, event.age_ms)):
        prompt = Prompt(question)
    if prompt is not None and not await confirm(face, prompt):
        return []
    if command == "join":
        asks = face.asks and not argument and event.state.head.entry != "open"
        ticket = await face.ask(Prompt(say("page event ticket"), "")) if asks else argument
        if ticket is not None:
            await visit.enter(_way_into(event, ticket))
    elif command == "leave":
        await event.leave()
    elif command in _OWN:
        await event.ready(on=command == "ready")
    elif visit.client is not None:
        named = _name_what(event.state, command, argument)
        return list_cards(visit.client, event.code, await event.run(cast(RunAction, command), **named))
    return []


def _way_into(tournament: Tournament, argument: str) -> EventWay:
    """Return how to enter the tournament; `argument` is the ticket if one is required, otherwise a name."""
    is_open = tournament.state.head.entry == "open"
    return EventWay(tournament.code, name=argument) if is_open else EventWay(tournament.code, ticket=argument)


def link_to(client: Client, event: str, ticket: str = "") -> str:
    """Return the link to an event; opening a link with a ticket enters the event."""
    address = reachable_address(client.cluster.given.first)
    return address.link_to(f"e/{event}#{ticket}" if ticket else f"e/{event}")


def list_cards(client: Client, event: str, cards: Iterable[Card]) -> list[str]:
    """Return a line for each card: the player's name, and the link that enters as this player."""
    return [f"{clean_text(card.name)}: {link_to(client, event, clean_text(card.ticket))}" for card in cards]


def _name_what(state: EventState, command: str, name: str) -> dict[str, str]:
    if not name and command in (*_NAMING, "add"):
        raise BadInput(say("tournament whom", word=word_of(command)))
    if command not in _NAMING:
        return {"name": name} if command == "add" else {}
    names = {pairing.players[mark]: name for pairing in state.pairings for mark, name in pairing.names.items()}
    names |= {row.player: row.name for row in state.table}
    player = next((id for id, listed in names.items() if clean_text(listed).casefold() == name.casefold()), None)
    unused = next((one for one in state.expected or () if clean_text(one).casefold() == name.casefold()), None)
    if player is None and command == "expel" and unused is not None:
        return {"name": unused}
    if player is None:
        raise BadInput(say("tournament nobody", name=clean_text(name)))
    pairing = next((pairing.id for pairing in state.pairings if player in pairing.players.values()), "")
    return {"player": player} if command == "expel" else {"player": player, "pairing": pairing}
