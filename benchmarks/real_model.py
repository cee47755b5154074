"""What the scores are worth on a language model that nobody here trained.

    python -m benchmarks.real_model [--model smollm2] [--questions 200]

Asks 200 popular questions of the world's tables with one right answer each, the best known of
every relation; those of two relations played no part in choosing form or examples (see
`benchmarks.forms`). For the mixture, as many with many right answers. Prints how many greedy
answers are right, and the AUROC of every score with a 95% interval: by the rule *same answer*, and
by the paper's label, token F1.
A score that saw too little for a verdict says that one should doubt.
"""

import argparse
import time
from collections.abc import Sequence

import numpy as np

from benchmarks.forms import HELD_OUT
from benchmarks.shared.measuring import Question, Row, inspect
from core.abstention.intervals import Interval
from core.abstention.resampled_measures import compare
from core.data.world.facts import Band, facts
from core.language_models.registry import open_model
from core.language_models.trial import in_its_form
from core.studies.inspection.certificates import usual_least_mass
from core.uncertainty.scores import SCORES

COUNT = 200
GREEDY = "greedy_probability"


def popular(count: int, *, many: bool) -> list[Question]:
    """Return the best known questions, as many of each relation as of any other."""
    by_relation: dict[str, list[Question]] = {}
    for i, fact in enumerate(facts()):
        if (fact.band is Band.MANY_ANSWERS) == many:
            question = Question(fact.ask(fact.templates[0]), fact, i)
            by_relation.setdefault(fact.relation, []).append(question)
    ranked = [(place, q) for each in by_relation.values() for place, q in enumerate(each)]
    ranked.sort(key=lambda pair: pair[0])
    return [question for _, question in ranked[:count]]


def right(row: Row, name: str, *, by_f1: bool) -> bool:
    """Return whether what a score serves is right by one of the labels."""
    return (row.correct_by_f1 if by_f1 else row.correct)[name]


def ranking(rows: Sequence[Row], name: str, *, by_f1: bool) -> Interval:
    """Return the AUROC of a score with its interval."""
    least = usual_least_mass()
    doubts = np.array([r.doubt[name] if r.says_something(least) else np.inf for r in rows])
    correct = np.array([right(row, name, by_f1=by_f1) for row in rows])
    return compare({name: doubts}, {name: correct}, np.arange(len(rows)), name).values[name]


def report(model: str, single: Sequence[Row], many: Sequence[Row], held: Sequence[Row]) -> str:
    parts = {
        "one right answer": single,
        "one right answer, relations held out": held,
        "many right answers": many,
    }
    lines = ["| greedy answers that are right | questions | same answer | F1 |"]
    lines.append("| --- | --: | --: | --: |")
    for title, rows in parts.items():
        shares = [np.mean([right(row, GREEDY, by_f1=f1) for row in rows]) for f1 in (False, True)]
        lines.append(f"| {title} | {len(rows)} | {shares[0]:.0%} | {shares[1]:.0%} |")
    lines += ["", f"| AUROC, {model} | one right answer | the mixture | by F1: one | the mixture |"]
    lines.append("| --- | --: | --: | --: | --: |")
    for name, info in SCORES.items():
        cells = [
            ranking(rows, name, by_f1=by_f1)
            for by_f1 in (False, True)
            for rows in (single, [*single, *many])
        ]
        shown = " | ".join(f"{of.value:.2f} ({of.lower:.2f} to {of.upper:.2f})" for of in cells)
        lines.append(f"| {info.symbol} | {shown} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--questions", type=int, default=COUNT, help="of each kind")
    options = parser.parse_args()
    model, trials = in_its_form(open_model(options.model))
    asked = {many: popular(options.questions, many=many) for many in (False, True)}
    started = time.perf_counter()
    rows = {many: [inspect(question, model) for question in asked[many]] for many in asked}
    seconds = (time.perf_counter() - started) / (2 * options.questions)
    single = zip(asked[False], rows[False], strict=True)
    held = [row for question, row in single if question.fact.relation in HELD_OUT]
    text = report(options.model, rows[False], rows[True], held)
    print(f"{model.name}, {model.revision}: {trials[-1].sentence}\n\n{text}\n")
    print(f"{seconds:.2f} seconds an inspection, on average")


if __name__ == "__main__":
    main()
