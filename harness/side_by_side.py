"""Work on several things at a time, each with runs of its own, and an end to all if one breaks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TypeVar

from harness import isolate

Item = TypeVar("Item")
Result = TypeVar("Result")


def each(
    items: Sequence[Item],
    do: Callable[[Item], Result],
    jobs: int,
    tell: Callable[[Result], None],
    order: Iterable[int] | None = None,
) -> list[Result]:
    """The result of `do` for each item, in their order; `jobs` are at work at a time.

    `tell` is called with each result as it comes, `order` are the numbers of the items in the order
    in which they are begun. If anything raises, an interrupt too, nothing else is begun, what is
    running is ended, and it is raised.
    """
    found: dict[int, Result] = {}
    with ThreadPoolExecutor(jobs) as pool:
        numbers = range(len(items)) if order is None else order
        futures = {pool.submit(do, items[number]): number for number in numbers}
        try:
            for future in as_completed(futures):
                found[futures[future]] = future.result()
                tell(future.result())
        except BaseException:
            pool.shutdown(cancel_futures=True, wait=False)
            isolate.shutdown()
            raise
    return [found[number] for number in range(len(items))]
