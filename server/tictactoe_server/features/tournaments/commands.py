"""Commands that change a tournament, and their application to the immutable `Event`. Every command is idempotent.

`pair_next` computes the pairings of the next round. This takes a moment for a large Swiss, so it may run in a thread;
its result, `Paired`, is applied like any other command.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from tictactoe_protocol import ErrorCode
from tictactoe_protocol.berger import berger_pairs
from tictactoe_protocol.events import EntrantStatus, EventLeave, EventReady, EventRun, ScoredBy, id_of
from tictactoe_server.features.tournaments import knock_out, swiss
from tictactoe_server.features.tournaments.event import Entrant, Event, Pairing, check_names, digest, due_at, pair_up
from tictactoe_server.rooms.room import Refused

ORGANISER_GONE_MS: Final = 10 * 60_000
"""How long after a round the next one begins even if `advance` is ``hand`` and the organiser does not begin it."""


class EnterEvent(Struct, frozen=True):
    """Enter a tournament, or return to it.

    Attributes:
        name: The player's name in this tournament; if there is a roster, the ticket decides the name instead.
        bot: The kind of bot, as in `Entrant`.
        ticket: The ticket that admits the player, or "".
        over: The id of another player with the same ticket whom this player replaces, even during a game, or "".
    """

    name: str
    bot: str | None = None
    ticket: str = ""
    over: str = ""


class RoomCodes(Struct, frozen=True):
    """Assign new room codes, by id of the pairing. A pairing with another code is ``due`` again: its room is lost."""

    codes: Mapping[str, str]


class Opened(Struct, frozen=True):
    """Note that the room of a pairing is open. With `again`, its players get their whole time to arrive once more."""

    pairing: str
    again: bool = False


class Score(Struct, frozen=True):
    """Score a pairing. The fields have the same meaning as in `Pairing`."""

    pairing: str
    result: str
    reason: str = ""
    game_id: str = ""
    by: ScoredBy = "game"


class Paired(Struct, frozen=True):
    """Begin the next round if it is due, or end the tournament if the round has no pairings.

    Attributes:
        round: The number of the round.
        entrants: The entrants when the round was computed. If they have changed since, the command does nothing.
    """

    round: int
    pairings: tuple[Pairing, ...]
    entrants: tuple[Entrant, ...]


class Deserted(Struct, frozen=True):
    """Pause a tournament because no player is present, or, if `is_so` is False, resume it after such a pause."""

    is_so: bool = True


class End(Struct, frozen=True):
    """End a tournament on the operator's behalf."""


Command = EnterEvent | EventLeave | EventReady | EventRun | RoomCodes | Opened | Score | Paired | Deserted | End


def apply(event: Event, actor: str, command: Command, now: int) -> Event:
    """Return the event after a command, or the same object if the command changes nothing; may raise `Refused`.

    Args:
        actor: The id of the player who sent the command, or "" if the server did.
    """
    after = _change(event, actor, command, now)
    return event if after is event else replace(_go_on(after, now), seq=event.seq + 1)


def pair_next(event: Event) -> Paired:
    """Return the next round; it has no pairings if the tournament has no further round."""
    round, pair = event.round + 1, {"swiss": swiss.pair_round, "knock_out": knock_out.pair_round}
    is_last = event.round == event.all_rounds
    return Paired(round, () if is_last else pair.get(event.kind, _pair_all)(event, round), event.entrants)


def _pair_all(event: Event, round: int) -> tuple[Pairing, ...]:
    """Return a round of a round robin, by the Berger tables. A player without an opponent has a bye without a point."""
    players = ["", *(entrant.player for entrant in event.field)]
    pairs = berger_pairs(len(event.field), round, double=event.double)
    return pair_up(round, ((players[one], players[other or 0]) for one, other in pairs), event.marks)


def _change(event: Event, actor: str, command: Command, now: int) -> Event:
    match command:
        case EnterEvent():
            return _enter(event, actor, command, now)
        case EventLeave() if (entrant := event.entrant(actor)) is not None:
            return _remove(event, entrant, "out")
        case EventReady() if (entrant := event.entrant(actor)) is not None and not entrant.is_gone:
            return _with_status(event, entrant, "in" if command.on else "away")
        case EventLeave() | EventReady():
            raise Refused(ErrorCode.NOT_ENTERED)
        case EventRun():
            if actor not in event.organisers:
                raise Refused(ErrorCode.NOT_ORGANISER)
            after = _run(event, command, now)
            if after is not event and command.seq != event.seq:
                raise Refused(ErrorCode.STALE, "event", path="seq")
            return after
        case RoomCodes(codes):
            moved = [pairing for pairing in event.open_pairings if codes.get(pairing.id, pairing.room) != pairing.room]
            return _with_pairings(event, [replace(one, room=codes[one.id], state="due", opened_at=0) for one in moved])
        case Opened(id, again):
            one = event.pairing(id)
            if one is None or one.state != ("open" if again else "due") or not one.room:
                return event
            return _with_pairings(event, [replace(one, state="open", opened_at=now)])
        case Score():
            return _score(event, command)
        case Paired(round, pairings, entrants):
            due = due_at(event)
            if due is None or due > now or (round, entrants) != (event.round + 1, event.entrants):
                return event
            if pairings:
                return replace(event, round=round, pairings=(*event.pairings, *pairings), due_at=None)
            return replace(event, status="over", due_at=None)
        case Deserted(is_so):
            if event.status != ("running" if is_so else "paused") or not event.round or event.is_deserted is is_so:
                return event
            return replace(event, status="paused" if is_so else "running", due_at=None, is_deserted=is_so)
        case End():
            return _close(event)


