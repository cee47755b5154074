"""Scoring: labelled data out of questions with known answers, as the calibration reads it."""

import csv
import io
import math
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.promise import certified_from_the_seed_on
from core.data.tabular import uploads
from core.data.tabular.labelled import labelled
from core.data.tabular.suggestions import suggest
from core.data.world.grading import matches
from core.language_models.client.concurrency import AT_ONCE
from core.language_models.client.stack import with_layers
from core.language_models.errors import ModelError
from core.language_models.registry import open_model
from core.language_models.usage import Budget, Used
from core.store.calls import Calls
from core.store.database import open_database
from core.studies.calibration import scoring
from core.studies.calibration.calibration import pipeline_of_data
from core.studies.calibration.scoring import QUESTIONS_AT_ONCE, Gold, score, score_all, table
from core.studies.inspection.certificates import usual_least_mass
from core.studies.inspection.inspection import run
from core.studies.inspection.pipeline import pipeline_of
from core.studies.inspection.recorder import OTHER_DRAWS
from core.studies.inspection.request import Reading, Request
from core.studies.inspection.verdict import Decision, DecisionRule, decide
from core.studies.progress import Cancelled
from core.uncertainty.scores import SCORES
from tests.fakes import QUERY, TableModel, copies, falling, knows, words
from tests.language_models.openai_server import serving

INFORMATION, ENTROPY = "mutual_information", "semantic_entropy"
LEAST = usual_least_mass()


def turning():
    """First mostly red, and blue whatever it is told: two scores serve two answers."""
    return TableModel(["red apple", "blue sky"], [0.6, 0.4], [[0.2, 0.8], [0.1, 0.9]])


def asked(model, query):
    """The model, knowing another question instead."""
    model.table = {text.replace(QUERY, query): row for text, row in model.table.items()}
    return model


def three():
    """Three questions: many right answers, no knowledge, one answer."""
    model = asked(knows(6), "And many?")
    model.table |= asked(copies(12), "And copies?").table
    model.table |= TableModel(["answer0"], [1.0], [[1.0]], query="And one?").table
    return model


GOLDS = [
    Gold("And many?", ("answer0", "answer1"), "lists"),
    Gold("And copies?", ("answer0",), "guesses"),
    Gold("And one?", ("answer0",), "facts"),
]
FEW = Request("unused", 12, seed=1)


def read(content):
    upload = uploads.parse(content, "scored.csv")
    return labelled(upload, suggest(upload))


def cells(content):
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))


# ----------------------------------------------------------------------- one question


@pytest.mark.parametrize("right", ["red apple", "blue sky", "neither"])
def test_every_score_is_judged_by_the_answer_that_it_serves(right):
    seen = run(Request(QUERY, 50), turning())
    assert seen.scores[ENTROPY].answer == seen.scores["greedy_probability"].answer == "red apple"
    assert seen.scores[INFORMATION].answer == "blue sky"
    found = score(Gold(QUERY, (right,)), turning(), Request("unused", 50))
    assert found.correct == {name: seen.scores[name].answer == right for name in SCORES}
    assert found.answer == "blue sky"
    assert len(set(found.correct.values())) == (1 if right == "neither" else 2)


@pytest.mark.parametrize("answers", [("no", "the BLUE sky!"), ("blue", "red apple")])
def test_any_right_answer_in_any_wording_counts(answers):
    found = score(Gold(QUERY, answers), turning(), Request("unused", 50))
    assert found.correct[INFORMATION] is True


def test_a_doubt_is_the_score_s_where_enough_was_seen():
    seen = run(Request(QUERY, 50), copies(12))
    assert seen.sampled_mass > LEAST
    found = score(Gold(QUERY, ("answer0",)), copies(12), Request("unused", 50))
    for name in set(SCORES) - {INFORMATION}:
        assert found.doubts[name] == seen.scores[name].doubt
    assert found.doubts[INFORMATION] == max(
        seen.scores[INFORMATION].doubt, seen.scores["certified_mutual_information"].doubt
    )
    assert found.entropy == seen.scores[ENTROPY].doubt
    assert found.sampled_mass == seen.sampled_mass
    assert found.gold == Gold(QUERY, ("answer0",), "")


