"""The call cache: nothing is asked twice, nothing is mixed up, nothing is lost."""

import dataclasses
import math
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from core.store.calls import CHUNK
from core.store.database import open_database
from core.store.errors import StoreError
from tests.store.kept import CallKey, Calls, statements_of

KEY = CallKey("sample", "openai:m@http://127.0.0.1", "2", "Q: Who?\nA:", "Ä", 0.9, 7, 3)


@pytest.fixture
def calls(database):
    return Calls(database)


def keys(count, name="table"):
    return [CallKey("sample", name, "1", f"Q{number}") for number in range(count)]


# -------------------------------------------------------------------------------- keys


def test_the_digest_of_a_key_is_the_same_for_ever():
    # With another one, every call that anybody paid for would be forgotten.
    assert KEY.digest == "d2d42169fb423d7e9ec5af60409543c261200351a46cc24a4166366db8e07e90"


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(CallKey)])
def test_every_field_of_a_key_counts(field):
    value = getattr(KEY, field)
    other = f"{value} " if isinstance(value, str) else value + 1
    assert dataclasses.replace(KEY, **{field: other}).digest != KEY.digest


def test_fields_of_a_key_do_not_run_into_each_other():
    texts = ["", '"', '","', "a", 'a","', "\\", '\\"', "\x00", "\ud800", "Ä", "A\u0308"]
    digests = {
        CallKey(kind, model, revision, "q").digest
        for kind in texts
        for model in texts
        for revision in texts
    }
    assert len(digests) == len(texts) ** 3


@given(
    st.lists(
        st.builds(
            CallKey,
            *[st.sampled_from(["", "a", "aa", "b"])] * 4,
            answer=st.sampled_from(["", "a", "b"]),
            temperature=st.sampled_from([0, 0.0, -0.0, 1, 1.0, 0.1 + 0.2, 0.3]),
            seed=st.integers(-1, 2) | st.just(2**70),
            index=st.integers(0, 2),
        ),
        min_size=2,
        max_size=2,
    )
)
def test_keys_are_equal_just_where_their_digests_are(pair):
    one, other = pair
    assert (one == other) is (one.digest == other.digest)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([0.0], [-0.0]),
        ([1], [1.0]),
        ([True], [1.0]),
        ([0.5, 3, 4], [np.float64(0.5), np.int64(3), np.int32(4)]),
    ],
)
def test_equal_numbers_make_the_same_key(one, other):
    ours, theirs = (CallKey("sample", "m", "1", "Q", "", *numbers) for numbers in (one, other))
    assert theirs == ours
    assert theirs.digest == ours.digest


def test_a_temperature_is_finite():
    for temperature in (math.nan, math.inf):
        with pytest.raises(ValueError, match="finite"):
            CallKey("sample", "m", "1", "Q", temperature=temperature)


# ------------------------------------------------------------------- keeping and getting


def test_what_was_put_first_comes_back(calls):
    payload = '{"text": "Zoë’s \\u0000 \\ud800 \\"%_\\" 漢字 🙂", "log_likelihood": -1.5e-300}'
    assert calls.get(KEY) is None
    assert calls.put(KEY, payload) == payload
    assert calls.put(KEY, "2") == payload
    assert calls.get(KEY) == payload
    assert calls.get(dataclasses.replace(KEY, index=4)) is None
    assert calls.count() == 1


def test_many_are_kept_and_got_at_once(calls):
    asked = keys(3)
    calls.put(asked[1], "old")
    kept = calls.put_many({key: f"{number}" for number, key in enumerate(asked)})
    assert kept == {asked[0]: "0", asked[1]: "old", asked[2]: "2"}
    unknown = CallKey("sample", "table", "1", "never asked")
    assert calls.get_many([asked[2], unknown, asked[0], asked[2]]) == {asked[2]: "2", asked[0]: "0"}
    assert list(calls.get_many([asked[2], asked[0]])) == [asked[2], asked[0]]


def test_a_batch_is_kept_whole_or_not_at_all(calls):
    for payload in ("\x00", "a\ud800"):  # what no database holds is refused on all of them
        with pytest.raises(StoreError, match=r"cannot be saved.*ASCII escapes"):
            calls.put_many({keys(2)[0]: "fine", keys(2)[1]: payload})
    assert calls.put_many({}) == calls.get_many([]) == {}
    assert calls.count() == 0


def test_a_thousand_keys_take_two_queries(calls, database):
    asked = keys(1000)
    calls.put_many({key: key.prompt for key in asked})
    with statements_of(database) as sent:
        assert calls.get_many(asked) == {key: key.prompt for key in asked}
    selects = [len(given) for statement, given in sent if statement.startswith("SELECT calls")]
    assert selects == [CHUNK, 1000 - CHUNK]
    assert CHUNK < 999  # the limit of older SQLite


def test_a_strange_name_of_a_model_stops_nothing(calls):
    key = CallKey("sa\x00mple", "m\ud800" + "".join(map(chr, range(256, 9000))), "1", "\x00")
    calls.put(key, "1")
    assert calls.get(key) == "1"
    with calls.database.read() as connection:
        ((kind, model),) = connection.execute(text("SELECT kind, model FROM calls")).all()
    assert kind == "sa�mple"
    assert model.startswith("m�Ā")


# ------------------------------------------------------------------------------ at once


def test_threads_share_a_database(calls):
    def work(number):
        mine = keys(40, f"model {number % 3}")  # three threads each have the same keys
        for key in mine:
            assert calls.put(key, key.model) == key.model
            assert calls.get(key) == key.model

    with ThreadPoolExecutor(9) as pool:
        list(pool.map(work, range(9)))
    assert calls.count() == 3 * 40


def test_threads_share_a_database_in_memory_which_no_other_one_is():
    with open_database("sqlite://") as one, open_database("sqlite://") as other:
        test_threads_share_a_database(Calls(one))
        assert Calls(other).count() == 0


def test_batches_of_the_same_keys_in_opposite_orders_do_not_block_each_other(url):
    with open_database(url) as one, open_database(url) as other:
        for turn in range(10):
            asked = keys(200, f"turn {turn}")
            together = threading.Barrier(2)

            def work(database, order, together=together):
                together.wait()
                return Calls(database).put_many({key: str(id(database)) for key in order})

            with ThreadPoolExecutor(2) as pool:
                first = pool.submit(work, one, asked)
                second = pool.submit(work, other, asked[::-1])
            assert first.result() == second.result()
            assert len(set(first.result().values())) == 1  # all or none of a batch
