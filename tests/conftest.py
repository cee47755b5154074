"""What tests of several floors share."""

import gc
import os
import threading

# The matrices here are small. On a busy machine the threads of NumPy's matrix library wait
# for each other in busy loops, and the same tests take twenty times as long.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# No test may write into the database of whoever runs it.
os.environ["BELIEVE_DATABASE_URL"] = "sqlite://"

import pytest
from hypothesis import settings

from core.language_models.backends.embedded.model import EmbeddedModel
from core.language_models.language_model import LanguageModel

# No test may fail for having run on a slow machine.
settings.register_profile("believe", deadline=None)
settings.register_profile("fast", deadline=None, max_examples=20)
settings.load_profile("believe")


def pytest_collection_finish():
    """Hide what the tests import from the collector, as the server does what it begins with.

    Every run of a page ends with a search of all else for garbage.
    """
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


@pytest.fixture(scope="session")
def embedded() -> LanguageModel:
    """The shipped model. It is replaced when it is trained anew: rely on no value of it."""
    return EmbeddedModel()


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    """Turned by hand."""
    return Clock()


@pytest.fixture
def gate():
    """Opened at the end, so that no thread outlives its test."""
    event = threading.Event()
    yield event
    event.set()