def test_the_request_and_the_reading_are_those_that_were_asked_for():
    request, reading = Request("unused", 20, 0.5, seed=7), Reading("ratio", 0.8)
    found = score(Gold(QUERY, ("answer0",)), copies(12), request, reading)
    seen = run(replace(request, query=QUERY), copies(12), reading)
    assert found.doubts[ENTROPY] == seen.scores[ENTROPY].doubt
    default = score(Gold(QUERY, ("answer0",)), copies(12), request)
    assert default.doubts[ENTROPY] != found.doubts[ENTROPY]  # “answer0” is like “answer1”


def test_where_too_little_was_seen_every_doubt_is_missing():
    gold = Gold(QUERY, ("answer0",))
    mass = score(gold, copies(12), FEW).sampled_mass
    assert LEAST < mass < 0.999
    enough = score(gold, copies(12), FEW, least_mass=mass)
    too_little = score(gold, copies(12), FEW, least_mass=mass + 1e-6)
    assert None not in enough.doubts.values()
    assert set(too_little.doubts) == set(SCORES)
    assert set(too_little.doubts.values()) == {None}
    assert too_little.entropy == enough.entropy is not None
    assert too_little.correct == enough.correct


def test_a_single_answer_needs_half_of_the_probability():
    """Its mutual information is 0 whatever the model knows."""
    for share, known in ((0.6, True), (0.4, False)):
        rest = [(1 - share) / 9] * 9
        model = TableModel(words(10), [share, *rest], np.tile([share, *rest], (10, 1)))
        found = score(Gold(QUERY, ("answer0",)), model, Request("unused", 1, 0.1))
        assert found.answer == "answer0" and found.sampled_mass == pytest.approx(share)
        assert (found.doubts[INFORMATION] is not None) is known


@pytest.mark.parametrize("value", [0.01, 0.1, 0.3, 1.0])
@pytest.mark.parametrize("least", [0.0, 0.5, 0.9, 1.0])
def test_a_threshold_on_the_doubt_decides_as_the_verdict_does(value, least):
    """What a policy is calibrated on is what the inspection page then does."""
    for model in (copies(12), knows(6), turning()):
        seen = run(Request(QUERY, 12), model)
        found = score(Gold(QUERY, ("x",)), model, Request("unused", 12), least_mass=least)
        for name in SCORES:
            threshold = DecisionRule(value, least, name)
            verdict = decide(seen.scores, seen.sampled_mass, len(seen.clusters), threshold)
            doubt = found.doubts[name]
            answers = doubt is not None and doubt < value
            assert answers == (verdict.decision is Decision.ANSWER), name


# --------------------------------------------------------------------- many questions


def test_questions_are_scored_in_their_order():
    heard = []
    reading = Reading("ratio", 0.8)
    found = score_all(GOLDS, three(), FEW, reading, lambda *said: heard.append(said))
    assert found == [score(gold, three(), FEW, reading) for gold in GOLDS]
    assert list(dict.fromkeys(heard)) == [
        ("Asking question 1 of 3", 0),
        ("Asking question 2 of 3", 1 / 3),
        ("Asking question 3 of 3", 2 / 3),
    ]
    assert score_all([], three(), FEW) == score_all([], Service(), FEW) == []


