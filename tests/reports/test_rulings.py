"""What became of the laboratory's claims follows from the numbers, and each can be broken."""

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest

from core.abstention.metrics import auroc
from core.charts.laboratory import cards
from core.charts.theme import LIGHT
from core.data.world.facts import facts
from core.reports.laboratory.catalogue import EXPERIMENTS, QUESTION_OF, QUESTIONS
from core.reports.laboratory.document import report
from core.reports.laboratory.rulings import BROKEN, CLAIMS, HELD, WEAK, picture_of, sentences
from core.studies.calibration.first_calibration import example
from core.studies.evaluation.bundled import FOLDER
from core.studies.evaluation.results import measure_run, read_results
from core.studies.evaluation.saved_run import Run
from core.studies.evaluation.score_comparison import compare
from core.studies.inspection.certificates import default_policy
from core.studies.inspection.verdict import SCORE
from core.studies.laboratory.bundled import results_of
from tests.charts.drawing import check, drawn, texts

FOUND = {
    "estimator": (HELD, "218 answers"),
    "missing_mass": (HELD, "200 of 200"),
    "theorem": (BROKEN, "116 of 160"),
    "hallucination": (WEAK, "272 of 303"),
    "deciding": (BROKEN, "3 of 7"),
    "yielding": (WEAK, "41%"),
    "related": (WEAK, "85%"),
}


def found(name):
    finding = results_of(name)[0]
    return replace(finding, drawn=deepcopy(finding.drawn), columns=deepcopy(finding.columns))


def ruled(finding):
    return CLAIMS[finding.experiment].rule(finding)


def test_every_question_has_an_answer_with_a_picture_and_says_what_a_yes_takes():
    assert [QUESTION_OF[name] for name in CLAIMS] == list(QUESTIONS)
    for name in CLAIMS:
        ruling = ruled(finding := found(name))
        assert FOUND[name] == (ruling.word, ruling.number)
        picture = picture_of(finding)
        answer, follows, finds = sentences(finding)
        assert answer.startswith(f"{QUESTION_OF[name]} {ruling.word}: {ruling.number} ")
        assert follows.startswith("Yes needs ") and finds == finding.sentence
        made = report(finding)
        assert (made.finding, [*made.texts][:2]) == (answer, [follows, finds])
        assert (picture.title, picture.alt) == (QUESTION_OF[name], f"{answer} {follows}")
        check({name: picture.chart(*picture.data, LIGHT)}, LIGHT)
        own = replace(finding, values=finding.values | {"of another": 1})
        assert sentences(own) == [finding.sentence], "which no card has"
    assert sentences(found("chains")) == [found("chains").sentence]


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


@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_that_the_numbers_speak_against_is_broken(name):
    finding = found(name)
    if finding.experiment != "deciding":  # broken as it is
        spoil(finding)
    assert ruled(finding).word == BROKEN


def test_what_may_be_less_stable_is_not_held():
    several = found("deciding")
    first, *others = several.drawn["groups"].values()
    for other in others:
        other["stable"] = [0.93, 0.9, 0.96]
    for stable, ruling in (
        ([1.0, 0.025, 1.0], (WEAK, "6 of 7")),  # of one question
        ([0.93, 0.9, 0.96], (HELD, "7 of 7")),
        ([0.93, 0.89, 0.96], (WEAK, "6 of 7")),
        ([0.89, 0.86, 0.92], (BROKEN, "6 of 7")),
    ):
        first["stable"] = stable
        assert (ruled(several).word, ruled(several).number) == ruling
    assert "2, 5: “Can’t tell yet”" in texts(drawn(cards.deciding(several.drawn, LIGHT)))


def test_the_numbers_of_a_card_stand_in_its_picture():
    def shown(name):
        picture = picture_of(found(name))
        return {str(text) for text in texts(drawn(picture.chart(*picture.data, LIGHT)))}

    assert {"0 of 120", "173 of 180", "2,107 of 2,400"} <= shown("deciding")
    assert {"withheld: 7 right, 265 wrong", "answered: 1 right, 30 wrong"} <= shown("hallucination")
    assert {"23%", "41%", "known by heart: 99%"} <= shown("yielding")
    assert {"85%", "74%", "92%", "72%"} <= shown("related")


