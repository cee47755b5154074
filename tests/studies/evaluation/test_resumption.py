"""A run whose folder says all that it asks."""

import json
from dataclasses import replace

import pytest

from core.data.datasets.questions import Question
from core.studies.evaluation.resumption import QUESTIONS, questions_in, save, task_in
from core.studies.evaluation.run import evaluate
from core.studies.evaluation.run_folder import MANIFEST, RunError
from core.studies.evaluation.saved_run import Run
from core.studies.inspection.request import Reading
from core.uncertainty.similarity import ANSWER_RULE
from tests.hostile import ANY_TEXTS
from tests.studies.evaluation.worlds import World, questions, rows_of, surveyed, task


def saved(folder, asked=None, **more):
    """Save a run, and return it as another process finds it."""
    save(surveyed(asked or questions(8)), task(World(), **more), folder)
    return Run(folder)


def test_what_is_saved_is_what_was_to_be_asked(tmp_path):
    run = saved(tmp_path, temperature=0.6, seed=4)
    asked, model = questions_in(run), World()
    assert list(asked.read()) == questions(8) and asked.number == 8 and run.finished_questions == 0
    again = task_in(run, model)
    assert again == replace(task(model, temperature=0.6, seed=4), model=model)
    evaluate(asked, again, tmp_path)
    other = tmp_path / "at once"
    evaluate(surveyed(questions(8)), task(World(), temperature=0.6, seed=4), other)
    assert rows_of(tmp_path) == rows_of(other)


def test_any_text_comes_back_as_it_was(tmp_path):
    texts = [text.strip() for text in ANY_TEXTS if text.strip()]
    asked = [Question(f"{i}", t, ((t, f"{t}!"),), t[:200]) for i, t in enumerate(texts)]
    asked = [replace(q, source=q.source.strip()) for q in asked]
    assert list(questions_in(saved(tmp_path, asked)).read()) == asked


def test_another_model_or_version_is_refused_with_a_sentence(tmp_path):
    run, model = saved(tmp_path), World()
    model.name = "another"
    with pytest.raises(RunError, match="This run asks world of numbers"):
        task_in(run, model)
    model = World()
    model.revision = "2"
    with pytest.raises(RunError, match=r"another version of model or rules: revision = “1” there"):
        task_in(run, model)


def test_a_run_of_an_earlier_rule_of_answers_is_not_continued(tmp_path):
    run, earlier = saved(tmp_path), ANSWER_RULE - 1
    pipeline = {**run.manifest["pipeline"], "answer_rule": earlier}
    (tmp_path / MANIFEST).write_text(json.dumps({**run.manifest, "pipeline": pipeline}))
    with pytest.raises(RunError, match=f"rule of answers = {earlier} there, {ANSWER_RULE} here"):
        task_in(Run(tmp_path), World())


def test_how_answers_are_read_is_saved_too(tmp_path):
    model, reading = World(), Reading("ratio", 0.8, 0.01, 0.02)
    save(surveyed(questions(2)), replace(task(model), reading=reading), tmp_path)
    assert task_in(Run(tmp_path), model).reading == reading


def test_changed_or_missing_questions_are_refused(tmp_path):
    run = saved(tmp_path)
    path = tmp_path / QUESTIONS
    path.write_text(path.read_text().replace("number 3", "number 30"))
    with pytest.raises(RunError, match="were changed"):
        questions_in(run)
    path.write_text("[")
    with pytest.raises(RunError, match="cannot be read: Line 1"):
        questions_in(run)
    path.unlink()
    with pytest.raises(RunError, match="does not hold its questions"):
        questions_in(run)


def test_a_manifest_that_somebody_edited_gets_a_sentence(tmp_path):
    run = saved(tmp_path)
    path = tmp_path / MANIFEST
    for change in ({"seed": -1}, {"seed": None}, {"seed": "x"}):
        path.write_text(json.dumps({**run.manifest, **change}))
        with pytest.raises(RunError, match="was changed"):
            task_in(Run(tmp_path), World())
