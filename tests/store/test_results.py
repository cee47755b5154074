"""Saved results: exact, found again by anybody's spelling, kept once."""

import datetime
import json
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import event

from core.store import results as module
from core.store.database import open_database
from core.store.errors import StoreError, UnknownResultError
from core.store.results import KINDS, LONGEST_SEARCH, LONGEST_TITLE, Results

NOWHERE = "A" * 22


@pytest.fixture
def results(database):
    return Results(database)


def titles(found):
    return [summary.title for summary in found.results]


def save(results, title, query="", model="embedded", kind="inspection", payload=None):
    return results.save(kind, title, query, model, payload or json.dumps([title, query, kind]))


# ---------------------------------------------------------------------- saving and opening


def test_a_result_comes_back_exactly(results):
    payload = json.dumps({"Ä": "漢字 🙂 \x00 \ud800 %_ \r\n"}) + " \r\n\t "
    id = results.save("amplification", " A  title\n", "Who is\nZoë?", "openai:m", payload)
    result = results.open(id)
    assert result.payload == payload
    assert result.id == id
    assert (result.kind, result.title) == ("amplification", "A title")
    assert (result.query, result.model) == ("Who is\nZoë?", "openai:m")
    assert result.created_at.tzinfo is datetime.UTC


def test_megabytes_come_back(results):
    payload = json.dumps("Ä" * 2_000_000, ensure_ascii=False)
    assert results.open(save(results, "large", payload=payload)).payload == payload


def test_an_id_cannot_be_guessed(results):
    ids = {save(results, f"number {number}") for number in range(50)}
    assert len(ids) == 50
    assert all(re.fullmatch(r"[\w-]{22}", id, re.ASCII) for id in ids)


def test_the_same_result_is_kept_once(results):
    first = save(results, "first", payload="{}")
    assert save(results, "again", payload="{}") == first
    assert results.open(first).title == "first"
    assert results.search().total == 1


def test_the_same_payload_of_another_kind_is_another_result(results):
    ids = {save(results, "a", payload="{}", kind=kind) for kind in KINDS}
    assert len(ids) == results.search().total == 3


def test_a_result_exists_until_it_is_deleted(results):
    id = save(results, "a")
    assert results.exists(id) is True
    results.delete(id)
    assert results.exists(id) is False


@pytest.mark.parametrize("id", ["", NOWHERE, "\x00", "\ud800", "' OR 1=1 --", "%"])
def test_what_was_never_kept_does_not_exist(results, id):
    save(results, "a")
    assert results.exists(id) is False


def test_another_kind_is_refused(results):
    with pytest.raises(ValueError, match="inspection, amplification, policy"):
        save(results, "a", kind="recipe")
    with pytest.raises(ValueError, match="recipe"):
        results.search(kind="recipe")


@pytest.mark.parametrize("payload", ["\x00", '"\ud800"'])
def test_a_payload_that_would_not_come_back_is_refused(results, payload):
    with pytest.raises(StoreError, match="cannot be saved"):
        save(results, "a", payload=payload)
    assert results.search().total == 0


def test_a_long_title_is_cut_when_saved(results):
    assert results.open(save(results, "x" * LONGEST_TITLE)).title == "x" * LONGEST_TITLE
    cut = results.open(save(results, "word " * 100)).title
    assert cut.endswith("word…")
    assert len(cut) <= LONGEST_TITLE


@pytest.mark.parametrize(
    ("title", "query", "shown"),
    [
        ("", "Who?", "Who?"),
        (" \n", "Who\nis?", "Who is?"),
        ("", "", "Policy"),
        ("a\x00b", "", "a�b"),
    ],
)
def test_a_result_always_has_a_title(results, title, query, shown):
    assert results.open(save(results, title, query, kind="policy")).title == shown


