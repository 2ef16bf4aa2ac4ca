"""Limits by key: how often something may be done, and how many things a key may have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tictactoe_server.settings import COUNTS, Limits, count_of

_PRUNED_FROM: Final = 1_024
_WINDOWS_MS: Final = {"second": 1_000, "ten-seconds": 10_000, "minute": 60_000, "hour": 3_600_000}


class RateLimit:
    """Allows `times` uses in each window of `window_ms`, refilled evenly, or any number if `times` is 0.

    The burst is `at_once`, by default `times`. `monotonic_ns` is independent of the stored time.
    Source: GCRA, ITU-T I.371.
    """

    __slots__ = ("_interval", "_monotonic_ns", "_next", "_window")

    def __init__(self, times: int, window_ms: int, monotonic_ns: Callable[[], int], at_once: int = 0) -> None:
        self._interval = round(window_ms * 1e6 / times) if times else 0
        self._window = self._interval * (at_once or times)
        self._monotonic_ns = monotonic_ns
        self._next = 0

    def take(self, count: int = 1) -> int:
        """Count uses and return 0, or count nothing and return the ms to wait."""
        now = self._monotonic_ns()
        following = (self._next if self._next > now else now) + self._interval * count
        if following - now > self._window:
            return (following - now - self._window) // 1_000_000 + 1
        self._next = following
        return 0

    def spend(self, count: int) -> None:
        """Count uses unconditionally; later uses wait longer."""
        self._next = max(self._next, self._monotonic_ns()) + self._interval * count

    def give_back(self) -> None:
        """Undo one counted use."""
        self._next -= self._interval

    def wait(self) -> int:
        """Return the ms to wait for the next use, 0 if allowed now; counts nothing."""
        wait = self.take()
        if not wait:
            self.give_back()
        return wait

    @property
    def used(self) -> int:
        """How many uses of the burst are used up."""
        left = self._next - self._monotonic_ns()
        return -(-left // self._interval) if left > 0 else 0


class RateLimits(dict[str, RateLimit]):
    """A limit for each key, which outlives the connections that it counts; limits without recent uses are pruned."""

    names: tuple[str, ...] = ()  # in `COUNTS`, if an operator may choose the limits
    unit = 1  # uses that are one in `COUNTS`

    def __init__(self, times: int, window_ms: int, monotonic_ns: Callable[[], int], at_once: int = 0) -> None:
        super().__init__()
        self._rate = times, window_ms, monotonic_ns, at_once
        self._prune_at = _PRUNED_FROM

    @classmethod
    def named(cls, limits: Limits, monotonic_ns: Callable[[], int], name: str) -> RateLimits:
        """Return the limits configured as THING-per-WINDOW or THING-per-WINDOW-per-KEY, and their burst if any."""
        thing, window, *key = name.split("-per-")
        unit = 1_000_000 if thing.endswith("megabytes") else 1
        names = tuple(one for one in (name, "-per-".join((f"{thing}-at-once", *key))) if one in COUNTS)
        times, *at_once = (unit * count_of(limits, one) for one in names)
        made = cls(times, _WINDOWS_MS[window], monotonic_ns, max(1, *at_once) if at_once else 0)
        made.names, made.unit = names, unit
        return made

    def __missing__(self, key: str) -> RateLimit:
        if len(self) >= self._prune_at:
            for unused in [key for key, limit in self.items() if not limit.used]:
                del self[unused]
            self._prune_at = max(_PRUNED_FROM, 2 * len(self))
        limit = self[key] = self.new()
        return limit

    def new(self) -> RateLimit:
        """Return a new, unused limit outside the collection."""
        return RateLimit(*self._rate)

    @property
    def most_used(self) -> float:
        """The use of the busiest key."""
        most = max((limit.used for limit in self.values()), default=0)
        return most if self.unit == 1 else round(most / self.unit, 1)


class Held(dict[str, dict[Any, Any]]):
    """The things that each key has, oldest first, each with a value; the empty key has none.

    Args:
        name: The name in `COUNTS` of the most things a key may have; "" for no limit.
        counts: Returns from a thing's value whether it counts, by default all do. It is called at each check, so that
            the answer may change over time.
    """

    def __init__(
        self, limits: Limits | None = None, name: str = "", counts: Callable[[Any], bool] | None = None
    ) -> None:
        super().__init__()
        self.names: tuple[str, ...] = (name,) if name else ()
        self.most = 0 if limits is None else count_of(limits, name)
        self.counts = counts

    def add(self, key: str, thing: Any, known: Any = None) -> None:
        if key:
            self.setdefault(key, {})[thing] = known

    def discard(self, key: str, thing: Any) -> None:
        held = self.get(key, {})
        held.pop(thing, None)
        if not held:
            self.pop(key, None)

    def count(self, key: str) -> int:
        held = self.get(key, {})
        return len(held) if self.counts is None else sum(map(self.counts, held.values()))

    def is_full(self, key: str) -> bool:
        return 0 < self.most <= len(self.get(key, ())) and self.most <= self.count(key)

    @property
    def most_used(self) -> int:
        """The count of the key with the most things."""
        return max(map(self.count, self), default=0)


def used_of(owner: object) -> dict[str, float]:
    """Return the use of each limit among an object's attributes by name, for its busiest key."""
    limits = [one for one in vars(owner).values() if isinstance(one, RateLimits | Held)]
    return {name: one.most_used for one in limits for name in one.names}


def take_both(first: RateLimit, second: RateLimit, count: int = 1) -> tuple[int, int]:
    """Count uses of two limits with the same clock and return zeros, or count nothing and return the ms to wait.

    Only the wait for the first limit that refuses is returned; the other number is 0.
    """
    now = second._monotonic_ns()
    following = (first._next if first._next > now else now) + first._interval * count
    if following - now > first._window:
        return (following - now - first._window) // 1_000_000 + 1, 0
    others = (second._next if second._next > now else now) + second._interval * count
    if others - now > second._window:
        return 0, (others - now - second._window) // 1_000_000 + 1
    first._next, second._next = following, others
    return 0, 0
