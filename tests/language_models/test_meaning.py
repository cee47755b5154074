"""A model that compares answers: opened by name alone, pinned, and part of the pipeline."""

import importlib.util
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

import believe
from core import cli
from core.language_models import meaning
from core.language_models.errors import ModelError
from core.studies.inspection.certificates import default_policy
from core.studies.inspection.inspection import read
from core.studies.inspection.pipeline import pipeline_of
from core.studies.inspection.recorder import record
from core.studies.inspection.request import InvalidRequestError, Reading, Request
from tests.fakes import QUERY, copies, knows
from tests.test_guard import policy_for

NAME = "meaning:here#0123456789ab"


@pytest.fixture
def model(monkeypatch):
    """A model to which all answers are one."""
    monkeypatch.setitem(meaning.COMPARISONS, NAME, lambda _, texts: np.full((len(texts),) * 2, 0.9))


def test_it_groups_the_answers_and_none_is_served_that_our_rule_parts(model, monkeypatch):
    recording = record(Request(QUERY, 50, seed=1), copies(4))
    by_rule, by_model, stricter = (
        read(recording, reading) for reading in (Reading(), Reading(NAME, 0.5), Reading(NAME, 0.95))
    )
    assert len(by_rule.clusters) == len(stricter.clusters) > 1 == len(by_model.clusters)
    monkeypatch.setattr(meaning, "open_comparison", lambda name, *, fetches: name)
    policy = replace(policy_for(copies(4), similarity=NAME), threshold=9.0)
    outcome = believe.Guard(copies(4), policy)(QUERY)
    assert not outcome and "they are not the same" in outcome.reason


def test_a_name_that_nobody_opened_is_no_similarity():
    with pytest.raises(InvalidRequestError, match="no similarity called"):
        Reading(NAME)


def test_no_policy_of_another_comparison_fits(model):
    request, own = Request(QUERY), default_policy().pipeline
    here = pipeline_of("m", "r", request, Reading(NAME, own.tau), own.least_mass)
    there = pipeline_of("m", "r", request, Reading("same_answer", own.tau), own.least_mass)
    assert there.differences(here) == [f"similarity = “same_answer” there, “{NAME}” here"]


def test_what_cannot_be_opened_is_a_sentence(tmp_path, monkeypatch):
    if importlib.util.find_spec("torch") is None:
        with pytest.raises(ModelError, match="PyTorch and transformers are needed"):
            meaning.open_comparison(f"meaning:{tmp_path}")
        with pytest.raises(ModelError, match="PyTorch and transformers are needed"):
            believe.Guard(knows(6), policy_for(knows(6), similarity=NAME))
        result = CliRunner().invoke(
            cli.main, ["inspect", QUERY, "--similarity", f"meaning:{tmp_path}"]
        )
        assert result.exit_code == 1 and "are needed" in result.stderr
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: True)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelError, match="another model than the one that is wanted"):
        meaning.open_comparison(f"meaning:{tmp_path}#0123456789ab")
    with pytest.raises(ModelError, match="cannot be read as a model of embeddings or entailment"):
        meaning.open_comparison(f"meaning:{tmp_path}")