def test_what_no_database_holds_is_replaced_in_texts_for_people(results):
    id = save(results, "t\ud800", "q\x00", "m\udfff")
    result = results.open(id)
    assert (result.title, result.query, result.model) == ("t�", "q�", "m�")


@pytest.mark.parametrize("id", ["", NOWHERE, "\x00", "\ud800", "' OR 1=1 --", "%"])
def test_an_unknown_id_is_said_so(results, id):
    kept = save(results, "a")
    for ask in (results.open, results.delete, lambda id: results.rename(id, "b")):
        with pytest.raises(UnknownResultError, match="not here") as caught:
            ask(id)
        assert isinstance(caught.value, StoreError)
    assert results.open(kept).title == "a"


# -------------------------------------------------------------------------------- searching


def test_the_newest_comes_first(results):
    for title in "abc":
        save(results, title)
    assert titles(results.search()) == ["c", "b", "a"]
    assert results.search().total == 3


def test_the_newest_comes_first_when_the_clock_is_set_back(results, monkeypatch):
    save(results, "old")
    monkeypatch.setattr(module.schema, "now", lambda: "2001-01-01T00:00:00.000000+00:00")
    save(results, "new")
    assert titles(results.search()) == ["new", "old"]


def test_pages_follow_each_other(results):
    for number in range(7):
        save(results, f"{number}")
    assert titles(results.search(limit=3)) == ["6", "5", "4"]
    assert titles(results.search(limit=3, offset=3)) == ["3", "2", "1"]
    assert titles(results.search(limit=3, offset=6)) == ["0"]
    beyond = results.search(limit=3, offset=2**40)
    assert (beyond.results, beyond.total) == ((), 7)
    assert results.search(limit=0).total == 7


@pytest.mark.parametrize("numbers", [{"limit": -1}, {"offset": -1}, {"offset": 2**63}])
def test_numbers_out_of_range_are_refused(results, numbers):
    with pytest.raises(ValueError, match="negative"):
        results.search(**numbers)


def test_only_one_kind_can_be_searched(results):
    for kind in KINDS:
        save(results, kind, kind=kind)
    assert titles(results.search(kind="policy")) == ["policy"]
    assert results.search("table", kind="policy").total == 0
    assert results.search("inspection", kind="policy").total == 0


@pytest.mark.parametrize(
    "text",
    [
        *("capital", "FRANCE", "of france", "france  capital", "gemini", "2.5-Flash", "inspect"),
        *("My", "title", "apit", ""),
    ],
)
def test_every_word_is_found_somewhere(results, text):
    results.save("inspection", "My title", "The capital of France?", "gemini:2.5-flash", "{}")
    results.save("policy", "?", "?", "?", "{}")
    assert results.search(text).total == (2 if text == "" else 1)


def test_the_outcome_is_kept_shown_and_found(results):
    told = "abstain:  Paris\n" + "word " * 100
    id = results.save("inspection", "My title", "q", "m", "{}", outcome=told)
    results.save("inspection", "other", "q", "m", "1")
    (found,) = results.search("ABSTAIN").results
    assert found.id == id and found.outcome.startswith("abstain: Paris word")
    assert len(found.outcome) <= LONGEST_TITLE and found.outcome.endswith("…")
    results.rename(id, "Renamed")
    assert results.search("renamed paris").total == 1
    assert results.search("other").results[0].outcome == ""


def test_all_words_must_be_there(results):
    save(results, "Paris", "France")
    assert results.search("Paris Rome").total == 0


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Ä", "ä"),
        ("ä", "Ä"),
        ("A\u0308rger", "ÄRGER"),
        ("ÄRGER", "a\u0308rger"),
        ("Straße", "STRASSE"),
        ("ΣΊΣΥΦΟΣ", "σίσυφος"),
        ("Москва", "МОСКВА"),
        ("ﬁnal", "FINAL"),
        ("℡", "tel"),
        ("Μαΐου", "μαΐου".upper()),
        ("İstanbul", "i\u0307stanbul"),
    ],
)
def test_case_and_accents_are_found_however_they_are_written(results, title, text):
    save(results, "other")
    save(results, title)
    assert titles(results.search(text)) == [" ".join(title.split())]


