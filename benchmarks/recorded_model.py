"""Record a model that takes long: ``python -m benchmarks.recorded_model [--write]``.

``--record QUESTIONS.jsonl … --weights MODEL.gguf --run FOLDER`` asks them as one run, and goes on
where it was stopped; FOLDER may be a copy of the bundled one. Without a file, `EACH` questions of
each data set of SmolLM2's bundled run are asked.

``--run FOLDER … --name NAME --weights MODEL.gguf --title TITLE`` ends it with what is asked, writes
beside it which model that was, and bundles it by that name: the page Inspection offers its answers
by that title. Several folders are parts of one run. ``--computed`` says with which numbers and on
what, where that was not this program alone.

Without either, what the bundled recordings show is printed, and written to
``docs/measured/recorded_model.md`` with ``--write``.
"""

import argparse
import hashlib
import json
import os
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute as pc
from pyarrow import parquet

from benchmarks.bundled_runs import MOST, MOST_ROWS, progress
from benchmarks.paper_figures import REAL_SETS, report
from core import outputs
from core.abstention.resampled_measures import compare
from core.codec import count_of
from core.data.datasets.questions import Question
from core.data.datasets.tables import QuestionFile
from core.language_models.backends.llama.runtime import Llama
from core.language_models.language_model import LanguageModel
from core.language_models.registry import open_model
from core.language_models.trial import in_its_form
from core.reports.evaluation.words import answer, with_interval
from core.reports.inspection.words import STAMPS, outcome
from core.studies.evaluation import bundled
from core.studies.evaluation.local import Task
from core.studies.evaluation.recorded_answers import provenance_of
from core.studies.evaluation.results import (
    RESAMPLES,
    Results,
    RunMeasures,
    measure_run,
    read_results,
)
from core.studies.evaluation.rows import Row
from core.studies.evaluation.run import evaluate, survey
from core.studies.evaluation.run_folder import LOCK, UNFINISHED, hold, parts_of, whole_lines
from core.studies.evaluation.saved_run import Filter, Run
from core.studies.inspection.certificates import QWEN, certifies, default_policy, usual_least_mass
from core.studies.inspection.inspection import Inspection, read
from core.studies.inspection.recorder import usual_request
from core.studies.inspection.request import Reading
from core.studies.inspection.serialise import recording_from_json
from core.studies.inspection.verdict import LEAST_KEPT, SCORE, Decision, repeat_probability
from core.uncertainty.scores import SCORES

AT_ONCE = 6  # questions: what is half done when somebody stops the run is lost
TITLE, TITLE_OF_REAL = "popular questions", "TriviaQA, AmbigQA and WordNet"
EACH = 200  # questions of a data set
POPULAR, OF_REAL = "qwen_popular_questions", "qwen_real_questions"
LIKELIEST = "its 8 likeliest answers"
QUESTIONS = Path("benchmarks/popular_questions")
PAGE = Path("docs/measured/recorded_model.md")
SETS, TARGETS = {each.title: each for each in REAL_SETS}, (0.15, 0.5)


def main() -> None:
    options = parsed()
    if options.record is not None:
        record(options.record, options.weights, *options.run)
    elif options.run:
        named = {name: getattr(options, name) for name in ("title", "licence", "computed")}
        bundle(options.run, options.name, options.weights, named)
    elif options.outcomes:
        renew_outcomes()
    else:
        text = page()
        print(text)
        if options.write:
            outputs.write(PAGE, text)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", type=absolute, nargs="*", help="questions to ask, or to go on")
    parser.add_argument("--weights", type=absolute, help="the file of the model")
    parser.add_argument("--run", type=absolute, nargs="+", help="the folder of its run, or several")
    parser.add_argument("--name", choices=(POPULAR, OF_REAL), default=POPULAR)
    parser.add_argument("--title", help="what people call the model")
    parser.add_argument("--licence", default="Apache-2.0", help="of its weights")
    parser.add_argument("--computed", default="", help="as in: float32, PyTorch on a GPU")
    parser.add_argument("--outcomes", action="store_true", help="read the bundled runs anew")
    parser.add_argument("--write", action="store_true")
    return parser.parse_args()


def absolute(text: str) -> Path:
    return Path(text).absolute()


