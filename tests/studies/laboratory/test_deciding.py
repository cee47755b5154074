"""What decides a score: panels against single inspections, and what is asked for them."""

from dataclasses import replace

import numpy as np
import pytest

from core.language_models.forms import Form
from core.reports.laboratory.deciding import chart_data, sentence
from core.studies.inspection.inspection import read
from core.studies.inspection.recorder import record
from core.studies.inspection.request import InvalidRequestError, Reading, Request, Sampling
from core.studies.inspection.verdict import Decision, DecisionRule
from core.studies.laboratory.deciding import (
    DecidingSettings,
    Factor,
    ReadingOutcome,
    Variant,
    Variations,
    run,
)
from core.uncertainty.similarity import JUDGE
from tests.fakes import QUERY, Limited, Searched, TableModel, copies, falling, fruit, knows, words

RULE = DecisionRule(0.3, 0.1)
SMALL = DecidingSettings(
    samples=(3, 8),
    thresholds=(0.25, 1.0),
    temperatures=(0.9, 1.5),
    similarities=("token_f1",),
    seeds=3,
)


def searched(share):
    first = falling(6)
    rows = share * np.eye(6) + (1 - share) * first
    return Searched(words(6), first, rows)


def information(model, request, reading=None):
    return read(record(request, model), reading).scores["mutual_information"].value


# ---------------------------------------------------------------- panels of one question


def test_every_panel_is_what_single_inspections_say():
    model = searched(0.6)
    base = Request(QUERY, 5, 0.9, 7)
    found = run([QUERY], model, base, settings=SMALL, rule=RULE)

    def shown(factor):
        return {
            v.value: [outcome.scores["mutual_information"] for outcome in v.outcomes[0]]
            for v in found.panel(factor)
        }

    seeds = [replace(base, seed=seed) for seed in (7, 8, 9)]
    for k, values in shown(Factor.SAMPLES).items():
        expected = [information(model, replace(one, samples=k)) for one in seeds]
        assert values == pytest.approx(expected)
    assert [*shown(Factor.SAMPLES)] == [3, 5, 8]
    for tau, values in shown(Factor.THRESHOLD).items():
        expected = [information(model, one, Reading(threshold=tau)) for one in seeds]
        assert values == pytest.approx(expected)
    for warm, values in shown(Factor.TEMPERATURE).items():
        expected = [information(model, replace(one, temperature=warm)) for one in seeds]
        assert values == pytest.approx(expected)
    assert shown(Factor.SEED) == {
        one.seed: pytest.approx([information(model, one)]) for one in seeds
    }
    likeliest = replace(base, sampling=Sampling.LIKELIEST)
    assert shown(Factor.SAMPLING)["likeliest"] == pytest.approx([information(model, likeliest)])
    assert found.usual[0].scores["mutual_information"] == pytest.approx(information(model, base))
    # What the person has is among the values of each panel, once.
    for factor in set(Factor) - {Factor.FORM}:
        assert sum(variant.usual for variant in found.panel(factor)) == 1
    assert "asked in one form only" in " ".join(found.left_out)


def test_each_question_is_asked_once_however_many_panels_it_serves():
    model = TableModel(words(6), falling(6), np.tile(falling(6), (6, 1)))
    found = run([QUERY], model, Request(QUERY, 5), settings=SMALL, rule=RULE)
    drawn = [count for _, count in model.sampled if count > 1]
    assert sorted(drawn) == [5] * 3 + [8] * 3  # the other temperature, and its own at the largest k
    assert found.recordings == 6
    assert "cannot be searched" in " ".join(found.left_out)


def test_the_likeliest_answers_are_varied_without_chance():
    found = run([QUERY], searched(0.6), settings=SMALL, rule=RULE)
    assert found.request.sampling is Sampling.LIKELIEST
    for factor in (Factor.SAMPLES, Factor.THRESHOLD):
        for variant in found.panel(factor):
            interval = variant.interval("mutual_information")
            assert len(variant.outcomes[0]) == 1
            assert interval.lower == interval.value == interval.upper
    assert all(len(v.outcomes[0]) == 3 for v in found.panel(Factor.TEMPERATURE))
    assert not any(v.usual for v in found.panel(Factor.TEMPERATURE))


def test_other_forms_are_panels_of_their_own():
    class Formed(TableModel):
        forms = (Form.PLAIN, Form.EXAMPLES)

        def in_form(self, form):
            if form is Form.PLAIN:
                return self
            other = Formed(self.answers, self.first, 0.9 * np.eye(4) + 0.1 * self.first)
            other.form, other.revision = form, "1 examples"
            return other

    model = Formed(words(4), falling(4), np.tile(falling(4), (4, 1)))
    settings = replace(SMALL, samples=(20,))
    found = run([QUERY], model, Request(QUERY, 20), settings=settings, rule=RULE)
    plain, examples = found.panel(Factor.FORM)
    assert (plain.value, plain.usual, examples.usual) == ("plain", True, False)
    assert plain.interval("mutual_information").upper < 0.01
    assert examples.interval("mutual_information").lower > 0.5
    assert found.changing == ((examples,),)
    assert "It changes with form examples (never kept)" in sentence(found)


