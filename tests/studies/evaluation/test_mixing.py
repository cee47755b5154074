"""The paper's Figure 6 on a run: which sources are of which kind, and what comes of them."""

import math

import numpy as np
import pytest

from core.abstention.mixtures import Bar, Mixture, Pool, mixtures
from core.reports.evaluation import mixtures as words
from core.reports.evaluation.words import right_half
from core.studies.evaluation import mixing
from core.studies.evaluation.mixing import FEWEST, QuestionSource, kinds, mix, sources
from core.studies.evaluation.results import read_results
from tests.studies.evaluation.worlds import written

INFORMATION, ENTROPY = "mutual_information", "semantic_entropy"
BOTH = (INFORMATION, ENTROPY)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return asked(tmp_path_factory.mktemp("run") / "run")


def asked(folder, number=120, scores=BOTH, knows=0.7):
    """Of four questions one has three right answers, which entropy alone doubts."""
    rng = np.random.default_rng(1)
    rows = []
    for i in range(number):
        many = i % 4 == 2
        right = bool(rng.random() < knows) or (many and knows > 0)
        entropy = (
            float(rng.uniform(1.6, 2.4)) if many else float(rng.uniform(0, 0.6 if right else 2))
        )
        if many and i < 12:
            entropy = 0.3
        doubts = {ENTROPY: entropy, INFORMATION: 0.1 if many else entropy}
        row = {"entropy": entropy} | {name: doubts[name] for name in scores}
        rows.append(row | {f"{name}_correct": right for name in BOTH})
    return read_results(written(folder, *rows))


def source(name, answers=1.0, entropy=0.2):
    return QuestionSource(name, 10, answers, entropy)


def test_sources_are_described_by_their_medians(found):
    many, one = sources(found)
    assert (many.name, many.questions, many.answers) == ("many", 30, 3.0)
    assert (one.name, one.questions, one.answers) == ("one", 90, 1.0)
    assert one.entropy == np.median(found.entropies[found.sources == "one"])


def test_several_right_answers_decide_before_the_entropy():
    told = kinds([source("a"), source("b", 2.0), source("c", entropy=1.5)])
    assert (told.single, told.many) == (("a", "c"), ("b",))
    assert words.two_kinds(told).startswith(
        "“b”: the median question has two right answers or more"
    )
    told = kinds([source("a"), source("b", 1.5), source("", entropy=0.71)])
    assert (told.single, told.many) == (("a", "b"), ("",))
    assert "questions of no source: the median entropy" in words.two_kinds(told)
    told = kinds([source("a", entropy=0.7), source("b", entropy=math.nan)])
    assert (told.single, told.many) == (("a", "b"), ()) and "none has a median" in words.two_kinds(
        told
    )


def test_the_mixtures_are_those_of_the_pools(found):
    mixed = mix(found, ["one"], ["many"], target_error=0.1, confidence=0.8)

    def pool(chosen):
        return Pool(
            found.queries[chosen],
            {name: found.doubts[name][chosen] for name in BOTH},
            {name: found.correct[name][chosen] for name in BOTH},
            found.entropies[chosen],
            {name: found.by_other_label.correct[name][chosen] for name in BOTH},
        )

    diverse = (found.sources == "many") & (found.entropies > 0.7)
    expected = mixtures(
        *(pool(found.sources == "one"), pool(diverse)),
        **{"target_error": 0.1, "confidence": 0.8, "each": 500},
    )
    assert repr(list(mixed.mixtures)) == repr(expected)  # NaN is no number, nor itself
    assert (mixed.single, mixed.many, mixed.each) == (90, 27, 13)
    assert (
        "27 questions with many and an entropy above 0.7 nats (3 rows without it left out)"
        in words.mixtures(mixed)[0]
    )
    assert "Each half has 13 of either kind (the paper has 500)" in words.mixtures(mixed)[0]


def test_entropy_answers_less_where_there_are_many_right_answers(found):
    mixed = mix(found, ["one"], ["many"], target_error=0.1)
    recall = {
        each.score: each.bars[-2].recall for each in mixed.mixtures if each.rule == mixing.PAPER
    }
    assert mixed.mixtures[2].bars[-2].name == "2.0 or more"
    assert recall[INFORMATION] == 1.0 and recall[ENTROPY] < 0.5
    assert words.at_high_entropy(mixed) == (
        "At an entropy of 2.0 or more nats, Mutual information answers 100% and Semantic entropy "
        f"answers {recall[ENTROPY]:.0%} of the questions, on average of 10 draws."
    )
    assert words.at_high_entropy(mix(found, ["one"], [])) == ""
    paper, guaranteed, brackets = words.mixtures(mixed)[1:]
    assert brackets == "In brackets: wrong by the paper’s token F1."
    assert paper.startswith("At a target loss of 10%, by the paper’s rule: M.I. answers ")
    assert "with 90% confidence, by the promised threshold" in guaranteed
    assert f"S.E. answers {mixed.mixtures[2].bars[-1].recall:.0%}" in paper


