"""The network between two parties: it can be cut, lose one direction, be slow, and be repaired at any time.

This covers current and future connections, no matter which party opened them.
"""

import asyncio

from tests.proxy import Direction, Link, Proxy


class Cable:
    """The network between `a` and `b`, through one or two proxies."""

    def __init__(self, *, from_a: Proxy | None = None, from_b: Proxy | None = None) -> None:
        self._proxies = [proxy for proxy in (from_a, from_b) if proxy]
        self._of_a: list[Direction] = []
        self._of_b: list[Direction] = []
        for proxy, own, other in ((from_a, self._of_a, self._of_b), (from_b, self._of_b, self._of_a)):
            if proxy:
                own.append(proxy.up)
                other.append(proxy.down)

    @property
    def is_used(self) -> bool:
        return any(proxy.links for proxy in self._proxies)

    def cut(self) -> None:
        """Hold up all traffic silently until `heal`, like a pulled cable."""
        for way in (*self._of_a, *self._of_b):
            way.hold_up()

    def cut_one_way(self, *, from_a: bool) -> None:
        """Drop the traffic from `a`, or else from `b`; `heal` closes the connections that lost something."""
        for way in self._of_a if from_a else self._of_b:
            way.is_swallowing = True

    def slow(self, seconds: float) -> None:
        for way in (*self._of_a, *self._of_b):
            way.delay_seconds = seconds

    def slow_at_first(self, seconds: float) -> None:
        """Delay the first two messages on each new connection by `seconds` each."""

        def slow(link: Link) -> None:
            link.down.delay_seconds = seconds
            asyncio.get_running_loop().call_later(2 * seconds, setattr, link.down, "delay_seconds", 0.0)

        for proxy in self._proxies:
            proxy.on_link = slow

    def heal(self) -> None:
        """End all disturbances."""
        for link in [link for proxy in self._proxies for link in proxy.links]:
            if link.up.swallowed or link.down.swallowed:
                link.cut()
        for way in (*self._of_a, *self._of_b):
            way.is_swallowing, way.delay_seconds = False, 0.0
            way.go_on()
