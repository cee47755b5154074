"""The same answer rule beside the paper's token F1: clusters, labels, time.

    python -m benchmarks.same_answer
    python -m benchmarks.same_answer --world 400

Reads the bundled recordings of SmolLM2 on real questions again, once with clusters by token F1
(τ = 0.25) and once by the rule, and asks nothing. ``--world N`` asks the embedded model so many
questions of its world, drawn with a fixed seed, and a fifth as many that nobody can answer; then
it judges right answers to other questions of the same kind, which are wrong here.

Prints, as Markdown, for each set of questions: how many answers are right by each label, and the
AUROC of M.I. by each label under both clusterings with the 95% paired bootstrap interval of the
difference.
"""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np
from pyarrow import parquet

from benchmarks.shared.measuring import (
    Question,
    Wording,
    in_parallel,
    opened,
    questions,
    unanswerable,
)
from core.abstention.metrics import auroc
from core.data.world.facts import Fact, facts
from core.data.world.grading import matches_by_f1, matches_exactly
from core.studies.evaluation import bundled
from core.studies.evaluation.run_folder import parts_of
from core.studies.evaluation.saved_run import Filter, Run
from core.studies.inspection.inspection import Inspection, read
from core.studies.inspection.recorder import record, usual_request
from core.studies.inspection.recording import Recording
from core.studies.inspection.request import Reading
from core.studies.inspection.serialise import recording_from_json
from core.uncertainty.same_answer import is_right, pairwise_same

RUN = Path(bundled.__file__).with_name("smollm2_real_questions")
WAYS = ("token_f1", "same_answer")
RESAMPLES = 1_000
SCORE = "mutual_information"

Label = Callable[[str, Sequence[str], str], bool]
LABELS: dict[str, Label] = {
    "token F1 ≥ .25": lambda answer, names, _: matches_by_f1(answer, names),
    "same answer": is_right,
    "exact": lambda answer, names, _: matches_exactly(answer, names),
}
SETS = {
    "all": ("triviaqa", "ambigqa single", "ambigqa multiple", "wordnet"),
    "TriviaQA": ("triviaqa",),
    "TriviaQA and WordNet": ("triviaqa", "wordnet"),
    "AmbigQA": ("ambigqa single", "ambigqa multiple"),
}


@dataclass(frozen=True)
class Row:
    """A question read in every way: the doubt of M.I., the answer, and the labels that fit."""

    source: str
    doubts: tuple[float, ...]
    answers: tuple[str, ...]
    right: tuple[dict[str, bool], ...]
    changed: bool


def row(query: str, names: Sequence[str], source: str, recording: Recording) -> Row:
    readings = [read(recording, replace(Reading(), similarity=way)) for way in WAYS]
    scores = [inspection.scores[SCORE] for inspection in readings]
    return Row(
        source,
        tuple(np.nan if s.doubt is None else s.doubt for s in scores),
        tuple(s.answer for s in scores),
        tuple(
            {name: label(s.answer, names, query) for name, label in LABELS.items()} for s in scores
        ),
        len({_clusters(inspection) for inspection in readings}) > 1,
    )


def _clusters(inspection: Inspection) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(m[0] for m in cluster.members) for cluster in inspection.clusters)


def of_recordings() -> Iterator[Row]:
    """Yield the rows of the bundled run that have short answers, read again."""
    run = Run(RUN)
    rows = run.rows([Filter.from_text("short")], ["id", "query", "answers", "source"])
    by_id = {each["id"]: each for each in rows.table.to_pylist()}
    for part in parts_of(RUN, "recordings"):
        for each in parquet.read_table(part).to_pylist():
            if (about := by_id.get(each["id"])) and each["recording"]:
                names = list(chain(*about["answers"]))
                recording = recording_from_json(each["recording"])
                yield row(about["query"], names, about["source"], recording)


def _of_world(place: int) -> Row:
    question = _questions[place]
    model = opened()
    recording = record(usual_request(question.text, model.capabilities), model)
    fact = question.fact
    names = [n for answer in fact.answers for n in answer.names] if fact else []
    return row(question.text, names, question.band, recording)


_questions: list[Question] = []


def world(number: int) -> list[Row]:
    rng = np.random.default_rng(0)
    every = questions(Wording.TRAINING)
    _questions[:] = [every[i] for i in rng.permutation(len(every))[:number]]
    _questions.extend(unanswerable(number // 5))
    return in_parallel(_of_world, range(len(_questions)))


def elsewhere(each: int = 5) -> str:
    """Judge answers that are right of another subject, by both labels."""
    rng = np.random.default_rng(0)
    by_relation: dict[str, list[Fact]] = {}
    for fact in facts():
        by_relation.setdefault(fact.relation, []).append(fact)
    judged, by_f1, by_rule = 0, 0, 0
    for fact in facts():
        names = [name for answer in fact.answers for name in answer.names]
        others = by_relation[fact.relation]
        for place in rng.integers(len(others), size=each):
            answer = others[place].answers[0].names[0]
            if answer.casefold() in {name.casefold() for name in names}:
                continue
            judged += 1
            by_f1 += matches_by_f1(answer, names)
            by_rule += is_right(answer, names, fact.ask(fact.templates[0]))
    return (
        f"Of {judged:,} answers to other questions of the same kind, token F1 calls {by_f1} right, "
        f"the rule {by_rule}."
    )


def report(title: str, rows: Sequence[Row]) -> Iterator[str]:
    doubts = np.array([r.doubts for r in rows])
    rng = np.random.default_rng(0)
    resamples = rng.integers(len(rows), size=(RESAMPLES, len(rows)))
    changed = np.mean([r.changed for r in rows])
    yield f"### {title}: {len(rows):,} questions, clusters change in {changed:.1%}"
    yield ""
    yield "| label | right by F1 | by same answer | AUROC by F1 | by same answer | difference |"
    yield "| --- | --: | --: | --: | --: | --: |"
    for label in LABELS:
        right = np.array([[by[label] for by in r.right] for r in rows])
        if any(len(set(right[:, i])) < 2 for i in range(2)):
            continue
        values = [auroc(doubts[:, i], right[:, i]) for i in range(2)]
        differences = []
        for take in resamples:
            if all(0 < right[take, i].sum() < len(take) for i in range(2)):
                a, b = (auroc(doubts[take, i], right[take, i]) for i in range(2))
                differences.append(b - a)
        low, high = np.quantile(differences, [0.025, 0.975])
        shares = right.mean(axis=0)
        yield (
            f"| {label} | {shares[0]:.1%} | {shares[1]:.1%} | {values[0]:.3f} | {values[1]:.3f} "
            f"| {values[1] - values[0]:+.3f} ({low:+.3f} to {high:+.3f}) |"
        )
    yield ""


def speed(rows: Sequence[Row]) -> str:
    texts = list(dict.fromkeys(a for r in rows for a in r.answers))[:300]
    begun = time.perf_counter()
    pairwise_same(texts)
    return f"{len(texts)} texts compared in {1000 * (time.perf_counter() - begun):.0f} ms."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--world", type=int, default=0, help="ask so many questions of the world")
    options = parser.parse_args()
    if options.world:
        for line in report("The embedded world", world(options.world)):
            print(line)
        print(elsewhere())
        return
    rows = list(of_recordings())
    print(speed(rows))
    for title, sources in SETS.items():
        for line in report(title, [r for r in rows if r.source in sources]):
            print(line)


if __name__ == "__main__":
    main()
