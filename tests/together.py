"""Many cases of one test at the same time, as most of their time is that of the programs that they start."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

Case = TypeVar("Case")


async def try_each(cases: Iterable[Case], attempt: Callable[[Case], Awaitable[None]]) -> None:
    """Try every case, two for each processor at a time; what fails says for which case it did."""
    places = asyncio.Semaphore(2 * (os.cpu_count() or 1))

    async def try_one(case: Case) -> None:
        async with places:
            try:
                await attempt(case)
            except Exception as error:
                error.add_note(f"in the case {case!r}")
                raise

    async with asyncio.TaskGroup() as group:
        for case in cases:
            group.create_task(try_one(case))
