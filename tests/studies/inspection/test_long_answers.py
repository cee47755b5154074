"""Answers of a server that ignores how long they may be: cut, saved, and opened again."""

import itertools
import json

import numpy as np
import pytest

from core.language_models.errors import ModelError
from core.language_models.language_model import LONGEST_ANSWER, Response
from core.reports.amplification import words
from core.reports.result_files import open_result
from core.store.database import open_database
from core.store.errors import StoreError
from core.store.results import MAX_RESULT_BYTES, SavedResults
from core.studies.amplification import serialise as curves
from core.studies.amplification.curve import Case, amplify
from core.studies.inspection import recorder
from core.studies.inspection.inspection import run
from core.studies.inspection.recorder import usual_request
from core.studies.inspection.recording import Estimator
from core.studies.inspection.request import MAX_SAMPLES, MOST_TEXTS, Reading, Sampling
from core.studies.inspection.serialise import MOST_CLUSTERS_WHOLE, from_json, to_json
from tests.fakes import QUERY, Limited, TableModel
from tests.studies.inspection.rungs import SAMPLED, every, limited, sampled

LENGTH = 200_000
KINDS = {
    "one word": "a",
    "words": "word ",
    "many words": "ab cd ef gh ",
    "digits": "7",
    "emoji": "😀",
    "family": "👩‍👩‍👧‍👦",
    "combining marks": "a" + "\u0301" * 40,
    "escapes": "\\",
    "quotes": '"',
    "control": "\x01",
    "bell and escape": "\x07\x1b[31m",
    "torn halves": "\ud83d",
    "right to left": "\u202eשלום ",
    "Arabic": "ﷺ",
    "Chinese": "東京都",
    "tabs": "x\t",
    "markup": "<b>&amp;",
    "braces": "{}[]",
    "zero width": "\u200b\u200d",
    "signs": "+-*/<>=",
    "thousands": "1,204 ",
    "no character": "\ufffe\uffff",
}


def long(kind, number):
    piece = KINDS[kind]
    return f"{number} {piece * (LENGTH // len(piece))}"


class Garrulous(TableModel):
    """Its server sends answers of `LENGTH` characters, which the back end cuts with its tokens."""

    def __init__(self, kind):
        texts = [Response(long(kind, n), True).text for n in range(4)]
        first = [0.4, 0.3, 0.2, 0.1]
        super().__init__(texts, first, [first] * 4)

    def sample(self, prompt, count, **how):
        drawn = super().sample(prompt, count, **how)
        return [Response(d.text, False, d.log_likelihood) for d in drawn]


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_is_cut_where_it_enters(kind):
    response = Response(long(kind, 1), True, -2.0)
    assert LONGEST_ANSWER - 1 <= len(response.text) <= LONGEST_ANSWER and response.overlong
    assert not response.complete and response.text == response.text.strip()
    assert response.log_likelihood is None  # that of the whole is not its own
    short = Response("Paris", True, -2.0)
    assert short.complete and not short.overlong and short.log_likelihood == -2.0


@every
@pytest.mark.parametrize("kind", KINDS)
def test_an_inspection_that_is_saved_opens_again(kind, estimator, monkeypatch):
    monkeypatch.setattr(recorder, "FEWEST_CHAINS", 10)
    monkeypatch.setattr(recorder, "SECONDS", 3)
    model = limited(Garrulous(kind), estimator)
    seen = run(usual_request(QUERY, model.capabilities, samples=10), model)
    assert "longer than 300 characters, and cut there" in " ".join(seen.recording.notes)
    results = SavedResults(open_database("sqlite://"))
    id = results.save("inspection", QUERY, QUERY, "table", to_json(seen))
    again = from_json(results.open(id).payload)
    assert again.verdict == seen.verdict and again.clusters == seen.clusters


class Scattered(TableModel):
    """Never says the same twice, and always something of the longest; it compares them, too."""

    def __init__(self):
        super().__init__(["Anything"], [1.0], [[1.0]])
        self.number = itertools.count(1000)

    def sample(self, prompt, count, **how):
        rest = "\x01" * (LONGEST_ANSWER - 5) + "x"
        return [Response(f"{next(self.number)}{rest}", True, -20 / 3) for _ in range(count)]

    def log_likelihoods(self, prompts, answers):
        return np.full((len(prompts), len(answers)), -20 / 3)


MOST_DIFFERENT = MOST_TEXTS // (1 + recorder.SECONDS)
LARGEST = {
    Estimator.EXACT: MAX_SAMPLES,
    Estimator.CHAINED: MAX_SAMPLES,
    Estimator.COUNTED: MOST_DIFFERENT,
}


