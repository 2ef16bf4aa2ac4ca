"""Sentences about entering a room, losing the connection, and leaving."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from tictactoe_client.online.address import Address, reachable_address
from tictactoe_client.online.client import Client
from tictactoe_client.online.events import Lost
from tictactoe_client.online.room import Room
from tictactoe_client.settings import Settings
from tictactoe_client.text.answers import draw_board
from tictactoe_client.text.help import describe_controls
from tictactoe_client.text.programs import invitation, own_command
from tictactoe_client.text.wording import (
    describe_choices,
    describe_connection,
    describe_due,
    describe_seconds,
    name_played,
)
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import Offers, RoomState
from tictactoe_words.catalogue import say
from tictactoe_words.telling import announce_standing, describe_result
from tictactoe_words.wording import (
    count,
    describe_clock,
    describe_manners,
    describe_players,
    describe_rules,
    describe_tally,
    describe_turn,
    explain_rules,
    join_words,
    name_of,
    seat_of,
)

_MOST_MOVES_TOLD: Final = 12


def greet(state: RoomState, client: Client, settings: Settings, room: Room) -> list[str]:
    """Return lines about the first state of a room: the place, the moves so far, and how to play."""
    viewer, actor = room.viewer, room.find_actor(state)
    address = client.cluster.given.first
    invites_to = reachable_address(address) if state.status == "waiting" else address
    terms, with_own_name = (viewer, invites_to, client.latency_seconds), settings.name is None
    lines = describe_arrival(state, *terms, with_own_name=with_own_name, actor=actor)
    lines += describe_progress(state)
    if seat_of(state, actor) is not None and not settings.quiet:
        lines += explain_rules(state.rules) + describe_controls(state.rules.to_rules(), settings)
    elif settings.asks and not settings.quiet:
        lines.append(say("look back hint"))
    lines += announce_standing(state, viewer)
    lines += describe_choices(replace(state, status="waiting", offers=Offers()), state, actor)
    return [*lines, describe_turn(state, viewer)] if state.status == "waiting" else lines


def set_scene(
    old: RoomState | None, state: RoomState, viewer: str, settings: Settings, actor: str | None = None
) -> list[str]:
    """Return the lines of the board if useful, and whose turn it is; after a game, the winner and the score."""
    board = draw_board(state, settings) if settings.draws_board else []
    if state.status == "over":
        winner = state.result.winner if state.result is not None else None
        won = [] if winner is None else [say("winner", name=name_of(state, winner), mark=winner)]
        return [*board, *won, *([say("score", tally=describe_tally(state))] if state.game > 1 else [])]
    if state.status != "playing":
        return []
    own = seat_of(state, actor or viewer)
    if state.turn == own:
        return [*board, *describe_due(state, viewer, actor)]
    begins = old is None or old.status != "playing" or old.game != state.game
    is_taken_back = old is not None and state.ply < old.ply and state.game == old.game
    drawn = board if own is None or is_taken_back or (begins and state.ply > 0) else []
    opening = state.opening or None
    if opening is not None and (begins or opening.options):
        return [*drawn, describe_turn(state, viewer)]
    return [*drawn, say("move of mark", mark=state.turn)] if begins or is_taken_back else drawn


def describe_arrival(
    state: RoomState,
    viewer: str,
    address: Address,
    latency_seconds: float,
    *,
    with_own_name: bool = False,
    actor: str | None = None,
) -> list[str]:
    """Return lines about the room, its players and, while the room waits for players, how to invite others."""
    terms = ", ".join((describe_rules(state.rules), describe_clock(state.time_control), *describe_manners(state)))
    id = "view room entered" if seat_of(state, actor or viewer) else "view room entered watching"
    where = f"{describe_connection(latency_seconds)} {say(id, room=state.room, rules=terms)}"
    lines = [where, describe_players(state, viewer, with_own_name=with_own_name)]
    if state.status != "waiting":
        return lines
    link, command = address.link_to(state.room), invitation(address.word_for(state.room))
    invitations = {"invitation code": state.room, "invitation link": link, "invitation or": command}
    width = max(map(len, map(say, invitations)))
    return [*lines, *(f"{say(id):{width}}  {way}" for id, way in invitations.items())]


def describe_progress(state: RoomState) -> list[str]:
    """Return a line with the latest moves, or [] before the first move."""
    if state.ply == 0:
        return []
    played = count(state.ply, "move")
    earlier = "... " if state.ply > _MOST_MOVES_TOLD else ""
    names = f"{earlier}{', '.join(name_played(state, state.moves[-_MOST_MOVES_TOLD:]))}"
    return [say("moves so far named", n=state.ply, moves=played, names=names)]


def describe_attempts(lost: Lost, *, holds_seat: bool) -> str:
    """Say that the connection is lost, how long we try to reconnect, and how long a running server holds our seat."""
    is_limited = lost.absent_seconds >= 1
    attempt = say("lost for up to", time=describe_seconds(lost.absent_seconds)) if is_limited else say("banner lost")
    if not (holds_seat and 1 <= lost.hold_seconds < lost.absent_seconds):
        return attempt
    return f"{attempt} {say('seat held while server runs', time=describe_seconds(lost.hold_seconds))}"


def describe_giving_up(state: RoomState | None, viewer: str, address: Address, reason: str) -> str:
    """Say that reconnecting failed, what that means for the game, and how to try again."""
    if state is None:
        return say("connection lost", reason=clean_text(reason))
    command = describe_return_command(state, viewer, address)
    others = [name_of(state, mark) for mark, seat in state.seats.items() if seat is not None and seat.player != viewer]
    id = "not back, claimable" if others and seat_of(state, viewer) else "not back, try"
    return say(id, reason=clean_text(reason), names=join_words(others), n=len(others), command=command)


def describe_going(state: RoomState | None, client: Client) -> str:
    """Say how long our seat is held and how to return to it; or goodbye if we have no seat in a running game."""
    if state is None or state.status == "over" or seat_of(state, client.player) is None:
        return say("goodbye")
    hold_ms, command = client.welcome.hold_ms, describe_return_command(state, client.player, client.cluster.given.first)
    if state.counts_days:
        return say("seat kept", room=state.room, command=command)
    if not client.is_here:
        return say("seat held, server not told", room=state.room, command=command)
    return say("seat held", room=state.room, time=describe_seconds(hold_ms / 1000), command=command)


def describe_going_elsewhere(room: str, client: Client) -> str:
    """Return the question whether to leave our running game for a room on another server."""
    return say("room elsewhere", room=room, time=describe_seconds(client.welcome.hold_ms / 1000))


def describe_farewell(room: Room, client: Client, *, has_left: bool) -> str:
    """Return the program's last line after a room; "" for a watcher of a room without a running game."""
    state, viewer = room.state, client.player
    own, leaving = seat_of(state, viewer), room.choices(0).find("leave")
    if state.status == "over":
        return say("farewell over", room=state.room, told=describe_result(state, room.viewer))
    if own is None:
        command = describe_return_command(state, viewer, client.cluster.given.first)
        return say("farewell watcher", command=command) if state.status == "playing" else ""
    if not has_left:
        return describe_going(state, client)
    if len(room.local_players) > 1:
        return say("you left", room=state.room)
    if state.status == "waiting" or (leaving is not None and leaving.cost == "abort"):
        return say("farewell before" if state.status == "waiting" else "farewell aborted", room=state.room)
    staying = {mark: name_of(state, mark) for mark, seat in state.seats.items() if seat is not None and not seat.out}
    did = "left" if staying.pop(own, "") else "out"
    return say(f"farewell {did}", room=state.room, names=join_words([*staying.values()]), n=len(staying))


def describe_return_command(state: RoomState, viewer: str, address: Address) -> str:
    """Return the command that takes us back to our seat, or a watcher back to the room."""
    return own_command("join" if seat_of(state, viewer) else "watch", address.word_for(state.room))
