"""Asking a service: again after faults that pass, within a budget, in pieces it can take."""

import threading
from contextlib import contextmanager

import numpy as np
import pytest

from core import prompts
from core.language_models.client import retry
from core.language_models.client.batch import BatchingModel
from core.language_models.client.concurrency import AT_ONCE, at_once
from core.language_models.client.retry import (
    FIRST_WAIT,
    LONGEST_RETRY_AFTER,
    LONGEST_WAIT,
    LOOK_AGAIN,
    TRIES,
    RetryingModel,
)
from core.language_models.client.wrapper import Wrapper
from core.language_models.errors import (
    BudgetError,
    LoadingError,
    ModelError,
    NeedsKeyError,
    OtherModelError,
    PromptTooLongError,
    RefusedError,
    SilentError,
    SmallerRequestsError,
    StoppedError,
    TemporaryError,
    UnreachableError,
)
from core.language_models.stopping import Stop, at_least, patience
from core.language_models.usage import Budget
from tests.fakes import QUERY, Limited, copies, knows
from tests.language_models.threads import in_threads
from tests.patience import LONG

PROMPT = prompts.iterative(QUERY)
BUSY = TemporaryError("The service is busy.")
SILENT = SilentError("The server took too long to answer. Try again later.")


class Flaky(Limited):
    """Raises one of the faults at every request, until none is left."""

    def __init__(self, *faults, inner=None, **options):
        super().__init__(inner or copies(4), **{"next_token": True, "local": False} | options)
        self.faults = list(faults)
        self.requests = 0
        self._lock = threading.Lock()

    def fail(self):
        with self._lock:
            self.requests += 1
            fault = self.faults.pop(0) if self.faults else None
        if fault:
            raise fault

    def sample(self, prompt, count, **options):
        self.fail()
        return super().sample(prompt, count, **options)

    def log_likelihoods(self, prompts, answers):
        self.fail()
        return super().log_likelihoods(prompts, answers)

    def next_token(self, prompt):
        self.fail()
        return super().next_token(prompt)


CALLS = {
    "sample": lambda model: model.sample(PROMPT, 5, temperature=0.7, seed=3, first=2),
    "log_likelihoods": lambda model: model.log_likelihoods([PROMPT], ["answer1"]).tolist(),
    "next_token": lambda model: model.next_token(prompts.self_verification(QUERY, "answer0")),
}
every_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


# ---------------------------------------------------------------------------- trying again


def test_runs_that_ask_one_model_at_once_are_metered_each_for_itself():
    model = Flaky(BUSY, BUSY)  # two tries that bring nothing, whoever makes them
    runs = [RetryingModel(model, wait=lambda seconds: None) for _ in range(2)]
    in_threads(lambda: runs[0].sample(PROMPT, 1), 6)
    in_threads(lambda: [run.sample(PROMPT, 1) for run in runs], 4)
    assert [run.meter.requests for run in runs] == [12, 4]
    assert sum(run.meter.requests for run in runs) == model.requests == model.meter.requests + 2


@every_call
@pytest.mark.parametrize("times", [0, 1, 3, TRIES - 1])
def test_a_fault_that_passes_is_tried_again(call, times):
    waits = []
    model = Flaky(*[BUSY] * times, scores_given_text=True)
    patient = RetryingModel(model, wait=waits.append)
    assert call(patient) == call(Limited(copies(4), scores_given_text=True, next_token=True))
    assert model.requests == patient.budget.requests == times + 1
    assert len(waits) == times
    assert (patient.name, patient.revision) == ("limited", "1")
    assert patient.capabilities is model.capabilities
    if not times:
        assert patient.meter.usage == model.meter.usage


@every_call
@pytest.mark.parametrize(
    "fault",
    [
        *(NeedsKeyError("No."), RefusedError("No."), PromptTooLongError("No.")),
        *(UnreachableError("No."), SmallerRequestsError("No."), ModelError("No.")),
        *(ValueError("No."), KeyError("No."), OSError("No.")),
    ],
    ids=lambda fault: type(fault).__name__,
)
def test_other_faults_are_not_tried_again(call, fault):
    waits = []
    model = Flaky(fault, scores_given_text=True)
    with pytest.raises(type(fault)) as caught:
        call(RetryingModel(model, wait=waits.append))
    assert caught.value is fault
    assert (model.requests, waits) == (1, [])


