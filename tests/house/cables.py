"""What lies between two parties, and can be pulled, lose one direction, be slow, and be mended, at any time.

It holds for the connections that are there and for those that come, whoever of the two makes them.
"""

from __future__ import annotations

from tests.faults.proxy import Direction, Link, Proxy


class Cable:
    """One between `a` and `b`, through proxies that one of them calls."""

    def __init__(self, *, from_a: Proxy | None = None, from_b: Proxy | None = None) -> None:
        self._proxies = [(proxy, is_from_a) for proxy, is_from_a in ((from_a, True), (from_b, False)) if proxy]
        self._is_cut = False
        self._swallows = {True: False, False: False}
        self._delay_seconds = 0.0
        for proxy, is_from_a in self._proxies:
            proxy.on_link = lambda link, is_from_a=is_from_a: self._set(link, is_from_a=is_from_a)  # type: ignore[misc]

    def cut(self) -> None:
        """Let nothing through, and nobody know: as a cable that is pulled, until `heal`."""
        self._change(is_cut=True)

    def cut_one_way(self, *, from_a: bool) -> None:
        """Swallow what comes from `a`, or else from `b`; connections that missed something end with `heal`."""
        self._change(swallows=from_a)

    def slow(self, seconds: float) -> None:
        """Keep every chunk so long, either way."""
        self._change(delay_seconds=seconds)

    def heal(self) -> None:
        """Let everything through again, at once."""
        for proxy, _ in self._proxies:
            for link in proxy.links:
                if link.up.swallowed or link.down.swallowed:
                    link.cut()
        self._change()

    def reset(self) -> None:
        """Break the connections that there are; new ones may be made."""
        for proxy, _ in self._proxies:
            for link in list(proxy.links):
                link.cut()

    def _change(self, *, is_cut: bool = False, swallows: bool | None = None, delay_seconds: float = 0.0) -> None:
        self._is_cut = is_cut
        self._swallows = {True: swallows is True, False: swallows is False}
        self._delay_seconds = delay_seconds
        for proxy, is_from_a in self._proxies:
            for link in proxy.links:
                self._set(link, is_from_a=is_from_a)

    def _set(self, link: Link, *, is_from_a: bool) -> None:
        for way, is_of_a in ((link.up, is_from_a), (link.down, not is_from_a)):
            way.is_swallowing = self._swallows[is_of_a]
            way.delay_seconds = self._delay_seconds
            self._hold_up(way)

    def _hold_up(self, way: Direction) -> None:
        if self._is_cut:
            way.hold_up()
        else:
            way.go_on()
