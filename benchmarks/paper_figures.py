"""The paper's Figures 5 and 6 in numbers: on the embedded world, or on real questions.

    python -m benchmarks.paper_figures
    python -m benchmarks.paper_figures --model smollm2 --triviaqa TQ.json --ambigqa dev_light.json

The first asks every question of the embedded world. The second draws 500 questions of TriviaQA,
AmbigQA and WordNet each, with a fixed seed, and asks them in turns, so that a run that was stopped
says as much of each. Ten answers to a question are drawn, as in the paper. The run lies in
``build/`` and is gone on with; ``--read`` asks nothing, and prints what there is.

Prints, as Markdown, for every set of questions: the measures of every score with 95% bootstrap
intervals and how M.I. compares with the others (Figure 5), and by entropy what thresholds answer
that were calibrated on other questions of the same mixture (Figure 6), right by both usual labels.
"""

import argparse
import itertools
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.abstention.metrics import MEASURES
from core.abstention.mixtures import Bar, Mixture
from core.data.datasets.draw import draw
from core.data.datasets.natural_questions import read_ambigqa
from core.data.datasets.questions import Question
from core.data.datasets.triviaqa import read_triviaqa
from core.data.datasets.wordnet import wordnet_questions
from core.data.datasets.world import NEVER_TAUGHT, world_questions
from core.data.world.facts import Band
from core.language_models.registry import open_model
from core.language_models.trial import in_its_form
from core.reports.evaluation import mixtures, words
from core.reports.text import by_other
from core.studies.evaluation.local import Task
from core.studies.evaluation.mixing import RULES, mix
from core.studies.evaluation.results import (
    RESAMPLES,
    RunMeasures,
    columns_for,
    measure_run,
    read_results,
)
from core.studies.evaluation.run import evaluate, survey
from core.studies.evaluation.saved_run import Filter, Run
from core.studies.evaluation.score_comparison import compare
from core.studies.inspection.certificates import usual_least_mass
from core.studies.inspection.recorder import usual_request
from core.studies.inspection.request import Reading, Sampling
from core.uncertainty.scores import SCORES

EACH, SEED = 500, 1  # questions drawn of a dataset
MUTUAL_INFORMATION = "mutual_information"
REAL = "TriviaQA, AmbigQA and WordNet"
WORDNET = Path("/usr/share/wordnet")  # Debian's wordnet-base


@dataclass(frozen=True)
class Set:
    """Questions that the paper looks at together."""

    title: str
    # single, many: Sources with one right answer to a question, and with many.
    single: tuple[str, ...]
    many: tuple[str, ...] = ()


MANY = f"world {Band.MANY_ANSWERS.value}"
ONE = tuple(f"world {band.value}" for band in Band if band is not Band.MANY_ANSWERS)
TRIVIAQA, AMBIGQA = ("triviaqa",), ("ambigqa single", "ambigqa multiple")
NEVER = f"world {NEVER_TAUGHT}"
WORLD_SETS = (
    Set("One right answer", ONE),
    Set("Lists, taught or not", (), (MANY, NEVER)),
    Set("The mixture with taught lists only", ONE, (MANY,)),
    Set("The mixture", ONE, (MANY, NEVER)),
)
REAL_SETS = (
    Set("TriviaQA", TRIVIAQA),
    Set("AmbigQA", AMBIGQA),
    Set("TriviaQA and WordNet", TRIVIAQA, ("wordnet",)),
    Set("AmbigQA and WordNet", AMBIGQA, ("wordnet",)),
)


def real_questions(triviaqa: Path, ambigqa: Path, wordnet: Path) -> list[Question]:
    """Draw of every dataset, and take turns."""
    drawn = [
        draw(read(), EACH, SEED)
        for read in (
            lambda: read_triviaqa(triviaqa),
            lambda: read_ambigqa(ambigqa),
            lambda: wordnet_questions(wordnet),
        )
    ]
    turns = itertools.chain.from_iterable(itertools.zip_longest(*drawn))
    return [question for question in turns if question is not None]


def ask(name: str, title: str, read: Callable[[], Iterable[Question]], folder: Path) -> None:
    """Ask what was not asked yet."""
    model, _ = in_its_form(open_model(name))
    request = usual_request("any", model.capabilities, sampling=Sampling.DRAWN)
    task = Task(model, request, Reading(), usual_least_mass())
    last = -1

    def progress(stage: str, share: float) -> None:
        nonlocal last
        if int(100 * share) > last:
            last = int(100 * share)
            print(stage, file=sys.stderr, flush=True)

    evaluate(survey(title, lambda: iter(read())), task, folder, progress)


