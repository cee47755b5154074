"""How fast a run goes, by a clock that is turned by hand."""

import pytest

from core.codec import time_of
from core.studies.evaluation.pace import WINDOW, Pace


def test_nothing_is_said_of_the_pace_before_a_second_is_over(clock):
    pace = Pace(6015, 20, clock)
    assert pace.sentence(20) == "20 of 6,015 questions"
    clock.now += 0.9
    assert pace.sentence(40) == "40 of 6,015 questions"
    clock.now += 0.1
    assert pace.sentence(70) == "70 of 6,015 questions, 50 a second, 2 minutes left"


@pytest.mark.parametrize(
    ("seconds", "done", "said"),
    [
        (10, 30, "30 of 100 questions, 3.0 a second, 30 seconds left"),
        (20, 10, "10 of 100 questions, 30 a minute, 3 minutes left"),
        (20, 1, "1 of 100 questions, 3.0 a minute, 33 minutes left"),
        (10, 100, "100 of 100 questions, 10 a second"),
        (10, 0, "0 of 100 questions"),
    ],
)
def test_the_pace_and_what_is_left(clock, seconds, done, said):
    pace = Pace(100, 0, clock)
    clock.now += seconds
    assert pace.sentence(done) == said
    assert pace.sentence(done, failed=2) == f"{said}, 2 failed"


def test_the_pace_is_that_of_late(clock):
    """A hundred a second at first, then one: after as long again, one is what counts."""
    pace, done = Pace(10_000, 0, clock), 0
    for rate, seconds in ((100, 40), (1, 41)):
        assert seconds > WINDOW
        for _ in range(seconds):
            clock.now += 1
            done += rate
            said = pace.sentence(done)
        assert f" {rate:.{1 if rate < 10 else 0}f} a second" in said


def test_where_rows_come_in_jumps_the_pace_is_that_of_the_whole_block(clock):
    """64 questions every 8 minutes are 8 a minute, though 64 came within the last second."""
    pace = Pace(1500, 0, clock)
    for second in range(1, 4 * 480 + 1):
        clock.now += 1
        said = pace.sentence(64 * (second // 480))
        if second % 480 == 0:
            assert " 8.0 a minute" in said
    assert said == "256 of 1,500 questions, 8.0 a minute, 2.6 hours left"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "10 seconds"),
        (11, "20 seconds"),
        (54, "60 seconds"),
        (56, "1 minute"),
        (61, "2 minutes"),
        (3600, "1 hour"),
        (3601, "1.1 hours"),
        (100_000, "27.8 hours"),
    ],
)
def test_a_time_in_words(seconds, words):
    assert time_of(seconds) == words