def test_a_key_that_is_refused_is_refused_to_the_same_model_in_a_form_too():
    model = Flaky(*[NeedsKeyError("No.")] * 3)
    patient = RetryingModel(model)
    other = patient.in_form(patient.form)
    for each in (other, patient, other):
        with pytest.raises(NeedsKeyError):
            CALLS["sample"](each)
    assert len(model.faults) == 2  # one was asked for


def test_a_key_that_was_refused_is_tried_again_after_a_while(clock):
    model = Flaky(NeedsKeyError("No."))
    patient = RetryingModel(model)
    for seconds in (0, retry.KEY_REST - 1):
        clock.now += seconds
        with pytest.raises(NeedsKeyError):
            CALLS["sample"](patient)
    assert model.requests == 1
    clock.now += 1
    assert CALLS["sample"](patient)


@every_call
def test_it_gives_up_after_some_tries_and_says_why(call):
    waits = []
    model = Flaky(*[TemporaryError(f"Fault {i}.") for i in range(1, 20)], scores_given_text=True)
    patient = RetryingModel(model, wait=waits.append)
    with pytest.raises(UnreachableError) as caught:
        call(patient)
    assert model.requests == patient.budget.requests == TRIES == 6
    assert len(waits) == TRIES - 1
    message = str(caught.value)
    assert message.startswith("limited failed 6 times in a row. The last time: Fault 6. ")
    assert message.endswith(".")
    # A cause may hold an address or a header with the key.
    assert caught.value.__cause__ is None and caught.value.__suppress_context__


def test_every_call_may_fail_as_often():
    model = Flaky(*[BUSY] * (TRIES - 1))
    patient = RetryingModel(model, wait=lambda seconds: None)
    CALLS["sample"](patient)
    model.faults = [BUSY] * (TRIES - 1)
    CALLS["sample"](patient)
    assert patient.budget.requests == 2 * TRIES


@pytest.mark.parametrize("name", ["capabilities", "revision"])
def test_questions_about_the_model_are_tried_again(name, monkeypatch):
    """Some models find out what they are by asking."""
    model, faults, waits = Limited(copies(2)), [BUSY, BUSY], []
    known = getattr(model, name)

    def probe(self):
        if faults:
            raise faults.pop()
        return known

    monkeypatch.setattr(Limited, name, property(probe, lambda self, value: None), raising=False)
    patient = RetryingModel(model, wait=waits.append)
    assert getattr(patient, name) == known
    assert len(waits) == 2
    faults[:] = [BUSY] * 20
    with pytest.raises(UnreachableError):
        getattr(patient, name)


# --------------------------------------------------------------------------------- waiting


def waits_of(*faults):
    waits = []
    CALLS["sample"](RetryingModel(Flaky(*faults), wait=waits.append))
    return waits


def test_waits_grow_and_are_never_the_same():
    runs = np.array([waits_of(*[BUSY] * (TRIES - 1)) for _ in range(40)])
    least = FIRST_WAIT * 2 ** np.arange(TRIES - 1)  # 0.5, 1, 2, 4, 8 seconds
    assert (runs >= least).all() and (runs <= least + FIRST_WAIT).all()
    assert (np.diff(runs, axis=1) > 0).all()
    # Those that failed at the same moment must not come back at the same moment.
    assert (np.ptp(runs, axis=0) > FIRST_WAIT / 2).all()
    assert len(set(runs[:, 0])) == 40


def test_waits_end_growing(monkeypatch):
    monkeypatch.setattr(retry, "TRIES", 15)
    waits = waits_of(*[BUSY] * 14)
    assert LONGEST_WAIT <= max(waits) <= LONGEST_WAIT + FIRST_WAIT
    assert waits[-3] >= LONGEST_WAIT


@pytest.mark.parametrize(
    ("wish", "waited"),
    [(0.0, 0.0), (0.25, 0.25), (7, 7.0), (LONGEST_RETRY_AFTER, LONGEST_RETRY_AFTER), (-5, 0.0)],
)
def test_it_waits_as_long_as_the_service_asks_within_reason(wish, waited):
    assert waits_of(TemporaryError("Wait.", retry_after=wish)) == [waited]


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        (LONGEST_RETRY_AFTER + 1, "2 minutes"),
        (7200, "120 minutes"),
        (99_999, "28 hours"),
        (86_400, "24 hours"),
        (1_000_000, "12 days"),
        (1e300, "more than a year"),
        (float("inf"), "more than a year"),
    ],
)
def test_a_service_that_asks_to_wait_for_long_is_not_waited_for(wish, said):
    waits, model = [], Flaky(BUSY, TemporaryError("Wait.", retry_after=wish))
    with pytest.raises(UnreachableError) as caught:
        CALLS["sample"](RetryingModel(model, wait=waits.append))
    assert str(caught.value) == (
        f"limited asks to wait {said}. Answers received are saved; try again then."
    )
    assert model.requests == 2 and len(waits) == 1, "the first fault was waited for"


