"""What became of the laboratory's claims follows from the numbers, and each can be broken."""

from copy import deepcopy
from dataclasses import replace

import pytest

from core.charts.theme import LIGHT
from core.reports.laboratory.catalogue import QUESTIONS
from core.reports.laboratory.rulings import BROKEN, CLAIMS, HELD, WEAK, picture_of
from core.studies.laboratory.shipped import results_of
from tests.charts.drawing import check

FOUND = {
    "estimator": (HELD, "218 samples"),
    "missing_mass": (HELD, "0.0%"),
    "theorem": (HELD, "200 of 200"),
    "hallucination": (HELD, "7.0 ×"),
    "deciding": (BROKEN, "19 of 30"),
    "yielding": (WEAK, "+0.20"),
    "related": (HELD, "92%"),
}


def found(claim):
    finding = results_of(claim.experiment)[0]
    return replace(finding, drawn=deepcopy(finding.drawn), columns=deepcopy(finding.columns))


def test_every_question_has_a_claim_of_an_experiment_with_a_picture():
    assert list(CLAIMS) == list(QUESTIONS)
    for question, claim in CLAIMS.items():
        assert claim.experiment in [experiment.name for experiment in QUESTIONS[question]]
        finding = found(claim)
        ruling = claim.rule(finding)
        assert FOUND[claim.experiment] == (ruling.word, ruling.number)
        picture = picture_of(claim, finding)
        assert f"{ruling.word}: {ruling.number}" in picture.alt
        check({claim.experiment: picture.chart(*picture.data, LIGHT)}, LIGHT, ("deciding",))


def spoil(finding):
    """Change one number each so that the claim fails."""
    drawn, columns = finding.drawn, finding.columns
    match finding.experiment:
        case "estimator":
            drawn["error"]["Algorithm 1"][-1] = 0.5
        case "missing_mass":
            columns["share of samples below"][0] = 0.101
        case "theorem":
            drawn["held"] -= 1
        case "hallucination":  # independent
            drawn["q"] = [[1 / 144] * 12] * 12
        case "yielding":
            drawn["intervals"]["overlap with the large components"][1] = -0.01
        case "related":
            drawn["scores"]["S.E."][:] = [0.95, 0.93, 0.96]


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=lambda claim: claim.experiment)
def test_a_claim_that_the_numbers_speak_against_is_broken(claim):
    finding = found(claim)
    if finding.experiment == "deciding":  # broken as it is
        finding.columns["verdict kept, share"] = [1.0] * len(finding.columns["setting"])
    else:
        spoil(finding)
    assert claim.rule(finding).word == (HELD if finding.experiment == "deciding" else BROKEN)


def test_a_lead_that_may_be_chance_holds_weakly():
    finding = found(CLAIMS["Do other scores see it?"])
    finding.drawn["scores"]["S.E."][:] = [0.9, 0.86, 0.94]
    assert CLAIMS["Do other scores see it?"].rule(finding).word == WEAK


@pytest.mark.parametrize("unknown", [None, float("nan")])
def test_without_an_interval_nothing_is_held(unknown):
    lead, sign = found(CLAIMS["Do other scores see it?"]), found(CLAIMS["Why does it give way?"])
    lead.drawn["scores"]["S.E."][1:] = [unknown, unknown]
    sign.drawn["intervals"]["overlap with the large components"][1:] = [unknown, unknown]
    assert CLAIMS["Do other scores see it?"].rule(lead).word == WEAK
    assert CLAIMS["Why does it give way?"].rule(sign).word == BROKEN
