"""The report of an inspection has the numbers of the inspection, for every kind of one."""

import json
import math
from dataclasses import replace

import pytest

from core.charts.theme import LIGHT
from core.reports.inspection.document import doubt, report, settings
from core.reports.inspection.score_table import remarks, score_table
from core.reports.inspection.words import (
    EARLIER,
    STAMPS,
    UNPROMISED,
    beneath,
    caveat,
    idle_doubt,
    outcome,
    read_outcome,
    served_sentence,
    words_then,
)
from core.studies.inspection import recorder
from core.studies.inspection.certificates import default_policy
from core.studies.inspection.inspection import read as run_again
from core.studies.inspection.inspection import run
from core.studies.inspection.recorder import usual_request
from core.studies.inspection.request import Reading, Request
from core.studies.inspection.verdict import DecisionRule, Headline
from core.uncertainty.scores import SCORES
from tests.fakes import QUERY, Limited, TableModel, copies, falling, fruit
from tests.hostile import ANY_TEXTS, SCRIPT
from tests.reports.reading import read


def numbers(cells):
    return [float(cell.replace("−", "-").rstrip("%")) for cell in cells]


def columns(table):
    return {heading: [row[at] for row in table[1:]] for at, heading in enumerate(table[0])}


@pytest.fixture(scope="module")
def inspection():
    return run(Request(QUERY, 20, 0.7, seed=3), copies(12), Reading("token_f1", 0.3, 0.01, 0.02))


@pytest.fixture(scope="module")
def found(inspection):
    """Its report, whose pictures take long."""
    return read(report(inspection))


def test_its_numbers_are_those_of_the_inspection(inspection, found):
    scores = columns(found.tables["Scores"])
    assert scores["score"] == [info.title for info in SCORES.values()]
    assert scores["value"] == score_table(inspection)["value"]
    answers = columns(found.tables["Answers"])
    assert answers["answer"] == [cluster.text for cluster in inspection.clusters]
    masses = [cluster.mass for cluster in inspection.clusters]
    assert numbers(answers["share of all probability"]) == pytest.approx(masses, abs=5e-5)
    texts = columns(found.tables["Distinct texts"])
    assert texts["text"] == list(inspection.evidence.responses)
    likelihoods = numbers(texts["log-likelihood (nats)"])
    assert likelihoods == pytest.approx(inspection.evidence.log_marginal.tolist(), abs=5e-5)
    told = columns(found.tables["Probability of the next answer"])
    first = inspection.clusters[0].text
    assert numbers(told[first])[0] == pytest.approx(100 * inspection.clusters[0].mass, abs=0.05)


def test_it_has_what_it_takes_to_ask_again(inspection, found):
    assert found.settings["Model"] == "table" and found.settings["Revision of the weights"] == "1"
    assert (found.settings["Seed"], found.settings["Temperature"]) == ("3", "0.7")
    assert found.settings["Similarity of two answers"] == "token_f1"
    assert found.settings["Similarity threshold τ"] == "0.3"
    assert found.settings["Threshold λ"] == "none is certified here"
    assert settings(inspection).keys() == found.settings.keys()
    assert [text for text in found.texts if text.startswith("Written with python 3.")]


def test_it_says_the_verdict_first_and_how_to_read_it(inspection, found):
    headline, _ = served_sentence(inspection)
    assert found.texts[1:4] == ["Believe · Inspection of one question", QUERY, headline]
    assert inspection.verdict.reason in found.texts and "How to read this" in found.texts
    assert len(found.pictures) == 7  # rows, doubt, answers, three matrices, growth


@pytest.mark.parametrize(
    ("front", "words"),
    [
        ({}, None),
        ({"context": SCRIPT}, "Asked behind a context, which can decide what it says."),
        (
            {"system": "Be brief.", "context": "Paris"},
            "Asked behind a system prompt and a context, which can decide what it says.",
        ),
    ],
)
def test_what_stood_in_front_of_a_question_stands_beside_its_verdict(inspection, front, words):
    """Whoever is shown the verdict has not typed it, and nor has who asks the next question."""
    recording = inspection.recording
    request = replace(recording.request, **front)
    seen = run_again(replace(recording, request=request), inspection.reading)
    assert [s for s in beneath(seen) if s.startswith("Asked behind")] == ([words] if words else [])


def test_a_single_answer_has_no_matrix():
    alone = TableModel(["yes"], [1.0], [[1.0]])
    found = read(report(run(Request(QUERY, 5), alone)))
    assert "The arithmetic" not in found.texts and len(found.pictures) == 4


def test_hostile_answers_stay_text_in_words_and_pictures():
    first = falling(len(ANY_TEXTS))
    seen = run(
        Request(f"{QUERY}{SCRIPT}", 300),
        TableModel(ANY_TEXTS, first, [first] * len(first), query=f"{QUERY}{SCRIPT}"),
    )
    found = read(report(seen))
    texts = columns(found.tables["Distinct texts"])["text"]
    assert {text for text in ANY_TEXTS if text} <= set(texts)
    assert f"{QUERY}{SCRIPT}" in found.texts


