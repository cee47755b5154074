"""Saved results: exact, found again by anybody's spelling, kept once."""

import datetime
import json
import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from core.store import results as module
from core.store import schema
from core.store.database import open_database
from core.store.errors import StoreError, UnknownResultError
from core.store.results import KINDS, LONGEST_SEARCH, LONGEST_TITLE, THIS_COMPUTER, SavedResults
from tests.store.kept import statements_of

NOWHERE = "A" * 22


@pytest.fixture
def results(database):
    return SavedResults(database)


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
    megabytes = json.dumps("Ä" * 2_000_000, ensure_ascii=False)
    assert results.open(save(results, "large", payload=megabytes)).payload == megabytes


def test_an_id_cannot_be_guessed(results):
    ids = {save(results, f"number {number}") for number in range(50)}
    assert len(ids) == 50
    assert all(re.fullmatch(r"[\w-]{22}", id, re.ASCII) for id in ids)


def test_the_same_result_is_kept_once_for_each_kind(results):
    first = save(results, "first", payload="{}")
    assert save(results, "again", payload="{}") == first
    assert results.open(first).title == "first"
    assert results.search().total == 1
    ids = {save(results, "a", payload="{}", kind=kind) for kind in KINDS}
    assert first in ids and len(ids) == results.search().total == 3


def test_another_kind_is_refused(results):
    with pytest.raises(ValueError, match="inspection, amplification, policy"):
        save(results, "a", kind="recipe")
    with pytest.raises(ValueError, match="recipe"):
        results.search(kind="recipe")


def test_a_payload_that_would_not_come_back_is_refused(results):
    for payload in ("\x00", '"\ud800"'):
        with pytest.raises(StoreError, match="cannot be saved"):
            save(results, "a", payload=payload)
    assert results.search().total == 0


def test_a_long_title_is_cut_when_saved(results):
    assert results.open(save(results, "x" * LONGEST_TITLE)).title == "x" * LONGEST_TITLE
    cut = results.open(save(results, "word " * 100)).title
    assert cut.endswith("word…")
    assert len(cut) <= LONGEST_TITLE


def test_a_result_always_has_a_title_and_what_no_database_holds_is_replaced(results):
    for title, query, shown in (
        ("", "Who?", "Who?"),
        (" \n", "Who\nis?", "Who is?"),
        ("", "", "Policy"),
        ("a\x00b", "", "a�b"),
    ):
        assert results.open(save(results, title, query, kind="policy")).title == shown
    result = results.open(save(results, "t\ud800", "\u202eq\x00", "\u2066m\udfff"))
    assert (result.title, result.query, result.model) == ("t�", "q�", "m�")


def test_an_unknown_id_is_said_so(results):
    kept = save(results, "a")
    for id in ("", NOWHERE, "\x00", "\ud800", "' OR 1=1 --", "%"):
        assert results.exists(id) is False
        for ask in (results.open, results.delete, lambda id: results.rename(id, "b")):
            with pytest.raises(UnknownResultError, match="not here"):
                ask(id)
    assert results.open(kept).title == "a"


# -------------------------------------------------------------------------------- searching


def test_the_newest_comes_first_when_the_clock_is_set_back(results, monkeypatch):
    save(results, "old")
    monkeypatch.setattr(schema, "now", lambda: "2001-01-01T00:00:00.000000+00:00")
    save(results, "new")
    assert titles(results.search()) == ["new", "old"]


def test_a_time_that_somebody_wrote_is_read_in_utc_or_is_none(results, monkeypatch):
    def listed(text):
        monkeypatch.setattr(schema, "now", lambda: text)
        results.open(save(results, text))
        return results.search(limit=1).results[0].created_at.isoformat()

    for text in ("2026-11-30T12:00:00+02:00", "2026-11-30T10:00:00"):
        assert listed(text) == "2026-11-30T10:00:00+00:00"
    for text in ("yesterday", "0001-01-01T00:00:00+14:00"):
        assert listed(text) == module.NO_TIME.isoformat()


def test_the_newest_come_first_and_all_are_counted(results):
    for number in range(7):
        save(results, f"{number}")
    assert titles(results.search(limit=3)) == ["6", "5", "4"]
    assert results.search(limit=0).total == results.search().total == 7
    with pytest.raises(ValueError, match="negative"):
        results.search(limit=-1)


def test_only_one_kind_can_be_searched(results):
    for kind in KINDS:
        save(results, kind, kind=kind)
    assert titles(results.search(kind="policy")) == ["policy"]
    assert results.search("table", kind="policy").total == 0
    assert results.search("inspection", kind="policy").total == 0


def test_every_word_is_found_somewhere(results):
    results.save("inspection", "My title", "The capital of France?", "gemini:2.5-flash", "{}")
    results.save("policy", "?", "tea", "cup", "{}")
    for text in (
        *("capital", "FRANCE", "of france", "france  capital", "gemini", "2.5-Flash", "inspect"),
        *("My", "title", "apit"),
    ):
        assert titles(results.search(text)) == ["My title"]
    assert results.search("").total == 2
    for text in ("capital Rome", "teacup"):  # all words must be there, each within a column
        assert results.search(text).total == 0


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


