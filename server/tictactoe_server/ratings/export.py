"""The log of ratings as it is written to a file, from which anybody folds it again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tictactoe_protocol.ratings.checkpoints import leaf_of
from tictactoe_protocol.ratings.exported import CheckpointLine, EndLine, GamesLine, Line, VerdictLine, encode_line
from tictactoe_protocol.ratings.log import RatedGame, Verdict
from tictactoe_server.ratings.folding import Folding, name_of
from tictactoe_server.ratings.tables import LoggedEntry, Secret, Snapshot


async def export_log(folding: Folding) -> tuple[dict[str, Any], bytes]:
    """Return figures, and a line for each entry and each checkpoint.

    What names somebody who was forgotten since has no salt: its leaf stands for what it was. Raises `OrderRefused`
    where not all games are kept any more.
    """
    games, state, entries = await folding.fold_all()
    placed = {one.state.entries: one async for one in folding.list_snapshots()}

    def encode_all() -> bytes:
        lines = _list_lines(entries, games, placed, folding.secret)
        return b"".join(map(encode_line, (*lines, EndLine(state.digest))))

    count = sum(len(entry.games) for entry in entries)
    figures = {"games": count, "entries": len(entries), "digest": state.digest}
    return figures, await asyncio.to_thread(encode_all)


def _list_lines(
    entries: Sequence[LoggedEntry],
    games: Mapping[str, RatedGame],
    placed: Mapping[int, Snapshot],
    secret: Secret,
) -> Iterator[Line]:
    """Yield the lines of entries, and after so many of them as it is `placed` at that of a checkpoint."""

    def find_salt(id: str, record: RatedGame | Verdict, leaf: str) -> str | None:
        salt = secret.salt(id)
        return salt.hex() if leaf_of(salt, record).hex() == leaf else None

    for count, one in enumerate(entries, 1):
        if one.verdict is not None:
            yield VerdictLine(one.verdict, (find_salt(name_of(one.verdict), one.verdict, one.leaves[0]),), one.leaves)
        else:
            named = tuple(games[id] for id in one.games)
            salts = (find_salt(game.id, game, leaf) for game, leaf in zip(named, one.leaves, strict=True))
            yield GamesLine(named, tuple(salts), one.leaves)
        if count in placed:
            yield CheckpointLine(placed[count].checkpoint, len(placed[count].state.verdicts))
