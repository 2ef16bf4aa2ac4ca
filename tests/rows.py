"""Tables in tests: every row is tried in one test, as to collect a test for each takes longer than to try it."""

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

Test = Callable[..., None]


def each(names: str | tuple[str, ...], rows: Iterable[Any]) -> Callable[[Test], Test]:
    """Try a test with each row as these arguments, as `pytest.mark.parametrize` would; a failure names its row."""

    def decorate(test: Test) -> Test:
        signature = inspect.signature(test)
        several = (names,) if isinstance(names, str) else names

        @wraps(test)
        def try_each(**fixtures: Any) -> None:
            for row in rows:
                try:
                    test(**fixtures, **dict(zip(several, (row,) if isinstance(names, str) else row, strict=True)))
                except BaseException as error:
                    error.add_note(f"{' '.join(several)}: {row!r:.500}")
                    raise

        del try_each.__wrapped__  # which pytest would ask for its arguments
        others = [one for name, one in signature.parameters.items() if name not in several]
        try_each.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        return try_each

    return decorate
