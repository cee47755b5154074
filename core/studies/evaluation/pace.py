"""How fast a run goes, and how long it will take, in words."""

import time
from collections import deque
from collections.abc import Callable
from typing import Final

from core.codec import count_of, time_of

#: A rate is measured over the last half of the time, and so many seconds at least: a run may slow
#: down or speed up, and where a block of questions is finished at once, rows come in jumps.
WINDOW: Final = 30.0


class Pace:
    """Counts finished questions over time, in seconds, and those that were finished before."""

    def __init__(
        self, number: int, done: int = 0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._number, self._clock = number, clock
        self._begun = clock()
        self._seen = deque([(self._begun, float(done))])  # when so many were finished

    def sentence(self, done: int, failed: int = 0, under_way: float = 0.0) -> str:
        """Say how far the run is, how fast it goes, and when it will be done.

        `under_way`: how many questions' worth of work has been done on those that are not finished.
        """
        sentence = f"{done:,} of {count_of(self._number, 'question')}"
        work = done + under_way
        rate = self._rate(work)
        if rate:
            sentence += f", {_rate(rate)}"
            if work < self._number:
                sentence += f", {time_of((self._number - work) / rate)} left"
        return f"{sentence}, {failed:,} failed" if failed else sentence

    def _rate(self, done: float) -> float:
        """Return questions a second, of late; 0 while nobody can say."""
        now = self._clock()
        if done > self._seen[-1][1] and now - self._seen[-1][0] >= 1:
            self._seen.append((now, done))
        window = max(WINDOW, (now - self._begun) / 2)
        while len(self._seen) > 2 and self._seen[1][0] <= now - window:
            self._seen.popleft()
        then, before = self._seen[0]
        return (done - before) / (now - then) if now - then >= 1 else 0.0


def _rate(rate: float) -> str:
    if rate >= 1:
        return f"{rate:.{1 if rate < 10 else 0}f} a second"
    return f"{60 * rate:.{1 if rate < 1 / 6 else 0}f} a minute"
