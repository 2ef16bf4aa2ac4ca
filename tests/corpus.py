"""Hostile texts that steer, reorder or hide what a terminal shows, and a check of a program's output.

The check is independent of the product: Unicode's categories, its list of default-ignorable characters, and a limit on
stacked marks.
"""

import re
import unicodedata
from collections.abc import Iterator

ESC, BEL, ST = "\x1b", "\x07", "\x1b\\"

STEERING = {
    "C0": "".join(map(chr, range(32))),
    "DEL": "\x7f",
    "C1": "".join(map(chr, range(0x80, 0xA0))),
    "colour": f"{ESC}[31mred{ESC}[0m",
    "8-bit CSI": "\x9b31mred\x9b0m",
    "8-bit OSC": f"\x9d0;title{BEL}",
    "8-bit DCS": "\x90q#0\x9c",
    "clear": f"{ESC}[2J{ESC}[H",
    "title": f"{ESC}]0;owned{BEL}",
    "title ended by ST": f"{ESC}]2;owned{ST}",
    "clipboard": f"{ESC}]52;c;cm0gLXJmIH4K{BEL}",
    "link": f"{ESC}]8;;http://evil.example/{ST}click{ESC}]8;;{ST}",
    "alternate screen": f"{ESC}[?1049h{ESC}[?1049l",
    "mouse": f"{ESC}[?1000h{ESC}[?1003h{ESC}[?1006h",
    "cursor report": f"{ESC}[6n{ESC}[c{ESC}[>c{ESC}[5n",
    "keyboard": f"{ESC}[>1u{ESC}[?2004l",
    "reset": f"{ESC}c{ESC}[!p",
    "charset": f"{ESC}(0\x0elqqk\x0f",
    "DCS": f"{ESC}P+q544e{ST}",
    "APC and PM": f"{ESC}_Gf=24;AAAA{ST}{ESC}^private{ST}{ESC}Xstring{ST}",
    "unfinished": f"{ESC}[",
    "unfinished OSC": f"{ESC}]0;",
    "line breaks": "one\ntwo\r\nthree\x0bfour\x0cfive\x85six\u2028seven\u2029eight",
    "overwriting": "good\b\b\b\bbad\rworse",
    "tab and bell": "a\tb\ac",
}
REORDERING = {
    "overrides": "\u202eevil\u202c \u202dleft\u202c \u202aembedded\u202c \u202bembedded\u202c",
    "isolates": "\u2066one\u2069 \u2067two\u2069 \u2068three\u2069",
    "marks of direction": "\u200e\u200f\u061c",
}
HIDDEN = {
    "zero width": "a\u200bb\u200cc\u200dd\u2060e\ufefff",
    "soft hyphen": "soft\u00adhyphen",
    "variation selectors": "a\ufe0fb\ufe00c\U000e0100d",
    "tags": "".join(chr(0xE0000 + ord(letter)) for letter in "steal"),
    "blanks": "\u3164\u115f\u1160\u2800\uffa0\u034f\u17b4\u180e",
    "annotations": "\ufff9a\ufffab\ufffb\ufffc",
    "musical and shorthand": "\U0001d173\U0001bca0",
    "private use": "\ue000\U000f0000\U0010fffd",
    "unassigned": "\u0378\ufdd0\uffff\U0010ffff",
}
LARGE = {
    "stacked marks": "Z" + "\u0300\u0489\u20dd\u0336" * 60,
    "marks alone": "\u0301" * 300,
    "wide": "漢" * 300,
    "long": "x" * 5000,
    "one long word of emoji": "😀" * 300,
    "nothing": "",
    "only hidden": "\u200b\u202e",
}
SHELL = {
    "shell": "$(touch /tmp/owned); `id` | sh\nrm -rf ~\n",
    "format": "%s%n{0}{name}{0.__class__}[bold red]markup[/]\\[x] \\x1b[31m \\u001b",
}
KINDS = {"steering": STEERING, "reordering": REORDERING, "hidden": HIDDEN, "large": LARGE, "shell": SHELL}
CORPUS = {name: text for texts in KINDS.values() for name, text in texts.items()}
SURROGATES = ('"\\ud800"', '"a\\udc00b"', '"\\ude00\\ud83d"')
"""JSON strings whose values no encoding can represent."""

MOST_STACKED = 4

_UNSAFE_CATEGORIES = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_IGNORED_BY_DEFAULT = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def faults_in(text: str, allowed: str = "") -> Iterator[str]:
    """Yield the faults of a text that terminals and logs must not receive, apart from `allowed` characters."""
    stacked = 0
    for character in text:
        if character in allowed:
            stacked = 0
            continue
        category = unicodedata.category(character)
        stacked = stacked + 1 if category in ("Mn", "Me") else 0
        if category in _UNSAFE_CATEGORIES or _IGNORED_BY_DEFAULT.match(character):
            yield f"U+{ord(character):04X}"
        elif stacked > MOST_STACKED:
            yield f"{stacked} marks on one character"
