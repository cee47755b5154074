"""The command `evaluate`: every question of a file asked once, in a run that survives anything."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from core.abstention import metrics
from core.abstention.intervals import Interval
from core.codec import count_of, encode, finite, list_of
from core.commands.columns import COLUMNS, columns, skips
from core.commands.engines import engine_of, engines
from core.commands.files import FilesFirst, Folder, Input, Output, Range, write
from core.commands.ledger import LedgerError, ledger
from core.commands.model import asks, open_for_study, payment, refuse_others, refuse_typed, tell
from core.commands.request import reads, request_of
from core.commands.terminal import CLEAR
from core.data.datasets.summary import omissions
from core.data.datasets.tables import QuestionFile
from core.guard import policy_in
from core.reports.evaluation import mixtures, words
from core.reports.text import table
from core.studies import costs
from core.studies.evaluation import mixing
from core.studies.evaluation.decisions import decide
from core.studies.evaluation.label_views import view
from core.studies.evaluation.local import Task
from core.studies.evaluation.results import (
    Results,
    RunMeasures,
    affordable,
    columns_for,
    measure_run,
    read_results,
    share_right,
)
from core.studies.evaluation.rows import RIGHT
from core.studies.evaluation.run import Questions, most, reading_in, survey
from core.studies.evaluation.run import evaluate as ask_all
from core.studies.evaluation.run_folder import RunError
from core.studies.evaluation.saved_run import FILTERS, Filter, Run, labelled_csv
from core.studies.evaluation.score_comparison import ScoreComparison, compare
from core.studies.inspection.certificates import usual_least_mass
from core.studies.inspection.recorder import check_samples, usual_request
from core.studies.inspection.request import MAX_FRONT_CHARACTERS
from core.studies.progress import Progress
from core.uncertainty.scores import SCORES

SHOWN, SAID = 0.2, 30.0  # seconds between two states: on a terminal, and in a file
PATIENCE = 5.0  # seconds that resampling may take, about
REFERENCE = "mutual_information"  # every other score is compared with it
USUAL_LOSS, GUARANTEE = 0.05, 0.9  # of Figure 6: the target, and the confidence
ASK = " --resamples says how many to draw."
AGREE = "Nothing was asked. --yes agrees beforehand."
#: The options on rows that are there; all others are on how questions are asked.
READS = {
    *("questions", "out", "filters", "sources", "served", "match", "labelled", "resamples"),
    *("policy", "figures", "many", "target_loss", "as_json"),
}


@click.command(
    cls=FilesFirst,
    help="Ask a model every question of a file, and score its answers by every score.",
)
@click.argument("questions", type=Input(), required=False)
@click.option(
    "--out",
    type=Folder(only_with="questions"),
    required=True,
    help="The folder of the run. A run that is there is continued; without QUESTIONS it is only "
    "read.",
)
@columns
@click.option(
    "--context",
    metavar="TEXT",
    help="The column of passages that each answer is to be drawn from, in front of every prompt.",
)
@click.option("--system", default="", help="A system prompt, in front of every prompt.")
@asks
@reads
@engines
@skips
@click.option("--retry-failed", is_flag=True, help="Ask questions that failed before once more.")
@click.option("--yes", is_flag=True, help="Agree to what a service may cost.")
@click.option(
    "--filter",
    "filters",
    multiple=True,
    metavar="NAME[=SOURCE]",
    help=f"Filter the rows of all sources, or of one: {', '.join(FILTERS)}. Repeat it for several.",
)
@click.option(
    "--source",
    "sources",
    multiple=True,
    help="Count the rows of this source only. Repeat it for several.  [default: all]",
)
@click.option(
    "--served",
    type=click.Choice(list(SCORES)),
    help="Judge every score by the answer that this one serves, not by its own.",
)
@click.option(
    "--match",
    type=click.Choice(list(RIGHT)),
    default="same_answer",
    show_default=True,
    help="When an answer is right: if it is the same answer as an accepted one, if its token F1 "
    "with one is at least 0.25 (the paper’s rule), or if it is one word for word.",
)
@click.option(
    "--labelled", type=Output(), help="Write the rows as the labelled CSV that `calibrate` reads."
)
@click.option(
    "--resamples",
    type=click.IntRange(0, 100_000),
    help="Resamples of the questions, for intervals.  [default: 1,000, or as many as take a few "
    "seconds]",
)
@click.option(
    "--policy",
    type=Input(),
    help="Say how many rows this policy answers, and how many of these wrongly.",
)
@click.option("--figures", type=Folder(), help="A folder for the paper's Figures 5 and 6 as SVG.")
@click.option(
    "--many",
    multiple=True,
    metavar="SOURCE",
    help="A source of questions with many right answers, for Figure 6. Repeat it for several.  "
    "[default: as the rows show]",
)
@click.option(
    "--target-loss",
    type=Range(0, 1, min_open=True, max_open=True),
    default=USUAL_LOSS,
    show_default=True,
    help="Target loss of Figure 6.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def evaluate(questions: Path | None, out: Path, as_json: bool, **options: Any) -> None:
    """Ask what is left of a run, and print what every score is worth on its rows."""
    chosen = [Filter.from_text(text) for text in options["filters"]]
    if options["labelled"] is not None and (options["sources"] or options["served"]):
        raise click.UsageError(
            "--labelled writes the rows of all sources, each score with its own answer. Leave out "
            "--source and --served; --filter narrows what is written."
        )
    if options["figures"] is None:
        refuse_typed({"many", "target_loss"}, "Only --figures draws Figure 6")
    run = Run(out)
    if questions is None:
        refuse_others(READS, "Without QUESTIONS nothing is asked, and the run only read")
        _ = run.manifest
    else:
        _ask(questions, run, options)
    measured = _measures(run, chosen, options)
    summary = _summary(measured)
    results = measured.results
    for sentence in results.dropped:
        tell(sentence)
    if error := run.commonest_error:
        tell(f"Why rows failed, most often: {error}")
    for say in (words.labels, words.missing_scores, words.right_half, words.curve_ends):
        for sentence in say(results):
            tell(sentence)
    _note_views(results, options)
    if options["policy"] is not None:
        summary["decisions"] = _decisions(results, options["policy"])
    if options["figures"] is not None:
        summary["figures"] = _figures(measured, options["figures"], options)
    if options["labelled"] is not None:
        write(options["labelled"], labelled_csv(run, chosen, options["match"])[0])
    click.echo(encode(summary) if as_json else _report(measured, summary))


def _decisions(results: Results, policy: Path) -> dict[str, Any]:
    """Say what a policy does to the rows of a run, and return it in numbers."""
    decided = decide(results, policy_in(policy))
    for sentence in words.decisions(decided):
        tell(sentence)
    observed = decided.observed
    return {
        "questions": observed.queries,
        "answered": observed.answered,
        "errors": observed.errors,
        "other_errors": decided.other_errors,
    }


def _note_views(results: Results, options: dict[str, Any]) -> None:
    """Note what is seen of labels, and say what a promise on them has to pay for."""
    targets: list[tuple[float, float] | None] = [None]
    if options["figures"] is not None and options["target_loss"] != USUAL_LOSS:
        targets.append((options["target_loss"], GUARANTEE))
    for target in targets:
        try:
            seen = ledger(partial(view, results, target=target), lambda taken: [taken])
        except LedgerError as error:  # nothing is promised here
            tell(error.message)
            return
    if seen is not None and (sentence := words.price_of_view(seen)):
        tell(sentence)


def _ask(file: Path, run: Run, arguments: dict[str, Any]) -> None:
    """Ask the questions of a file that have no row yet."""
    options, reading = request_of("any", arguments)
    engine = engine_of(arguments)
    questions = _survey(file, arguments)
    for sentence in questions.reading:
        tell(sentence)
    model = open_for_study(arguments["model"], arguments["form"], arguments["budget"])
    context = questions.longest_context[:MAX_FRONT_CHARACTERS]  # what is longer is refused
    front = {"system": arguments["system"], "context": context}
    request = usual_request("any", model.capabilities, **options, **front)
    check_samples(request, model.capabilities)
    task = Task(model, request, reading, usual_least_mass())
    left = run.unfinished_questions(questions.number, again=arguments["retry_failed"])
    if lasting := costs.lasting(left * costs.computed_tokens(request), model):
        tell(f"This takes {lasting} on this machine.")
    offered = most(questions, task, left)
    agree = (lambda: None) if arguments["yes"] or not left else _agree
    with (
        payment(model, offered, arguments["budget"], arguments["prices"], agree=agree),
        _show(run) as progress,
    ):
        outcome = ask_all(
            questions,
            task,
            run.folder,
            progress,
            engine=engine(model, run.folder),
            again=arguments["retry_failed"],
        )
    new = outcome.done - outcome.before
    tell(f"{count_of(new, 'question')} asked, {outcome.before:,} finished before.")


def _survey(path: Path, arguments: dict[str, Any]) -> Questions:
    """Read all questions once, and put into words what they were read as."""
    problems: list[str] = []
    file = QuestionFile(
        path, path.stem, **{name: arguments[name] for name in (*COLUMNS, "context")}
    )
    read = partial(file.questions, problems.append if arguments["skips"] else None)
    questions = survey(path.name, read, file.meaning)
    malformed = questions.malformed + len(problems)
    reading = (*questions.reading, *omissions(problems, malformed))
    return replace(questions, reading=reading, malformed=malformed)


def _agree() -> None:
    try:
        click.confirm("Ask?", abort=True, err=True)
    except click.Abort as error:
        raise click.ClickException(AGREE) from error


@contextmanager
def _show(run: Run) -> Iterator[Progress]:
    """Show on standard error how far a run is, and when it is stopped what was finished."""
    terminal, last = sys.stderr.isatty(), time.monotonic()

    def progress(stage: str, share: float) -> None:
        nonlocal last
        if time.monotonic() - last >= (SHOWN if terminal else SAID):
            last = time.monotonic()
            click.echo(f"{CLEAR}{stage}" if terminal else stage, nl=not terminal, err=True)

    try:
        yield progress
    except BaseException as error:
        if terminal:
            click.echo(CLEAR, nl=False, err=True)
        if not isinstance(error, RunError):
            number = count_of(run.finished_questions, "question")
            tell(f"{number} finished; run the same command again to go on.")
        raise
    if terminal:
        click.echo(CLEAR, nl=False, err=True)


def _measures(run: Run, filters: list[Filter], options: dict[str, Any]) -> RunMeasures:
    match, resamples = options["match"], options["resamples"]
    results = read_results(
        *(run, filters, match),
        sources=options["sources"],
        columns=columns_for(match),
        served=options["served"],
    )
    if resamples is None:
        resamples = affordable(len(results), len(results.scores), PATIENCE)
    return measure_run(results, resamples)


def _summary(measured: RunMeasures) -> dict[str, Any]:
    """Return what a run is and what every score is worth on its rows."""
    results, manifest = measured.results, measured.results.run.manifest
    comparisons: tuple[ScoreComparison, ...] = ()
    if REFERENCE in results.scores:
        comparisons = compare(measured, REFERENCE)
    return {
        "folder": str(results.run.folder),
        "model": manifest["model"],
        "revision": manifest["revision"],
        "form": manifest["form"],
        "questions": manifest["questions"]["number"],
        "reading": list(reading_in(manifest)),
        "done": results.run.finished_questions,
        "rows": len(results),
        "dropped": list(results.dropped),
        "match": results.match,
        "served": results.served,
        "resamples": measured.number,
        "answer": " ".join(words.answer(measured)),
        "scores": {name: _of(measured, name) for name in SCORES},
        "comparisons": [
            {
                "score": each.score,
                "other": each.other,
                "measure": each.measure,
                "difference": finite(each.difference.value),
                "interval": _ends(each.difference),
                "test": each.test,
                "p_value": finite(each.p_value),
                "adjusted": finite(each.adjusted),
                "sentence": words.comparison(each),
            }
            for each in comparisons
        ],
    }


def _of(measured: RunMeasures, name: str) -> dict[str, Any]:
    intervals = {measure: measured.interval(name, measure) for measure in metrics.MEASURES}
    return {
        "right": finite(measured.results.right(name)),
        "right_by": {
            match: finite(share_right(measured.results.correct_by(match)[name]))
            for match in ("same_answer", "f1")
        },
        **{measure: finite(interval.value) for measure, interval in intervals.items()},
        "intervals": {measure: _ends(interval) for measure, interval in intervals.items()},
    }


def _ends(interval: Interval) -> list[float] | None:
    ends = [finite(interval.lower), finite(interval.upper)]
    return None if None in ends else [end for end in ends if end is not None]


def _report(measured: RunMeasures, summary: dict[str, Any]) -> str:
    columns = words.score_columns(measured)
    del columns["score"]  # the symbol stands beside it, too
    intervals = words.intervals(measured) + ("" if measured.number else ASK)
    return "\n".join(
        [
            f"{summary['done']:,} of {count_of(summary['questions'], 'question')} finished, "
            f"rows that count: {summary['rows']:,}, in {summary['folder']}.",
            *filter(None, [summary["answer"]]),
            *["", *table(columns)],
            *(["", intervals] if summary["rows"] else []),
            *([""] if summary["comparisons"] else []),
            *(each["sentence"] for each in summary["comparisons"]),
        ]
    )


def _kinds(results: Results, many: tuple[str, ...]) -> mixing.Kinds:
    """Return which sources have many right answers: those named, or what the rows tell."""
    every = mixing.sources(results)
    if not many:
        return mixing.kinds(every)
    names = [each.name for each in every]
    if unknown := sorted({*many}.difference(names)):
        raise RunError(f"The rows are of {list_of(names)}, not of {list_of(unknown)}.")
    return mixing.Kinds(tuple(name for name in names if name not in many), many, "")


def _figures(measured: RunMeasures, folder: Path, options: dict[str, Any]) -> list[str]:
    """Write the paper's figures of a run, and return where they are; say what came out."""
    from core.charts import export
    from core.charts import paper_figures as charts  # Altair takes long to load
    from core.reports.paper_figures import mixture, precision_recall

    results = measured.results
    figures = {}
    bands = measured.bands
    papers = {name: band for name, band in bands.items() if name in charts.PAPERS}
    others = {name: band for name, band in bands.items() if name not in charts.PAPERS}
    for name, some in (("precision-recall", papers), ("precision-recall-others", others)):
        if some:  # seven bands in one picture hide each other
            figures[name] = precision_recall(some)
    kinds = _kinds(results, options["many"])
    mixed = mixing.mix(results, kinds.single, kinds.many, target_error=options["target_loss"])
    divided = () if options["many"] else (mixtures.two_kinds(kinds),)
    for sentence in (*divided, *mixtures.mixtures(mixed)):
        tell(sentence)
    if mixed.mixtures:
        for measure in charts.TITLES:
            figures[f"mixture-{measure}"] = mixture(mixed.mixtures, measure)
    paths = [folder / f"{name}.svg" for name in figures]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.ClickException(f"{folder} cannot be made: {error.strerror}.") from error
    for path, picture in zip(paths, figures.values(), strict=True):
        write(path, export.to_svg(picture.figure(question=words.beneath(results))))
    return [str(path) for path in paths]
