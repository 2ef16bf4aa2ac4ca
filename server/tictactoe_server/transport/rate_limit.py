"""What is counted against limits, by key: how often something is done, and how much one has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tictactoe_server.settings import Limits, count_of

_PRUNED_FROM: Final = 1_024


class RateLimit:
    """Allows `times` in each window of `window_ms`, `at_once` of them at once: a bucket that refills evenly.

    With 0 times there is no limit; `at_once` is as many as `times` where it is 0. It goes by `monotonic_ns`, which
    counts on whatever becomes of the store. Source: GCRA, ITU-T I.371.
    """

    __slots__ = ("_interval", "_monotonic_ns", "_next", "_window")

    def __init__(self, times: int, window_ms: int, monotonic_ns: Callable[[], int], at_once: int = 0) -> None:
        self._interval = round(window_ms * 1e6 / times) if times else 0
        self._window = self._interval * (at_once or times)
        self._monotonic_ns = monotonic_ns
        self._next = 0

    def take(self, count: int = 1) -> int:
        """Count one use, or so many, and return 0, or return how many ms to wait, counting nothing."""
        now = self._monotonic_ns()
        following = (self._next if self._next > now else now) + self._interval * count
        if following - now > self._window:
            return (following - now - self._window) // 1_000_000 + 1
        self._next = following
        return 0

    def spend(self, count: int) -> None:
        """Count so many uses, whether they are allowed or not: the next ones wait the longer."""
        self._next = max(self._next, self._monotonic_ns()) + self._interval * count

    def give_back(self, count: int = 1) -> None:
        """Take one use back, or so many, that was counted for nothing."""
        self._next -= self._interval * count

    def wait(self, count: int = 1) -> int:
        """Return how many ms to wait for the next use, or so many, 0 where it may be now; nothing is counted."""
        wait = self.take(count)
        if not wait:
            self.give_back(count)
        return wait

    @property
    def used(self) -> int:
        """How much of what may be at once is used up now; 0 where it is as if it had never been used."""
        left = self._next - self._monotonic_ns()
        return -(-left // self._interval) if left > 0 else 0


class RateLimits(dict[str, RateLimit]):
    """One limit for each key: it outlives the connection that it counts, and is forgotten once it is full again.

    `names` are those of `Limits` that it keeps to, where an operator can choose it, and `unit` how many uses are one.
    """

    def __init__(self, times: int, window_ms: int, monotonic_ns: Callable[[], int], at_once: int = 0) -> None:
        super().__init__()
        self._rate = times, window_ms, monotonic_ns, at_once
        self._prune_at = _PRUNED_FROM
        self.names: tuple[str, ...] = ()
        self.unit = 1

    @classmethod
    def named(
        cls, limits: Limits, window_ms: int, monotonic_ns: Callable[[], int], *names: str, unit: int = 1
    ) -> RateLimits:
        """Return those that `Limits` say by these names: how often in a window and, where a second one is, at once."""
        times, *at_once = (unit * count_of(limits, name) for name in names)
        made = cls(times, window_ms, monotonic_ns, max(1, *at_once) if at_once else 0)
        made.names, made.unit = names, unit
        return made

    def __missing__(self, key: str) -> RateLimit:
        if len(self) >= self._prune_at:
            for unused in [key for key, limit in self.items() if not limit.used]:
                del self[unused]
            self._prune_at = max(_PRUNED_FROM, 2 * len(self))
        limit = self[key] = RateLimit(*self._rate)
        return limit

    @property
    def most_used(self) -> float:
        """How much of theirs is used up now by the key that has used most."""
        most = max((limit.used for limit in self.values()), default=0)
        return most if self.unit == 1 else round(most / self.unit, 1)


def used_of(owner: object) -> dict[str, float]:
    """Return how much is used up now of the limits that something has, by name, by the key that has used most."""
    limits = [one for one in vars(owner).values() if isinstance(one, RateLimits | Held)]
    return {name: one.most_used for one in limits for name in one.names}


class Held(dict[str, dict[Any, Any]]):
    """The things that each key has, in their order, each with what is known of it; the empty key has none.

    `names` has that of the limit for which they are counted, if any.
    """

    def __init__(self, *names: str) -> None:
        super().__init__()
        self.names = names

    def add(self, key: str, thing: Any, known: Any = None) -> None:
        if key:
            self.setdefault(key, {})[thing] = known

    def discard(self, key: str, thing: Any) -> None:
        held = self.get(key, {})
        held.pop(thing, None)
        if not held:
            self.pop(key, None)

    def count(self, key: str) -> int:
        return len(self.get(key, ()))

    @property
    def most_used(self) -> int:
        """How many things the key has that has most."""
        return max(map(len, self.values()), default=0)


def take_both(first: RateLimit, second: RateLimit, count: int = 1) -> tuple[int, int]:
    """Count a use of two limits that go by the same clock, or so many, and return zeros; else count nothing.

    The first number is how many ms to wait for the first; the second, where the first allows one, for the second.
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