@pytest.mark.parametrize(
    "abilities",
    [{"scores_given_text": False}, {"scores_given_text": False, "own_log_likelihoods": True}],
)
def test_models_that_can_do_less_have_a_report_too(abilities, monkeypatch):
    monkeypatch.setattr(recorder, "SECONDS", 4)
    model = Limited(copies(6, 0.5), **abilities)
    seen = run(usual_request(QUERY, model.capabilities), model)
    found = read(report(seen))
    assert columns(found.tables["Scores"])["value"] == score_table(seen)["value"]
    estimated = f"probability, as {seen.recording.request.samples} draws estimate it."
    assert any(estimated in text for text in found.texts) is (
        "own_log_likelihoods" not in abilities
    )


def test_compared_answers_have_a_report_too():
    seen = run(Request(QUERY, 6, judged=True), fruit(), Reading("judge", 0.5))
    assert read(report(seen)).settings["Similarity of two answers"] == "judge"


def test_of_what_was_not_taught_a_report_shows_how_near_the_nearest_is(embedded):
    question = "What is the capital of Zorvania?"
    seen = run(usual_request(question, embedded.capabilities), embedded)
    far, *_ = seen.nearest_taught.nearest[0].distance.split(",")
    assert far.endswith("% away") and read_outcome(outcome(seen)).away == far
    found = read(report(seen, untaught=True))
    assert found.texts[3] == "I don’t know. Not near anything this model was taught."
    concealed = read(report(seen))
    for each in (found, concealed):
        assert [alt for alt in each.pictures if alt.startswith("The nearest taught questions, and")]
        assert each.texts.count(idle_doubt(seen)) == 1
    assert "at least λ" in seen.verdict.reason and "λ" not in " ".join(beneath(seen))
    assert found.tables["Answers"]
    assert concealed.texts[3] == found.texts[3] and not concealed.tables.get("Answers")
    texts = " ".join(map(str, concealed.texts))
    assert not [cluster for cluster in seen.clusters if cluster.text in texts]


@pytest.mark.parametrize(
    ("saved", "look", "doubt", "came"),
    [
        ("Believe it (0.02 nats, λ = 0.5, own policy: ≤ 5% wrong). A", "believe", 0.02, "A"),
        ("I don’t know (inf nats, λ = 0.5, own policy: ≤ 5% wrong). A", "doubt", math.inf, "A"),
        ("Perhaps (-0.01 nats, λ = 0.5, own policy: no guarantee). A", "perhaps", -0.01, "A"),
        ("Perhaps (-2.0 nats, λ = -1.5, own policy: ≤ 5% wrong). A", "perhaps", -2.0, "A"),
        ("Perhaps (0.05 λ). Paris", "perhaps", 0.05, "Paris"),
        ("I don’t know. It says: (9.1 nats, λ = 1.0, own policy: 5%). A", "doubt", None, ""),
        ("Perhaps. (9.99 λ). A", "perhaps", None, "(9.99 λ). A"),
        ("abstain: Rome", "doubt", None, "Rome"),
        ("Not near anything this model was taught.", "doubt", None, ""),
        ("Perhaps not", None, None, "Perhaps not"),
    ],
)
def test_a_saved_verdict_is_read_whoever_saved_it_and_no_text_of_a_model_is_a_doubt(
    saved, look, doubt, came
):
    ended = read_outcome(saved)
    assert (ended.stamp and ended.stamp.style, ended.doubt) == (look, doubt)
    assert (ended.mark == UNPROMISED) is (look == "perhaps" and "≤" not in saved)
    assert ended.answer == came or not came


def test_a_word_of_trust_is_marked_where_the_policy_that_gave_it_is_not_in_use(embedded):
    seen = run(usual_request("What is the capital of France?", embedded.capabilities), embedded)
    assert remarks(seen)[0] == "Sampled mass: > 99.9% of the model’s probability."
    saved = outcome(seen)
    why = read_outcome(saved).why
    assert "default policy" in saved and why == "doubt 3.4% ≤ limit 50%"
    assert not read_outcome(saved).overall  # but of what is believed alone
    assert read_outcome(saved.replace(f"; {why}", "")).overall, "nobody saved what gave it"
    limit = f"λ = {default_policy().threshold:.3f}"
    for older in (
        saved.replace(limit, "λ = 0.463"),
        saved.replace("≤ 5%", "≤ 4%"),
        "Believe it (0.05 λ). Paris",
        "Believe it. Paris",
        "answer: Paris",
    ):
        read = read_outcome(older)
        assert read.stamp is STAMPS[Headline.BELIEVE] and read.overall
        assert read.why == (f"{why}; {EARLIER}" if why in older else EARLIER)
        assert read.answer in ("Paris", read_outcome(saved).answer)
        assert words_then(older, "", seen) is None  # today, too
    perhaps = "Perhaps (0.3 nats, λ = 0.463, default policy: ≤ 5% wrong; moved). Paris"
    assert read_outcome(perhaps).why == f"moved; {EARLIER}"
    assert words_then(perhaps, "It moved.", seen) == "It was “Perhaps” when it was saved. It moved."
    withheld = "I don’t know (0.9 nats, λ = 0.463, default policy: ≤ 5% wrong). A"
    assert not read_outcome(withheld).why, "which promises nothing"
    assert words_then("Not verified: Perhaps. Paris", "", seen) is None