def test_the_models_own_judgement_is_a_similarity_where_it_was_asked():
    found = run([QUERY], fruit(), Request(QUERY, 6, judged=True), settings=SMALL, rule=RULE)
    assert [v.value for v in found.panel(Factor.SIMILARITY)] == ["token_f1", JUDGE, "same_answer"]
    (usual,) = (v for v in found.panel(Factor.SIMILARITY) if v.usual)
    assert usual.value == "same_answer"


def test_what_a_model_cannot_do_is_left_out_with_a_sentence():
    model = Limited(copies(4), scores_given_text=False)
    settings = replace(SMALL, temperatures=(0.2, 1.0))
    found = run([QUERY], model, Request(QUERY, 5), settings=settings, rule=RULE)
    assert [v.value for v in found.panel(Factor.TEMPERATURE)] == [0.9, 1.0]
    assert any("At a temperature of 0.2" in why for why in found.left_out)


def test_what_no_request_may_ask_is_left_out_with_a_sentence():
    request = Request(QUERY, 5, seed=2**32 - 1, answer_tokens=256)
    model = copies(4)
    model.capabilities = replace(model.capabilities, limits_answers=True)
    found = run([QUERY], model, request, settings=replace(SMALL, samples=(3, 40)), rule=RULE)
    assert [v.value for v in found.panel(Factor.SAMPLES)] == [3, 5]
    assert any("40 answers of up to 256 tokens are too much text" in why for why in found.left_out)
    assert [v.value for v in found.panel(Factor.SEED)] == [2**32 - 1, 0, 1]


# -------------------------------------------------------------------- is it stable?


def test_a_model_that_knows_and_one_that_copies_are_decided_alike_by_every_setting():
    for model, decision in ((knows(4), "answer"), (copies(4, 0.95), "abstain")):
        request = Request(QUERY, 20)
        found = run([QUERY], model, request, settings=replace(SMALL, samples=(10, 20)), rule=RULE)
        assert sentence(found).startswith(f"The verdict “{decision}” is stable: all")
        assert sentence(found).endswith(", one moved at a time, in 3 draws each.")


def test_too_few_answers_for_a_verdict_keep_none():
    settings = replace(SMALL, samples=(2, 9, 20))
    found = run([QUERY], searched(0.0), settings=settings, rule=RULE)
    decisions = {v.value: v.outcomes[0][0].decision for v in found.panel(Factor.SAMPLES)}
    assert decisions.pop(2) is Decision.TOO_LITTLE
    assert {*decisions} == {8, 9, 20} and {*decisions.values()} == {Decision.ANSWER}
    # Of drawn answers eight would be too few: there are ten.
    assert [v.name for v in found.changing[0]] == ["k = 2"]


def outcome(value, decision=Decision.ANSWER, answer="Paris"):
    return ReadingOutcome(
        {"mutual_information": value, "semantic_entropy": value}, decision, answer
    )


def variations(rows, variants):
    return Variations(
        tuple(map(str, range(len(rows)))), "m", "1", Request(QUERY), Reading(), tuple(rows),
        tuple(variants), (), 1, RULE,
    )  # fmt: skip


def test_the_sentence_names_what_changes_it_the_surest_first():
    kept, lost = outcome(0.1), outcome(0.9, Decision.ABSTAIN)
    found = variations(
        [kept],
        [
            Variant(Factor.THRESHOLD, 0.25, True, ((kept,) * 10,)),
            Variant(Factor.SAMPLES, 2, False, ((kept,) * 7 + (lost,) * 3,)),
            Variant(Factor.THRESHOLD, 1.0, False, ((lost,) * 10,)),
            Variant(Factor.SEED, 3, False, ((outcome(0.1, answer="Paris, France"),),)),
        ],
    )
    assert sentence(found) == (
        "The verdict “answer” is not stable: 1 of 3 other settings keeps it. It changes with τ "
        "= 1 (never kept) and k = 2 (kept in 70% of draws)."
    )


def test_what_is_in_use_is_no_setting_that_was_moved():
    """Beside searched answers, drawing as usual is one setting, whichever panel shows it."""
    kept = (outcome(0.1),)
    drawn = (
        Variant(Factor.SAMPLING, "drawn", False, (kept,)),
        Variant(Factor.TEMPERATURE, 0.9, False, (kept,)),
        Variant(Factor.TEMPERATURE, 0.5, False, ((outcome(0.1, answer="Lyon"),),)),
    )
    in_use = Variant(Factor.SAMPLING, "likeliest", True, (kept,))
    searched = Request(QUERY, sampling=Sampling.LIKELIEST)
    found = replace(variations([kept[0]], [*drawn, in_use]), request=searched)
    assert found.alternatives == (drawn[0], drawn[2])
    assert "with answers drawn at temperature 0.5 (never kept)" in sentence(found)


