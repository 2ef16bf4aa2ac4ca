"""Limits by key, such as a player or an address: how often something may happen, and how many things a key may have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tictactoe_server.settings import COUNTS, Limits, count_of

_PRUNED_FROM: Final = 1_024
_WINDOWS_MS: Final = {"second": 1_000, "ten-seconds": 10_000, "minute": 60_000, "hour": 3_600_000}


class RateLimit:
    """A rate limit for one key. Source: the generic cell rate algorithm (GCRA), ITU-T I.371.

    Args:
        times: The number of uses allowed in `window_ms`, refilled evenly; 0 for no limit.
        at_once: The most uses in a burst; 0 for `times`.
    """

    __slots__ = ("_interval", "_monotonic_ns", "_next", "_window")

    def __init__(self, times: int, window_ms: int, monotonic_ns: Callable[[], int], at_once: int = 0) -> None:
        self._interval = round(window_ms * 1e6 / times) if times else 0
        self._window = self._interval * (at_once or times)
        self._monotonic_ns = monotonic_ns
        self._next = 0

    def consume(self, count: int = 1) -> int:
        """Count `count` uses and return 0, or count nothing and return the ms to wait."""
        now = self._monotonic_ns()
        following = (self._next if self._next > now else now) + self._interval * count
        if following - now > self._window:
            return (following - now - self._window) // 1_000_000 + 1
        self._next = following
        return 0

    def spend(self, count: int) -> None:
        """Count `count` uses even if they exceed the limit; later uses then wait longer."""
        self._next = max(self._next, self._monotonic_ns()) + self._interval * count

    def give_back(self) -> None:
        """Undo one counted use."""
        self._next -= self._interval

    def wait(self) -> int:
        """Return the ms until the next use is allowed, without counting a use; 0 if it is allowed now."""
        wait = self.consume()
        if not wait:
            self.give_back()
        return wait

    @property
    def used(self) -> int:
        """The number of recent uses that still count against the burst."""
        left = self._next - self._monotonic_ns()
        return -(-left // self._interval) if left > 0 else 0


class RateLimits(dict[str, RateLimit]):
    """A rate limit for each key. Limits without recent uses are pruned.

    Attributes:
        names: The operator's names for the rate and its burst, as in `COUNTS`, or empty if operators cannot set them.
        unit: How many uses the operator's limit counts as one: a million bytes as a megabyte, otherwise 1.
    """

    names: tuple[str, ...] = ()
    unit = 1

    def __init__(self, times: int, window_ms: int, monotonic_ns: Callable[[], int], at_once: int = 0) -> None:
        super().__init__()
        self._rate = times, window_ms, monotonic_ns, at_once
        self._prune_at = _PRUNED_FROM

    @classmethod
    def named(cls, limits: Limits, monotonic_ns: Callable[[], int], name: str) -> RateLimits:
        """Return the rate limits with a name in `COUNTS`: THING-per-WINDOW or THING-per-WINDOW-per-KEY.

        THING-at-once or THING-at-once-per-KEY, if it is in `COUNTS`, is the burst; without it, `times` is.
        """
        thing, window, *key = name.split("-per-")
        unit = 1_000_000 if thing.endswith("megabytes") else 1
        names = tuple(one for one in (name, "-per-".join((f"{thing}-at-once", *key))) if one in COUNTS)
        times, *at_once = (unit * count_of(limits, name) for name in names)
        made = cls(times, _WINDOWS_MS[window], monotonic_ns, *at_once)
        made.names, made.unit = names, unit
        return made

    def __missing__(self, key: str) -> RateLimit:
        if len(self) >= self._prune_at:
            for unused in [key for key, limit in self.items() if not limit.used]:
                del self[unused]
            self._prune_at = max(_PRUNED_FROM, 2 * len(self))
        limit = self[key] = RateLimit(*self._rate)
        return limit

    def new(self) -> RateLimit:
        """Return a new limit that is not stored under a key."""
        return RateLimit(*self._rate)

    @property
    def most_used(self) -> float:
        """The current use of the busiest key, in units of `COUNTS`."""
        most = max((limit.used for limit in self.values()), default=0)
        return most if self.unit == 1 else round(most / self.unit, 1)


class Quota(dict[str, dict[Any, Any]]):
    """A limit on the number of things that a key has at the same time, such as the connections from an address.

    The value of a key is a dictionary whose keys are the things, oldest first. The empty key stores nothing.

    Args:
        name: The name of the limit in `COUNTS`; "" for no limit.
        counts: Returns whether a thing with this value counts; by default, all things count. It is called at each
            check, so its result may change.
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
        """The number of things that the busiest key has."""
        return max(map(self.count, self), default=0)


def used_of(owner: object) -> dict[str, float]:
    """Return the use of the limits among an object's attributes, by name in `COUNTS`, each for its busiest key."""
    limits = [one for one in vars(owner).values() if isinstance(one, RateLimits | Quota)]
    return {name: limit.most_used for limit in limits for name in limit.names}


def consume_both(first: RateLimit, second: RateLimit, count: int = 1) -> tuple[int, int]:
    """Count uses of two limits and return (0, 0), or count nothing and return the ms to wait for each limit.

    Only the wait for the first limit that refuses is above 0. Both limits must have the same clock.
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