def record(files: Sequence[Path], weights: Path, folder: Path) -> None:
    """Ask the model in a GGUF file what has no row yet."""
    read = [QuestionFile(file, file.stem).questions for file in files] or [lambda *_: real()]
    model = opened(weights)
    model.capabilities = replace(model.capabilities, questions_at_once=AT_ONCE)
    request = usual_request("any", model.capabilities)
    task = Task(model, request, Reading(), usual_least_mass())
    title = TITLE if files else TITLE_OF_REAL
    surveyed = survey(title, lambda: chain.from_iterable(each("refuse", print) for each in read))
    outcome = evaluate(surveyed, task, folder, progress)
    print(f"\n{outcome.done} questions, {outcome.failed} failed, {outcome.seconds:.0f} s")


def real() -> list[Question]:
    """Return questions of SmolLM2's bundled run, drawn by a hash: as many of every data set."""
    batches = Run(bundled.FOLDER / bundled.REAL).batches(["id", "query", "answers", "source"])
    rows = [row for batch in batches for row in batch.to_pylist()]
    drawn: dict[str, list[Question]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: hashlib.sha256(row["id"].encode()).digest()):
        answers = tuple(map(tuple, row["answers"]))
        drawn[row["source"].partition(" ")[0]].append(Question(**row | {"answers": answers}))
    return [question for each in drawn.values() for question in each[:EACH]]


def opened(weights: Path) -> LanguageModel:
    """Return the model of a file, in the form that suits it, and faster than on a page."""
    # The path stands in a result: the name alone leads nobody to this machine.
    os.chdir(weights.parent)
    bare = open_model(f"gguf:./{weights.name}")
    whole(bare.llama)
    model, trials = in_its_form(bare)
    print(trials[-1].sentence, flush=True)
    return model


def whole(llama: Llama) -> None:
    """Widen bfloat16 matrices for good: the same numbers in twice the memory, and sooner."""
    is_tied = llama.unembedding is llama.embeddings
    llama.embeddings = llama.embeddings[:]
    llama.unembedding = llama.embeddings if is_tied else llama.unembedding[:]
    for layer in llama.layers:
        for name in ("qkv", "output", "gate_up", "down"):
            setattr(layer, name, getattr(layer, name)[:])


def bundle(parts: Sequence[Path], name: str, weights: Path, named: dict[str, str]) -> None:
    """Copy what is asked of a run, which is a sample because the order is random."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / name
        together([Run(part) for part in parts], folder)
        text = json.dumps(provenance(Run(folder), weights, named), indent=2, ensure_ascii=False)
        outputs.write(folder / bundled.PROVENANCE, f"{text}\n")
        sizes = {file.name: file.stat().st_size for file in folder.iterdir()}
        rows = sum(size for file, size in sizes.items() if file.startswith("rows"))
        if sum(sizes.values()) > MOST or rows > MOST_ROWS:
            raise SystemExit(f"{sizes}: at most {MOST:,} bytes, and {MOST_ROWS:,} of rows.")
        there = bundled.FOLDER / name
        shutil.rmtree(there, ignore_errors=True)
        shutil.copytree(folder, there, ignore=shutil.ignore_patterns(LOCK))
    print(f"Written to {there}: {sizes}.")


def together(parts: Sequence[Run], folder: Path) -> None:
    """Write one run of what several parts of it have asked; what failed was not asked."""
    manifests = [dict(part.manifest) for part in parts]
    first, *others = [(each["pipeline"], each["questions"]["sha256"]) for each in manifests]
    if any(other != first for other in others):
        raise SystemExit("These are parts of different runs.")
    now = datetime.now(UTC).isoformat(timespec="seconds")
    # One that was gone on with, and stopped, has not ended when it did before.
    ends = [None if whole_lines(p.folder / UNFINISHED)[0] else p.manifest["ended"] for p in parts]
    rows = {row.id: row for part in parts for row in rows_of(part.folder) if not row.is_failure}
    with hold(folder) as files:
        files.begin()
        for id in sorted(rows):
            files.add(rows[id])
        files.end()
        files.write_manifest(
            manifests[0]
            | {
                "begun": min(each["begun"] for each in manifests),
                "ended": now if None in ends else max(ends),
                "seconds": round(sum(each["seconds"] for each in manifests), 3),
            }
        )


def rows_of(folder: Path) -> Iterator[Row]:
    """Yield every row of a run with what the model said."""
    yield from whole_lines(folder / UNFINISHED)[0]
    columns = ["id", "recording"]
    said = {
        each["id"]: each["recording"]
        for part in parts_of(folder, "recordings")
        for each in parquet.read_table(part, columns=columns).to_pylist()
    }
    for part in parts_of(folder):
        for values in parquet.read_table(part).to_pylist():
            yield Row(values, said.get(values["id"]))


def provenance(run: Run, weights: Path, named: dict[str, str]) -> dict[str, Any]:
    """Return which model a run was of, what it was asked, and what came of each question."""
    rows = run.rows((), ["id", "query"]).table.to_pylist()
    return {
        **file_and(weights, named),
        **{name: run.manifest[name] for name in ("model", "revision", "form")},
        "date": run.manifest["ended"][:10],
        "not_asked": run.manifest["questions"]["number"] - run.finished_questions,
        "questions": {row["id"]: row["query"] for row in rows},
        **endings(run),
    }


def endings(run: Run) -> dict[str, Any]:
    """Return how each question ended, and where the answer is wrong."""
    rows = read_results(run)
    right = rows.correct[default_policy(QWEN).score]
    return {
        "outcomes": {id: outcome(run.inspection(id)) for id in rows.ids},
        "wrong": [id for id, is_right in zip(rows.ids, right, strict=True) if not is_right],
    }


def renew_outcomes() -> None:
    """Write what today's rules make of the answers to every bundled question."""
    for name in (POPULAR, OF_REAL):
        run, file = Run(bundled.FOLDER / name), bundled.FOLDER / name / bundled.PROVENANCE
        of = json.loads(file.read_text(encoding="utf-8"))
        of |= endings(run)
        outputs.write(file, f"{json.dumps(of, indent=2, ensure_ascii=False)}\n")


