"""What somebody wants of an event, carried out: the one executor, for the command line, typed lines and keys alike."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, get_args

from tictactoe_client.input.intents import BadInput
from tictactoe_client.online.address import reachable_address
from tictactoe_client.online.client import Client
from tictactoe_client.online.tournament import Tournament
from tictactoe_client.text.language import means, word_of
from tictactoe_protocol import clean_text
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.events import Card, EventState, RunAction

OWN_DEEDS: Final = ("join", "leave", "away", "ready")
RUN_DEEDS: Final[tuple[RunAction, ...]] = get_args(RunAction)
"""What its organiser does, by the names of the wire."""
_SHARED: Final = frozenset({"join", "leave", "next", "resume"})
"""Those whose words mean the same elsewhere."""
_OF_A_PLAYER: Final = ("expel", "forfeit", "void")


def find_deed(word: str) -> str:
    """Return the deed that a typed word stands for, "" for none."""
    return next((deed for deed in (*OWN_DEEDS, *RUN_DEEDS) if means(word, _words_for(deed))), "")


def list_deeds(tournament: Tournament) -> str:
    """Return the words for what one may do with it."""
    own = OWN_DEEDS[1:] if tournament.row is not None else OWN_DEEDS[:1]
    deeds = (*own, *(RUN_DEEDS if tournament.is_organiser else ()))
    return ", ".join(word_of(_words_for(deed)) for deed in deeds)


async def carry_out(client: Client, tournament: Tournament, deed: str, argument: str = "") -> list[str]:
    """Do it, with what is typed behind the word: a name, or a ticket to enter with; return what to tell.

    Raises `BadInput` for a name that nobody has, and what requests raise.
    """
    state = tournament.state
    match deed:
        case "join" if state.head.entry == "open":
            await client.join_event(tournament.code, name=argument)
        case "join":
            await client.join_event(tournament.code, ticket=argument)
        case "leave":
            await tournament.leave()
        case "away" | "ready":
            await tournament.ready(on=deed == "ready")
        case "add":
            return list_cards(client, tournament.code, await tournament.run("add", name=argument))
        case _ if deed in _OF_A_PLAYER:
            player, pairing = _find_player(state, argument)
            pairing = "" if deed == "expel" else pairing
            await tournament.run(_action(deed), player="" if deed == "void" else player, pairing=pairing)
        case _:
            return list_cards(client, tournament.code, await tournament.run(_action(deed)))
    return []


def link_to(client: Client, event: str, ticket: str = "") -> str:
    """Return the link to an event that takes others there, with a ticket straight in."""
    address = reachable_address(client.cluster.given.first)
    return address.link_to(f"e/{event}#{ticket}" if ticket else f"e/{event}")


def list_cards(client: Client, event: str, cards: Iterable[Card]) -> list[str]:
    """Return a line for each card: the name, and the link that lets its owner in."""
    return [f"{clean_text(card.name)}: {link_to(client, event, clean_text(card.ticket))}" for card in cards]


def _words_for(deed: str) -> str:
    return deed if deed in _SHARED else f"tournament {deed}"


def _action(deed: str) -> RunAction:
    return next(action for action in RUN_DEEDS if action == deed)


def _find_player(state: EventState, name: str) -> tuple[str, str]:
    """Return the id of the player of this name, and of their pairing in this round, "" for none."""
    named = {row.player: row.name for row in state.table}
    for pairing in state.pairings:
        named |= {player: pairing.names.get(mark, "") for mark, player in pairing.players.items()}
    found = next((player for player, known in named.items() if clean_text(known).casefold() == name.casefold()), "")
    if not found:
        raise BadInput(say("tournament nobody", name=clean_text(name)))
    return found, next((one.id for one in state.pairings if found in one.players.values()), "")