def report(run: Run, sets: Sequence[Set], targets: Sequence[float]) -> Iterator[str]:
    """Yield the tables of a run."""
    for each in sets:
        filters = [Filter("short"), *(Filter("diverse", source) for source in each.many)]
        results = read_results(
            run, filters, sources=(*each.single, *each.many), columns=columns_for("same_answer")
        )
        made = measure_run(results, RESAMPLES)
        yield f"### {each.title}: {len(results):,} questions"
        yield " ".join(results.dropped)
        yield measures(made)
        if MUTUAL_INFORMATION in results.scores:
            yield " ".join(words.comparison(c) for c in compare(made, MUTUAL_INFORMATION))
        yield from words.missing_scores(results)
        for target in targets if each.single and each.many else ():
            mixed = mix(results, each.single, each.many, target_error=target)
            yield from mixtures.mixtures(mixed)
            for rule, title in RULES.items():
                if found := [
                    m for m in mixed.mixtures if m.rule == rule and set(m.values) != {None}
                ]:
                    yield f"Target {target:.0%}, {title}:"
                    yield by_entropy(found)


def measures(made: RunMeasures) -> str:
    """Return every score's measures as a table."""
    other = words.label_heading(made.results)
    lines = [f"| score | right | {other} | {' | '.join(name.upper() for name in MEASURES)} |"]
    lines.append("| --- | --: | --: |" + " --: |" * len(MEASURES))
    for name in made.results.scores:
        both = made.results, made.results.by_other_label
        cells = [SCORES[name].symbol, *(f"{each.right(name):.1%}" for each in both)]
        for measure in MEASURES:
            known = made.interval(name, measure)
            cells.append(f"{known.value:.3f} ({known.lower:.3f} to {known.upper:.3f})")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def by_entropy(found: Sequence[Mixture]) -> str:
    """Return what thresholds answer, and how much of it is wrong, as a table."""
    symbols = [SCORES[mixture.score].symbol for mixture in found]
    head = [f"{symbol} {what}" for symbol in symbols for what in ("answered", "wrong")]
    lines = [f"| entropy, nats | questions | {' | '.join(head)} |", "| --- | --: |"]
    lines[1] += " --: |" * len(head)
    for bars in zip(*(mixture.bars for mixture in found), strict=True):
        cells = [cell for bar in bars for cell in _cells(bar)]
        lines.append(f"| {bars[0].name} | {bars[0].queries:.0f} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cells(bar: Bar) -> list[str]:
    wrong = f"{_cell(bar.error, bar.error_spread)}{by_other(bar)}"
    return [_cell(bar.recall, bar.recall_spread), wrong]


def _cell(value: float, spread: float) -> str:
    if math.isnan(value):
        return "–"
    return f"{value:.1%}" if math.isnan(spread) else f"{value:.1%} ± {spread:.1%}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--model", default="embedded")
    parser.add_argument("--triviaqa", type=Path, help="EVOUNA's TQ.json, or an official file")
    parser.add_argument("--ambigqa", type=Path, help="a file of AmbigNQ")
    parser.add_argument("--wordnet", type=Path, default=WORDNET, help="WordNet's folder")
    parser.add_argument("--run", type=Path, help="the run's folder")
    parser.add_argument("--read", action="store_true", help="ask nothing")
    parser.add_argument("--target", type=float, action="append", help="of Figure 6")
    options = parser.parse_args()
    is_world = options.triviaqa is None and options.model == "embedded"
    folder = options.run or Path("build") / f"paper-figures-{options.model}"
    if not options.read:
        if is_world:
            ask(options.model, "embedded world", world_questions, folder)
        else:
            if not (options.triviaqa and options.ambigqa):
                parser.error("--triviaqa and --ambigqa name the files of real questions.")
            questions = real_questions(options.triviaqa, options.ambigqa, options.wordnet)
            ask(options.model, REAL, lambda: questions, folder)
    run = Run(folder)
    targets = options.target or ([0.05] if is_world else [0.05, 0.15, 0.5])
    for part in report(run, WORLD_SETS if is_world else REAL_SETS, targets):
        if part:
            print(f"{part}\n")


if __name__ == "__main__":
    main()