def file_and(weights: Path, named: dict[str, str]) -> dict[str, Any]:
    """Return which file a model is, beside what is said of it."""
    with weights.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    size = weights.stat().st_size
    there = {name: words for name, words in named.items() if words}
    return there | {"file": weights.name, "bytes": size, "sha256": sha256}


def page() -> str:
    parts = of_popular(Run(bundled.FOLDER / POPULAR))
    if OF_REAL in bundled.folders():
        parts += certificate()
        parts += of_real(Run(bundled.FOLDER / OF_REAL), Run(bundled.FOLDER / bundled.REAL))
    return "\n\n".join(filter(None, parts)) + "\n"


def origin(run: Run, what: str, answers: str) -> str:
    """Say which file was asked what, and when."""
    of = json.loads((run.folder / bundled.PROVENANCE).read_text(encoding="utf-8"))
    number = run.manifest["questions"]["number"]
    more = f" It was computed in {of['computed']}." if "computed" in of else ""
    if of["not_asked"]:
        more += f" {of['not_asked']} were not reached; the order is random."
    return (
        f"`python -m benchmarks.recorded_model` reads the bundled recording of {of['date']}: "
        f"{run.finished_questions} of {number} {what}, put to `{of['file']}` (SHA-256 "
        f"`{of['sha256']}`, {of['licence']}) in the form {of['form']}, {answers} each.{more}"
    )


def of_real(run: Run, smollm2: Run) -> list[str]:
    """Return Figures 5 and 6 on real questions, beside SmolLM2 on the same ones."""
    what = "questions of TriviaQA, AmbigQA and WordNet (those of `benchmarks.paper_figures`)"
    results = {title: of_set(run, title) for title in SETS}
    beside = {title: same(of_set(smollm2, title), read_results(run)) for title in SETS}
    return [
        "## Real questions",
        origin(run, what, LIKELIEST),
        "AUROC for wrong answers with 95% intervals (Figure 5), and of how many rows that the "
        "paper’s filters leave:",
        table_of_sets(results),
        "SmolLM2 on the same questions, by ten drawn answers, where its own rows pass the filters:",
        table_of_sets(beside),
        *report(run, REAL_SETS, TARGETS),
        headlines(run),
    ]


def of_set(run: Run, title: str) -> Results:
    """Return the rows of one of `REAL_SETS`, through the paper's filters."""
    each = SETS[title]
    filters = [Filter("short"), *(Filter("diverse", source) for source in each.many)]
    return read_results(run, filters, sources=(*each.single, *each.many))


def same(results: Results, others: Results) -> Results:
    """Return the rows whose questions others ask, too."""
    asked = pa.array(sorted(set(others.ids)), pa.string())
    return replace(results, table=results.table.filter(pc.is_in(results.table["id"], asked)))


