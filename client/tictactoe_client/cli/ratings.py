"""The command `verify`: folds an export of ratings again, and compares the digests."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tictactoe_client.online.errors import describe_cause
from tictactoe_client.settings import ExitCode, Misuse, Settings
from tictactoe_client.streams.output import Output, print_own
from tictactoe_protocol import clean_text
from tictactoe_protocol.ratings.exported import BadExport, Checked, check_export
from tictactoe_words.catalogue import say


async def verify(settings: Settings, file: str) -> int:
    """Fold an export of ratings again, and print whether its digest is right; `Misuse` if the file is none."""

    def check() -> Checked:
        with Path(file).expanduser().open("rb") as lines:
            return check_export(lines)

    try:
        report = await asyncio.to_thread(check)
    except (OSError, ValueError) as error:
        if isinstance(error, BadExport):
            data = {key: clean_text(str(value)) for key, value in error.data.items()}
            why = say(f"ratings file {error.code}", line=error.line, **data)
        else:
            why = clean_text(describe_cause(error)).rstrip(".")
        raise Misuse(say("ratings file bad", file=clean_text(file), why=why)) from None
    is_right = report.digest == report.expected
    figures = {**report._asdict(), "expected": clean_text(report.expected)}
    if settings.mode == "json":
        print_own("verified", holds=is_right, **figures)
    elif not (is_right and settings.quiet):
        Output().print(say("ratings hold" if is_right else "ratings differ", **figures))
    return ExitCode.NORMAL if is_right else ExitCode.REFUSED
