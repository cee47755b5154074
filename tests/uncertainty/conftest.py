"""One record of a query that the evidence and score tests share."""

import numpy as np
import pytest

from core.uncertainty.evidence import Evidence

#: "What is the capital of the UK?", in the order first seen, which is not that of likelihood.
RESPONSES = ("Paris", "London", "Berlin", "London, UK")
MARGINAL = (0.1, 0.5, 0.05, 0.2)
CONDITIONALS = (
    (0.40, 0.30, 0.05, 0.10),
    (0.05, 0.60, 0.04, 0.15),
    (0.10, 0.30, 0.30, 0.10),
    (0.05, 0.30, 0.05, 0.45),
)


@pytest.fixture
def record():
    """What `Evidence.build` takes, as keyword arguments."""
    return {
        "responses": RESPONSES,
        "log_marginal": np.log(MARGINAL),
        "log_conditionals": np.log(CONDITIONALS),
        "counts": [1, 5, 1, 3],
        "greedy": "London",
        "greedy_log_likelihood": np.log(0.5),
        "verification": {"London": (np.log(0.6), np.log(0.2))},
    }


@pytest.fixture
def evidence(record):
    """The record, clustered by token F1 at 0.25: London with London, UK; Paris; Berlin."""
    return Evidence.build(**record)
