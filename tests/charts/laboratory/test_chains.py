"""Pictures of longer chains: valid, exact, and nothing drawn that is not there."""

from dataclasses import replace

from core.charts.laboratory import chains as charts
from core.charts.theme import DARK, LIGHT
from core.reports.laboratory.chains import CERTIFIED, LARGEST, SAMPLED, SCORED, chart_data
from core.studies.laboratory.chains import Chains, ChainScores, ChainsSettings, Cost, SampledChains
from core.studies.laboratory.experiment import plain
from tests.charts.drawing import check, drawn, rows_of, texts

CHAINS = Chains(
    "Name a fruit",
    "embedded",
    "1",
    ChainsSettings(longest=4),
    4,
    (
        ChainScores(2, 0.4, 1.2, 0.3, Cost(0, 0)),
        ChainScores(3, 0.7, 2.4, 0.5, Cost(16, 64)),
        ChainScores(4, 0.9, 3.6, None, Cost(64, 256)),
    ),
    (
        SampledChains(2, 0.35, 0.6, 0.2, 20, True, Cost(4, 100)),
        SampledChains(3, -0.05, 1.0, 0.9, 3, False, Cost(30, 100)),
    ),
    100,
)
FOUND = plain(chart_data(CHAINS))
ONLY_SAMPLED = plain(chart_data(replace(CHAINS, scored=())))


def test_every_way_is_drawn_as_far_as_it_is_known():
    rows = rows_of(charts.informations(FOUND, LIGHT), "way")
    values = {(row["way"], row["n"]): row["value"] for row in rows}
    assert values[SCORED, 4] == 0.9 and values[SAMPLED, 3] == -0.05
    assert values[LARGEST, 3] == 2.4 and values[CERTIFIED, 3] == 0.5
    assert (CERTIFIED, 4) not in values and (SAMPLED, 4) not in values
    for picture in charts.PICTURES:
        check({picture.name: picture.chart(ONLY_SAMPLED, DARK)}, DARK)
    assert {row["way"] for row in rows_of(charts.informations(ONLY_SAMPLED, LIGHT), "way")} == {
        SAMPLED
    }
    assert "every answer after every chain: 0.400 of 2, 0.700 of 3 and 0.900 of 4 answers" in (
        charts.informations_alt(FOUND)
    )


def test_the_price_of_every_further_answer_is_in_the_picture():
    found = texts(drawn(charts.prompts(FOUND, LIGHT)))
    assert "16 prompts, 64 texts" in found and "recorded already" in found
    assert "answer 4, every answer after every chain: 64 prompts, 256 texts" in (
        charts.prompts_alt(FOUND)
    )