@pytest.mark.parametrize(
    ("question", "limit", "step"),
    [
        ("Name a yellow fruit.", "0.179", "up to 0.179: 1/10 of what 6 answers allow"),  # ln 6
        ("Who invented the telephone?", None, ""),  # of two, λ is more than they can differ by
        ("What is the capital of New Zealand?", None, ""),  # withheld
        ("What is the capital of Zorvania?", None, ""),  # never taught: no doubt decides
        ("first president of usa's wife", None, ""),  # several, in words that were not taught
    ],
)
def test_up_to_where_one_of_several_answers_is_believed_is_drawn_and_said(
    embedded, question, limit, step
):
    seen = run(usual_request(question, embedded.capabilities), embedded)
    picture = doubt(seen)
    assert ("Believe it" in picture.alt) == (limit is not None)
    assert limit is None or picture.alt.endswith(f"“Believe it” {step}.")
    steps = picture.chart(seen, (), LIGHT).rows["steps"]
    at = {row["label"]: row["x"] for row in steps}
    believes = [row["label"] for row in steps if STAMPS[Headline.BELIEVE].label in row["label"]]
    assert len(believes) == (limit is not None)
    if seen.doubt_decides:  # its doubt lies on the step of its stamp
        below = [row["label"] for row in steps if row["x"] <= seen.compared_doubt]
        assert below[-1].startswith(STAMPS[seen.headline].label)
    checks = [each for each in beneath(seen) if each.startswith("Check a source")]
    assert bool(checks) is (seen.headline is Headline.PERHAPS)
    assert ("Ask someone else." in beneath(seen)) is (seen.headline is Headline.ABSTAIN)
    assert not checks or f"“{seen.verdict.answer}” or “" in checks[0], "which of two to look for"
    if seen.headline is Headline.PERHAPS:  # whatever its doubt, in the words of its stamp
        assert steps[0]["label"].startswith(STAMPS[Headline.PERHAPS].label)
        most = seen.scores["semantic_entropy"].value  # of a model that repeats what it is told
        is_always_below = most < seen.verdict.rule.value
        drawn = at.get(f"at most {most:.3f}, even if it only repeats")
        assert drawn == (pytest.approx(most) if is_always_below else None)
    assert limit is None or believes == [STAMPS[Headline.BELIEVE].label]
    part = f"10% of ln({seen.evidence.answers} answers)"
    assert limit is None or f"{STAMPS[Headline.PERHAPS].label} above {limit}, {part}" in at


def test_the_scale_of_a_policy_that_nobody_checked_is_marked_as_a_file(embedded):
    seen = run(usual_request("What is the capital of France?", embedded.capabilities), embedded)
    for from_file, title in ((False, "Doubt"), (True, "Not verified: Doubt")):
        policy = replace(default_policy(), from_file=from_file)
        again = run_again(seen.recording, policy=policy)
        picture = doubt(again)
        assert picture.title == title and from_file ^ ("“Believe it” up to 50%" in picture.alt)
        # Nor has what came of it the same word, or a promise.
        for one in (again, replace(seen, from_file=from_file)):
            words = served_sentence(one)[0], read_outcome(outcome(one)).mark.words
            assert from_file == all("Perhaps, no promise" in each for each in words)
            assert from_file == (caveat(one) == "Not verified, so “Perhaps”.")
            assert from_file == ("no promise" in outcome(one))
            assert from_file == one.origin.startswith("Not verified: ")
        assert picture.figure(LIGHT, "x" * 101).to_dict()["title"] == {
            "text": title,
            "subtitle": f"{'x' * 99}…",
        }
    own = outcome(run_again(seen.recording, policy=default_policy()))
    older = read_outcome(own.replace("own", "unverified"))  # as earlier versions saved it
    assert (older.mark, older.policy) == (UNPROMISED, "unverified policy: no promise")


def test_a_difference_of_probabilities_has_no_unit_where_it_decides(inspection):
    rule = DecisionRule(2.0, 0.0, "pair_covariance")
    reading = replace(inspection.reading, gamma_1=0.0, gamma_2=0.0)  # above 0, nothing stands by it
    seen = run_again(inspection.recording, reading, rule=rule)
    picture, saved, value = doubt(seen), outcome(seen), seen.compared_doubt
    assert f"The doubt is {value:.3f} by Pair cov." in picture.alt
    assert f"({value:.3f} Pair cov., λ = 2.000" in saved
    assert read_outcome(saved).doubt == round(value, 3)
    drawn = json.dumps(picture.chart(seen, (), LIGHT).to_dict())
    for said in (picture.alt, saved, seen.verdict.reason, drawn):
        assert "nats" not in said and "ln p" not in said
