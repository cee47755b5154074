"""Answers of a server that ignores how long they may be: cut, saved, and opened again."""

import itertools
import json

import pytest

from core.language_models.base import LONGEST_ANSWER, Response
from core.store.database import open_database
from core.store.errors import StoreError
from core.store.results import MAX_BYTES, Results
from core.studies.amplification import serialise as curves
from core.studies.amplification.curve import Case, amplify
from core.studies.inspection import recorder
from core.studies.inspection.inspection import run
from core.studies.inspection.recorder import usual_request
from core.studies.inspection.serialise import from_json, to_json, to_saved
from tests.fakes import QUERY, Limited, TableModel, copies

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
RUNGS = {
    "exact": {"scores_given_text": True},
    "chained": {"own_log_likelihoods": True, "next_token": True},
    "counted": {"next_token": True},
}


def long(kind, number):
    piece = KINDS[kind]
    return f"{number} {piece * (LENGTH // len(piece))}"


class Garrulous(TableModel):
    """Its server sends answers of `LENGTH` characters, which every back end reads as `Response`."""

    def __init__(self, kind):
        texts = [Response(long(kind, n), True).text for n in range(4)]
        first = [0.4, 0.3, 0.2, 0.1]
        super().__init__(texts, first, [first] * 4)
        self.whole = {text: long(kind, n) for n, text in enumerate(texts)}

    def sample(self, prompt, count, **how):
        drawn = super().sample(prompt, count, **how)
        return [Response(self.whole[d.text], d.complete, d.log_likelihood) for d in drawn]


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_is_cut_where_it_enters(kind):
    response = Response(long(kind, 1), True)
    assert len(response.text) == LONGEST_ANSWER and not response.complete and response.overlong
    short = Response("Paris", True)
    assert short.complete and not short.overlong


@pytest.mark.parametrize("rung", RUNGS)
@pytest.mark.parametrize("kind", KINDS)
def test_an_inspection_that_is_saved_opens_again(kind, rung, monkeypatch):
    monkeypatch.setattr(recorder, "FEWEST_CHAINS", 10)
    monkeypatch.setattr(recorder, "SECONDS", 3)
    model = Limited(Garrulous(kind), **RUNGS[rung])
    seen = run(usual_request(QUERY, model.capabilities, samples=10), model)
    assert "longer than 2,000 characters, and cut there" in " ".join(seen.recording.notes)
    results = Results(open_database("sqlite://"))
    id = results.save("inspection", QUERY, QUERY, "table", to_json(seen))
    again = from_json(results.open(id).payload)
    assert again.verdict == seen.verdict and again.clusters == seen.clusters


class Scattered(TableModel):
    """Never says the same twice."""

    def __init__(self):
        super().__init__(["Anything"], [1.0], [[1.0]])
        self.said = itertools.count()

    def sample(self, prompt, count, **how):
        return [
            Response(f"Answer number {next(self.said)} of all, spelled out", True)
            for _ in range(count)
        ]


def test_a_counted_inspection_of_many_different_short_answers_is_saved_and_opens(monkeypatch):
    """1,240 clusters: their matrices alone would be larger than what opens."""
    monkeypatch.setattr(recorder, "OPINIONS", 1)
    model = Limited(Scattered())
    seen = run(usual_request(QUERY, model.capabilities, samples=40), model)
    assert len(seen.clusters) > 1_000 and len(to_json(seen)) > MAX_BYTES
    results = Results(open_database("sqlite://"))
    id = results.save("inspection", QUERY, QUERY, "table", to_saved(seen))
    again = from_json(results.open(id).payload)
    assert again.verdict == seen.verdict and again.clusters == seen.clusters
    assert len(results.open(id).payload) < MAX_BYTES / 10


def test_an_inspection_of_few_clusters_is_kept_whole():
    seen = run(usual_request(QUERY, Garrulous("digits").capabilities, samples=10), copies(4))
    assert to_saved(seen) == to_json(seen)


def test_what_was_saved_before_answers_had_a_limit_still_opens():
    model = Garrulous("words")
    seen = run(usual_request(QUERY, model.capabilities, samples=10), model)
    saved = to_json(seen)
    for text in model.answers:
        saved = saved.replace(json.dumps(text), json.dumps(text + " and on" * 1_000))
    again = from_json(saved)
    assert {len(text) > LONGEST_ANSWER for text in again.recording.texts} == {True}
    assert [c.probability for c in again.clusters] == [c.probability for c in seen.clusters]


def test_a_curve_that_is_saved_opens_again():
    model = Garrulous("control")
    answer, other, *_ = model.answers
    found = amplify(Case(QUERY, answer[:200], other[:200]), Anything(model), (0, 1))
    assert curves.all_from_json(curves.all_to_json([found]))[0].points == found.points


class Anything(TableModel):
    """Scores whatever it is given."""

    def __init__(self, inner):
        super().__init__(inner.answers, inner.first, inner.rows)

    def log_likelihoods(self, prompts, answers):
        return [[-1.0 - len(answer) / 1000 for answer in answers] for _ in prompts]


def test_what_would_not_open_again_is_not_saved():
    results = Results(open_database("sqlite://"))
    with pytest.raises(StoreError, match=r"at most 20,000,000 are saved and opened again\."):
        results.save("inspection", QUERY, QUERY, "table", '"' + "é" * (MAX_BYTES // 2) + '"')
    assert not results.search().total
