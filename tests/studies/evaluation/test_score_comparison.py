"""One score held against another: by the right test, adjusted, in a sentence with numbers."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from core.abstention import resampled_measures
from core.abstention.intervals import Interval
from core.abstention.metrics import auroc
from core.abstention.significance import delong, holm
from core.reports.evaluation import document, words
from core.studies.evaluation.bundled import FOLDER
from core.studies.evaluation.results import measure_run, read_results
from core.studies.evaluation.saved_run import Run
from core.studies.evaluation.score_comparison import (
    ENOUGH_FOR_DELONG,
    ScoreComparison,
    adjust,
    compare,
    lead,
    ranking,
)
from core.uncertainty.scores import SCORES
from tests.studies.evaluation.worlds import written

WEIGHTED = "weighted_doubt"  # see `CHOSE_WEIGHTS`
INFORMATION, ENTROPY, GREEDY = "mutual_information", "semantic_entropy", "greedy_probability"


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """M.I. is good, S.E. less so on the same answers, T0 as S.E. but of answers of its own."""
    rng = np.random.default_rng(3)
    rows = []
    for i in range(160):
        right = bool(rng.random() < 0.6)
        noise = float(rng.normal())
        own = right if i % 10 else not right
        rows.append(
            {
                INFORMATION: round(0.4 * noise - 2 * right + 3, 3),
                ENTROPY: round(float(rng.normal()) - right + 3, 3),
                GREEDY: round(float(rng.normal()) - own + 3, 3),
                f"{INFORMATION}_correct": right,
                f"{ENTROPY}_correct": right,
                f"{GREEDY}_correct": own,
            }
        )
    return read_results(written(tmp_path_factory.mktemp("run") / "run", *rows))


@pytest.fixture(scope="module")
def made(found):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resampled_measures, "ENOUGH", 30)  # few rows are enough here
        return measure_run(found, 300)


def test_scores_that_share_their_labels_are_compared_by_delong(found, made):
    by_delong, by_bootstrap = compare(made, ENTROPY)
    expected = delong(found.doubts[ENTROPY], found.doubts[INFORMATION], found.correct[ENTROPY])
    assert (by_delong.other, by_delong.test) == (INFORMATION, "DeLong")
    assert by_delong.p_value == expected.p_value
    assert by_delong.values == (expected.first, expected.second)
    difference = by_delong.difference
    assert difference.upper - difference.value == pytest.approx(1.959964 * expected.error)
    assert (by_bootstrap.other, by_bootstrap.test) == (GREEDY, "paired bootstrap")
    assert by_bootstrap.difference == made.resampled.difference(ENTROPY, GREEDY, "auroc")
    assert [by_delong.adjusted, by_bootstrap.adjusted] == pytest.approx(
        holm([by_delong.p_value, by_bootstrap.p_value])
    )


def test_other_measures_and_repeated_questions_are_compared_by_the_bootstrap(found, made):
    assert {each.test for each in compare(made, INFORMATION, "aurc")} == {"paired bootstrap"}
    twice = read_results(found.run)
    twice.queries[1] = twice.queries[0]
    number = len(twice)
    rows = f"({number} rows that ask {number - 1} questions), "
    assert rows in words.answer(measure_run(twice, 50))[1]
    assert {each.test for each in compare(measure_run(twice, 50), INFORMATION)} == {
        "paired bootstrap"
    }


def test_of_few_wrong_answers_delong_does_not_decide(found):
    rng = np.random.default_rng(4)
    wrong = ENOUGH_FOR_DELONG - 1
    for number, test in ((wrong, "paired bootstrap"), (wrong + 1, "DeLong")):
        by = compare(measure_run(alike(found, rng, 1.0, number), 50), INFORMATION)[0]
        assert by.test == test and by.difference.lower < by.difference.value


def test_a_difference_is_said_with_its_numbers_in_either_direction(made):
    first = compare(made, INFORMATION)[0]
    assert first.is_significant and words.comparison(first) == (
        "M.I. finds wrong answers better than S.E.: AUROC "
        f"{first.values[0]:.3f} against {first.values[1]:.3f}, difference "
        f"{words.difference(first)} (95% {first.difference.lower:.3f} to "
        f"{first.difference.upper:.3f}), adjusted {words.p_in_words(first.adjusted)} (DeLong)."
    )
    back = compare(made, ENTROPY)[0]
    assert words.comparison(back).startswith("S.E. finds wrong answers worse than M.I.: ")
    assert "difference −0." in words.comparison(back)
    lower_is_better = compare(made, INFORMATION, "aurc")[0]
    assert lower_is_better.difference.value < 0
    ((drawn, *_), *_) = document.differences([lower_is_better]).data
    assert f"difference {drawn.number} (95%" in words.comparison(lower_is_better)
    assert words.comparison(lower_is_better).startswith(
        "M.I. orders the questions better than S.E."
    )


def test_the_best_is_named_where_it_is_shown_to_be(found, made):
    best = lead(made)
    assert (best.score, best.rivals) == (INFORMATION, ()) and best.beats_chance
    assert best.widened == made.resampled.interval(INFORMATION, "auroc", 1 - 0.05 / 3)
    wrong = sum(not right for right in found.correct[INFORMATION])
    value, by_itself = best.widened, made.interval(INFORMATION, "auroc")
    assert value.lower < by_itself.lower  # which the largest of several breaks too often
    assert words.answer(made) == [
        "Mutual information finds wrong answers very well; every other is shown to be worse.",
        f"Of a wrong and a right answer, the wrong one is doubted more in {value.value:.0%} of "
        f"pairs ({value.lower:.0%} to {value.upper:.0%}; chance: 50%). On "
        f"{found.run.manifest['questions']['name']} ({len(found)} questions), {wrong} answers are "
        "wrong.",
    ]
    marks = "Chance: 50%. Points behind mutual information. Lines: joint 95% intervals."
    assert document.aurocs(made).alt.endswith(marks)
    by_delong, by_bootstrap = best.others
    assert compare(made, INFORMATION) == best.others  # one page says one thing of two scores
    assert [each.adjusted for each in best.others] == [2 * each.p_value for each in best.others]
    assert by_bootstrap.difference == made.resampled.difference(
        *(INFORMATION, GREEDY, "auroc", 0.975)
    )
    error = compare(made, ENTROPY)[0].difference.upper - compare(made, ENTROPY)[0].difference.value
    reach = by_delong.difference.upper - by_delong.difference.value
    assert reach / error == pytest.approx(2.241403 / 1.959964)
    first, *others = document.aurocs(made).data[0]
    number = f"{value.value:.0%}"
    assert (first.name, first.value, first.number) == ("Mutual information", 0.0, number)
    behind = {SCORES[each.other].title: each.difference for each in best.others}
    for each in others:  # on the same questions
        of = behind[each.name]
        ends = each.value, each.lower, each.upper
        assert ends == (100 * of.value, 100 * of.lower, 100 * of.upper) and each.is_shown
    unknown = measure_run(found, 0)
    assert words.answer(unknown)[0].endswith("ahead; how much of that is chance is not known yet.")
    assert document.aurocs(unknown).alt.endswith("Chance: 50%.")  # no interval, nothing grey
    assert not dots(unknown)[1]
    assert words.better_and_worse(compare(made, INFORMATION)) == (
        "Mutual information finds wrong answers better than Semantic entropy and Greedy "
        "probability."
    )
    assert words.better_and_worse(compare(made, ENTROPY)) == (
        "Semantic entropy finds wrong answers worse than Mutual information. No difference "
        "between Semantic entropy and Greedy probability is shown."
    )


def dots(measured):
    """Return the score in blue, and those that are rings, by their titles."""
    (rows, *_) = document.aurocs(measured).data
    main = next((each.name for each in rows if each.is_main), None)
    return main, [each.name for each in rows if not each.is_shown]


def alike(found, rng, signal, wrong=60, several=(INFORMATION, ENTROPY, GREEDY)):
    """Scores of the same answers that are equally good; so many are wrong."""
    results, correct = replace(found), np.arange(len(found)) >= wrong
    noise = dict.fromkeys(SCORES, np.full(len(found), math.nan))
    noise |= {name: rng.normal(size=len(found)) - signal * correct for name in several}
    vars(results).update(doubts=noise, correct=dict.fromkeys(SCORES, correct))
    return results


@pytest.mark.slow
def test_of_equal_scores_hardly_ever_one_is_called_the_best(found):
    rng = np.random.default_rng(1)
    runs = [measure_run(alike(found, rng, 1.0), 0) for _ in range(200)]
    assert sum(not lead(each).rivals for each in runs) <= 0.05 * len(runs)


def test_less_evidence_is_no_stronger_word(found):
    rng = np.random.default_rng(2)
    equal = measure_run(alike(found, rng, 1.0), 200)
    finds, pairs = words.answer(equal)
    first, *others = ranking(equal)
    names = " and ".join(SCORES[each].title for each in lead(equal).rivals)
    assert finds.startswith(f"{SCORES[first].title} finds wrong answers ")
    assert finds.endswith(f"; {names} may be as good.")
    assert pairs.endswith(" 60 answers are wrong.")
    assert dots(equal) == (SCORES[first].title, [SCORES[each].title for each in others])
    assert document.aurocs(equal).alt.count(", may be as good") == 2
    four = (INFORMATION, ENTROPY, GREEDY, "pair_covariance")
    assert words.answer(measure_run(alike(found, rng, 1.0, several=four), 200))[0].endswith(
        "; all others may be as good."
    )
    use, _ = words.answer(blind := measure_run(alike(found, rng, 0.0), 200))
    assert use == "No doubt is shown to find the wrong answers."
    assert dots(blind) == (None, [])
    leader, second = lead(blind).score, ranking(blind)[1]
    assert words.answer(blind)[1].startswith(f"{SCORES[leader].title} is ahead. ")
    vars(blind.results).update(doubts=blind.results.doubts | {second: blind.results.doubts[leader]})
    level = measure_run(blind.results, 200)
    assert words.answer(level)[1].startswith("None is ahead. ")
    assert "chance: 50%). On" in words.answer(level)[1]
    coarse = blind.results.doubts | {name: np.zeros(len(found)) for name in (leader, second)}
    vars(blind.results).update(doubts=coarse)
    assert "chance: 50%, ties half). On" in words.answer(measure_run(blind.results, 200))[1]
    shown, own = document.aurocs(blind).data[0][0], lead(blind).widened
    assert (shown.value, shown.lower, shown.upper) == (own.value, own.lower, own.upper)
    assert shown.note == f"{own.lower:.0%} to {own.upper:.0%}"
    for lower, word in (
        (0.9, "very well"),
        (0.89, "well"),
        (0.79, "fairly well"),
        (0.69, "better than chance"),
    ):
        vars(equal.resampled).update(interval=lambda *_, low=lower: Interval(0.99, low, 1.0))
        assert f" finds wrong answers {word};" in words.answer(equal)[0]
    few = measure_run(alike(found, rng, 9.0, wrong=9), 200)  # which all three tell apart
    assert words.answer(few) == ["Too few answers are wrong to say which doubt to use: 9 of 160."]
    assert words.answer(measure_run(alike(found, rng, 1.0, wrong=0), 0)) == []


def test_a_line_reaches_zero_where_a_score_may_be_as_good(found, monkeypatch):
    monkeypatch.setattr(resampled_measures, "ENOUGH", 30)
    few, many = (lead(measure_run(found, number)).others[-1] for number in (30, 300))
    assert few.test == many.test == "paired bootstrap"
    assert (few.is_significant, many.is_significant) == (False, True)  # thirty show nothing
    assert few.difference.lower == 0 < many.difference.lower


def test_where_nothing_is_shown_that_is_said(made):
    same = next(each for each in compare(made, ENTROPY) if each.other == GREEDY)
    assert not same.is_significant
    assert words.comparison(same).startswith("No difference between S.E. and T0 is shown: AUROC 0.")


def test_without_resamples_only_delong_says_how_sure_it_is(found):
    by_delong, unknown = compare(measure_run(found, 0), INFORMATION)
    assert math.isnan(unknown.p_value) and not unknown.is_significant
    assert words.comparison(unknown).endswith("; how much of that is chance is not known.")
    # The one that is not known still counts among the comparisons.
    assert by_delong.adjusted == pytest.approx(min(1, 2 * by_delong.p_value))


def test_what_cannot_be_compared_counts_for_nothing():
    def one(difference, p_value):
        return ScoreComparison(
            *(INFORMATION, ENTROPY, "auroc", (0.5, 0.5), Interval(difference, 0.0, 0.0)),
            *("DeLong", p_value),
        )

    impossible, possible = adjust([one(math.nan, math.nan), one(0.1, 0.03)])
    assert possible.adjusted == 0.03 and math.isnan(impossible.adjusted)
    assert words.comparison(impossible) == "M.I. and S.E. cannot be compared by AUROC."
    assert adjust([]) == ()


def test_numbers_in_words():
    values = ScoreComparison(
        *(INFORMATION, ENTROPY, "auroc", (0.8354, 0.8116), Interval(0.0238, 0.0, 0.0)),
        *("DeLong", 0.5),
    )
    assert words.comparison(values).count("AUROC 0.835 against 0.812, difference 0.023 (95%") == 1
    assert [words.decimal(value) for value in (0.1144, -0.1144, -0.0001)] == [
        "0.114",
        "−0.114",
        "0.000",
    ]
    assert [words.p_in_words(p) for p in (0.0004, 0.0123, 1.0, math.nan)] == [
        *("p < 0.001", "p = 0.012", "p = 1.000", "–")
    ]


def test_which_doubt_to_use_is_said_of_the_sources_that_count():
    """Not of the whole file, rows of which were left out."""
    run = Run(FOLDER / "smollm2_real_questions")
    of = {
        "“triviaqa”": ["triviaqa"],
        "“ambigqa single” and “wordnet”": ["wordnet", "ambigqa single"],
        "TriviaQA, AmbigQA and WordNet": ["triviaqa", "ambigqa single", "ambigqa multiple"] * 2
        + ["wordnet"],
    }
    for whose, sources in of.items():
        rows = read_results(run, match="f1", sources=sources)
        assert words.answer(measure_run(rows, 0))[1].count(f" On {whose} (") == 1


def test_what_decides_is_used_until_another_is_shown_to_be_better():
    """The weights of one score were chosen by questions of this run: it is left out."""
    results, rng = read_results(Run(FOLDER / "embedded_world")), np.random.default_rng(5)
    noisy = results.doubts[INFORMATION] + 0.1 * rng.normal(size=len(results))
    vars(results).update(doubts={**results.doubts, INFORMATION: noisy})
    measured = measure_run(results, 200)
    largest, *rest = ranking(measured)
    of = lead(measured)
    assert (of.score, of.is_largest) == (INFORMATION, False) and largest in of.rivals
    assert WEIGHTED not in (largest, *rest, *of.rivals)
    use, why, fitted = words.answer(measured)
    assert re.fullmatch("Mutual .+ wrong answers .+; no other is shown to be better.", use)
    assert f"({of.widened.lower:.0%} to {of.widened.upper:.0%}; chance: 50%). On embedded" in why
    assert re.search(
        r"world \(300 questions\), \d+ answers are wrong\. \w.+ be ahead by chance\.$", why
    )
    rings = [SCORES[name].title for name in ranking(measured) if name in of.rivals]
    assert dots(measured) == (SCORES[INFORMATION].title, rings)
    is_list = np.array([each.endswith("never taught") for each in results.sources])
    rest = auroc(results.doubts[INFORMATION][~is_list], results.correct[INFORMATION][~is_list])
    assert words.never_taught(measured) == (
        f"Mutual information without the 25 lists that were never taught: {rest:.0%} of pairs."
    )
    assert fitted == "Weighted doubt is left out: some of these questions chose its weights."
    unknown = lead(measure_run(results, 0))
    assert (unknown.score, unknown.is_largest) == (largest, True)


def test_what_decides_is_not_used_where_a_third_is_shown_to_be_better():
    """The first is not: it may lead by chance."""
    results, rng = read_results(Run(FOLDER / "embedded_world")), np.random.default_rng(5)
    correct = np.arange(len(results)) >= 100
    decides, other = (rng.normal(size=len(results)) - 1.0 * correct for _ in range(2))
    third = decides - 0.15 * correct + 0.02 * rng.normal(size=len(results))
    noise = dict.fromkeys(SCORES, np.full(len(results), math.nan))
    doubts = {INFORMATION: decides, ENTROPY: other - 0.1 * correct, GREEDY: third}
    vars(results).update(doubts=noise | doubts, correct=dict.fromkeys(SCORES, correct))
    measured = measure_run(results, 50)
    assert ranking(measured) == (ENTROPY, GREEDY, INFORMATION)
    by = {each.other: each for each in compare(measured, INFORMATION)}
    assert by[GREEDY].is_significant and not by[ENTROPY].is_significant
    assert lead(measured).score == ENTROPY and INFORMATION in lead(measured).rivals


def test_one_question_that_chose_weights_is_enough_however_it_is_typed():
    for typed, unfit in ((str.upper, (WEIGHTED,)), (lambda text: f"{text} in 1823", ())):
        results = read_results(Run(FOLDER / "embedded_world"))
        results.queries[1:] = [f"Something else, {i}" for i in range(1, len(results))]
        results.queries[0] = typed(results.queries[0])
        assert results.unfit_scores == unfit
        of = lead(measured := measure_run(results, 0))
        assert (WEIGHTED in (of.score, *of.rivals)) == (not unfit)
        assert (WEIGHTED in ranking(measured)) == (not unfit)
        others = {each.other for each in compare(measured, INFORMATION)}
        assert others == {*results.scores}.difference(unfit, {INFORMATION})
        assert bool(compare(measured, WEIGHTED)) == (not unfit)
