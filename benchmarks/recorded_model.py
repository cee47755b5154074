"""Record a model that takes long: ``python -m benchmarks.recorded_model [--write]``.

``--record QUESTIONS.jsonl --weights MODEL.gguf --run FOLDER`` asks, and goes on where it was
stopped; FOLDER may be a copy of the bundled one.

``--run FOLDER --weights MODEL.gguf --title TITLE`` ends it with what is asked, writes beside it
which model that was, and bundles it: the page Inspection offers its answers by that title.

Without either, what the bundled recording shows is printed, and written to
``docs/measured/recorded_model.md`` with ``--write``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core import outputs
from core.abstention.intervals import compare
from core.abstention.thresholds import Threshold, learn_then_test
from core.codec import count_of
from core.data.datasets.tables import QuestionFile
from core.language_models.backends.llama.runtime import Llama
from core.language_models.registry import open_model
from core.language_models.trial import in_its_form
from core.reports.evaluation.words import answer, with_interval
from core.reports.inspection.words import STAMPS
from core.studies.evaluation import bundled
from core.studies.evaluation.files import LOCK, hold
from core.studies.evaluation.local import Task
from core.studies.evaluation.reading import Run
from core.studies.evaluation.recorded import open_recorded, recorded_answers
from core.studies.evaluation.results import (
    RESAMPLES,
    Results,
    RunMeasures,
    measure_run,
    read_results,
)
from core.studies.evaluation.run import evaluate, survey
from core.studies.inspection.certificates import usual_least_mass
from core.studies.inspection.recorder import usual_request
from core.studies.inspection.request import Reading
from core.studies.inspection.verdict import LEAST_KEPT, SCORE, repeat_probability
from core.uncertainty.scores import SCORES

AT_ONCE = 6  # questions: what is half done when somebody stops the run is lost
NAME, FOLDER = "popular questions", "qwen_popular_questions"
PAGE = Path("docs/measured/recorded_model.md")
MOST = 3_000_000  # bytes
TARGET, CONFIDENCE = 0.1, 0.9  # of the certificate that is tried


def main() -> None:
    options = parsed()
    if options.record:
        record(options.record, options.weights, options.run)
    elif options.run:
        bundle(options.run, options.weights, options.title, options.licence)
    else:
        text = page(Run(bundled.FOLDER / FOLDER))
        print(text)
        if options.write:
            outputs.write(PAGE, text)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", type=absolute, help="questions to ask, or to go on with")
    parser.add_argument("--weights", type=absolute, help="the file of the model")
    parser.add_argument("--run", type=absolute, help="the folder of its run")
    parser.add_argument("--title", help="what people call the model")
    parser.add_argument("--licence", default="Apache-2.0", help="of its weights")
    parser.add_argument("--write", action="store_true")
    return parser.parse_args()


def absolute(text: str) -> Path:
    return Path(text).absolute()


def record(file: Path, weights: Path, folder: Path) -> None:
    """Ask the model in a GGUF file what has no row yet."""
    questions = QuestionFile(file, file.stem)
    # The path stands in the run: the name alone leads nobody to this machine.
    os.chdir(weights.parent)
    opened = open_model(f"gguf:./{weights.name}")
    whole(opened.llama)
    model, trials = in_its_form(opened)
    print(trials[-1].sentence, flush=True)
    model.capabilities = replace(model.capabilities, questions_at_once=AT_ONCE)
    request = usual_request("any", model.capabilities)
    task = Task(model, request, Reading(), usual_least_mass())
    surveyed = survey(NAME, partial(questions.questions, "refuse", print))
    outcome = evaluate(surveyed, task, folder, progress)
    print(f"\n{outcome.done} questions, {outcome.failed} failed, {outcome.seconds:.0f} s")


def progress(stage: str, share: float) -> None:
    print(f"\r{stage}", end="", flush=True)


def whole(llama: Llama) -> None:
    """Make halved matrices whole for good: the same numbers in twice the memory, and sooner."""
    llama.unembedding = llama.unembedding[:]
    llama.embeddings = llama.unembedding.T
    for layer in llama.layers:
        for name in ("qkv", "output", "gate_up", "down"):
            setattr(layer, name, getattr(layer, name)[:])


def bundle(folder: Path, weights: Path, title: str, licence: str) -> None:
    """End a run with what is asked, which is a sample because the order is random, and copy it."""
    with hold(folder) as files:
        files.begin()
        files.end()
        manifest = files.manifest() or {}
        now = datetime.now(UTC).isoformat(timespec="seconds")
        files.write_manifest(manifest | {"ended": manifest["ended"] or now})
    text = json.dumps(provenance(Run(folder), title, licence, weights), indent=2)
    outputs.write(folder / bundled.PROVENANCE, f"{text}\n")
    size = sum(file.stat().st_size for file in folder.iterdir())
    if size > MOST:
        raise SystemExit(f"{size:,} bytes: a bundled run has at most {MOST:,}.")
    there = bundled.FOLDER / FOLDER
    shutil.rmtree(there, ignore_errors=True)
    shutil.copytree(folder, there, ignore=shutil.ignore_patterns(LOCK))
    print(f"Written to {there}: {size:,} bytes.")


def provenance(run: Run, title: str, licence: str, weights: Path) -> dict[str, Any]:
    """Return which model a run was of, and what it was asked."""
    with weights.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    rows = run.rows((), ["id", "query"]).table.to_pylist()
    return {
        **{"title": title, "licence": licence, "file": weights.name},
        **{"bytes": weights.stat().st_size, "sha256": sha256},
        **{name: run.manifest[name] for name in ("model", "revision", "form")},
        "date": run.manifest["ended"][:10],
        "not_asked": run.manifest["questions"]["number"] - run.finished_questions,
        "questions": {row["id"]: row["query"] for row in sorted(rows, key=itemgetter("id"))},
    }


def page(run: Run) -> str:
    """Return what a recording shows, as Markdown."""
    of = json.loads((run.folder / bundled.PROVENANCE).read_text(encoding="utf-8"))
    measured = measure_run(read_results(run), RESAMPLES)
    number, rows = run.manifest["questions"]["number"], len(measured.results)
    left = f"{of['not_asked']} were not reached; the order is random." if of["not_asked"] else ""
    parts = [
        f"# What a model of 1.5 billion parameters answered: {of['title']}",
        f"`python -m benchmarks.recorded_model` reads the bundled recording of {of['date']}: "
        f"{rows} of {number} popular questions (`benchmarks/popular_questions/first.jsonl`), put "
        f"to `{of['file']}` (SHA-256 `{of['sha256']}`, {of['licence']}) in the form {of['form']}, "
        f"its 8 likeliest answers each. {left}".strip(),
        " ".join(answer(measured)),
        table_of_scores(measured),
        single_answers(measured),
        differing(measured.results),
        "By kind, medians in nats; *right* is of the answer that M.I. serves, by the same answer:",
        table_of_kinds(measured),
        headlines(measured),
        certificate(measured),
    ]
    return "\n\n".join(parts) + "\n"


def table_of_scores(measured: RunMeasures) -> str:
    lines = ["| score | AUROC (95%) | right | right by F1 |", "| --- | --: | --: | --: |"]
    ranked = sorted(SCORES, key=lambda name: -measured.interval(name, "auroc").value)
    for name in ranked:
        both = (rows.right(name) for rows in (measured.results, measured.results.by_other_label))
        cells = with_interval(measured.interval(name, "auroc")), *(f"{each:.0%}" for each in both)
        lines.append(f"| {SCORES[name].symbol} | {' | '.join(cells)} |")
    return "\n".join(lines)


def differing(rows: Results) -> str:
    """Say on which questions the two labels of M.I.'s answer differ."""
    differ = rows.correct[SCORE] != rows.by_other_label.correct[SCORE]
    columns = (rows.texts(name)[differ] for name in ("query", f"{SCORE}_answer"))
    each = "; ".join(f"{query} “{text}”" for query, text in zip(*columns, strict=True))
    return (
        f"The labels of what M.I. serves differ on {differ.sum()} questions{each and ': '}{each}."
    )


