"""Longer chains: the exact values of known models, what is asked for them, and what is not."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from core import prompts
from core.language_models.errors import ModelError
from core.reports.laboratory.chains import EXPERIMENT, sentence
from core.studies.inspection.inspection import evidence_of, read
from core.studies.inspection.recorder import record
from core.studies.inspection.request import InvalidRequestError, Reading, Request, Sampling
from core.studies.laboratory.chains import ChainsSettings, run
from tests.fakes import QUERY, Limited, Searched, falling, words


def model_of(m, share):
    """Repeats what it was told with a probability of `share`, each told answer alike."""
    first, answers = falling(m), words(m)
    found = Searched(answers, first, share * np.eye(m) + (1 - share) * first)
    for told in (2, 3):
        for chain in product(range(m), repeat=told):
            row = share * np.bincount(chain, minlength=m) / told + (1 - share) * first
            prompt = prompts.iterative(QUERY, [answers[i] for i in chain])
            found.table[prompt] = dict(zip(answers, row, strict=True))
    return found


def exact(m, share, n):
    """The information of n answers of `model_of`, by brute force."""
    first = falling(m)
    joint, product_ = np.zeros((m,) * n), np.ones(())
    for chain in product(range(m), repeat=n):
        p = first[chain[0]]
        for told in range(1, n):
            seen = np.bincount(chain[:told], minlength=m) / told
            p *= share * seen[chain[told]] + (1 - share) * first[chain[told]]
        joint[chain] = p
    for kept in range(n):
        product_ = product_[..., None] * joint.sum(axis=tuple(a for a in range(n) if a != kept))
    return float((joint * np.log(joint / product_)).sum())


def recorded(model, k, **wanted):
    return record(Request(QUERY, samples=k, **wanted), model)


def searched(model, m=4):
    return recorded(model, m, sampling=Sampling.LIKELIEST)


# -------------------------------------------------------- every answer after every chain


@pytest.mark.parametrize("share", [0.0, 0.6])
def test_scored_chains_have_the_exact_information_where_all_answers_are_found(share):
    model = model_of(4, share)
    recording = searched(model)
    asked = len(model.scored)
    found = run(recording, model, ChainsSettings(longest=4, chains=0))
    assert [one.n for one in found.scored] == [2, 3, 4]
    for one in found.scored:
        truth = exact(4, share, one.n)
        assert one.value == pytest.approx(truth, abs=1e-9)
        assert one.certified == pytest.approx(truth, abs=1e-6)  # nothing was missed
        assert one.value <= one.largest + 1e-9
    inspection = read(recording)
    assert found.scored[0].value == pytest.approx(inspection.scores["mutual_information"].value)
    assert [one.cost.prompts for one in found.scored] == [0, 16, 64]
    # What is recorded is not asked again.
    new = {p for p, _ in model.scored[asked:] for p in p}
    assert len(new) == 16 + 64 and all(p.count("answer to question Q is") > 1 for p in new)
    assert not found.sampled and "64 prompts more" in sentence(found)


def test_the_certified_bound_holds_where_answers_are_missing_and_spellings_share_a_cluster():
    model = model_of(5, 0.6)
    recording = searched(model, 3)
    for reading in (Reading(), Reading("ratio", 0.5)):  # “answer0” is much like “answer1”
        found = run(recording, model, ChainsSettings(longest=4, chains=0), reading=reading)
        for one in found.scored:
            assert one.certified is not None and one.certified <= exact(5, 0.6, one.n) + 1e-9
        sure = [one.certified for one in found.scored]
        assert sure == sorted(sure)
        assert sure[0] == pytest.approx(
            read(recording, reading).scores["certified_mutual_information"].value
        )


def test_what_would_take_too_many_prompts_is_left_out_and_says_so():
    found = run(
        recording := searched(m := model_of(4, 0.5)),
        m,
        ChainsSettings(longest=4, chains=0, most_prompts=16),
    )
    assert [one.n for one in found.scored] == [2, 3]
    assert "Scoring chains of 4 answers would take 64 prompts" in sentence(found)
    assert recording.texts


def test_cut_off_answers_certify_nothing_but_are_scored():
    model = model_of(3, 0.5)
    model.cut = set(words(3))
    found = run(recorded(model, 20), model, ChainsSettings(longest=3, chains=0))
    assert len(found.scored) == 2
    assert [one.certified for one in found.scored] == [None, None]


# ---------------------------------------------------------------------- sampled chains


def test_sampled_chains_of_a_model_that_knows_show_nothing_and_of_one_that_copies_its_share():
    for share, close in ((0.0, 0.06), (0.8, 0.35)):
        model = model_of(3, share)
        found = run(searched(model, 3), model, ChainsSettings(longest=4, chains=300, seed=1))
        assert found.draws == 300
        for one in found.sampled:
            assert one.value == pytest.approx(exact(3, share, one.n), abs=close)
            assert one.by_chance <= one.plain + 0.05
            assert one.repeated > 200


def test_more_chains_begin_with_the_same_ones():
    model = model_of(4, 0.5)
    recording = searched(model)
    few, many = (run(recording, model, ChainsSettings(longest=3, chains=k)) for k in (20, 60))
    assert few == run(recording, model, ChainsSettings(longest=3, chains=20))
    assert few.sampled[0].cost.texts == 20 and many.sampled[0].cost.texts == 60


def test_pairs_that_were_sampled_are_lengthened_and_not_drawn_again():
    model = Limited(model_of(4, 0.5), scores_given_text=False, own_log_likelihoods=True)
    recording = recorded(model, 100, temperature=1.0)
    before = len(model.asked)
    reading = Reading(threshold=1.0)
    found = run(recording, model, ChainsSettings(longest=3, chains=0), reading=reading)
    assert all(prompts.FURTHER_ANSWER in asked.prompt for asked in model.asked[before:])
    assert [one.n for one in found.sampled] == [2, 3] and found.draws == 100
    # Pairs are estimated as an inspection does, adjusted for chance.
    pairs = evidence_of(recording, reading).mutual_information
    assert found.sampled[0].value == pytest.approx(pairs.value)
    assert found.sampled[0].plain == pytest.approx(pairs.plug_in)
    assert not found.scored


def test_no_chain_is_made_of_empty_answers():
    model = model_of(2, 0.5)
    for row in model.table.values():
        if len(row) == 2 and prompts.TRUE not in row:
            row[""] = 0.0
    silent = prompts.iterative(QUERY, ["answer0", "answer1"])
    model.table[silent] = {"answer0": 1e-9, "answer1": 1e-9, "": 1 - 2e-9}
    assert 2 < run(searched(model, 2), model, ChainsSettings(longest=3, chains=40)).draws < 40


# -------------------------------------------------------------------------- what is refused


def test_a_model_without_likelihoods_is_refused_with_a_sentence():
    model = Limited(model_of(3, 0.5), scores_given_text=False)
    with pytest.raises(ModelError, match="does not report how likely whole answers are"):
        run(recorded(model, 5), model, ChainsSettings())
    before = list(model.asked)
    for ask in (EXPERIMENT.plan, lambda settings, model: EXPERIMENT.run({}, model)):
        with pytest.raises(ModelError, match="does not report how likely whole answers are"):
            ask(ChainsSettings(), model)
    assert model.asked == before  # nothing is paid for


def test_another_models_recording_is_refused():
    model = model_of(3, 0.5)
    with pytest.raises(InvalidRequestError, match="another model"):
        run(replace(searched(model, 3), revision="2"), model, ChainsSettings())


def test_the_embedded_model_answers(embedded):
    recording = record(
        Request("What is the capital of France?", 4, sampling=Sampling.LIKELIEST), embedded
    )
    found = run(recording, embedded, ChainsSettings(longest=3, chains=20))
    values = [one.value for one in found.scored]
    assert len(values) == 2 and values == sorted(values)
    assert sentence(found).startswith("Chains of 2 and 3 answers have an M.I. of")