def _enter(event: Event, actor: str, command: EnterEvent, now: int) -> Event:
    known, is_roster = event.entrant(actor), event.entry == "roster"
    name, others = event.name_on(command.ticket) if is_roster else command.name, event.entrants
    if known is not None and not known.is_gone:
        if is_roster and command.ticket and name != known.name:
            raise Refused(ErrorCode.NOT_ENTERED, "card", name=known.name) if name else _wrong_ticket(command.ticket)
        return _with_status(event, known, "in")
    if known is not None and known.status == "expelled":
        raise Refused(ErrorCode.NOT_ALLOWED, "expelled")
    if known is None and (holder := event.holder_of(command.ticket)) is not None:
        return _take_over(event, holder, actor, command.over)
    if not name or (event.entry == "code" and not event.is_ticket(command.ticket)):
        raise _wrong_ticket(command.ticket)
    if known is not None or not event.takes_entrants:
        raise Refused(ErrorCode.EVENT_BEGUN, "over" if event.is_over else "")
    if is_roster and event.status == "open":  # the former holder of this card left or was expelled
        others = tuple(one for one in others if not one.joined_round or one.is_server_bot or one.name != name)
    check_names((name,), (one.name for one in others))
    if len(others) >= event.limit:
        raise Refused(ErrorCode.EVENT_FULL, size=event.limit)
    joined = 1 if event.status == "open" else event.round + 1
    event = replace(event, entrants=(*others, Entrant(actor, name, command.bot, joined_round=joined)))
    if event.status == "open" and event.start == "full" and len(event.field) == event.size:
        return _begin(event, now + event.break_ms)
    return event


def _wrong_ticket(ticket: str) -> Refused:
    return Refused(ErrorCode.NOT_ENTERED, "wrong ticket" if ticket else "ticket", path="ticket")


def _take_over(event: Event, holder: Entrant, player: str, over: str) -> Event:
    """Replace a card's holder by `player`, perhaps a new device; raise `Refused` unless `over` names the holder."""
    if event.is_over:
        raise Refused(ErrorCode.EVENT_BEGUN, "over")
    if over != holder.player:
        raise Refused(ErrorCode.NOT_ALLOWED, "event card", name=holder.name)
    moved = [
        replace(pairing, players={mark: player if id == holder.player else id for mark, id in pairing.players.items()})
        for pairing in event.pairings_of(holder.player)
    ]
    return _with_pairings(_with_status(event, holder, "in", player), moved)


def _score(event: Event, command: Score) -> Event:
    one = event.pairing(command.pairing)
    if one is None or one.state == "scored":
        return event
    if command.result not in (*one.players, "draw", "none"):
        raise ValueError(f"{command.result!r} is no result of the pairing {one.id}.")
    return _with_pairings(event, [one.scored(command.result, command.by, command.reason, command.game_id)])


def _run(event: Event, command: EventRun, now: int) -> Event:
    """Apply an organiser's command. Repeating it changes nothing and is not refused, even with an old `seq`."""
    match command.action:
        case "begin":
            if event.status == "open" and len(event.field) < 2:
                raise Refused(ErrorCode.NOT_ALLOWED, "event few")
            return _begin(event, now) if event.status == "open" else event
        case "next":
            if event.status != "running" or event.due_at is None:
                raise Refused(ErrorCode.NOT_ALLOWED, "event now")
            return event if event.due_at <= now else replace(event, due_at=now)
        case "pause" | "resume":
            after = "paused" if command.action == "pause" else "running"
            if event.status not in ("running", "paused"):
                raise Refused(ErrorCode.NOT_ALLOWED, "event now")
            changed = replace(event, status=after, is_deserted=False)
            return event if changed == event else replace(changed, due_at=None)
        case "expel" if command.name and not command.player:
            return _take_out(event, command.name)
        case "expel":
            entrant = event.entrant(command.player or "")
            if entrant is None:
                raise Refused(ErrorCode.NOT_ALLOWED, "event now", path="player")
            return _remove(event, entrant, "expelled")
        case "forfeit" | "void":
            return _score_by_hand(event, command)
        case "close":
            return _close(event)
        case "add":
            return _add(event, command.name or "")
        case "cards":
            return event