def test_the_share_of_verdicts_kept_is_over_questions_and_in_few_groups():
    kept, lost = outcome(0.1), outcome(0.9, Decision.ABSTAIN)
    few = outcome(0.1, Decision.TOO_LITTLE)
    variants = [
        Variant(Factor.SAMPLES, 2, False, ((few,), (few,))),
        Variant(Factor.SAMPLES, 40, False, ((kept,), (lost,))),
        Variant(Factor.SIMILARITY, "token_f1", False, ((kept,), (kept,))),
        Variant(Factor.SIMILARITY, "WRatio", False, ((lost,), (lost,))),
        *(Variant(Factor.SEED, i, False, ((kept,), (kept,))) for i in range(10)),
    ]
    drawn = variations([kept, kept], variants)
    data = chart_data(drawn)
    assert data["too few"] == ["2"]
    groups = data["groups"].items()
    assert {name: (of["values"], of["stable"][0], of["verdicts"]) for name, of in groups} == {
        "fewer answers": ("2", 0.0, 2),
        "more answers": ("40", 0.5, 2),
        "compared by words": ("token f1", 1.0, 2),
        "compared by characters": ("WRatio", 0.0, 2),
        "seed": ("0 to 9", 1.0, 20),
    }
    assert (data["groups"]["more answers"]["stable"][1:]) == (0.0, 1.0)
    # Of one question, even what all keep may be kept by few.
    alone = variations([kept], [Variant(Factor.SEED, 1, False, ((kept,),))])
    assert chart_data(alone)["groups"]["seed"]["stable"] == pytest.approx((1.0, 0.025, 1.0))
    variants.append(Variant(Factor.SAMPLING, "drawn", False, ((kept,), (kept,))))
    searched = Request(QUERY, sampling=Sampling.LIKELIEST)
    names = [*chart_data(replace(variations([kept] * 2, variants), request=searched))["groups"]]
    assert names[-1] == "drawn: seed" and "seed" not in names


def test_another_answer_is_another_verdict_but_not_what_is_withheld():
    assert not outcome(0.1).agrees(outcome(0.1, answer="Lyon"))
    lost = outcome(0.9, Decision.ABSTAIN)
    assert lost.agrees(outcome(0.9, Decision.ABSTAIN, "Lyon"))
    assert not lost.agrees(outcome(0.9))


def test_a_set_says_how_many_are_stable_and_what_changes_most():
    kept, lost = outcome(0.1), outcome(0.9, Decision.ABSTAIN)
    found = variations(
        [kept, kept, lost],
        [
            Variant(Factor.SAMPLES, 2, False, ((lost,), (lost,), (lost,))),
            Variant(Factor.TEMPERATURE, 1.3, False, ((kept,), (lost,), (lost,))),
        ],
    )
    assert sentence(found) == (
        "1 of 3 verdicts is stable. Verdicts change with k (2) and temperature (1)."
    )
    still = variations([kept, kept], [Variant(Factor.SEED, 1, False, ((kept,), (kept,)))])
    assert "Nothing that was moved changes one" in sentence(still)


def test_intervals_are_over_draws_of_one_question_and_over_questions_of_a_set():
    values = np.arange(11.0)
    alone = Variant(Factor.SEED, 0, False, (tuple(map(outcome, values)),))
    found = alone.interval("semantic_entropy")
    assert (found.lower, found.value, found.upper) == pytest.approx((0.5, 5, 9.5))
    rng = np.random.default_rng(0)
    rows = tuple((outcome(v), outcome(v + 1), outcome(None)) for v in rng.normal(2, 1, 400))
    many = Variant(Factor.SEED, 0, False, rows).interval("mutual_information", 0.95)
    assert many.lower < many.value < many.upper
    assert many.upper - many.lower == pytest.approx(2 * 1.96 / 20, rel=0.2)
    nothing = Variant(Factor.SEED, 0, False, ((outcome(None),),)).interval("mutual_information")
    assert np.isnan([nothing.value, nothing.lower, nothing.upper]).all()


# -------------------------------------------------------------------------- what is refused


def test_no_question_is_refused():
    with pytest.raises(InvalidRequestError, match="no question"):
        run([], knows(3))


def test_the_embedded_model_is_varied(embedded):
    queries = ["What is the capital of France?", "Name a yellow fruit."]
    settings = replace(SMALL, seeds=2, samples=(4,), temperatures=(1.5,))
    found = run(queries, embedded, settings=settings)
    assert " of 2 verdicts " in sentence(found)
    for variant in found.variants:
        for score in ("mutual_information", "semantic_entropy"):
            assert np.isfinite(variant.interval(score).value)