def test_the_guess_that_is_drawn_is_the_middle_one_of_those_withheld():
    """By a rule, not by hand; and the card counts both kinds."""
    rows, doubts = example(), example().doubts[SCORE]
    withheld = (rows.sources == "never seen") & ~(doubts < default_policy().threshold)
    worded = {fact.question for fact in facts()}
    here = sorted(
        (doubts[i], rows.queries[i]) for i in np.flatnonzero(withheld) if rows.queries[i] in worded
    )
    ruling = ruled(guess := found("hallucination"))
    assert guess.drawn["question"] == here[len(here) // 2][1]
    assert not guess.drawn["right"][0], "as nearly all of them are"
    assert ruling.takes == "no wrong one among the other 31; 30 are, 4 with “Believe it”"


def test_a_guess_may_go_unnoticed(embedded):
    """As the card says of the one that is caught."""
    experiment = EXPERIMENTS["hallucination"]
    missed = experiment.run({"question": "In which country is the city of Mostar?"}, embedded)
    assert ruled(missed).word == BROKEN


def test_the_bound_holds_only_where_it_could_fail():
    finding = found("theorem")
    assert all(finding.columns["D ≥ I"]) and "all would be" in ruled(finding).consequence
    finding.columns["D from the documents < I"][:] = [False] * 200
    assert (ruled(finding).word, ruled(finding).number) == (HELD, "160 of 160")
    finding.columns["D from the documents, nats"][:] = [None] * 200
    assert ruled(finding).word == WEAK


def test_evaluation_finds_less_than_the_laboratory_by_lists_that_were_never_taught():
    """As the laboratory says where its number stands."""
    measured = measure_run(rows := read_results(Run(FOLDER / "embedded_world")), 50)
    right, doubts = rows.correct["mutual_information"], rows.doubts["mutual_information"]
    is_taught = rows.sources != "world many answers, never taught"
    assert right[~is_taught].mean() < 0.5
    assert np.median(doubts[~is_taught]) < np.median(doubts[is_taught & ~right]) / 2
    here = found("related").drawn["scores"]["M.I."][0]
    all_of_them, taught = auroc(doubts, right), auroc(doubts[is_taught], right[is_taught])
    assert all_of_them < taught - 0.05 and abs(taught - here) < 0.03
    assert ruled(found("related")).number == f"{all_of_them:.0%}"
    assert f"Without them it has one: {here:.0%} against " in ruled(found("related")).takes
    entropy = next(
        each for each in compare(measured, "mutual_information") if each.other == "semantic_entropy"
    )
    assert not entropy.is_significant, "as the card says"


def test_a_fact_that_the_section_calls_firm_need_not_be_one_known_by_heart():
    """So nothing is said of facts known by heart that holds of those alone."""
    firm = found("yielding")
    order = np.argsort(firm.drawn["measures"]["overlap"])[-75:]
    assert np.mean(np.array(firm.drawn["band"])[order] == "by heart") < 0.5
    assert ruled(firm).consequence.endswith("known by heart, 99% resist.")


def test_what_may_be_chance_is_not_held():
    lead, firm = found("related"), found("yielding")
    lead.drawn["scores"]["S.E."][2] = lead.drawn["scores"]["M.I."][1] + 0.001
    ruling = ruled(lead)
    assert ruling.word == BROKEN and "not shown to be" in ruling.consequence
    firm.drawn["turns"] = [None] * len(firm.drawn["turns"])  # loose facts resist as firm ones do
    assert ruled(firm).word == BROKEN


@pytest.mark.parametrize("unknown", [None, float("nan")])
def test_without_an_interval_nothing_is_held(unknown):
    lead = found("related")
    lead.drawn["scores"]["S.E."][1:] = [unknown, unknown]
    assert ruled(lead).word == BROKEN
    sign = found("yielding")
    sign.drawn["intervals"]["overlap with the large components"][1:] = [unknown, unknown]
    assert ruled(sign).word == BROKEN
