"""Random messages of every type of the protocol, for properties that hold for all messages."""

from functools import lru_cache
from typing import Any, get_args

from hypothesis import strategies as st
from msgspec import UNSET, inspect

from tictactoe_protocol import pushes, requests, terms

_MOST = 3  # how many items a list or an object has, and how many words a text
_CHARACTERS = st.characters(exclude_categories=["Cs"])


def clocks_of(kind: type[terms.ClockTerms]) -> st.SearchStrategy[terms.ClockTerms]:
    """Return clocks by seat or by move; a message has only one of both."""
    milliseconds = st.integers(1, terms.MAX_CLOCK_MS)
    by_seat = st.builds(kind, initial_ms=milliseconds, increment_ms=milliseconds)
    return by_seat | st.builds(kind, move_ms=milliseconds)


_CHOSEN = {kind: clocks_of(kind) for kind in (terms.ClockFields, terms.ClockTerms)}
"""Strategies for values that the type alone does not determine."""


def _drawn(kind: Any) -> st.SearchStrategy[Any]:
    """Return random values of a type within the bounds that msgspec describes."""
    match kind:
        case inspect.Metadata():
            return _drawn(kind.type)
        case inspect.StructType():
            return st.deferred(lambda: messages_of(kind.cls))  # one may have another of its kind in it
        case inspect.UnionType():
            return st.one_of(*map(_drawn, kind.types))
        case inspect.VarTupleType() | inspect.ListType():
            most = min(_MOST, kind.max_length or _MOST)
            items = st.lists(_drawn(kind.item_type), min_size=kind.min_length or 0, max_size=most)
            return items if isinstance(kind, inspect.ListType) else items.map(tuple)
        case inspect.TupleType():
            return st.tuples(*map(_drawn, kind.item_types))
        case inspect.DictType():
            return st.dictionaries(_drawn(kind.key_type), _drawn(kind.value_type), max_size=_MOST)
        case inspect.StrType(pattern=str(pattern)):
            return st.from_regex(pattern, fullmatch=True).filter(lambda text: len(text) <= (kind.max_length or 64))
        case inspect.StrType():
            return st.text(_CHARACTERS, min_size=kind.min_length or 0, max_size=min(30, kind.max_length or 30))
        case inspect.IntType():
            return st.integers(-(2**53) if kind.ge is None else kind.ge, 2**53 if kind.le is None else kind.le)
        case inspect.FloatType():
            return st.integers(0, 400).map(lambda halves: halves / 2)
        case inspect.BoolType():
            return st.booleans()
        case inspect.NoneType():
            return st.none()
        case inspect.AnyType():
            return st.integers(0, 9) | st.text(_CHARACTERS, max_size=_MOST)
        case inspect.LiteralType():
            return st.sampled_from(kind.values)
        case inspect.EnumType():
            return st.sampled_from(list(kind.cls))
        case _:
            raise TypeError(kind)


@lru_cache
def messages_of(kind: type) -> st.SearchStrategy[Any]:
    """Return random values of a struct, with optional fields sometimes missing."""
    if kind in _CHOSEN:
        return _CHOSEN[kind]
    described = inspect.type_info(kind)
    assert isinstance(described, inspect.StructType)
    fields = {
        field.name: _drawn(field.type) if field.default is not UNSET else st.just(UNSET) | _drawn(field.type)
        for field in described.fields
    }
    return st.builds(kind, **fields)


REQUESTS_BY_KIND = {kind: messages_of(kind) for kind in get_args(requests.Request)}
REQUESTS = st.one_of(*REQUESTS_BY_KIND.values())
PUSHES_BY_KIND = {kind: messages_of(kind) for kind in get_args(pushes.Push)}
PUSHES = st.one_of(*PUSHES_BY_KIND.values())
