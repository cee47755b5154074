"""Every picture of every experiment, drawn from what is shipped."""

import pytest

from core.charts.laboratory.catalogue import PICTURES
from core.charts.theme import DARK, LIGHT
from core.reports.laboratory.catalogue import EXPERIMENTS
from core.studies.laboratory.bundled import results_of
from tests.charts.drawing import check


def test_every_experiment_has_pictures_and_no_two_have_one_name():
    assert PICTURES.keys() == EXPERIMENTS.keys()
    for pictures in PICTURES.values():
        assert pictures and len({picture.name for picture in pictures}) == len(pictures)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("name", PICTURES)
def test_what_is_shipped_can_be_drawn_and_said(name, palette):
    for finding in results_of(name):
        drawn = [picture for picture in PICTURES[name] if picture.there(finding.drawn)]
        assert drawn
        check({p.name: p.chart(finding.drawn, palette) for p in drawn}, palette)
        for picture in drawn:
            assert picture.alt(finding.drawn).endswith(".")
