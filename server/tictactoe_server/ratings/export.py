"""The log of ratings as it is written to a file, from which anybody folds it again."""

from __future__ import annotations

from tictactoe_protocol.ratings.checkpoints import leaf_of
from tictactoe_protocol.ratings.exported import (
    CheckpointLine,
    EndLine,
    GamesLine,
    Line,
    Salts,
    VerdictLine,
    encode_line,
)
from tictactoe_protocol.ratings.log import RatedGame, Verdict
from tictactoe_server.ratings.folding import Folding, name_of


async def export_log(folding: Folding) -> bytes:
    """Return a line for each entry and each checkpoint; raises `OrderRefused` where not all games are kept any more.

    What names somebody who was forgotten since has no salt: its leaf stands for what it was.
    """
    games, state = await folding.fold_all()
    placed = {
        one.state.entries: CheckpointLine(one.checkpoint, len(one.state.verdicts))
        async for one in folding.list_snapshots()
    }

    def salt_of(id: str, record: RatedGame | Verdict, leaf: str) -> str | None:
        salt = folding.salt_of(id)
        return salt.hex() if leaf_of(salt, record).hex() == leaf else None

    lines: list[Line] = []
    count = 0
    async for one in folding.list_entries():
        count += 1
        if one.verdict is not None:
            salts: Salts = (salt_of(name_of(one.verdict), one.verdict, one.leaves[0]),)
            lines.append(VerdictLine(one.verdict, salts, one.leaves))
        else:
            named = tuple(games[id] for id in one.games)
            salts = tuple(salt_of(game.id, game, leaf) for game, leaf in zip(named, one.leaves, strict=True))
            lines.append(GamesLine(named, salts, one.leaves))
        if count in placed:
            lines.append(placed[count])
    return b"".join(map(encode_line, [*lines, EndLine(state.digest)]))
