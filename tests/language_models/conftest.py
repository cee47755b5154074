"""A call cache in memory."""

import pytest

from core.store.database import open_database
from tests.store.kept import Calls


@pytest.fixture
def calls():
    with open_database("sqlite://") as database:
        yield Calls(database)