def test_the_finding_is_what_comes_out_by_the_papers_rule(found):
    said = words.mixtures(mix(found, ["one"], ["many"]))
    kinds = "Tried on as many questions with one right answer as with many. "
    assert words.finding(found) == f"{kinds}{said[1]} {said[3]}" != f"{kinds}{said[2]} {said[3]}"
    assert said[1].startswith("At a target loss of 5%, by the paper’s rule: M.I. answers ")


def test_a_model_that_knows_nothing_has_no_threshold(tmp_path):
    assert words.finding(asked(tmp_path / "run", knows=0.0)) == (
        "100% of the answers are wrong (100% by the paper’s token F1). For a target loss of 5%, "
        "the paper’s rule leaves fewer than 1% of the questions answered by M.I. or S.E."
    )


def test_a_half_that_is_always_right_is_named(tmp_path, found):
    (sentence,) = right_half(found)
    assert sentence.startswith("All 30 questions with many right answers are answered rightly")
    again = read_results(found.run)
    again.queries[again.sources == "many"] = "The same?"
    again.correct.update(found.correct)
    assert right_half(again)[0].startswith("All 1 question with many")
    found.correct[INFORMATION][np.flatnonzero(found.sources == "many")[0]] = False
    assert right_half(found) == []
    assert right_half(read_results(found.run, sources=["many"])) == []


def test_a_share_of_chance_is_not_announced_with_its_error():
    bars = [Bar("all", 200.0, 0.004, 0.01, 0.3, 0.1)]
    assert words.mixture(Mixture(ENTROPY, "empirical", (0.5,), tuple(bars))) == (
        "S.E. answers fewer than 1%"
    )


@pytest.mark.parametrize("number", [4 * (2 * FEWEST + 2), 4 * (2 * FEWEST + 3)])
def test_few_questions_are_no_finding(tmp_path, number):
    # Of the first three with many right answers the entropy is too low to count.
    results = asked(tmp_path / "run", number)
    enough = number > 4 * (2 * FEWEST + 2)
    assert mix(results, ["one"], ["many"]).each == FEWEST - (not enough)
    assert bool(words.finding(results)) is enough


def test_there_is_no_finding_without_both_scores_or_both_kinds(tmp_path, found):
    assert words.finding(asked(tmp_path / "run", scores=[INFORMATION])) == ""
    alone = read_results(found.run, sources=["one"])
    assert len(alone) == 90 and words.finding(alone) == ""


def test_all_questions_of_a_kind_count_where_that_is_wanted(found):
    assert mix(found, ["one"], ["many"], diverse_only=False).many == 30
    both = mix(found, ["one", "many"], ["many"], diverse_only=False)
    assert (both.single, both.many) == (90, 30)  # a source in both has many


@pytest.mark.parametrize("many", [[], ["nowhere"]])
def test_a_kind_without_questions_makes_no_figure(found, many):
    mixed = mix(found, ["one"], many)
    assert mixed.mixtures == () and mixed.each == 0
    assert words.mixtures(mixed)[0].endswith(
        "Figure 6 takes at least two of either kind: one calibrates, one tests."
    )


def test_scores_without_a_value_are_left_out(found):
    assert {each.score for each in mix(found, ["one"], ["many"], scores=(*BOTH, "x")).mixtures} == {
        *BOTH
    }
    mixed = mix(found, ["one"], ["many"], scores=["self_verification"])
    assert mixed.mixtures == () and "None of the chosen scores" in words.mixtures(mixed)[-1]


def test_repetitions_without_a_threshold_are_counted():
    bars = (Bar("all", 4.0, 0.25, 0.1, math.nan, math.nan),)
    some = words.mixture(Mixture(ENTROPY, "ltt", (None, 0.5, None), bars))
    assert some == "S.E. answers 25% (no threshold in 2 of 3 repetitions)"
    none = words.mixture(Mixture(ENTROPY, "ltt", (None, None), bars))
    assert none == "S.E. finds no threshold in any of 2 repetitions"