def test_a_wish_counts_for_its_own_fault_only():
    first, second, third = waits_of(BUSY, TemporaryError("Wait.", retry_after=50), BUSY)
    assert second == 50
    assert FIRST_WAIT <= first <= 2 * FIRST_WAIT
    assert 4 * FIRST_WAIT <= third <= 5 * FIRST_WAIT


class Late(Flaky):
    """Every request takes a minute, by a clock of our own."""

    def __init__(self, clock, *faults):
        super().__init__(*faults)
        self.clock = clock

    def fail(self):
        self.clock.now += 60
        super().fail()


class Clock:
    """Stands in for `time`, and moves when it is told to."""

    now = 1000.0

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(retry, "time", clock)
    return clock


def test_all_tries_and_waits_of_a_call_have_one_limit(clock):
    """Six tries of a minute each, and waits between them, would take far longer."""
    model = Late(clock, *[TemporaryError("Wait.", retry_after=20)] * TRIES)
    with pytest.raises(UnreachableError, match="failed 3 times in a row"):
        CALLS["sample"](RetryingModel(model, wait=clock.sleep))
    assert clock.now - 1000 == 60 + 20 + 60 + 20 + 60 <= retry.LONGEST_CALL + 60


def test_a_try_gets_no_more_time_than_the_call_has_left(clock, monkeypatch):
    given = []

    @contextmanager
    def patience(stop, seconds, longest):
        given.append(seconds)
        yield

    monkeypatch.setattr(retry, "patience", patience)
    CALLS["sample"](RetryingModel(Late(clock, BUSY), wait=lambda seconds: clock.sleep(10)))
    assert given == [retry.LONGEST_CALL, retry.LONGEST_CALL - 70]


def test_standing_in_line_takes_nothing_from_the_time_of_a_call(clock, monkeypatch):
    patient = RetryingModel(Flaky(BUSY), at_once=1, wait=lambda seconds: None)

    @contextmanager
    def line(lock):
        clock.now += 10 * retry.LONGEST_CALL
        yield

    monkeypatch.setattr(patient.budget.stop, "holding", line)
    assert CALLS["sample"](patient)
    assert patient.budget.requests == 2


# ---------------------------------------------------------------------------------- budget


def test_every_try_counts_and_the_budget_ends_the_trying():
    model = Flaky(*[BUSY] * 20)
    budget = Budget(3)
    with pytest.raises(BudgetError, match="budget of 3 calls"):
        CALLS["sample"](RetryingModel(model, budget, wait=lambda seconds: None))
    assert model.requests == budget.requests == 3


# ------------------------------------------------------------------------- no more at once


