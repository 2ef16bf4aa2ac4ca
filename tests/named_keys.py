"""Find the keys that a screen's text names.

A key is named by an item such as ``Enter open`` or ``←/→ step``, two spaces away from the next item, or within a
sentence, as in ``(n: change)`` and ``press l``.
"""

import re

_WORDS = {
    "Enter": "enter",
    "Esc": "escape",
    "Tab": "tab",
    "Space": "space",
    "Home": "home",
    "End": "end",
    "PageUp": "pageup",
    "PageDown": "pagedown",
    "↑": "up",
    "↓": "down",
    "←": "left",
    "→": "right",
    "<-": "left",
    "->": "right",
    "up": "up",
    "down": "down",
}
_ARROWS = frozenset({"up", "down", "left", "right"})
_MANY = {
    "arrows": _ARROWS,
    "↑↓": frozenset({"up", "down"}),
    "←→": frozenset({"left", "right"}),
    "<>": frozenset({"left", "right"}),
    "1-9": frozenset("123456789"),
    "1-7": frozenset("1234567"),
    "qwe": frozenset("qwe"),
    "asd": frozenset("asd"),
    "zxc": frozenset("zxc"),
    "12": frozenset("0123456789"),
}
_WITHIN = re.compile(r"\((\S+): [a-z]|\bpress (\S+)$")
_TYPED_CELL = re.compile(r"type a cell \(\w+\)")


def named_keys(text: str) -> frozenset[str]:
    """Return the keys that the text names, by the terminal library's names.

    >>> sorted(named_keys(" ↑↓ choose  Enter open  Ctrl+Q quit   (n: change)"))
    ['ctrl+q', 'down', 'enter', 'n', 'up']
    >>> sorted(named_keys(" │ Enter ok  Esc no      │ ")), sorted(named_keys("| Enter ok  Esc no   |"))
    (['enter', 'escape'], ['enter', 'escape'])
    >>> sorted(named_keys("  X  ana    1. X B2  O A1    bo: r play again"))
    []
    """
    found: set[str] = set()
    for line in text.splitlines():
        for item in re.split(" {2,}", line.strip(" │|")):
            found |= _read_item(item)
        for one, other in _WITHIN.findall(line.rstrip()):
            found |= _read_word(one or other)
    return frozenset(found)


def last_line(text: str) -> str:
    """Return the bottom line, which names a page's keys."""
    return text.rstrip().splitlines()[-1]


def _read_item(item: str) -> set[str]:
    """Return the keys of an item: its first word, if lower-case words follow, and those after ``or`` and ``and``."""
    first, _, label = item.partition(" ")
    if _TYPED_CELL.match(item):
        keys = {"a cell"}
    elif re.fullmatch(r"Home/End|arrows\+\S+", item) or re.match(r"[a-z0-9]|QR", label):
        keys = _read_word(first)
    else:
        return set()
    for word in re.findall(r"(?:\bor|\band|^12) ([^\s,]+)", item):
        keys |= _read_word(word)
    return keys


def _read_word(word: str) -> set[str]:
    """Return the keys of a word such as ``Ctrl+Q``, ``<-/->`` or ``arrows+Enter``; none if it is an ordinary word."""
    if word in _MANY:
        return set(_MANY[word])
    if word in _WORDS:
        return {_WORDS[word]}
    if len(word) == 1:
        return {word}
    if re.fullmatch(r"Ctrl\+[A-Z]|F\d+", word):
        return {word.lower()}
    parts = re.split(r"[+/]", word)
    found = [_read_word(part) for part in parts] if len(parts) > 1 else []
    return set().union(*found) if all(found) else set()
