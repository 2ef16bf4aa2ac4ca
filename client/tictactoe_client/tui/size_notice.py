"""What a window says that is too small for its page: how large it has to be, in the words there is room for. Pure."""

from __future__ import annotations

from tictactoe_client.tui.picture import wrap


def notice_size(needed: tuple[int, int], window: tuple[int, int], question: str) -> list[str]:
    """Return the lines for a window of this size, the notice first, and below it what is asked, empty for nothing.

    >>> notice_size((24, 9), (20, 8), "")
    ['needs at least 24x9,', 'now 20x8']
    """
    width, height = window
    asked = _break(question, width) if question else []
    size, now = f"{needed[0]}x{needed[1]}", f"now {width}x{height}"
    ways = [
        _break(text, width) for text in (f"needs at least {size}, {now}", f"needs at least {size}", f"needs {size}")
    ]
    room = max(1, height - len(asked))
    notice = next((lines for lines in ways if len(lines) <= room), ways[0][:room])
    return [*notice, *asked][:height]


def _break(text: str, width: int) -> list[str]:
    """Return the text in lines that begin and end with a word, and none that is empty."""
    return [line for line in (line.strip() for line in wrap(text, width)) if line]
