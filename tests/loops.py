"""A loop of its own for what is asynchronous: Playwright's runs in the thread of its tests."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def in_own_loop(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, whatever loop runs in this thread already."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()
