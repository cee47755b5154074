"""Scores of two scales are refused until somebody vouches for them."""

from dataclasses import replace

import numpy as np
import pytest

from core.data.tabular.labelled import labelled
from core.data.tabular.suggestions import suggest
from core.data.tabular.suspicion import SuspiciousScoreError, refuse_suspicious
from core.data.tabular.uploads import parse


@pytest.mark.parametrize(
    ("name", "numbers", "refused"),
    [
        ("confidence", [0.9, 87, 0.3, 12], True),
        ("confidence", [90, 87, 30, 1], False),
        ("confidence", [0.9, 1, 0, 0.3], False),
        ("score", [0.9, 87, 0.3, 12], True),
        ("entropy", [0.9, 2.1, 0.3, 1.2], False),
        ("perplexity", [0.9, 140.0, 1.3, 12], False),
        ("log_prob", [-0.9, -87, -0.3, -12], False),
    ],
)
def test_two_scales_in_one_column_are_refused(name, numbers, refused):
    if not refused:
        refuse_suspicious(name, np.array(numbers, float))
        return
    with pytest.raises(SuspiciousScoreError) as caught:
        refuse_suspicious(name, np.array([np.nan, *numbers]))
    assert caught.value.score == name


def test_nothing_is_certified_until_somebody_vouches():
    rows = "".join(f"q{n},{n if n % 2 else n / 100},{n % 3 % 2}\n" for n in range(1, 99))
    upload = parse(f"question,rating,correct\n{rows}".encode(), "x.csv")
    (score,) = suggest(upload).scores
    columns = replace(suggest(upload), scores=(replace(score, larger_is_surer=True),))
    confident = replace(columns, vouched=("rating",))
    assert labelled(upload, confident).decided == (
        "As you said, “rating” has numbers of one scale.",
    )
    upload = parse(f"question,confidence,correct\n{rows}".encode(), "x.csv")
    (score,) = suggest(upload).scores
    columns = replace(suggest(upload), scores=(replace(score, larger_is_surer=True),))
    with pytest.raises(SuspiciousScoreError, match="0 to 1, and percent"):
        labelled(upload, columns)