def test_what_was_scored_is_kept_when_somebody_cancels():
    kept = {}

    def stop(stage, share):
        if share > 0.5:
            raise Cancelled

    with pytest.raises(Cancelled):
        score_all(GOLDS, three(), FEW, progress=stop, keep=kept.__setitem__)
    everything = score_all(GOLDS, three(), FEW)
    assert kept == dict(enumerate(everything[:2]))

    model, shares, added = three(), set(), {}
    more = {"progress": lambda _, share: shares.add(share), "keep": added.__setitem__}
    assert score_all(GOLDS, model, FEW, done=kept, **more) == everything
    assert added == {2: everything[2]} and list(kept) == [0, 1]
    assert shares == {2 / 3}
    # The last question, its greedy answer, and others, since it gives one only.
    assert model.sampled == [(0, 1), (0, 12), (0, OTHER_DRAWS)]

    idle = three()
    assert score_all(GOLDS, idle, FEW, done=kept | added) == everything
    assert idle.sampled == [] and idle.scored == []


# ---------------------------------------------------------------- many, of a service

MANY = [Gold(f"Question {i}?", ("answer0",), f"{i}") for i in range(2 * QUESTIONS_AT_ONCE)]
LONG = 60  # seconds: what never happens unless something hangs


class Service(TableModel):
    """Any question's answers, at a price: every call is a request of its own."""

    capabilities = replace(TableModel.capabilities, local=False)

    def __init__(self):
        model = knows(6)
        super().__init__(model.answers, model.first, model.rows)
        for gold in MANY:
            self.table |= asked(knows(6), gold.query).table

    def sample(self, *args, **kwargs):
        self.meter.add(1, 10, 1)
        return super().sample(*args, **kwargs)

    def log_likelihoods(self, *args):
        self.meter.add(1, 100, 0)
        return super().log_likelihoods(*args)


def when(monkeypatch, before):
    """Call something with every question, by its place, before it is scored."""
    score_one = scoring.score

    def changed(gold, *args, **kwargs):
        before(int(gold.source), args[-1])
        return score_one(gold, *args, **kwargs)

    monkeypatch.setattr(scoring, "score", changed)


def test_of_a_service_several_questions_are_asked_at_the_same_time(monkeypatch):
    together = threading.Barrier(QUESTIONS_AT_ONCE)
    under_way, largest, lock = set(), [], threading.Lock()

    def before(place, go_on):
        with lock:
            under_way.add(place)
            largest.append(len(under_way))
        together.wait(LONG)  # broken unless so many come
        with lock:
            under_way.remove(place)

    one_by_one = [score(gold, Service(), FEW) for gold in MANY]
    when(monkeypatch, before)
    heard, threads, kept = [], set(), {}

    def progress(stage, share):
        heard.append((stage, share))
        threads.add(threading.get_ident())

    found = score_all(MANY, Service(), FEW, progress=progress, keep=kept.__setitem__)
    assert found == one_by_one  # in their order, with what each took for itself
    assert max(largest) == QUESTIONS_AT_ONCE
    assert kept == dict(enumerate(found))
    shares = [share for _, share in heard]
    assert shares == sorted(shares) and threads == {threading.get_ident()}
    assert heard[0] == (f"0 of {len(MANY)} questions done", 0)
    assert {stage for stage, _ in heard} <= {
        f"{n} of {len(MANY)} questions done" for n in range(len(MANY) + 1)
    }


def test_on_this_machine_one_question_comes_after_the_other(monkeypatch):
    threads = set()
    when(monkeypatch, lambda place, go_on: threads.add(threading.get_ident()))
    local = Service()
    local.capabilities = TableModel.capabilities
    found = score_all(MANY, local, FEW)
    assert threads == {threading.get_ident()} and {s.used for s in found} == {None}