@pytest.mark.parametrize(
    "estimator",
    [Estimator.EXACT, *(pytest.param(each, marks=pytest.mark.slow) for each in SAMPLED)],
)
def test_the_largest_inspection_is_saved_and_opens_again_also_from_a_file(estimator, monkeypatch):
    monkeypatch.setattr(recorder, "OPINIONS", 1)
    monkeypatch.setattr(recorder, "sameness", lambda _, asked: np.full(len(asked), 1 / 3))
    model, samples = limited(Scattered(), estimator), LARGEST[estimator]
    wanted = {"samples": samples, "sampling": Sampling.DRAWN, "judged": True}
    seen = run(usual_request(QUERY, model.capabilities, **wanted), model)
    texts = seen.recording.distinct_texts
    assert len(texts) >= samples and {len(text) for text in texts} == {LONGEST_ANSWER}
    results = SavedResults(open_database("sqlite://"))
    id = results.save("inspection", QUERY, QUERY, "table", to_json(seen))
    again = from_json(open_result(results.open(id).payload.encode()).payload)
    assert again.verdict == seen.verdict and again.clusters == seen.clusters


def test_more_different_counted_answers_than_would_open_end_it_before_any_is_told():
    model = Limited(Scattered())
    request = usual_request(QUERY, model.capabilities, samples=MOST_DIFFERENT + 1)
    with pytest.raises(ModelError, match=r"33 different answers to 33 .* at most 32 may differ"):
        run(request, model)
    assert next(model.inner.number) == 1000 + 1 + MOST_DIFFERENT + 1  # and the greedy one


def test_an_inspection_of_many_clusters_has_no_matrices():
    model = limited(Scattered(), Estimator.EXACT)
    for samples in (MOST_CLUSTERS_WHOLE, MOST_CLUSTERS_WHOLE + 1):
        request = usual_request(QUERY, model.capabilities, samples=samples)
        seen = run(request, model, Reading(threshold=1.0))
        assert len(seen.clusters) == samples
        assert (json.loads(to_json(seen))["joint"] is None) == (samples > MOST_CLUSTERS_WHOLE)


def test_the_greedy_answer_counts_among_those_that_were_cut():
    class LongAtZero(TableModel):
        def sample(self, prompt, count, *, temperature=1.0, **how):
            drawn = super().sample(prompt, count, temperature=temperature, **how)
            return drawn if temperature else [Response("x" * LENGTH, True)]

    model = Limited(LongAtZero(["one"], [1.0], [[1.0]]))
    (note,) = run(usual_request(QUERY, model.capabilities), model).recording.notes
    assert note.startswith("1 answer was longer than 300 characters")


def test_what_was_saved_before_answers_had_a_limit_still_opens():
    model = Garrulous("words")
    seen = run(usual_request(QUERY, model.capabilities, samples=10), model)
    saved = to_json(seen)
    for text in model.answers:
        saved = saved.replace(json.dumps(text), json.dumps(text + " and on" * 1_000))
    again = from_json(saved)
    assert {len(text) > LONGEST_ANSWER for text in again.recording.texts} == {True}
    assert [c.probability for c in again.clusters] == [c.probability for c in seen.clusters]


@sampled
def test_a_curve_says_that_answers_were_cut_and_opens_again(estimator):
    class Garrulous(TableModel):
        def sample(self, prompt, count, **how):
            return [Response("7" * LONGEST_ANSWER, False, -1.0)] * count

        def log_likelihoods(self, prompts, answers):
            return np.full((len(prompts), len(answers)), -1.0)

    model = limited(Garrulous(["one"], [1.0], [[1.0]]), estimator)
    curve = amplify(Case(QUERY, "one", "two"), model, (0, 1))
    assert words.remarks([curve])[-1].startswith(
        "80 answers were longer than 300 characters, and cut there"
    )
    (again,) = curves.all_from_json(words.to_json([curve]))
    assert again.notes == curve.notes


def test_a_curve_that_is_saved_opens_again():
    model = Garrulous("control")
    answer, other, *_ = model.answers
    found = amplify(Case(QUERY, answer[:200], other[:200]), Anything(model), (0, 1))
    assert curves.all_from_json(words.to_json([found]))[0].points == found.points


class Anything(TableModel):
    """Scores whatever it is given."""

    def __init__(self, inner):
        super().__init__(inner.answers, inner.first, inner.rows)

    def log_likelihoods(self, prompts, answers):
        return [[-1.0 - len(answer) / 1000 for answer in answers] for _ in prompts]


def test_what_would_not_open_again_is_not_saved():
    results = SavedResults(open_database("sqlite://"))
    with pytest.raises(StoreError, match=r"at most 20,000,000 are saved and opened again\."):
        results.save("inspection", QUERY, QUERY, "table", '"' + "é" * (MAX_RESULT_BYTES // 2) + '"')
    assert not results.search().total