@pytest.mark.parametrize(("places", "options"), [(8, {}), (3, {"at_once": 3})])
def test_few_requests_are_under_way_however_many_threads_ask(places, options):
    lock, under_way, most = threading.Lock(), 0, 0
    together = threading.Barrier(places)  # that many really are

    class Counting(Limited):
        def sample(self, prompt, count, **options):
            nonlocal under_way, most
            with lock:
                under_way += 1
                most = max(most, under_way)
            together.wait(LONG)
            with lock:
                under_way -= 1
            return super().sample(prompt, count, **options)

    patient = RetryingModel(Counting(copies(3)), **options)
    threads = places * (64 // places)  # whole barriers
    in_threads(lambda: patient.sample(PROMPT, 1), threads)
    assert most == places
    assert patient.budget.requests == threads


def test_whoever_waits_takes_no_place():
    """One place: while the first waits to try again, the second is answered."""
    waiting, answered = threading.Event(), threading.Event()

    def wait(seconds):
        waiting.set()
        assert answered.wait(LONG)

    patient = RetryingModel(Flaky(BUSY), wait=wait, at_once=1)

    first = threading.Thread(target=CALLS["sample"], args=(patient,))
    first.start()
    assert waiting.wait(LONG)
    assert CALLS["sample"](patient)
    answered.set()
    first.join(LONG)
    assert not first.is_alive()
    assert patient.budget.requests == 3


def test_a_place_is_given_back_after_every_fault():
    patient = RetryingModel(Flaky(*[RefusedError("No.")] * 5), at_once=1)
    for _ in range(5):
        with pytest.raises(RefusedError):
            CALLS["sample"](patient)
    assert CALLS["sample"](patient)


# --------------------------------------------------------------------------- in pieces


@pytest.mark.parametrize(
    ("count", "first", "size", "pieces"),
    [
        (10, 0, 4, [(0, 4), (4, 4), (8, 2)]),
        (8, 5, 4, [(5, 4), (9, 4)]),
        (3, 7, 1, [(7, 1), (8, 1), (9, 1)]),
        (5, 2, 8, [(2, 5)]),
        (0, 3, 8, []),
    ],
)
def test_samples_are_drawn_in_pieces(count, first, size, pieces):
    model = Limited(knows(30), local=False, candidates_a_call=size)
    drawn = BatchingModel(model).sample(PROMPT, count, temperature=0.8, seed=6, first=first)
    assert drawn == knows(30).sample(PROMPT, count, temperature=0.8, seed=6, first=first)
    assert sorted((a.first, a.count) for a in model.asked) == pieces
    assert {(a.prompt, a.temperature, a.seed) for a in model.asked} <= {(PROMPT, 0.8, 6)}


@pytest.mark.parametrize("most", [1, 2, 3, 5, 7, 8, 20, 24, 1000])
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 6), (4, 1), (4, 6), (5, 3)])
def test_pairs_are_scored_in_pieces(most, rows, columns):
    table = copies(6)
    model = Limited(table, scores_given_text=True, local=False, pairs_a_call=most)
    asked = [PROMPT, *(prompts.iterative(QUERY, [a]) for a in table.answers)][:rows]
    answers = table.answers[:columns]
    scored = BatchingModel(model).log_likelihoods(asked, answers)
    np.testing.assert_array_equal(scored, copies(6).log_likelihoods(asked, answers))
    pairs = [(p, a) for some, texts in model.scored for p in some for a in texts]
    assert sorted(pairs) == sorted((p, a) for p in asked for a in answers)
    assert all(len(some) * len(texts) <= most for some, texts in model.scored)
    assert len(model.scored) == 1 or most < rows * columns


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_nothing_is_scored_without_a_request(shape):
    model = Limited(copies(3), scores_given_text=True, local=False)
    rows, columns = shape
    assert BatchingModel(model).log_likelihoods(["p"] * rows, ["a"] * columns).shape == shape
    assert not model.scored


def test_next_tokens_pass_through():
    model = Limited(copies(3), next_token=True, local=False)
    asked = prompts.self_verification(QUERY, "answer0")
    assert BatchingModel(model).next_token(asked) == model.next_token(asked)


def test_faults_in_some_pieces_change_nothing():
    faults = [BUSY, None, BUSY, None, None, BUSY] * 3
    model = Flaky(*faults, inner=knows(30), candidates_a_call=2, pairs_a_call=5)
    together = BatchingModel(RetryingModel(model, wait=lambda seconds: None))
    assert together.sample(PROMPT, 40, seed=1) == knows(30).sample(PROMPT, 40, seed=1)
    assert model.requests == 20 + 9


class Learning(Limited):
    """Finds out at its first large request how much one can return."""

    def __init__(self, most, **options):
        super().__init__(knows(30), local=False, **options)
        self.most, self.refused = most, 0
        self.smaller = Limited(knows(30), local=False, candidates_a_call=most).capabilities

    def sample(self, prompt, count, **options):
        if count > self.most:
            self.refused += 1
            self.capabilities = self.smaller
            raise SmallerRequestsError("Fewer at once.")
        return super().sample(prompt, count, **options)


@pytest.mark.parametrize("most", [1, 3])
def test_a_service_that_takes_less_than_it_said_is_asked_in_smaller_pieces(most):
    model = Learning(most, candidates_a_call=8)
    drawn = BatchingModel(RetryingModel(model)).sample(PROMPT, 20, seed=2, first=4)
    assert drawn == knows(30).sample(PROMPT, 20, seed=2, first=4)
    assert 1 <= model.refused <= 3
    assert sum(a.count for a in model.asked) == 20
    before = model.refused
    BatchingModel(RetryingModel(model)).sample(PROMPT, 20)
    assert model.refused == before  # learnt