def test_a_question_that_fails_loses_none_of_the_others(monkeypatch):
    others, asked = threading.Semaphore(0), []

    def before(place, go_on):
        asked.append(place)
        if place == 1:
            for _ in range(QUESTIONS_AT_ONCE - 1):
                assert others.acquire(timeout=LONG)
            failing.set()
            raise ModelError("It went away.")
        others.release()
        assert failing.wait(LONG)

    kept, failing, meters, model = {}, threading.Event(), {}, Service()
    with monkeypatch.context() as patch, pytest.raises(ModelError, match="It went away"):
        when(patch, before)
        score_all(MANY, model, FEW, keep=kept.__setitem__, meters=meters)
    first = set(range(QUESTIONS_AT_ONCE)) - {1}
    assert first <= set(kept) and 1 not in kept
    assert set(asked) == {*kept, 1}  # what was begun has ended, and is kept

    done, asked = dict(kept), []
    when(monkeypatch, lambda place, go_on: asked.append(place))
    found = score_all(MANY, model, FEW, done=done, keep=kept.__setitem__, meters=meters)
    assert sorted(asked) == sorted(set(range(len(MANY))) - set(done))
    assert [s.gold for s in found] == MANY and kept == dict(enumerate(found))
    assert sum((s.used for s in found), Used()) == model.meter.usage


def test_what_a_question_took_before_it_failed_counts_when_it_is_done():
    class Failing(Service):
        def log_likelihoods(self, *args):
            self.meter.add(1)
            raise ModelError("It went away.")

    meters, whole = {}, score(MANY[0], Service(), FEW).used
    with pytest.raises(ModelError):
        score_all(MANY[:1], Failing(), FEW, meters=meters)
    before = meters[0].usage
    (found,) = score_all(MANY[:1], Service(), FEW, meters=meters)
    assert before.requests > 0 and found.used == before + whole


@pytest.mark.parametrize("failing", [False, True])
def test_who_stops_waits_for_no_question(monkeypatch, failing):
    """Not even for those under way when one has failed: they could take minutes."""
    begun, ended, gate = threading.Event(), threading.Semaphore(0), threading.Event()
    places = []

    def before(place, go_on):
        places.append(place)
        if place == 0:
            begun.set()
            if failing:
                raise ModelError("It went away.")
        try:
            assert gate.wait(LONG)
            go_on("", 0)
        finally:
            ended.release()

    def stop(stage, share):
        if begun.is_set():
            raise Cancelled

    when(monkeypatch, before)
    kept = {}
    with pytest.raises(Cancelled):
        score_all(MANY, Service(), FEW, progress=stop, keep=kept.__setitem__)
    assert not gate.is_set()
    gate.set()  # those under way hear of it, and ask no more
    for _ in range(len(places) - failing):
        assert ended.acquire(timeout=LONG)
    assert kept == {} and len(places) <= QUESTIONS_AT_ONCE


def test_each_question_says_what_a_server_counted_for_it(tmp_path):
    """Through everything that stands around a service: cuts, kept answers, many threads."""
    capitals = ("France", "Germany", "Italy", "Spain", "Portugal")
    golds = [Gold(f"What is the capital of {name}?", ("Paris",)) for name in capitals]
    request, lock = Request("unused", 5), threading.Lock()
    under_way, largest = [0], [0]

    def change(by):
        with lock:
            under_way[0] += by
            largest[0] = max(largest[0], under_way[0])

    def before(path, body):
        change(1)
        time.sleep(0.02)

    def after(reply):
        change(-1)
        return reply

    with (
        open_database(f"sqlite:///{tmp_path}/calls.sqlite") as database,
        serving("none", before=before, after=after) as server,
    ):
        budget = Budget()
        model = with_layers(open_model(server.name), lambda: Calls(database), budget)
        probes, under_way[0] = len(server.exchanges), 0  # not all of them were answered
        score_all(golds[:1], model, request)
        alone = len(server.exchanges)
        found = score_all(golds, model, request)
        made = [str(body) for body in server.bodies[probes:]]
        assert found[0].used == Used()  # it was kept
        for scored, name in list(zip(found, capitals, strict=True))[1:]:
            assert scored.used.requests == sum(f"of {name}?" in body for body in made) > 0
        total = sum((s.used for s in found), Used())
        assert total.requests == len(server.exchanges) - alone
        assert budget.requests == model.meter.requests == len(made)
        assert 1 < largest[0] <= AT_ONCE  # however many questions are under way
        again = score_all(golds, model, request)  # everything is kept
        assert [replace(s, used=None) for s in again] == [replace(s, used=None) for s in found]
        assert len(server.exchanges) - probes == len(made)


