"""Threads that tests start, and those that the client of a service leaves to end."""

import threading

from tests.patience import LONG


def in_threads(work, count):
    """Run work in as many threads at the same time, and wait for all of them."""
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
        assert not thread.is_alive()


def pool_threads():
    return [t for t in threading.enumerate() if t.name.startswith("ThreadPoolExecutor")]


def wait_for_pools():
    """Wait until what was under way has ended."""
    for thread in pool_threads():
        thread.join(LONG)
        assert not thread.is_alive()