def test_a_service_that_refuses_the_smallest_piece_is_not_asked_for_ever():
    class Stubborn(Limited):
        def sample(self, prompt, count, **options):
            raise SmallerRequestsError("Fewer at once.")

    for size in (1, 4):
        with pytest.raises(SmallerRequestsError):
            BatchingModel(Stubborn(copies(2), candidates_a_call=size)).sample(PROMPT, 4)


@pytest.mark.parametrize(
    ("fault", "longest", "tries"),
    [(SILENT, -1.0, 1), (SILENT, retry.LONGEST_SILENCE, TRIES), (BUSY, -1.0, TRIES)],
)
def test_a_server_that_says_nothing_for_long_is_given_up(monkeypatch, fault, longest, tries):
    """Six tries of a minute each are more than anybody waits; a short silence may pass."""
    monkeypatch.setattr(retry, "LONGEST_SILENCE", longest)
    asked = []

    class Faulty(Limited):
        def sample(self, *arguments, **options):
            asked.append(arguments)
            raise fault

    model = RetryingModel(Faulty(copies(3)), wait=lambda seconds: None)
    with pytest.raises(UnreachableError) as caught:
        model.sample("Q", 1)
    assert len(asked) == tries
    often = "once" if tries == 1 else f"{tries} times in a row"
    assert str(caught.value).startswith(f"limited failed {often}. The last time")
    assert str(caught.value).count("ry again") == 1


# ------------------------------------------------------------------- cold and dead servers


def test_a_server_that_loads_its_model_is_waited_for_and_said_to_be():
    waits, told = [], []
    model = Flaky(*[LoadingError("The server is still loading its model. Try again later.")] * 20)
    assert len(RetryingModel(model, wait=waits.append, tell=told.append).sample(PROMPT, 1)) == 1
    assert model.requests == 21 and len(waits) == 20
    assert max(waits) <= LOOK_AGAIN and sum(waits) > 60, "a minute, and no request a second"
    assert {*told} == {"limited is still loading. Believe waits for up to 3 minutes."}


def test_loading_takes_nothing_from_the_tries_of_other_faults():
    faults = [LoadingError("Loading.")] * 8 + [BUSY] * (TRIES - 1)
    model = Flaky(*faults)
    assert RetryingModel(model, wait=lambda seconds: None).sample(PROMPT, 1)
    assert model.requests == len(faults) + 1


def test_a_budget_that_ends_at_a_fault_says_which():
    faulty = [TemporaryError("host sent no number. Try again.")] * 9
    for most, why in ((0, None), (1, "host sent no number."), (3, "host sent no number.")):
        model = RetryingModel(Flaky(*faulty), Budget(most), wait=lambda seconds: None)
        with pytest.raises(BudgetError, match=f"The budget of {most} calls is used up") as caught:
            model.sample(PROMPT, 1)
        assert str(caught.value).partition(" Before that: ")[2] == (why or "")


class Dying(Flaky):
    """Loading for seven; then gone, once all of those wait for another try."""

    def __init__(self, end):
        super().__init__()
        self.end = end
        self.waiting = threading.Semaphore(0)

    def fail(self):
        with self._lock:
            self.requests += 1
            number = self.requests
        if number <= 7:
            raise LoadingError("The model is being loaded.", 50.0)
        for _ in range(7):
            assert self.waiting.acquire(timeout=LONG)
        raise self.end


@pytest.mark.parametrize(
    "end", [UnreachableError("No server answers."), OtherModelError("It is another model now.")]
)
def test_a_server_that_is_gone_for_one_call_is_gone_for_all_that_are_open(end):
    """Seven wait for nearly a minute each: the eighth says that there is no use in that."""
    model = Dying(end)
    patient = RetryingModel(model, tell=lambda said: model.waiting.release())
    failed = []

    def ask():
        try:
            patient.sample(PROMPT, 1)
        except type(end) as error:
            failed.append(str(error))

    in_threads(ask, 8)
    assert failed == [str(end)] * 8
    assert model.requests == patient.budget.requests == 8
    model.waiting.release(7)
    ask()  # whoever asks later tries anew
    assert model.requests == 9 and len(failed) == 9


