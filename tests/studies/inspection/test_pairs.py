"""Recordings in which the model itself says which answers mean the same, on every rung."""

import functools
import itertools
import json

import numpy as np
import pytest

from core import prompts
from core.language_models.client.batch import BatchingModel
from core.language_models.errors import ModelError
from core.language_models.language_model import Capabilities
from core.language_models.true_false import question
from core.studies.costs import plan
from core.studies.inspection import recorder, serialise
from core.studies.inspection.certificates import default_policy
from core.studies.inspection.inspection import read, run
from core.studies.inspection.pairs import compare
from core.studies.inspection.pipeline import prompt_fingerprint
from core.studies.inspection.recorder import record
from core.studies.inspection.request import InvalidRequestError, Reading, Request
from core.studies.inspection.stopping_rule import growth, is_settled
from core.studies.progress import Cancelled
from core.uncertainty.similarity import JUDGE, pairwise, token_f1
from tests.fakes import QUERY, Limited, asked_about, fruit, sureness
from tests.hostile import put

RUNGS = {
    "exact": {"scores_given_text": True},
    "chained": {"own_log_likelihoods": True, "next_token": True},
    "counted": {"next_token": True},
    "counted, greedy": {},
}
rungs = pytest.mark.parametrize("abilities", RUNGS.values(), ids=RUNGS)


@pytest.fixture(autouse=True)
def any_number(monkeypatch):
    """Chains may be few here: what a study refuses, its parts can do."""
    monkeypatch.setattr(recorder, "FEWEST_CHAINS", 1)
    monkeypatch.setattr(recorder, "SECONDS", 4)


def ask(samples, *, judged=True, seed=5):
    return Request(QUERY, samples, 1.0, seed, judged)


def model(abilities, **options):
    return Limited(fruit(), **abilities, **options)


def everything(model):
    """Every prompt that a model was asked, as often as it was."""
    return [
        *(a.prompt for a in model.asked),
        *model.continued,
        *(prompt for some, _ in model.scored for prompt in some),
    ]


def questions(model):
    """Every comparison that a model was asked for, as often as it was."""
    return [prompt for prompt in everything(model) if asked_about(prompt)]


def others(model):
    """How often a model was asked for anything else."""
    return len(everything(model)) - len(questions(model))


def wanted(recording):
    """The comparisons that a recording needs."""
    firsts, said = recording.texts, recording.distinct_texts
    return {
        question(QUERY, one, other)
        for one, other in itertools.combinations(said, 2)
        if one in firsts and token_f1(one, other) < 1
    }


def same(one, other):
    """Say whether two recordings agree in every field but the list of calls."""
    names = ("request", "texts", "samples", "seconds", "greedy", "estimator", "judged_texts")
    for name in names:
        assert getattr(one, name) == getattr(other, name), name
    for name in ("verification", "log_likelihoods", "judged"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), strict=True)
    return True


# ------------------------------------------------------------------------ what is asked


@rungs
def test_every_pair_with_a_first_answer_is_asked_about_once(abilities):
    asked = model(abilities)
    made = record(ask(9), asked)
    assert sorted(questions(asked)) == sorted(wanted(made))
    assert made.judged_texts == made.distinct_texts
    greedy = not (abilities.get("next_token") or abilities.get("scores_given_text"))
    alike = pairwise(made.distinct_texts)
    for (i, one), (j, other) in itertools.product(enumerate(made.distinct_texts), repeat=2):
        sure = sureness(one, other)
        expected = alike[i, j]  # texts of the same words, and two that only came second
        if alike[i, j] < 1 and min(i, j) < len(made.texts):
            expected = float(sure > 0.5) if greedy else sure
        assert made.judged[i, j] == pytest.approx(expected)
    assert len({*made.distinct_texts} - {*made.texts}) > 1 or abilities.get("scores_given_text")


def test_ten_exact_answers_are_compared_in_one_call():
    asked = model(RUNGS["exact"])
    made = record(ask(10), asked)
    calls = [call for call in made.calls if call.purpose == "judge"]
    assert [call.sequences for call in calls] == [2 * len(wanted(made))]


@rungs
def test_nothing_is_compared_unless_that_is_requested(abilities):
    asked = model(abilities)
    made = record(ask(9, judged=False), asked)
    assert not questions(asked)
    assert (made.judged.shape, made.judged_texts) == ((0, 0), ())


