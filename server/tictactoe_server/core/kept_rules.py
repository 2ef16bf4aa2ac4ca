"""Rules as documents keep them: like those of the wire, but with many blocked cells as a bitmap in few characters."""

from __future__ import annotations

from base64 import b64decode, b64encode
from functools import lru_cache

import msgspec

from tictactoe_protocol.pushes import RulesState


class KeptRules(msgspec.Struct, frozen=True):
    """`blocked` are the cells, or in base64 a bit for each cell of the board, from the lowest bit of the first byte on.

    Until version 1.2 they were the cells in any case.
    """

    preset: str | None
    rows: int
    columns: int
    line: int
    marks: str
    blocked: tuple[int, ...] | str
    misere: bool
    gravity: bool


@lru_cache(maxsize=1024)
def kept_rules(rules: RulesState) -> KeptRules:
    """Return rules as they are kept: the blocked cells in the shorter way."""
    fields = msgspec.structs.asdict(rules)
    bits = sum(1 << cell for cell in rules.blocked)
    bitmap = b64encode(bits.to_bytes((rules.rows * rules.columns + 7) // 8, "little")).decode()
    if len(msgspec.json.encode(bitmap)) < len(msgspec.json.encode(rules.blocked)):
        fields["blocked"] = bitmap
    return KeptRules(**fields)


def rules_kept(kept: KeptRules) -> RulesState:
    """Return the rules that were kept; raises ValueError for what is no bitmap."""
    fields = msgspec.structs.asdict(kept)
    if isinstance(kept.blocked, str):
        bits = int.from_bytes(b64decode(kept.blocked, validate=True), "little")
        fields["blocked"] = tuple(cell for cell in range(bits.bit_length()) if bits >> cell & 1)
    return RulesState(**fields)
