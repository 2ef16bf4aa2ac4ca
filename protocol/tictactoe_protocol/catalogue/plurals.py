"""Which form of a sentence goes with a number in each language, as Unicode's CLDR has it and every browser knows it.

Only languages stand here whose rule is another than English's, one form for 1 and one for all others; Breton, Cornish,
Manx, Samogitian and Tamazight are not among them yet. Source: the cardinal rules of CLDR 48 for whole numbers,
unicode.org/cldr/charts/48/supplemental/language_plural_rules.html.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

Rule = Callable[[int], bool]
_TEENS: Final = range(11, 20)


def _is_one(n: int) -> bool:
    return n == 1


def _ends_in_one(n: int) -> bool:
    return n % 10 == 1 and n % 100 != 11


def _ends_in_few(n: int) -> bool:
    return n % 10 in (2, 3, 4) and n % 100 not in (12, 13, 14)


_ENGLISH: Final[dict[str, Rule]] = {"one": _is_one}
_DUAL: Final[dict[str, Rule]] = {"one": _is_one, "two": lambda n: n == 2}
_FROM_ZERO: Final[dict[str, Rule]] = {"one": lambda n: n < 2}
_MILLIONS: Final[dict[str, Rule]] = {"many": lambda n: n > 0 and n % 1_000_000 == 0}
_RUSSIAN: Final[dict[str, Rule]] = {"one": _ends_in_one, "few": _ends_in_few, "many": lambda _: True}
_RULES: Final[tuple[tuple[str, dict[str, Rule]], ...]] = (
    (
        "bm bo dz hnj id ig ii ja jbo jv jw kde kea km ko lkt lo ms my nqo osa sah ses sg su th to tpi vi wo yo yue zh",
        {},
    ),
    ("ak am as bho bn csw doi fa ff gu guw hi hy kab kn kok ln mg nso pa pcm si ti wa zu", _FROM_ZERO),
    ("ca es it lld scn vec", _ENGLISH | _MILLIONS),
    ("fr pt", _FROM_ZERO | _MILLIONS),
    ("he iu naq sat se sma smi smj smn sms", _DUAL),
    ("blo cv ksh lag", {"zero": lambda n: n == 0, "one": _is_one}),
    ("shi", {**_FROM_ZERO, "few": lambda n: n <= 10}),
    ("is mk", {"one": _ends_in_one}),
    ("ceb fil tl", {"one": lambda n: n % 10 not in (4, 6, 9)}),
    ("bs hr sh sr", {"one": _ends_in_one, "few": _ends_in_few}),
    ("be ru uk", _RUSSIAN),
    ("pl", {"one": _is_one, "few": _ends_in_few, "many": lambda _: True}),
    ("cs sk", {"one": _is_one, "few": lambda n: n in (2, 3, 4)}),
    (
        "dsb hsb sl",
        {"one": lambda n: n % 100 == 1, "two": lambda n: n % 100 == 2, "few": lambda n: n % 100 in (3, 4)},
    ),
    ("mo ro", {"one": _is_one, "few": lambda n: n == 0 or n % 100 in range(1, 20)}),
    ("lv prg", {"zero": lambda n: n % 10 == 0 or n % 100 in _TEENS, "one": _ends_in_one}),
    (
        "lt",
        {"one": lambda n: n % 10 == 1 and n % 100 not in _TEENS, "few": lambda n: n % 10 > 1 and n % 100 not in _TEENS},
    ),
    ("ga", {**_DUAL, "few": lambda n: n in range(3, 7), "many": lambda n: n in range(7, 11)}),
    ("gd", {"one": lambda n: n in (1, 11), "two": lambda n: n in (2, 12), "few": lambda n: n in range(3, 20)}),
    ("mt", {**_DUAL, "few": lambda n: n == 0 or n % 100 in range(3, 11), "many": lambda n: n % 100 in _TEENS}),
    ("cy", {"zero": lambda n: n == 0, **_DUAL, "few": lambda n: n == 3, "many": lambda n: n == 6}),
    (
        "ar ars",
        {
            "zero": lambda n: n == 0,
            **_DUAL,
            "few": lambda n: n % 100 in range(3, 11),
            "many": lambda n: n % 100 in range(11, 100),
        },
    ),
)
_BY_LANGUAGE: Final = {language: rules for languages, rules in _RULES for language in languages.split()}


def form_of(language: str, number: int) -> str:
    """Return the form that goes with a whole number, not below 0, by its name in CLDR: ``one``, ``few`` or ``other``.

    >>> form_of("de", 1), form_of("fr", 0), form_of("pl", 22), form_of("ja", 1)
    ('one', 'one', 'few', 'other')
    """
    rules = _BY_LANGUAGE.get(language, _ENGLISH)
    return next((form for form, holds in rules.items() if holds(number)), "other")