def own_information(rows: Results) -> NDArray[np.float64]:
    """Return M.I. as it is, infinite where too little was seen."""
    values = np.array(rows.table[f"{SCORE}_raw"].to_pylist(), float)
    return np.where(np.isnan(rows.doubts[SCORE]), np.inf, values)


def single_answers(measured: RunMeasures) -> str:
    """Say what becomes of single answers when others are told, and what M.I. is worth without."""
    rows, run = measured.results, measured.results.run
    columns = [rows.table[name].to_pylist() for name in ("id", "clusters")]
    ids = [id for id, n in zip(*columns, strict=True) if n == 1]
    right = dict(zip(rows.table["id"].to_pylist(), rows.correct[SCORE], strict=True))
    keeps = [repeat_probability(run.inspection(id).others) >= LEAST_KEPT for id in ids]
    alone = compare(
        {SCORE: own_information(rows)}, {SCORE: rows.correct[SCORE]}, rows.questions, SCORE
    )
    return (
        f"M.I. is 0 where one answer is all that was found: on {len(ids)} questions, "
        f"{sum(right[id] for id in ids)} of them answered rightly. Told others there, the model "
        f"keeps to its own on {sum(keeps)}; on the rest its doubt is raised, for it copies what it "
        f"is told. Without that, M.I. has an AUROC of {with_interval(alone.values[SCORE])}."
    )