def test_one_answer_is_compared_with_nothing():
    made = record(ask(1), model(RUNGS["exact"]))
    np.testing.assert_array_equal(made.judged, [[1.0]])


# ------------------------------------------------------------------------------ growing


@rungs
@pytest.mark.parametrize("k", [1, 5, 13])
def test_the_first_k_samples_are_the_recording_of_k_samples_and_ask_nothing(abilities, k):
    twenty, asked = record(ask(20), model(abilities)), model(abilities)
    alone = record(ask(k), model(abilities))
    assert same(twenty.first(k), alone) and same(record(ask(k), asked, previous=twenty), alone)
    assert not everything(asked)


@rungs
def test_growing_makes_the_recording_that_asking_at_once_makes(abilities):
    asked, at_once = model(abilities), model(abilities)
    made = None
    for k in (1, 4, 5, 12, 30):
        made = record(ask(k), asked, previous=made)
    assert same(made, record(ask(30), at_once))
    assert sorted(questions(asked)) == sorted(questions(at_once))  # each pair once


@rungs
@pytest.mark.parametrize("larger", [12, 8, 5])
def test_answers_that_are_there_are_only_compared(abilities, larger):
    """Before 12 samples there are 8, not compared: pairs, and what is missing, are asked for."""
    asked = model(abilities)
    before = record(ask(8, judged=False), asked)
    sampled = others(asked)
    made = record(ask(larger), asked, previous=before)
    assert same(made, record(ask(larger), model(abilities)))
    assert (others(asked) > sampled) == (larger > 8)
    assert sorted(questions(asked)) == sorted(wanted(made))
    assert made.calls[: len(before.calls)] == before.calls


@rungs
@pytest.mark.parametrize("k", [12, 8, 5])
def test_a_judged_recording_serves_where_nothing_is_to_be_judged(abilities, k):
    asked = model(abilities)
    before = record(ask(8), asked)
    compared = len(questions(asked))
    made = record(ask(k, judged=False), asked, previous=before)
    assert same(made, record(ask(k, judged=False), model(abilities)))
    assert len(questions(asked)) == compared


def test_a_pair_of_which_the_model_says_neither_is_compared_by_words_and_not_asked_again():
    class Unsure(Limited):
        def sample(self, prompt, count, **options):
            drawn = super().sample(prompt, count, **options)
            return [type(r)("Hard to say", True) for r in drawn] if asked_about(prompt) else drawn

    asked = Unsure(fruit())
    made = record(ask(9), asked)
    np.testing.assert_array_equal(made.judged, pairwise(made.distinct_texts))
    had = questions(asked)
    grown = record(ask(30), asked, previous=made)
    assert len(questions(asked)) == len({*questions(asked)}) == len(wanted(grown)) > len(had)


def test_what_is_known_of_others_is_taken_over_by_hand():
    """b and c only came second before, so that nobody had asked about the two of them."""
    known = np.array([[1.0, 0.2, 0.3], [0.2, 1.0, 0.0], [0.3, 0.0, 1.0]])
    matrix, missing = compare(["c", "d", "a", "b"], 2, ["a", "b", "c"], 1, known)
    expected = np.eye(4)
    expected[0, 2] = expected[2, 0] = 0.3
    np.testing.assert_array_equal(matrix, expected)
    assert np.argwhere(missing).tolist() == [[0, 1], [0, 3], [1, 2], [1, 3]]


# ---------------------------------------------------------------------- on the way there


@rungs
@pytest.mark.parametrize("local", [True, False])
def test_comparing_is_a_stage_of_its_own(abilities, local):
    seen = []
    record(ask(9), model(abilities, local=local), lambda *where: seen.append(where))
    stages = list(dict.fromkeys(stage for stage, _ in seen))
    assert stages == [recorder.SAMPLING, recorder.TELLING, recorder.JUDGING]
    shares = [share for stage, share in seen if stage == recorder.JUDGING]
    assert shares == sorted(shares) and 0 <= shares[0] <= shares[-1] < 1