def test_case_and_accents_are_found_however_they_are_written(results):
    save(results, "other")
    for title, text in (
        *(("Ä", "ä"), ("ä", "Ä"), ("A\u0308rger", "ÄRGER"), ("ÄRGER", "a\u0308rger")),
        *(("Straße", "STRASSE"), ("ﬁnal", "FINAL"), ("℡", "tel"), ("İstanbul", "i\u0307stanbul")),
        *(("ΣΊΣΥΦΟΣ", "σίσυφος"), ("Μαΐου", "μαΐου".upper()), ("Москва", "МОСКВА")),
    ):
        id = save(results, title)
        assert titles(results.search(text)) == [title]
        results.delete(id)


def test_signs_stand_for_themselves(results):
    save(results, "a-b")
    save(results, "azb")
    for sign in ("%", "_", "/", "\\", "'", '"', "[", "*", "?", "^", ";--", "\x00"):
        id = save(results, f"a{sign}b")
        for text in (f"a{sign}b", sign):
            assert [found.id for found in results.search(text).results] == [id]
        results.delete(id)


def test_a_long_search_is_answered_or_refused(results):
    save(results, "a" * 150)
    assert results.search("a" * LONGEST_SEARCH).total == 0
    different = " ".join(chr(0x4E00 + number) for number in range(LONGEST_SEARCH // 2))
    assert results.search(different).total == 0
    assert results.search("\ufdfa" * LONGEST_SEARCH).total == 0  # 18 letters each when folded
    with pytest.raises(StoreError, match="1,000 characters"):
        results.search("a" * (LONGEST_SEARCH + 1))


def test_a_list_reads_no_payloads_and_sorts_by_an_index(results, database):
    save(results, "a")
    with statements_of(database) as sent:
        results.search("a")
        results.search(kind="policy")
    selects = [entry for entry in sent if entry[0].startswith("SELECT")]
    assert len(selects) == 4
    assert not any("payload" in statement for statement, _ in selects)
    if database.engine.dialect.name == "sqlite":
        with database.read() as connection:
            for statement, parameters in selects:
                plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
                text = " ".join(str(row) for row in plan)
                assert "TEMP B-TREE" not in text
                assert "(owner=?" in text  # which stands behind the payload: only in an index
                if "kind = ?" in statement:
                    assert "results_kind" in text or "results_content" in text


# ---------------------------------------------------------------------- several owners


def test_each_owner_lists_renames_and_deletes_their_own(database):
    alice, bob, computer = (
        SavedResults(database, name) for name in ("alice", "bob", THIS_COMPUTER)
    )
    hers = save(alice, "hers", model="gemini:a")
    his = save(bob, "his", model="gemini:b")
    for mine, title, model in ((alice, "hers", "gemini:a"), (bob, "his", "gemini:b")):
        assert titles(mine.search()) == titles(mine.search(title)) == [title]
        assert mine.search().total == 1 and mine.models("From") == (model,)
    assert not alice.search("his").total and alice.search(kind="inspection").total == 1
    assert not computer.search().total and not computer.models("From")
    mine.save("policy", "file", "", "openai:a@https://stranger.example/v1", "{}", outcome="From %")
    assert mine.models("From") == (model,) and len(mine.models("From ?")) == 2
    mine.delete(mine.search("file").results[0].id)
    for stranger in (bob, computer):
        assert not stranger.exists(hers)
        for change in (stranger.delete, lambda id, of=stranger: of.rename(id, "stolen")):
            with pytest.raises(UnknownResultError, match="not here"):
                change(hers)
        assert stranger.open(hers).title == "hers"  # the id was passed on
    alice.delete(hers)
    assert bob.exists(his) and not alice.search().total


def test_each_owner_keeps_the_same_result(database):
    alice, bob = SavedResults(database, "alice"), SavedResults(database, "bob")
    hers, his = save(alice, "same", payload="{}"), save(bob, "same", payload="{}")
    assert hers != his and save(alice, "again", payload="{}") == hers
    alice.delete(hers)
    assert titles(bob.search()) == ["same"]


# --------------------------------------------------------------------- renaming and deleting


def test_a_result_is_found_by_its_new_title_only(results):
    id = save(results, "Old", "query", "model")
    results.rename(id, "  New\n title ")
    assert results.open(id).title == "New title"
    assert results.search("OLD").total == 0
    for text in ("new", "query", "model", "inspection"):
        assert results.search(text).total == 1
    assert results.open(id).payload == json.dumps(["Old", "query", "inspection"])


def test_a_title_that_is_none_is_refused(results):
    id = save(results, "Old")
    for title in ("", " \n\t", "x" * (LONGEST_TITLE + 1)):
        with pytest.raises(StoreError, match="1 to 200 characters"):
            results.rename(id, title)
    assert results.open(id).title == "Old"
    results.rename(id, "x" * LONGEST_TITLE)


def test_a_deleted_result_is_gone_and_can_be_saved_again(results):
    id, other = save(results, "a"), save(results, "b")
    assert results.exists(id) is True
    results.delete(id)
    assert results.exists(id) is False
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
                            SavedResults((one, other)[number % 2]), f"{number}", payload=f"{turn}"
                        ),
                        range(6),
                    )
                )
            assert len(set(ids)) == 1
        assert SavedResults(one).search().total == 5
