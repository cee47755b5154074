"""The glossary: every word that the pages rely on is explained there, and it is on every page."""

import ast
import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.data.world import grading
from core.data.world.facts import Band
from core.reports.inspection.words import STAMPS_BY_PROMISE
from core.studies.inspection.inspection import run
from core.studies.inspection.request import Request
from core.studies.inspection.verdict import LEAST_KEPT, MOST_TO_KEEP, Decision
from core.ui.glossary import KEY, TERMS, VERDICTS
from core.uncertainty.scores import SCORES
from tests.patience import LONG
from tests.sessions import session

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "pages").glob("*.py"))
SOURCES = [*PAGES, *sorted((ROOT / "core" / "ui").rglob("*.py"))]

# Whose first argument heads something: a part of a page, a widget, a column.
HEADINGS = {"title", "header", "subheader", "metric", "text_input", "selectbox"}


def trees():
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES}


def headings():
    """Every heading of the pages that is written out: of sections, widgets and columns."""
    for tree in trees().values():
        for node in ast.walk(tree):
            match node:
                case ast.Call(
                    func=ast.Attribute(attr=kind), args=[ast.Constant(value=str(text)), *_]
                ) if kind in HEADINGS or kind.endswith("Column"):
                    yield text
                case ast.Call(func=ast.Attribute(attr="dataframe"), args=[ast.Dict(keys=keys)]):
                    yield from (key.value for key in keys if isinstance(key, ast.Constant))
                case ast.keyword(arg="column_config", value=ast.Dict(values=values)):
                    yield from (v.value for v in values if isinstance(v, ast.Constant))


@pytest.mark.parametrize("title", [info.title for info in SCORES.values()])
def test_every_score_is_explained(title):
    assert TERMS[title].endswith(".")


def test_every_band_is_explained():
    meaning = TERMS["Band"]
    for band in Band:
        assert all(word in meaning for word in band.value.split()), band


def test_every_heading_about_bands_is_a_term():
    words = {"band", *(band.value for band in Band)}
    about_bands = {text.strip() for text in headings() if text.strip().casefold() in words}
    assert {text.casefold() for text in about_bands} == {"band"}  # that headings() sees any
    assert "Band" in TERMS


def test_every_term_that_a_page_refers_to_is_there():
    used = [
        (path.name, node.lineno, node.slice.value)
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id == "TERMS"
        and isinstance(node.slice, ast.Constant)
    ]
    assert len(used) > 5
    assert [place for place in used if place[2] not in TERMS] == []


def test_every_meaning_is_a_sentence():
    for term, meaning in TERMS.items():
        assert term.strip() == term
        assert meaning[0].isupper() or not meaning[0].isalpha()
        assert meaning.endswith(".")


def offered(search=None):
    shown = AppTest.from_function(_draw_button, default_timeout=LONG)
    shown.session_state["glossary"] = True
    shown.run()
    if search is not None:
        shown.text_input(key="glossary_term").set_value(search).run()
    assert not shown.exception
    assert shown.markdown[0].value == VERDICTS
    paragraphs = [text for element in shown.markdown[1:] for text in element.value.split("\n\n")]
    return shown, [text.partition(".** ")[0].removeprefix("**") for text in paragraphs]


def _draw_button():
    from core.ui import glossary

    glossary.button()


def test_the_terms_stand_in_alphabetical_order():
    _, terms = offered()
    assert terms == sorted(TERMS, key=str.casefold)


def test_the_key_of_the_verdicts_has_each_word_once_and_its_rule_in_the_words_of_the_scale():
    every = {stamp.label for marks in STAMPS_BY_PROMISE.values() for stamp in marks.values()}
    assert {*KEY} == every and len(KEY) == 5
    assert f"at most 1/{1 / MOST_TO_KEEP:.0f} of the most possible (ln m" in KEY["✓ Believe it"]
    assert f"single answer, at most {1 - LEAST_KEPT:.0%}" in KEY["✓ Believe it"]
    assert VERDICTS not in [text.value for text in session("history").markdown]  # while closed


def test_a_search_leaves_what_holds_every_word():
    assert offered("Risk–COVERAGE")[1] == ["AUGRC", "AURC", "Risk–coverage curve"]
    assert "Semantic entropy" in offered("entropy meaning")[1]
    assert len(offered("  ")[1]) == len(TERMS)
    shown, terms = offered("xyzzy")
    assert terms == []
    assert any("No term matches" in text.value for text in shown.text)


def test_entropy_is_a_term():
    assert "semantic entropy" in TERMS["Entropy"]


def test_the_example_of_many_right_answers_is_answered_by_the_shipped_model(embedded):
    (question,) = re.findall("“(Name .+?)”", TERMS["Aleatoric uncertainty"])
    found = grading.find(question)
    assert found.band is Band.MANY_ANSWERS
    inspection = run(Request(found.question), embedded)
    assert inspection.scores["mutual_information"].value < 0.05
    assert inspection.verdict.decision is Decision.ANSWER


def test_every_page_has_a_head_that_offers_the_glossary():
    heads = {
        path.stem
        for path, tree in trees().items()
        if path in PAGES
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "page_header"
    }
    assert heads == {path.stem for path in PAGES}
    page = session("history")
    page.session_state["glossary"] = True
    terms = "\n\n".join(f"**{term}.** {meaning}" for term, meaning in TERMS.items())
    assert [text.value for text in page.run().markdown].count(terms) == 1