def test_each_request_of_a_call_is_counted():
    """An answer that is scored token by token takes several."""

    class Several(Wrapper):
        def log_likelihoods(self, prompts, answers):
            for _ in range(3):
                self.meter.begin()
                self.meter.add(requests=1, prompt_tokens=10)
            return super().log_likelihoods(prompts, answers)

    patient = RetryingModel(Several(copies(3)), Budget(7))
    for _ in range(2):
        patient.log_likelihoods([prompts.iterative(QUERY)], ["answer0"])
    assert patient.budget.requests == patient.meter.requests == 6
    with pytest.raises(BudgetError):
        patient.log_likelihoods([prompts.iterative(QUERY)], ["answer1"])


def test_after_a_time_out_half_as_many_are_asked_at_once():
    """Beside another request, whose place is held here; nothing is given up for it."""
    patient = RetryingModel(Flaky(SILENT, SILENT), Budget(9), wait=lambda seconds: None)
    patient.concurrency.acquire()
    assert patient.sample(PROMPT, 1)
    assert patient.concurrency.at_once == 2
    assert patient.budget.requests == patient.meter.requests == 3


def test_the_pace_is_halved_once_for_all_that_time_out_together():
    places = retry.ConcurrencyLimit(8)
    for _ in range(8):
        places.acquire()
    assert [places.halve(8) for _ in range(8)] == [True] * 8 and places.at_once == 4
    assert not places.acquire(blocking=False)
    assert places.halve(4) and places.halve(2) and places.at_once == 1
    assert not places.halve(1)
    for _ in range(7):
        places.release()
    assert not retry.ConcurrencyLimit(8).halve(8)  # alone, nobody stood before it


def test_the_pace_comes_back_with_replies_in_time():
    places, paces = retry.ConcurrencyLimit(3), []
    places.acquire()
    places.acquire()
    assert places.halve(3)
    for _ in range(retry.CALM - 1):
        places.clock(int)
    places.halve(3)  # another time-out: all of them count anew
    for _ in range(4):
        for _ in range(retry.CALM - 1):
            places.clock(int)
        paces.append(places.at_once)
        places.clock(int)
    assert paces == [1, 2, 3, 3]


def test_a_request_may_take_as_long_as_the_queue_before_it(monkeypatch):
    """Ten seconds for one of two: of four, each may take twice twenty."""
    now = [100.0]
    monkeypatch.setattr(retry.time, "monotonic", lambda: now[0])
    kept = retry.ConcurrencyLimit(8)
    assert kept.longest() == 0
    kept.acquire()
    kept.acquire()
    kept.clock(lambda: now.__setitem__(0, 110.0))
    assert kept.longest() == retry.ROOM * 10
    kept.acquire()
    kept.acquire()
    assert kept.longest() == retry.ROOM * 20
    kept.clock(lambda: now.__setitem__(0, 9000.0))
    assert kept.longest() == retry.LONGEST_QUEUE


def test_a_request_of_many_texts_may_take_many_times_as_long(monkeypatch):
    """A processor reads at its pace: a request of thirty texts after one of three in 12 s."""
    now, waits = [100.0], []
    monkeypatch.setattr(retry.time, "monotonic", lambda: now[0])

    class Slow(Limited):
        def log_likelihoods(self, prompts, answers):
            waits.append(at_least(60.0))
            now[0] += 4.0 * len(prompts) * len(answers)
            return np.zeros((len(prompts), len(answers)))

    model = RetryingModel(Slow(copies(4), local=False))
    for count in (3, 30, 1):  # one text may take what thirty did that were read together
        model.log_likelihoods([PROMPT] * count, ["Paris"])
    assert waits == [60.0, retry.ROOM * 4.0 * 30, retry.ROOM * 4.0 * 30]


def test_an_asker_who_goes_lets_no_more_be_asked_and_stops_nobody_else():
    class Asker(Flaky):
        def sample(self, prompt, count, **options):
            if self.requests == AT_ONCE:
                stop.set()
            return super().sample(prompt, count, **options)

    stop, model = Stop(), Asker(candidates_a_call=1)
    layers = BatchingModel(RetryingModel(model))
    with patience(stop), pytest.raises(StoppedError):
        at_once([lambda: layers.sample(PROMPT, 100)])
    assert AT_ONCE < model.requests <= 2 * AT_ONCE
    assert len(layers.sample(PROMPT, 3)) == 3
