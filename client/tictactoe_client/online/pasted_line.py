"""A whole line where a room's code is wanted: the command that invites others, as it is shown, pasted or typed. Pure.

Whoever copies ``tictactoe-client join ws://host/CODE`` may paste all of it, with any path before the program and any
options about it.
"""

from __future__ import annotations

import re
import shlex
from typing import Final

_PROGRAM: Final = re.compile(r"(?:.*[/\\])?tictactoe[-_]client(?:\.exe)?", re.IGNORECASE)
_LABEL: Final = re.compile(r"(?:code|link|or)(?:\s*:|\s)\s*", re.IGNORECASE)
"""What stands before a code, a link and the command in an invitation; no code begins so, as none has O or I."""
_WAYS: Final = ("join", "watch")
_SERVER: Final = ("-s", "--server")
_WITH_VALUE: Final = ("-n", "--name", "--keys", "--coordinates", "--theme", "--bell", "--timeout")


def find_room(line: str) -> tuple[str, str | None]:
    """Return the part of a line that stands for a room, and the server that an option names, or None; both as written.

    >>> find_room(".venv/bin/tictactoe-client -n ana --server host:9000 join k7m-4pq")
    ('k7m-4pq', 'host:9000')
    >>> find_room("Link  ws://host/K7M4PQ")
    ('ws://host/K7M4PQ', None)
    """
    line = line.strip()
    label = _LABEL.match(line)
    line = line[label.end() :] if label else line
    words = _split(line)
    start = next((number for number, word in enumerate(words) if _PROGRAM.fullmatch(word)), None)
    return (line, None) if start is None else _read(words[start + 1 :])


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line, posix="\\" not in line)
    except ValueError:
        return line.split()


def _read(words: list[str]) -> tuple[str, str | None]:
    """Return what stands behind the command, and the server, of what was typed after the program's name."""
    rest: list[str] = []
    server = None
    ahead = iter(words)
    for word in ahead:
        option, equals, value = word.partition("=")
        if option in _SERVER:
            server = value if equals else next(ahead, None)
        elif word in _WITH_VALUE:
            next(ahead, None)
        elif not word.startswith("-"):
            rest.append(word)
    return " ".join(rest[1:] if rest[:1] and rest[0].lower() in _WAYS else rest), server