def _score_by_hand(event: Event, command: EventRun) -> Event:
    one = event.pairing(id_of(command.pairing or ""))
    player = command.player if command.action == "forfeit" else ""
    if one is None or (player and player not in one.players.values()):
        raise Refused(ErrorCode.NOT_ALLOWED, "event now", path="pairing")
    result = event.marks.replace(one.mark_of(player) or "", "") if player else "none"
    return _score(event, Score(one.id, result, command.action, by="organiser"))


def _close(event: Event) -> Event:
    if event.is_over:
        return event
    event = _with_pairings(event, [pairing.scored("none", "organiser", "void") for pairing in event.open_pairings])
    return replace(event, status="over" if event.round else "void", due_at=None)


def _take_out(event: Event, name: str) -> Event:
    """Return the event without a name on its roster that has not entered."""
    if name not in event.roster:
        return event
    if event.is_over or name not in event.expected:
        raise Refused(ErrorCode.NOT_ALLOWED, "event now", path="name")
    return replace(event, roster=tuple(other for other in event.roster if other != name))


def _add(event: Event, name: str) -> Event:
    if event.entry != "roster" or event.is_over or not name:
        raise Refused(ErrorCode.NOT_ALLOWED, "event now", path="name")
    if name in event.roster:
        return event
    if len(event.roster) >= event.limit:
        raise Refused(ErrorCode.EVENT_FULL, size=event.limit)
    if not event.takes_entrants:
        raise Refused(ErrorCode.EVENT_BEGUN)
    check_names((name,), (*event.roster, *(entrant.name for entrant in event.entrants)))
    return replace(event, roster=(*event.roster, name))


def _begin(event: Event, due_at: int) -> Event:
    """Start the event: set the time of the first round, and number the players by the roster, the others by lot."""
    places = {name: place for place, name in enumerate(event.roster)}
    lots = {one.player: (places.get(one.name, len(places)), digest(str(event.seed), one.player)) for one in event.field}
    ordered = sorted(event.field, key=lambda one: lots[one.player])
    expelled = (entrant for entrant in event.entrants if not entrant.joined_round)
    return replace(event, status="running", due_at=due_at, entrants=(*ordered, *expelled))


def _with_status(event: Event, entrant: Entrant, status: EntrantStatus, player: str = "") -> Event:
    changed = replace(entrant, status=status, player=player or entrant.player)
    if changed == entrant or event.is_over:
        return event
    return replace(event, entrants=tuple(changed if one is entrant else one for one in event.entrants))


def _remove(event: Event, entrant: Entrant, status: EntrantStatus) -> Event:
    """Remove an entrant. Once the event has begun, the entrant stays in the table with the new status."""
    if entrant.status == "expelled" or event.is_over:
        return event
    if event.status != "open":
        return _with_status(event, entrant, status)
    others = tuple(one for one in event.entrants if one is not entrant)
    expelled = (replace(entrant, status=status, joined_round=0),) if status == "expelled" else ()
    return replace(event, entrants=(*others, *expelled))


def _with_pairings(event: Event, changed: Collection[Pairing]) -> Event:
    by_id = {one.id: one for one in changed}
    return replace(event, pairings=tuple(by_id.get(one.id, one) for one in event.pairings)) if by_id else event


def _go_on(event: Event, now: int) -> Event:
    """Apply the consequences of a change: forfeits, further games of a match, the time of the next round, the end."""
    if event.status not in ("running", "paused"):
        return event
    gone = {entrant.player for entrant in event.field if entrant.is_gone}
    while True:
        given = [_forfeit(one, gone) for one in event.open_pairings if gone.intersection(one.players.values())]
        more = knock_out.more_games(event) if event.kind == "knock_out" and not given else ()
        if not given and not more:
            break
        event = _with_pairings(replace(event, pairings=(*event.pairings, *more)), given)
    if event.status == "paused" or event.due_at is not None or event.open_pairings:
        return event
    if event.round and event.round == event.all_rounds:
        return replace(event, status="over")
    is_waiting = event.advance == "hand" and event.round and len(gone) + 1 < len(event.field)
    return replace(event, due_at=now + (ORGANISER_GONE_MS if is_waiting else event.break_ms))


def _forfeit(pairing: Pairing, gone: Collection[str]) -> Pairing:
    here = [mark for mark, player in pairing.players.items() if player not in gone]
    return pairing.scored(here[0] if here else "none", "forfeit", "forfeit")