def table_of_kinds(measured: RunMeasures) -> str:
    rows, information = measured.results, own_information(measured.results)
    lines = ["| kind | questions | right | M.I. | its doubt | S.E. |"]
    lines.append("| --- | --: | --: | --: | --: | --: |")
    for source in sorted(set(rows.sources.tolist()), reverse=True):
        own = rows.sources == source
        columns = information, rows.doubts[SCORE], rows.entropies
        cells = f"{own.sum()}", f"{rows.correct[SCORE][own].mean():.0%}"
        medians = (f"{np.nanmedian(values[own]):.3f}" for values in columns)
        lines.append(f"| {source} | {' | '.join([*cells, *medians])} |")
    return "\n".join(lines)


def headlines(measured: RunMeasures) -> str:
    """Say what stands above the answers on the page, and how many of those are right."""
    rows, run = measured.results, measured.results.run
    right = dict(zip(rows.table["id"].to_pylist(), rows.correct[SCORE], strict=True))
    every, of_right = Counter[str](), Counter[str]()
    for each in recorded_answers():
        if each.run == run.folder.name:
            words = STAMPS[open_recorded(each).headline].sentence
            every[words] += 1
            of_right[words] += bool(right[each.id])
    said = "; ".join(f"“{words}” {n} times, {of_right[words]} right" for words, n in every.items())
    return f"Above these answers the page says: {said}."


def certificate(measured: RunMeasures) -> str:
    """Say which scores these rows certify by the house's calibration."""
    rows = measured.results
    thresholds = {
        name: learn_then_test(
            *(rows.doubts[name], rows.correct[name]), target_error=TARGET, confidence=CONFIDENCE
        )
        for name in rows.scores
    }
    certified = [
        f"{SCORES[name].symbol} (λ = {each.value:.3f}, {each.answered} answered)"
        for name, each in thresholds.items()
        if isinstance(each, Threshold)
    ]
    what = f"at most {TARGET:.0%} wrong with {CONFIDENCE:.0%} confidence"
    if not certified:
        return (
            f"{count_of(len(rows), 'row')} certify no score ({what}), so nothing is promised of "
            "this model, neither for the recording nor for who opens its file."
        )
    return (
        f"Each by itself, these scores could be certified on these rows ({what}): "
        f"{', '.join(certified)}. No certificate ships with them: of scores tried on the same "
        "rows, the best would have to pay for all."
    )


if __name__ == "__main__":
    main()
