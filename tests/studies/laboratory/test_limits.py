"""A setting out of its limits is refused by a sentence that names it."""

import pytest

from core.studies.inspection.request import InvalidRequestError
from core.studies.laboratory.limits import within


def test_both_ends_are_allowed():
    within("size", 1, 1, 3)
    within("size", 3.0, 1, 3)


@pytest.mark.parametrize("value", [0, 4, float("nan"), float("inf")])
def test_what_is_beyond_is_refused(value):
    with pytest.raises(InvalidRequestError, match=r"^The size is .*; choose one from 1 to 3\.$"):
        within("size", value, 1, 3)


def test_numbers_are_written_out():
    with pytest.raises(
        InvalidRequestError, match=r"^The k is 20,000; choose one from 0\.01 to 1,000"
    ):
        within("k", 20_000, 0.01, 1000)
