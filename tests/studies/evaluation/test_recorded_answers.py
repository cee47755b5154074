"""What a larger model answered before: who it was stands beside it, and every row opens."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from core.data.tabular.fingerprints import of_questions
from core.reports.inspection.words import outcome, source_sentence
from core.studies.evaluation.bundled import PROVENANCE, folders
from core.studies.evaluation.recorded_answers import (
    open_recorded,
    recorded_answer,
    recorded_answers,
    recorded_elsewhere,
    recording_title,
    source_of,
)
from core.studies.evaluation.results import read_results
from core.studies.evaluation.saved_run import Run
from core.studies.inspection.certificates import QWEN, default_policy
from core.studies.inspection.inspection import read
from core.studies.inspection.request import Reading
from core.studies.inspection.verdict import Headline
from tests.studies.inspection.rules import default_rule

FIRST = recorded_answers()[0]
MADE = "one of the labelled answers that certified λ."


@pytest.mark.parametrize("name", sorted({answer.run for answer in recorded_answers()}))
def test_a_recording_says_which_file_answered_and_names_no_folder_of_a_machine(name):
    folder = folders()[name]
    provenance = json.loads((folder / PROVENANCE).read_text(encoding="utf-8"))
    run = Run(folder)
    assert re.fullmatch("[0-9a-f]{64}", provenance["sha256"]) and provenance["bytes"] > 0
    assert provenance["model"] == f"gguf:./{provenance['file']}" == run.manifest["model"]
    assert provenance["revision"] == run.manifest["revision"]
    assert provenance["revision"].startswith(provenance["sha256"][:12])
    assert provenance["form"] == run.manifest["form"]
    assert run.manifest["ended"].startswith(provenance["date"])
    assert provenance["not_asked"] == run.manifest["questions"]["number"] - run.finished_questions
    rows = run.rows((), ["id", "query"]).table.to_pylist()
    assert provenance["questions"] == {row["id"]: row["query"] for row in rows}
    results = read_results(run)
    right = results.correct[default_policy(QWEN).score]
    assert {*results.ids[~right]} == {*provenance["wrong"]}


def test_a_recorded_question_opens_as_its_inspection_and_says_where_it_is_from():
    every = recorded_answers()
    for answer in every[:: len(every) // 30]:
        inspection = open_recorded(answer)
        assert inspection.query == answer.question
        assert answer.outcome == outcome(inspection), "what is offered is what opens"
        assert inspection.recording.revision == answer.provenance.revision
        assert source_of(inspection.recording) == answer
        assert recorded_elsewhere(inspection.recording) is None
        assert inspection.verdict.rule == default_rule(QWEN)
        assert inspection.headline is not Headline.BELIEVE, "so many are wrong"


def test_an_answer_that_made_the_promise_says_so_while_that_promise_decides():
    policy, every = default_policy(QWEN), recorded_answers()[::9]
    made = set(policy.row_hashes & ~np.uint64(1))
    numbers = of_questions(np.array([answer.question for answer in every], object))
    for answer, number in zip(every, numbers, strict=True):
        inspection = open_recorded(answer)
        assert (MADE in source_sentence(inspection)) == (number in made)
        recording = inspection.recording
        for other in (read(recording, Reading(threshold=0.9)), read(recording, policy=policy)):
            assert MADE not in source_sentence(other)
    assert 0 < len([number for number in numbers if number in made]) < len(every)


def test_a_recorded_question_is_known_in_other_words_and_another_is_not():
    assert recorded_answer(FIRST.question) == FIRST
    assert recorded_answer(FIRST.question.upper().rstrip("?.")) == FIRST
    assert recorded_answer("Who is at the door?") is None
    assert recorded_answer(f"{FIRST.question} 1873") is None


def test_another_models_answer_to_the_same_question_is_none_of_the_recording():
    recording = open_recorded(FIRST).recording
    typed = replace(recording, request=replace(recording.request, typed="In other words?"))
    assert source_of(typed) == FIRST
    said = {"greedy": replace(recording.greedy, text="Forged"), "others": (("Forged", 1.0),)}
    for changed in ({"revision": "another"}, {"calls": ()}, *({n: v} for n, v in said.items())):
        another = replace(recording, **changed)
        assert source_of(another) is None and recorded_elsewhere(another) == FIRST


def test_the_recording_is_named_with_its_model_and_number():
    assert FIRST.provenance.title in recording_title()
    assert f"{len(recorded_answers()):,} questions" in recording_title()