@pytest.mark.parametrize("after", [0, 1, 3])
def test_comparing_can_be_cancelled_between_two_calls(monkeypatch, after):
    monkeypatch.setattr(recorder, "PAIRS_A_CALL", 4)
    for abilities in RUNGS.values():
        asked, looks = model(abilities), itertools.count()

        def cancel(stage, share, looks=looks):
            if stage == recorder.JUDGING and next(looks) == after:
                raise Cancelled

        with pytest.raises(Cancelled):
            record(ask(9), asked, cancel)
        a_call = 2 if abilities.get("scores_given_text") else 1
        assert len(questions(asked)) == after * a_call


@rungs
@pytest.mark.parametrize("local", [True, False])
def test_a_failure_while_comparing_comes_through(abilities, local, monkeypatch):
    asked = model(abilities, local=local)

    def failing(call, prompts, *rest, **options):
        if any(map(asked_about, [prompts] if isinstance(prompts, str) else prompts)):
            raise ModelError("It rains.")
        return call(prompts, *rest, **options)

    for name in ("sample", "log_likelihoods", "next_token"):
        monkeypatch.setattr(asked, name, functools.partial(failing, getattr(asked, name)))
    with pytest.raises(ModelError, match="It rains"):
        record(ask(9), asked)


# ------------------------------------------------------------------------------ reading


def alike_by_fruit(one, other):
    """Sure that answers are the same if they end with the same word."""
    ends = [text.lower().strip(".").split()[-1] for text in (one, other)]
    return 0.9 if ends[0] == ends[1] else 0.2


@rungs
def test_the_clusters_are_the_models_own(abilities):
    made = record(ask(30), Limited(fruit(alike_by_fruit), **abilities))
    seen = read(made, Reading(JUDGE, 0.5))
    labels = dict(zip(seen.evidence.responses, seen.evidence.labels, strict=True))
    for one, other in itertools.combinations(made.texts, 2):
        assert (labels[one] == labels[other]) == (alike_by_fruit(one, other) > 0.5)
    assert seen.evidence.parameters.similarity == JUDGE
    assert len(read(made, Reading(JUDGE, 0.95)).clusters) >= len(seen.clusters)
    if abilities.get("next_token") or abilities.get("scores_given_text"):
        assert len(read(made, Reading(JUDGE, 0.15)).clusters) < len(seen.clusters)
        assert len(read(made, Reading(JUDGE, 0.95)).clusters) > len(seen.clusters)
    by_words = read(made)
    unjudged = read(record(ask(30, judged=False), Limited(fruit(), **abilities)))
    assert by_words.clusters == unjudged.clusters
    growth(made, seen.reading)
    is_settled(made, seen.reading)


@rungs
def test_without_comparisons_the_judge_says_how_to_get_them(abilities):
    made = record(ask(9, judged=False), model(abilities))
    says = r"has not compared these answers.*Ask .* again with the similarity “judge”.*\.$"
    with pytest.raises(InvalidRequestError, match=says):
        read(made, Reading(JUDGE))


def test_a_pipeline_with_a_judge_holds_what_it_is_asked(monkeypatch):
    made = record(ask(9), model(RUNGS["exact"]))
    plain, judged = read(made).pipeline, read(made, Reading(JUDGE)).pipeline
    assert plain.prompt == prompt_fingerprint() == default_policy().pipeline.prompt
    assert judged.prompt == prompt_fingerprint(judged=True) != plain.prompt
    prompt_fingerprint.cache_clear()
    monkeypatch.setattr(prompts, "SAME", "Are these two the same? True or False.")
    try:
        assert read(made).pipeline == plain
        assert read(made, Reading(JUDGE)).pipeline.prompt not in (plain.prompt, judged.prompt)
    finally:
        prompt_fingerprint.cache_clear()


def test_the_shipped_models_comparisons_grow_too(embedded):
    query = "What is the capital of Zorvania?"
    small = record(Request(query, 4, judged=True), embedded)
    grown = record(Request(query, 9, judged=True), embedded, previous=small)
    whole = record(Request(query, 9, judged=True), embedded)
    assert len(whole.texts) > len(small.texts) > 1
    np.testing.assert_allclose(grown.judged, whole.judged, atol=1e-4)
    np.testing.assert_allclose(whole.first(4).judged, small.judged, atol=1e-4)


# -------------------------------------------------------------------------------- costs


