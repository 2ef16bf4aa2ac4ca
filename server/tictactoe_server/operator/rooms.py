"""Orders that list, show and close rooms."""

from __future__ import annotations

from typing import Annotated, Final

import click

from tictactoe_protocol import parse_room_code
from tictactoe_server.core.live_room import LiveRoom, closing_notice
from tictactoe_server.operator.order import Listing, Order, Row, ServerParts, named, run_at, run_everywhere
from tictactoe_server.operator.words import Reason, draw_table, reason_option, show, without_stop


class ListRooms(Listing, frozen=True, tag="rooms"):
    """List all rooms, including private rooms."""

    columns = ("room", "status", "visibility", "rules", "game", "ply", "players", "here", "watchers")
    nothing = "No rooms."

    async def run(self, server: ServerParts) -> list[Row]:
        """Return the rooms on all servers, then the rooms that are asleep, which every server knows."""
        rows: list[Row] = await run_everywhere(self, server)
        awake, unknown = {row["room"] for row in rows}, dict.fromkeys(self.columns)
        asleep = [code for code in server.core.rooms.asleep if code not in awake]
        return [*rows, *({**unknown, "room": code, "status": "asleep"} for code in asleep)]

    async def run_here(self, server: ServerParts) -> list[Row]:
        return [_row_of(live) for live in server.core.rooms.by_code.values()]


class RoomOrder(Order, frozen=True):
    """An operator's command for one room. In a cluster, the server that has the room executes it."""

    code: Annotated[str, click.Argument(["code"])]

    async def run(self, server: ServerParts) -> Row:
        code = parse_room_code(self.code)
        others = server.elsewhere
        id = others.server_of(code)
        return named(await run_at(id, self, server), others.cluster_status.names.get(id, id))


class ShowRoom(RoomOrder, frozen=True, tag="room"):
    """Show the board, the players and the watchers of a room."""

    async def run_here(self, server: ServerParts) -> Row:
        live = await server.core.rooms.find(self.code)
        room, board, columns = live.room, live.room.position.board, live.room.rules.columns
        names = ("player", "name", "online", "bot", "left")
        return {
            **_row_of(live),
            "seats": {
                mark: seat and {name: getattr(seat, name) for name in names} for mark, seat in room.seats.items()
            },
            "watching": [session.player.name for session in live.watchers if session.player is not None],
            "turn": room.position.turn if room.status == "playing" else None,
            "board": [board[first : first + columns] for first in range(0, len(board), columns)],
        }

    def describe(self, answer: Row) -> str:
        names = ("room", "status", "visibility", "rules", "game", "ply", "turn", "server", "watching")
        facts = [f"{name:10} {show(answer[name])}" for name in names if name in answer]
        seats = [{"seat": mark, **(seat or {})} for mark, seat in answer["seats"].items()]
        drawn = draw_table(("seat", "name", "player", "online", "bot"), seats)
        return "\n".join([*facts, "", drawn, "", *answer["board"]])


class CloseRoom(RoomOrder, frozen=True, tag="close"):
    """Close a room, removing everybody from it. A game in progress is discarded."""

    reason: Annotated[Reason, reason_option("Reason to show to the players and watchers.")] = ""
    outcome = "Closed room {room}."

    async def run_here(self, server: ServerParts) -> Row:
        live, reason = await server.core.rooms.find(self.code), without_stop(self.reason)
        data = {"why": "reason", "reason": reason} if reason else {}
        await server.core.timers.end(live, closing_notice(live.room.code, "operator", **data))
        return _row_of(live)


ORDERS: Final = (ListRooms, ShowRoom, CloseRoom)


def _row_of(live: LiveRoom) -> Row:
    room = live.room
    return {
        "room": room.code,
        "status": room.status,
        "visibility": room.visibility,
        "rules": room.rules.preset,
        "game": room.game,
        "ply": room.position.ply,
        "players": {mark: seat and seat.name for mark, seat in room.seats.items()},
        "here": len(live.players),
        "watchers": len(live.watchers),
    }
