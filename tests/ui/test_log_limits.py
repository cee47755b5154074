"""What errors write into the log has a limit, one by one and all together."""

import io
import logging

import pytest

from core.ui import log_limits


@pytest.fixture
def written(clock):
    """A logger, and what it has written."""
    before, stream = logging.getLogRecordFactory(), io.StringIO()
    logger = logging.Logger("test")
    logger.addHandler(logging.StreamHandler(stream))
    logging.setLogRecordFactory(log_limits.LogLimits(clock=clock))
    yield logger, stream
    logging.setLogRecordFactory(before)


def fail(logger, text):
    try:
        raise ValueError(text)
    except ValueError:
        logger.exception("It failed.")


def test_one_error_has_a_limit(written):
    logger, stream = written
    logger.error("x" * 1_000_000)
    fail(logger, "y" * 1_000_000)
    assert len(stream.getvalue()) < 3 * log_limits.LONGEST
    assert stream.getvalue().count("It failed.") == 1


def test_the_last_frames_of_an_error_are_written(written):
    logger, stream = written
    fail(logger, "the reason")
    assert "ValueError: the reason" in stream.getvalue() and "in fail" in stream.getvalue()


def test_who_causes_one_error_often_leaves_room_for_others(written, clock):
    logger, stream = written
    for _ in range(1_000):
        fail(logger, "forged")
    logger.error("Another one, of %s.", "somebody")
    assert stream.getvalue().count("ValueError: forged") == log_limits.EACH
    assert "Another one, of somebody." in stream.getvalue()
    clock.now = log_limits.MINUTE
    fail(logger, "forged")
    assert f"({1_000 - log_limits.EACH:,} messages were left out" in stream.getvalue()
    assert stream.getvalue().count("ValueError: forged") == log_limits.EACH + 1


def test_the_log_has_a_limit(written, clock):
    logger, stream = written
    program = "\n".join(f"logger.error('{i} {'z' * 3_000}')" for i in range(500))
    exec(compile(program, "forged.py", "exec"), {"logger": logger})  # 500 places
    assert log_limits.MOST - 3_100 < len(stream.getvalue()) <= log_limits.MOST + 1_000