def table_of_sets(sets: dict[str, Results]) -> str:
    """Return every score's AUROC by set, the best on the first of them first."""
    measured = {title: measure_run(results, RESAMPLES) for title, results in sets.items()}
    head = " | ".join(f"{title} ({len(results)})" for title, results in sets.items())
    shares = (f"{results.right(SCORE):.0%}" for results in sets.values())
    first = next(iter(measured.values()))
    return "\n".join(
        [
            f"| score | {head} |",
            f"| --- |{' --: |' * len(sets)}",
            *(
                f"| {SCORES[name].symbol} | "
                + " | ".join(with_interval(m.interval(name, "auroc")) for m in measured.values())
                + " |"
                for name in sorted(SCORES, key=lambda name: -first.interval(name, "auroc").value)
            ),
            f"| right, by M.I.’s answer | {' | '.join(shares)} |",
        ]
    )


def of_popular(run: Run) -> list[str]:
    measured = measure_run(read_results(run), RESAMPLES)
    of = provenance_of(POPULAR)
    assert of is not None
    what = f"popular questions ({files_of(run)})"
    return [
        f"# What a model of 1.5 billion parameters answered: {of.title}",
        origin(run, what, LIKELIEST),
        " ".join(answer(measured)),
        table_of_scores(measured),
        single_answers(measured),
        differing(measured.results),
        "By kind, medians in nats; *right* is of the answer that M.I. serves, by the same answer:",
        table_of_kinds(measured),
        headlines(run),
    ]


def files_of(run: Run) -> str:
    """Return the files with the questions of a run, in the order in which they were written."""
    ids = {row["id"] for row in run.rows((), ["id"]).table.to_pylist()}
    files = {
        file: {json.loads(line)["id"] for line in file.read_text(encoding="utf-8").splitlines()}
        for file in QUESTIONS.glob("*.jsonl")
    }
    ordered = sorted(files, key=lambda file: min(files[file]))
    return ", ".join(f"`{file}`" for file in ordered if ids & files[file])


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
    where = f"{count_of(int(differ.sum()), 'question')}{each and ': '}{each}"
    return f"The labels of what M.I. serves differ on {where}."


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


def headlines(run: Run) -> str:
    """Say what stands above the answers on the page, with its certificate and without any."""
    return (
        f"Above these answers the page says: {counted(run)}. Were nothing certified of this model: "
        f"{counted(run, revision='of other weights')}."
    )


def counted(run: Run, **instead: str) -> str:
    """Return how often each headline stands there, and how many of those answers are right."""
    every, of_right = Counter[str](), Counter[str]()
    for row, inspection in inspections(run, **instead):
        words = STAMPS[inspection.headline].sentence
        every[words] += 1
        of_right[words] += row.is_right(inspection.verdict.score)
    return "; ".join(f"“{words}” {n} times, {of_right[words]} right" for words, n in every.items())


def inspections(run: Run, **instead: str) -> Iterator[tuple[Row, Inspection]]:
    """Yield every row with what the page shows of it, were some of its recording another."""
    for row in rows_of(run.folder):
        recording = recording_from_json(str(row.recording))
        yield row, read(replace(recording, **instead), run.reading)


def certificate() -> list[str]:
    """Return what is promised of the model, and what that is worth on rows that test it."""
    policy = default_policy(QWEN)
    assert policy.pipeline is not None
    lines = ["| kind | certify | served | of these wrong | test | served | of these wrong |"]
    lines.append("| --- | --: | --: | --: | --: | --: | --: |")
    count: dict[str, Counter[str]] = defaultdict(Counter)
    for run in (Run(bundled.FOLDER / name) for name in (POPULAR, OF_REAL)):
        for row, inspection in inspections(run):
            part = "certify" if certifies(row.values["query"]) else "test"
            is_served = inspection.decision is Decision.ANSWER
            for kind in (row.values["source"], "all"):
                count[kind][part] += 1
                count[kind][f"{part}, served"] += is_served
                count[kind][f"{part}, wrong"] += is_served and not row.is_right(policy.score)
    names = [
        f"{part}{what}" for part in ("certify", "test") for what in ("", ", served", ", wrong")
    ]
    kinds = [*(kind for kind in count if kind != "all"), "all"]
    lines += [f"| {kind} | {' | '.join(str(count[kind][n]) for n in names)} |" for kind in kinds]
    return [
        "## What is promised of its file",
        f"`python -m benchmarks.recorded_policy`: {policy.sentence} It is one of "
        f"{policy.scores_tried} scores, {SCORES[policy.score].symbol}, which all paid for it, "
        f"because their results on these rows were known. λ = {policy.threshold:.3f}, and at least "
        f"{policy.pipeline.least_mass:.0%} of the probability must be seen, as a third of the "
        "questions chose by no label. They test it, too:",
        "\n".join(lines),
    ]


if __name__ == "__main__":
    main()
