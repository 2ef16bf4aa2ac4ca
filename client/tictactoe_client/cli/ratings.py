"""What the command `verify` does: it folds ratings that a server has written to a file, and compares."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

from tictactoe_client.files.checkpoints import SeenCheckpoints
from tictactoe_client.online.errors import describe_cause
from tictactoe_client.settings import ExitCode, Misuse, Settings
from tictactoe_client.streams.output import Output, print_own
from tictactoe_protocol import clean_text
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.ratings.exported import BadExport, Checked, check_lines, read_lines

_MOST_TOLD: Final = 50


async def verify(settings: Settings, file: str) -> int:
    """Say what the file of `tictactoe-server ratings export` comes to, and each thing that differs from what it says.

    The newest checkpoint that was ever seen of the server counts as well. Raises `Misuse` for another file.
    """
    seen = [one.checkpoint for one in SeenCheckpoints().list_all()]

    def check() -> Checked:
        with Path(file).expanduser().open("rb") as lines:
            return check_lines(read_lines(lines), seen)

    try:
        found = await asyncio.to_thread(check)
    except (OSError, ValueError) as error:
        if isinstance(error, BadExport):
            data = {key: clean_text(str(value)) for key, value in error.data.items()}
            why = say(f"ratings file {error.code}", line=error.line, **data)
        else:
            why = clean_text(describe_cause(error)).rstrip(".")
        raise Misuse(say("ratings file bad", file=clean_text(file), why=why)) from None
    told = [
        say(f"ratings differ {one.code}", line=one.line, record=clean_text(one.id), n=one.number)
        for one in found.differences
    ]
    if settings.mode == "json":
        newest = found.checkpoints[-1] if found.checkpoints else None
        sums = {key: value for key, value in found._asdict().items() if key not in ("checkpoints", "differences")}
        rows = [{**one._asdict(), "message": why} for one, why in zip(found.differences, told, strict=True)]
        place = {"checkpoint": newest and newest.number, "key": newest and newest.key}
        print_own("verified", holds=not told, **sums, **place, differences=rows)
    else:
        more = len(told) - _MOST_TOLD
        differs = [*told[:_MOST_TOLD], *([say("ratings differ more", n=more)] if more > 0 else [])]
        head, *proofs = _describe(found)
        Output().print(*(differs if settings.quiet else [head, *differs, *proofs]))
    return ExitCode.REFUSED if told else ExitCode.NORMAL


def _describe(found: Checked) -> list[str]:
    """Return what was found, but for what differs."""
    holds = "differ" if found.differences else "hold"
    sums = {"games": found.games, "entries": found.entries, "verdicts": found.verdicts, "digest": found.digest}
    lines = [say(f"ratings {holds}", **sums)]
    if found.checkpoints and not found.differences:
        newest = found.checkpoints[-1]
        lines.append(say("ratings signed", n=found.signed_games, number=newest.number, key=newest.key))
    elif not found.checkpoints:
        lines.append(say("ratings not signed"))
    if found.remembered:
        lines.append(say("ratings remembered", n=found.remembered))
    if found.unproved:
        lines.append(say("ratings unproved", n=found.unproved))
    return lines
