"""Pipelines: what scores are made with, as a line of text, and a fingerprint of the prompts."""

import json
from dataclasses import fields, replace

import pytest

from core import prompts
from core.abstention.policy import SHARED_DRAWS, Pipeline, pipeline_in
from core.studies.inspection.pipeline import pipeline_of, prompt_fingerprint, to_text
from core.studies.inspection.request import Reading, Request
from core.uncertainty.similarity import ANSWER_RULE

REQUEST = Request("q", 20, 0.5, seed=3)
READING = Reading("ratio", 0.4, 0.1, 0.2)
PIPELINE = pipeline_of("model", "r1", REQUEST, READING, 0.15)


@pytest.fixture
def fingerprints():
    """The fingerprint is remembered: forget it before and after a prompt is changed."""
    prompt_fingerprint.cache_clear()
    yield
    prompt_fingerprint.cache_clear()


def test_a_pipeline_holds_every_setting():
    expected = Pipeline(
        model="model",
        revision="r1",
        prompt=prompt_fingerprint(),
        samples=20,
        temperature=0.5,
        similarity="ratio",
        tau=0.4,
        gamma_1=0.1,
        gamma_2=0.2,
        estimator="Algorithm 3 (exact likelihoods)",
        least_mass=0.15,
        sampling="drawn",
        answer_rule=ANSWER_RULE,
    )
    assert expected == PIPELINE


def test_the_query_and_the_seed_are_no_part_of_it():
    other = replace(REQUEST, query="another", seed=99)
    assert pipeline_of("model", "r1", other, READING, 0.15) == PIPELINE


# ------------------------------------------------------------------------------ as text


def test_a_pipeline_is_one_line_and_comes_back():
    assert "\n" not in to_text(PIPELINE)
    assert pipeline_in(to_text(PIPELINE)) == PIPELINE
    hostile = replace(PIPELINE, model='é"\n,=1', estimator="\u2028")
    assert "\n" not in to_text(hostile)
    assert pipeline_in(to_text(hostile)) == hostile


def changed(**values):
    return json.dumps(json.loads(to_text(PIPELINE)) | values)


#: What came later, with what it was before.
LATER = {"sampling": SHARED_DRAWS, "answer_tokens": 32, "front": "nothing", "answer_rule": 1}


@pytest.mark.parametrize("name", [field.name for field in fields(Pipeline)])
def test_a_pipeline_that_lacks_something_is_none_unless_that_came_later(name):
    pipeline = json.loads(to_text(PIPELINE))
    del pipeline[name]
    before = replace(PIPELINE, **{name: LATER[name]}) if name in LATER else None
    assert pipeline_in(json.dumps(pipeline)) == before


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "p1", "{", "{}", "[]", "null", "5", '"text"', "\ud800", "NaN", "[" * 100_000),
        *(changed(model=5), changed(model="\ud800"), changed(temperature=float("nan"))),
    ],
)
def test_rubbish_is_none(text):
    assert pipeline_in(text) is None


def test_more_than_a_pipeline_is_read_as_one():
    assert pipeline_in(changed(more="of it")) == PIPELINE


# --------------------------------------------------------------------------- fingerprint


PROMPTS = ["QUESTION", "FIRST_ANSWER", "FURTHER_ANSWER", "REQUEST", "VERIFICATION", "ANSWER"]


@pytest.mark.parametrize("name", PROMPTS)
def test_the_fingerprint_changes_with_any_prompt(fingerprints, monkeypatch, name):
    before = prompt_fingerprint()
    monkeypatch.setattr(prompts, name, getattr(prompts, name).replace(":", ";") + "?")
    assert prompt_fingerprint() == before  # it is computed once
    prompt_fingerprint.cache_clear()
    assert prompt_fingerprint() != before


def test_every_text_of_the_prompts_has_been_tried():
    """But for what a model answers, and those of pairs, claims and fronts (their tests)."""
    texts = {name for name, value in vars(prompts).items() if name.isupper() and value}
    assert texts == {*PROMPTS, "TRUE", "FALSE", "SAME", "STATEMENT", "NOT", "CONTEXT"}


def test_the_fingerprint_is_short_and_always_the_same(fingerprints):
    first = prompt_fingerprint()
    prompt_fingerprint.cache_clear()
    assert prompt_fingerprint() == first
    assert len(first) == 12 and set(first) <= set("0123456789abcdef")
