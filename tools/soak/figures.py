"""Times in reports: the median, the 99th percentile and the maximum, in ms."""

import statistics
from collections.abc import Sequence


def times(seconds: Sequence[float]) -> str:
    """Return p50, p99 and the largest of some times, in ms.

    >>> times([0.001] * 99 + [0.5])
    'p50 1.0 ms, p99 495.0 ms, max 500.0 ms'
    """
    if len(seconds) < 2:
        return "no times"
    cuts = statistics.quantiles(seconds, n=100)
    slow, most = min(cuts[98], max(seconds)), max(seconds)  # few times would be drawn out beyond the largest
    return f"p50 {cuts[49] * 1e3:.1f} ms, p99 {slow * 1e3:.1f} ms, max {most * 1e3:.1f} ms"
