"""The listing's twelve panels are those of the experiment that has one of them with everything."""

import numpy as np
import pytest

from core.studies.laboratory.estimator import EstimatorSettings, Gamma, run
from core.studies.laboratory.listing import COORDINATES, TEMPERATURES, ListingSettings, panels


@pytest.mark.parametrize("gamma", Gamma)
def test_every_panel_is_what_its_seed_draws(gamma):
    own = {"gamma": gamma, "draws": (10, 100, 300), "seed": 3}
    grid = {(one.n, one.temperature): one for one in panels(ListingSettings(**own))}
    assert [*grid] == [(n, temperature) for temperature in TEMPERATURES for n in COORDINATES]
    for n, temperature in ((2, 0.01), (4, 1.0), (8, 10.0)):
        one = run(EstimatorSettings(n=n, temperature=temperature, seeds=1, **own))
        panel = grid[n, temperature]
        assert panel.exact == one.exact
        np.testing.assert_allclose(panel.estimates, one.values["algorithm_1"][0], atol=1e-12)