# -------------------------------------------------------------------------- the table


def test_the_table_comes_back_as_the_same_labelled_data():
    reading = Reading("token_f1", 0.5, 0.01, 0.02)
    scored = score_all(GOLDS, three(), FEW, reading)
    # Of the second question, too little was seen.
    scored[1] = score(GOLDS[1], three(), FEW, reading, least_mass=1.0)
    content = table(scored, three(), FEW, reading)
    assert [cells(content)[1][name] for name in SCORES] == [""] * len(SCORES)
    data = read(content)
    assert data.problems == ()
    assert list(data.doubts) == list(SCORES)
    assert data.surer == dict.fromkeys(SCORES, False)
    for name in SCORES:
        doubts = [scored[0].doubts[name], math.nan, scored[2].doubts[name]]
        np.testing.assert_equal(data.doubts[name], doubts)
        assert data.correct[name].tolist() == [s.correct[name] for s in scored]
    assert data.queries.tolist() == [gold.query for gold in GOLDS]
    assert data.sources.tolist() == [gold.source for gold in GOLDS]
    assert data.entropies.tolist() == [s.entropy for s in scored]
    assert pipeline_of_data(data) == pipeline_of("table", "1", FEW, reading, LEAST)
    data = read(table(scored, three(), FEW, reading, least_mass=0.25))
    assert pipeline_of_data(data) == pipeline_of("table", "1", FEW, reading, 0.25)


def test_a_cell_holds_what_its_heading_says_and_no_formula():
    texts = ["=HYPERLINK(1)", "@x"]
    model = TableModel(texts, falling(2), [falling(2)] * 2)
    scored = score(Gold(QUERY, ("=1+1", "b"), "-x"), model, FEW)
    harmful = replace(scored, gold=replace(scored.gold, query="+1"))
    (row,) = cells(table([harmful], model, FEW))
    assert tuple(row) == scoring.HEADING
    assert row["question"] == "'+1"
    assert row["right answers"] == "'=1+1 | b"
    assert row["source"] == "'-x"
    assert row["answer"] == "'=HYPERLINK(1)"
    assert float(row["sampled_mass"]) == pytest.approx(scored.sampled_mass, rel=1e-5)


# ------------------------------------------------------------------ the shipped model


def test_the_shipped_model_is_scored_as_it_is_inspected(embedded):
    golds = [
        Gold("What is the capital of France?", ("Paris",)),
        Gold("What is the capital of Zorvania?", ("nobody knows",)),
    ]
    for gold, found in zip(golds, score_all(golds, embedded, Request("unused", 5)), strict=True):
        seen = run(Request(gold.query, 5), embedded)
        assert found.sampled_mass == pytest.approx(seen.sampled_mass, abs=1e-5)
        for name in SCORES:
            assert found.correct[name] == matches(seen.scores[name].answer, gold.answers)
            doubt = found.doubts[name]
            assert doubt is None or doubt >= seen.scores[name].doubt - 1e-5  # of other batches


# --------------------------------------------------- what is promised, from the seed on


@pytest.mark.slow
def test_the_promise_holds_from_the_seed_to_the_threshold():
    """At most 5 % wrong among the answered, with 90 % confidence over seeds and questions.

    Whatever answers here breaks it: 8 % of the questions with a doubt of 0 are wrong. If all
    questions shared the random numbers of a seed, the half-known ones would look doubtful all at
    once two times in three, and a threshold would be certified.
    A promise that holds gives more than 4 of 12 with a probability of .004.
    """
    assert certified_from_the_seed_on(200, repetitions=12) <= 4 / 12
