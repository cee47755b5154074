"""Answers that somebody has, scored on Inspection without a model."""

import json

import numpy as np
import pytest

from core.language_models.backends.embedded.model import EmbeddedModel
from tests.hostile import TEXTS
from tests.sessions import session, settled, texts

FRENCH = ["Paris", "Paris", "Lyon", "Paris"]
ROWS = [
    {"question": "Capital?", "responses": FRENCH},
    {"question": TEXTS[0], "responses": [TEXTS[0], "other"]},
]


@pytest.fixture(scope="module")
def opened():
    page = session("inspection")
    page.session_state["own_fold"] = True
    return settled(page.run())


def bring(page, content):
    file = ("own.jsonl", content.encode(), "text/plain")
    return settled(page.file_uploader(key="own_answers_file").set_value(file).run())


def table(page, *columns):
    (shown,) = [each.value for each in page.dataframe if [*each.value] == [*columns]]
    return shown


def test_answers_of_a_file_are_scored_without_a_model(opened, monkeypatch):
    for name in ("sample", "log_likelihoods"):
        monkeypatch.setattr(EmbeddedModel, name, None)
    page = bring(opened, "\n".join(map(json.dumps, ROWS)))
    assert any("responses: “responses”" in text for text in texts(page))
    assert table(page, "answer", "share of what is here")["answer"].tolist() == ["Paris", "Lyon"]
    scores = table(page, "score", "value", "why not").set_index("score")
    entropy = -(0.75 * np.log(0.75) + 0.25 * np.log(0.25))
    assert scores["value"]["Semantic entropy"] == f"{entropy:.3f} nats"
    assert "There are no second answers" in scores["why not"]["Mutual information"]
    assert any("Nothing is decided or promised here" in text for text in texts(page))
    page = settled(page.number_input(key="own_answers_question").set_value(2).run())
    assert len(table(page, "answer", "share of what is here")) == 2 and not page.exception


def test_of_several_models_the_person_chooses_whose_rows_count(opened):
    rows = [(m, a) for m, answers in (("one", FRENCH), (TEXTS[0], ["Rome"] * 2)) for a in answers]
    content = [{"question": "Capital?", "model": m, "response": a} for m, a in rows]
    page = bring(opened, "\n".join(map(json.dumps, content)))
    (choice,) = [box for box in page.selectbox if box.label == "Rows that count"]
    assert choice.options == ["one", TEXTS[0]] and choice.value is None
    page = settled(choice.set_value("one").run())
    assert table(page, "answer", "share of what is here")["answer"].tolist() == ["Paris", "Lyon"]
    (choice,) = [box for box in page.selectbox if box.label == "Rows that count"]
    page = settled(choice.set_value(TEXTS[0]).run())
    assert table(page, "answer", "share of what is here")["answer"].tolist() == ["Rome"]


def test_where_no_heading_says_which_are_the_answers_the_person_does(opened):
    rows = [{"question": "Capital?", "answer": each, "colour": TEXTS[0]} for each in FRENCH]
    page = bring(opened, "\n".join(map(json.dumps, rows)))
    (choice,) = [box for box in page.selectbox if box.label == "Column of the answers"]
    assert choice.options == ["question", "answer", "colour"] and choice.value is None
    page = settled(choice.set_value("answer").run())
    assert table(page, "answer", "share of what is here")["answer"].tolist() == ["Paris", "Lyon"]
    assert any("responses: “answer”" in text for text in texts(page))


def test_a_file_that_cannot_be_scored_is_a_sentence(opened):
    page = bring(opened, "{")
    assert any("JSON" in text for text in texts(page))