@pytest.mark.parametrize("sign", ["%", "_", "/", "\\", "'", '"', "[", "*", "?", "^", ";--", "\x00"])
def test_signs_stand_for_themselves(results, sign):
    save(results, f"a{sign}b")
    save(results, "a-b")
    save(results, "azb")
    assert results.search(f"a{sign}b").total == 1
    assert results.search(sign).total == 1


def test_words_of_two_columns_are_not_run_together(results):
    results.save("policy", "tea", "cup", "x", "{}")
    assert results.search("teacup").total == 0


def test_a_long_search_is_answered_or_refused(results):
    save(results, "a" * 150)
    assert results.search("a" * LONGEST_SEARCH).total == 0
    different = " ".join(chr(0x4E00 + number) for number in range(LONGEST_SEARCH // 2))
    assert results.search(different).total == 0
    assert results.search("\ufdfa" * LONGEST_SEARCH).total == 0  # 18 letters each when folded
    with pytest.raises(StoreError, match="1,000 characters"):
        results.search("a" * (LONGEST_SEARCH + 1))


def test_a_search_reads_no_payloads_and_sorts_by_an_index(results, database):
    save(results, "a")
    statements = []

    def note(connection, cursor, statement, parameters, context, executemany):
        statements.append((statement, parameters))

    event.listen(database.engine, "before_cursor_execute", note)
    results.search("a")
    results.search(kind="policy")
    event.remove(database.engine, "before_cursor_execute", note)
    selects = [entry for entry in statements if entry[0].startswith("SELECT")]
    assert len(selects) == 4
    assert not any("payload" in statement for statement, _ in selects)
    if database.engine.dialect.name == "sqlite":
        with database.read() as connection:
            for statement, parameters in selects:
                plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
                text = " ".join(str(row) for row in plan)
                assert "TEMP B-TREE" not in text
                if "kind = ?" in statement:
                    assert "results_kind" in text or "results_content" in text


# --------------------------------------------------------------------- renaming and deleting


def test_a_result_is_found_by_its_new_title_only(results):
    id = save(results, "Old", "query", "model")
    results.rename(id, "  New\n title ")
    assert results.open(id).title == "New title"
    assert results.search("OLD").total == 0
    for text in ("new", "query", "model", "inspection"):
        assert results.search(text).total == 1
    assert results.open(id).payload == json.dumps(["Old", "query", "inspection"])


@pytest.mark.parametrize("title", ["", " \n\t", "x" * (LONGEST_TITLE + 1)])
def test_a_title_that_is_none_is_refused(results, title):
    id = save(results, "Old")
    with pytest.raises(StoreError, match="1 to 200 characters"):
        results.rename(id, title)
    assert results.open(id).title == "Old"
    results.rename(id, "x" * LONGEST_TITLE)


def test_a_deleted_result_is_gone_and_can_be_saved_again(results):
    id, other = save(results, "a"), save(results, "b")
    results.delete(id)
    with pytest.raises(UnknownResultError):
        results.open(id)
    assert titles(results.search()) == ["b"]
    assert results.open(other).title == "b"
    again = save(results, "a")
    assert again != id
    assert titles(results.search()) == ["a", "b"]


def test_a_result_saved_by_many_at_once_is_kept_once(url):
    with open_database(url) as one, open_database(url) as other:
        for turn in range(5):
            with ThreadPoolExecutor(6) as pool:
                ids = list(
                    pool.map(
                        lambda number, turn=turn: save(
                            Results((one, other)[number % 2]), f"{number}", payload=f"{turn}"
                        ),
                        range(6),
                    )
                )
            assert len(set(ids)) == 1
        assert Results(one).search().total == 5