@rungs
@pytest.mark.parametrize(("k", "pairs"), [(1, 2), (9, 2000), (20, 2)])
def test_no_more_is_asked_than_was_planned(monkeypatch, abilities, k, pairs):
    monkeypatch.setattr(recorder, "SECONDS", 30)  # as the plan has it
    asked = model(abilities, local=False, pairs_a_call=pairs)
    record(ask(k), BatchingModel(asked))
    planned = plan(ask(k), asked.capabilities)
    assert asked.meter.requests <= planned.requests
    without = plan(ask(k, judged=False), asked.capabilities)
    assert (planned.requests > without.requests) == (
        k > 1 or not abilities.get("scores_given_text")
    )


@pytest.mark.parametrize(
    ("abilities", "pairs"),
    [
        (RUNGS["exact"], 10 * 9 // 2),
        (RUNGS["chained"], 10 * 9 // 2 + 10 * 10),
        (RUNGS["counted"], 10 * 9 // 2 + 10 * 300),
        (RUNGS["counted, greedy"], 10 * 9 // 2 + 10 * 300),
    ],
    ids=RUNGS,
)
def test_pairs_by_hand(abilities, pairs):
    able = Capabilities(**{"scores_given_text": False, "pairs_a_call": 2} | abilities)
    more, less = (plan(ask(10, judged=judged), able).requests for judged in (True, False))
    assert more - less == pairs


# -------------------------------------------------------------------------------- saved


@rungs
def test_comparisons_come_back_as_they_were(abilities):
    seen = run(ask(9), model(abilities), Reading(JUDGE, 0.5))
    text = serialise.to_json(seen)
    back = serialise.from_json(text)
    assert same(back.recording, seen.recording)
    assert serialise.to_json(back) == text
    grown = record(ask(20), model(abilities), previous=back.recording)
    assert same(grown, record(ask(20), model(abilities)))


def test_two_texts_that_only_came_second_are_not_written_down():
    made = judged("counted").recording
    rows = json.loads(serialise.to_json(judged("counted")))["recording"]["judged"]
    assert (len(rows), len(rows[0])) == (len(made.texts), len(made.distinct_texts))


def one_way(recording):
    """Change what was said about two first answers, in one of the two places where it stands."""
    rows = recording["judged"]
    i, j = next((i, j) for i, j in itertools.combinations(range(len(rows)), 2) if rows[i][j] < 1)
    rows[i][j] /= 2


DAMAGED = {
    "none": put([], "judged"),
    "no list": put(5, "judged"),
    "gone": lambda recording: recording.pop("judged"),
    "a row too few": lambda recording: recording["judged"].pop(),
    "a row too short": lambda recording: recording["judged"][0].pop(),
    "a column too few": lambda recording: [row.pop() for row in recording["judged"]],
    "above 1": put(1.5, "judged", 0, -1),
    "below 0": put(-0.1, "judged", 0, -1),
    "no number": put(None, "judged", 0, -1),
    "a text": put("much", "judged", 0, -1),
    "not the same as itself": put(0.5, "judged", 1, 1),
    "not both ways": one_way,
    "other words than that": put(0.123, "judged", 0, 0),
    "not requested": put(False, "request", "judged"),
    "requested as a number": put(1, "request", "judged"),
    "requested as a word": put("yes", "request", "judged"),
}


@functools.cache
def judged(rung):
    return run(ask(9), model(RUNGS[rung]), Reading(JUDGE))


@pytest.mark.parametrize("rung", ["exact", "counted"])
@pytest.mark.parametrize("change", DAMAGED.values(), ids=DAMAGED)
def test_damaged_comparisons_are_refused_with_a_sentence(change, rung):
    data = json.loads(serialise.to_json(judged(rung)))
    assert len(data["recording"]["texts"]) > 2
    change(data["recording"])
    with pytest.raises(InvalidRequestError) as caught:
        serialise.from_json(json.dumps(data))
    assert str(caught.value).endswith(".")


def test_a_file_that_reads_by_a_judge_without_comparisons_is_refused():
    data = json.loads(serialise.to_json(run(ask(9, judged=False), model(RUNGS["exact"]))))
    data["reading_similarity"] = JUDGE
    with pytest.raises(InvalidRequestError, match="has not compared these answers"):
        serialise.from_json(json.dumps(data))
