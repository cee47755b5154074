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
    assert table(page, "answer", "probability")["answer"].tolist() == ["Paris", "Lyon"]
    scores = table(page, "score", "value", "why not").set_index("score")
    entropy = -(0.75 * np.log(0.75) + 0.25 * np.log(0.25))
    assert scores["value"]["Semantic entropy"] == f"{entropy:.3f} nats"
    assert "There are no second answers" in scores["why not"]["Mutual information"]
    assert any("Nothing is decided or promised here" in text for text in texts(page))
    page = settled(page.number_input(key="own_answers_question").set_value(2).run())
    assert len(table(page, "answer", "probability")) == 2 and not page.exception


@pytest.mark.parametrize(
    ("content", "sentence"),
    [('{"question": "Q?", "colour": "red"}', "No column holds answers"), ("{", "JSON")],
)
def test_a_file_that_cannot_be_scored_is_a_sentence(opened, content, sentence):
    page = bring(opened, content)
    assert any(sentence in text for text in texts(page))
