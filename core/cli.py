"""The command line: the same studies, the same numbers, no browser.

Exit status 0: done; 1: could not be done, with a sentence on standard error; 2: wrong
usage; 130: stopped with Ctrl-C. With ``--json`` standard output is one JSON object and nothing
else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar

import click

from core.abstention.ledger import Look
from core.abstention.policy import Policy, PolicyError, to_dict, to_json
from core.abstention.thresholds import Uncertifiable
from core.codec import encode, one_line
from core.commands.dashboard import dashboard
from core.commands.dataset import dataset
from core.commands.decide import decide
from core.commands.evaluate import evaluate
from core.commands.files import FilesFirst, Input, Output
from core.commands.files import write as write_file
from core.commands.grading import grades, grading
from core.commands.laboratory import laboratory
from core.commands.looks import ledger
from core.commands.model import asks, open_for_study, payment, usage
from core.commands.probe import probe
from core.commands.report import report_option, write
from core.commands.request import reads, request_of
from core.commands.score import score
from core.commands.serve import serve
from core.data.datasets.predictions import UngradedError
from core.data.tabular import rows
from core.data.tabular.columns import word_of
from core.data.tabular.directions import UnknownDirectionError
from core.data.tabular.isolation import parse_isolated
from core.data.tabular.labelled import Labelled, UnknownLabelsError, UnknownQuestionsError
from core.data.tabular.labels import Meaning, UnreadLabelsError
from core.data.tabular.mixtures import RowFilter, UnknownMixtureError
from core.data.tabular.suspicion import Claim, SuspiciousScoreError
from core.data.tabular.uploads import UploadError
from core.guard import policy_in, settings_of
from core.language_models.errors import ModelError
from core.reports.amplification.words import remarks, verdict
from core.reports.amplification.words import to_dict as curve_to_dict
from core.reports.amplification.words import to_json as curves_to_json
from core.reports.calibration import words as calibration_words
from core.reports.inspection import words
from core.reports.text import table
from core.store.database import open_database
from core.store.errors import StoreError
from core.store.results import MAX_BYTES, SavedResults
from core.studies.amplification import curve
from core.studies.amplification import serialise as serialise_curves
from core.studies.amplification.curve import (
    DEFAULT_REPETITIONS,
    Amplification,
    Case,
    tidy,
)
from core.studies.calibration import calibration, diagnostics, groups, looks
from core.studies.calibration.calibration import METHODS, Calibration, CalibrationError
from core.studies.calibration.groups import ByGroup
from core.studies.costs import plan, plan_curves, quick_plan
from core.studies.evaluation.files import RunError
from core.studies.inspection import serialise as serialise_inspection
from core.studies.inspection.grading import judge
from core.studies.inspection.inspection import Inspection, read
from core.studies.inspection.quick import ANSWERS, quick_look
from core.studies.inspection.recorder import check_samples, record, usual_request
from core.studies.inspection.request import InvalidRequestError, Request
from core.studies.inspection.taught import in_taught_words
from core.uncertainty.scores import SCORES

T = TypeVar("T")

SETTINGS = (
    *("samples", "sampling", "temperature", "seed", "similarity", "threshold"),
    *("gamma_1", "gamma_2"),
)
KEEP = "Save the result to History."
# What a person can act on, and reads as a sentence.
PROBLEMS = (
    *(InvalidRequestError, ModelError, StoreError, UploadError, CalibrationError),
    *(RunError, PolicyError),
)
STOPPED = 130  # exit status after Ctrl-C, as shells have it
MEANING = (
    "What a label that says neither right nor wrong means: VALUE=right, VALUE=wrong, or VALUE=out "
    "to leave its rows out. An empty VALUE is an empty cell. Repeat it for every value."
)
FILTER = (
    "Rows that count, of several models, filters or epochs: COLUMN=VALUE, or COLUMN for all as a "
    "mix. Repeat it for several columns."
)
VOUCH = f"Say of a suspicious score that it {' and '.join(Claim)}. Repeat it for several."
DIRECTION = (
    "Direction of all the scores; needed where a heading does not say it, as “confidence” and "
    "“entropy” do."
)
#: What to add to a command that could not do without a guess.
OPTIONS = {
    UnreadLabelsError: (
        "Add --meaning VALUE=right, --meaning VALUE=wrong or --meaning VALUE=out for each; "
        "--meaning =wrong decides about empty cells."
    ),
    UnknownDirectionError: (
        "Add --larger-is-surer or --larger-is-doubt; of several scores, name the one you mean with "
        "--score."
    ),
    UngradedError: "Add --grade same-answer, paper, person or model, or --correct COLUMN.",
    UnknownLabelsError: "Add --correct COLUMN.",
    UnknownMixtureError: "Add --filter COLUMN=VALUE, or --filter COLUMN if their mix counts.",
    SuspiciousScoreError: "Add --vouch SCORE to say so.",
    UnknownQuestionsError: 'Add --question COLUMN, or --question "" if every row asks another.',
}
NOT_INSTALLED = (
    "The package “{}” is not installed. Install what {} needs with pip install 'believe[{}]'."
)
SAY_SHOW = "Add --show-untaught to see what it would have said."


class Stoppable(click.Group):
    """Commands that the first Ctrl-C ends, with a sentence and a status of its own."""

    command_class = FilesFirst

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; see `click.Group.invoke`. What a person can act on is a sentence."""
        try:
            return super().invoke(ctx)
        except PROBLEMS as error:
            option = next((add for kind, add in OPTIONS.items() if isinstance(error, kind)), "")
            raise click.ClickException(f"{error} {option}".strip()) from error
        except ModuleNotFoundError as error:
            serves = (error.name or "").partition(".")[0] in {"starlette", "uvicorn"}
            what = ("this", "serve") if serves else ("the dashboard or a report", "dashboard")
            raise click.ClickException(NOT_INSTALLED.format(error.name, *what)) from error
        except KeyboardInterrupt:
            click.echo("Stopped.", err=True)
        ctx.exit(STOPPED)


MORE_ANSWERS = "More answers may bring a verdict: ask again with a larger --samples."


@click.group(cls=Stoppable, help=__doc__)
def main() -> None:
    """Believe's commands."""


main.add_command(dataset)
main.add_command(dashboard)
main.add_command(decide)
main.add_command(evaluate)
main.add_command(laboratory)
main.add_command(probe)
main.add_command(score)
main.add_command(serve)


@main.command(help="Ask a model one question and report whether to believe the answer.")
@click.argument("query", required=False)
@click.option(
    "--from",
    "source",
    type=Input(),
    help="Recompute a saved inspection (JSON) instead; calls no model.",
)
@asks
@click.option("--keep/--no-keep", default=True, show_default=True, help=KEEP)
@reads
@click.option(
    "--as-typed",
    is_flag=True,
    help="Ask in these words, though a question that the model was taught is surely meant.",
)
@click.option(
    "--policy", type=Input(), help="Decide by this policy, asking with the settings it holds for."
)
@report_option
@click.option(
    "--show-untaught",
    "untaught",
    is_flag=True,
    help="Show what the model would have said where it was taught nothing near the question.",
)
@click.option("--quick", is_flag=True, help=words.QUICK)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def inspect(
    query: str | None,
    source: Path | None,
    report: Path | None,
    untaught: bool,
    quick: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Print one inspection, asked anew or recomputed from a file."""
    if (query is None) == (source is None):
        raise click.UsageError("Give either a QUERY or --from FILE.")
    if quick:
        click.echo(_quick(query, report, as_json, options))
        return
    if source is None:
        inspection = _new_inspection(query, options)
    else:
        _refuse_options_beside_from()
        saved = _beginning(source, MAX_BYTES)
        inspection = serialise_inspection.from_json(saved)
    click.echo(
        serialise_inspection.to_json(inspection) if as_json else _report(inspection, untaught)
    )
    if report is not None:
        from core.reports.inspection.document import (
            report as report_of,  # Altair takes long to load
        )

        write(report, report_of(inspection, untaught=untaught), from_file=source is not None)


def _quick(query: str | None, report: Path | None, as_json: bool, options: dict[str, Any]) -> str:
    """Look at a question quickly, and say that this is all it was."""
    if query is None or report is not None:
        raise click.UsageError("--quick is for a QUERY, and has no report.")
    chosen, _ = request_of(query, options)
    model = open_for_study(options["model"], options["form"], options["budget"])
    request = usage(Request, query, ANSWERS, seed=chosen.get("seed", 0))
    offered = quick_plan(request, model.capabilities)
    with payment(model, offered, options["budget"], options["prices"]):
        answers = quick_look(request.query, model, seed=request.seed)
    if as_json:
        return encode({"query": request.query, "model": model.name, "quick": dict(answers)})
    return "\n".join(
        [
            f"A quick look, no verdict: {ANSWERS} answers, by how many are the same.",
            *(f"{count:4d}×  {text}" for text, count in answers),
            "Whether the model does not know, or many answers are right, takes the same command "
            "without --quick.",
        ]
    )


def _new_inspection(query: str | None, options: dict[str, Any]) -> Inspection:
    """Ask a question anew, by the options of `inspect`."""
    chosen, reading = request_of(query, options)
    policy = policy_in(options["policy"]) if options["policy"] else None
    if policy:
        _refuse_settings_beside_policy()
    model = open_for_study(options["model"], options["form"], options["budget"])
    request = usual_request(query or "", model.capabilities, **chosen)
    if policy and policy.pipeline:
        request, reading = settings_of(model, policy)
        request = replace(request, query=query or "")
    if not options["as_typed"]:
        request = in_taught_words(request, model)
    check_samples(request, model.capabilities)
    with payment(model, plan(request, model.capabilities), options["budget"], options["prices"]):
        inspection = read(record(request, model), reading, policy=policy)
    if options["keep"]:
        text = serialise_inspection.to_json(inspection)
        _keep("inspection", request.query, model.name, text, inspection.outcome)
    return inspection


@main.command(help="Find an abstention threshold on labelled scores, with its guarantee.")
@click.argument("file", type=Input())
@click.option(
    "--score",
    "scores",
    multiple=True,
    help="Column of scores; of several, the best, at δ divided by their number.",
)
@click.option(
    "--correct",
    help="Column that says right or wrong; guessed if omitted. Of a run’s rows also f1: each "
    "score’s own labels by the paper’s rule.",
)
@click.option(
    "--question",
    help="Column of questions, of which rows with the same count once; empty if every row asks "
    "another. Guessed if omitted.",
)
@click.option("--group", help="Column of groups; guessed if omitted, none if empty.")
@click.option("--larger-is-surer/--larger-is-doubt", "surer", default=None, help=DIRECTION)
@click.option("--meaning", "meanings", multiple=True, metavar="VALUE=MEANING", help=MEANING)
@grades
@click.option("--filter", "filters", multiple=True, metavar="COLUMN[=VALUE]", help=FILTER)
@click.option("--vouch", "vouched", multiple=True, metavar="SCORE", help=VOUCH)
@click.option("--target-error", default=0.05, show_default=True, help="α, between 0 and 1.")
@click.option("--confidence", default=0.9, show_default=True, help="1 − δ, between 0 and 1.")
@click.option("--method", type=click.Choice(list(METHODS)), default="ltt", show_default=True)
@click.option("--out", type=Output(), help="Write the policy.")
@click.option("--keep/--no-keep", default=True, show_default=True, help=KEEP)
@report_option
@click.option(
    "--json", "as_json", is_flag=True, help="Print the policy, and its groups, as one JSON object."
)
def calibrate(
    file: Path,
    scores: tuple[str, ...],
    method: str,
    out: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Print the policy that the page Calibration exports for the same file and target."""
    meant = _meanings(options["meanings"])
    if options["grader"] and options["correct"]:
        raise click.UsageError("Give either --grade or --correct.")
    content = _beginning(file, rows.MAX_BYTES)
    data = calibration.read(
        *(content, file.name, scores, options["correct"], options["surer"], meant),
        parse=parse_isolated,
        group=options["group"],
        question=options["question"],
        vouched=options["vouched"],
        graded=grading(options),
        filters=_filters(options["filters"]),
    )
    score = calibration.preference(data, scores, method)
    target = usage(
        calibration.Target, options["target_error"], options["confidence"], method, score
    )
    outcome, by_group = _paid_calibration(data, target)
    reading = (*data.reading, *data.reading_of_others)
    for line in data.decided if as_json else (*reading, *data.decided):
        click.echo(line, err=True)
    for problem in data.problems if as_json else set(data.problems).difference(reading):
        click.echo(problem, err=True)
    if outcome.repeated:
        click.echo(calibration.REPEATED.format(outcome.repeated), err=True)
    if against := calibration_words.contradiction(diagnostics.contradictions(outcome.data)):
        click.echo(against, err=True)
    if options["report"] is not None:
        from core.reports.calibration.document import (
            report as report_of,  # Altair takes long to load
        )

        write(options["report"], report_of(outcome))
    if isinstance(outcome.outcome, Uncertifiable) or outcome.policy is None:
        if as_json:
            click.echo(encode({"guarantee": None, "answered": 0, **_payment(outcome)}, indent=2))
        raise click.ClickException(getattr(outcome.outcome, "reason", "There is no policy."))
    if out is not None:
        write_file(out, to_json(outcome.policy))
    if options["keep"]:
        policy = outcome.policy
        score = SCORES[policy.score].title if policy.score in SCORES else policy.score
        title = f"{score}: answer {policy.where}"
        model = policy.pipeline.model if policy.pipeline else "scores of unknown origin"
        _keep("policy", title, model, to_json(policy), policy.sentence)
    click.echo(
        _policy_json(outcome, outcome.policy, by_group)
        if as_json
        else _policy_report(outcome.policy, by_group)
    )


def _paid_calibration(data: Labelled, target: calibration.Target) -> tuple[Calibration, ByGroup]:
    """Calibrate, and note in the ledger of labels what was looked at, before anybody sees it."""

    def work(earlier: Sequence[Look]) -> tuple[Calibration, ByGroup]:
        outcome = calibration.calibrate(data, target, looks=earlier)
        return outcome, groups.by_group(outcome)

    return ledger(work, lambda of: (of[0].look, of[1].look))


def _payment(outcome: Calibration) -> dict[str, Any]:
    """Return which look at its labels this was, what it may spend, and what came before."""
    if outcome.look is None or outcome.looks is None:
        return {}
    pays = outcome.target.method == "ltt"
    return {
        "looks": outcome.look.place if pays else 0,
        "delta": round(outcome.target.delta, 12) if pays else None,
        "spent_by": looks.looks_before(outcome.look, outcome.looks),
    }


def _filters(options: tuple[str, ...]) -> list[RowFilter]:
    """Read COLUMN=VALUE, or COLUMN alone."""
    filters: dict[str, str | None] = {}
    for option in options:
        name, equals, value = option.partition("=")
        if filters.setdefault(name, word := word_of(value) if equals else None) != word:
            raise click.UsageError("--filter takes one value of a column; give it one.")
    return [*filters.items()]


def _meanings(options: tuple[str, ...]) -> dict[str, Meaning]:
    """Read VALUE=MEANING; a value may contain "=" itself."""
    meant: dict[str, Meaning] = {}
    for option in options:
        value, equals, meaning = option.rpartition("=")
        if not equals or meaning not in list(Meaning):
            raise click.UsageError(
                "--meaning takes VALUE=right, VALUE=wrong or VALUE=out, as in --meaning x=wrong."
            )
        if meant.setdefault(word_of(value), Meaning(meaning)) != meaning:
            raise click.UsageError("--meaning gives one value two meanings; give it one.")
    return meant


def _policy_report(policy: Policy, by_group: ByGroup) -> str:
    lines = [
        *(policy.sentence, "", f"{policy.score}: answer {policy.where}"),
        f"answered {policy.answered} of {policy.labels}, {policy.errors} of them wrong",
    ]
    if by_group.groups:
        lines += ["", calibration_words.by_group(by_group), ""]
    for group in by_group.groups:
        lines.append(
            f"{one_line(group.name) or '(none)'}: answered {group.answered} of {group.queries}, "
            f"{group.errors} of them wrong"
        )
    return "\n".join(lines)


def _policy_json(outcome: Calibration, policy: Policy, by_group: ByGroup) -> str:
    """Return the policy as it is written, what it spent, and its groups if the data have any."""
    content = to_dict(policy) | _payment(outcome)
    if by_group.groups:
        content["group_guarantee"] = calibration_words.by_group(by_group)
        content["groups"] = [asdict(group) for group in by_group.groups]
    return encode(content, indent=2)


@main.command(
    help="Repeat one answer ever more often in the prompt, and see what becomes of another."
)
@click.argument("query")
@click.option("--answer", required=True, help="The right answer.")
@click.option("--repeated", required=True, help="The answer that is repeated.")
@click.option(
    "--repetitions",
    default=",".join(map(str, DEFAULT_REPETITIONS)),
    show_default=True,
    help="Whole numbers, separated by commas.",
)
@asks
@click.option("--keep/--no-keep", default=True, show_default=True, help=KEEP)
@report_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def amplify(
    query: str, answer: str, repeated: str, repetitions: str, as_json: bool, **options: Any
) -> None:
    """Print the curve of the normalised probability over the number of repetitions."""
    try:
        times = [int(part) for part in repetitions.split(",") if part.strip()]
    except ValueError as error:
        raise click.UsageError(
            "--repetitions takes whole numbers separated by commas: 0,1,10."
        ) from error
    case = usage(Case, query, answer, repeated)
    usage(tidy, times)
    model = open_for_study(options["model"], options["form"], options["budget"])
    with payment(model, plan_curves([case], model, times), options["budget"], options["prices"]):
        result = curve.amplify(case, model, times)
    if options["keep"]:
        text = curves_to_json([result])
        _keep("amplification", case.query, model.name, text, verdict(result))
    click.echo(encode(curve_to_dict(result)) if as_json else _curve(result))
    if options["report"] is not None:
        from core.reports.amplification.document import (
            report as report_of,  # Altair takes long to load
        )

        write(options["report"], report_of([result]))


def _curve(amplification: Amplification) -> str:
    points = serialise_curves.to_table([amplification], texts=False)
    return "\n".join([verdict(amplification), *remarks([amplification]), "", *table(points)])


def _keep(kind: str, query: str, model: str, payload: str, outcome: str) -> None:
    """Keep a result for History; what was found is printed even where that fails."""
    try:
        with open_database() as database:
            SavedResults(database).save(kind, query, query, model, payload, outcome=outcome)
    except StoreError as error:
        click.echo(f"Not saved to History: {error}", err=True)


def _refuse_options_beside_from() -> None:
    """A saved inspection is recomputed as it was saved: no option may pretend otherwise."""
    context = click.get_current_context()
    for name in context.params:
        is_typed = context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if is_typed and name not in ("source", "report", "as_json"):
            raise click.UsageError(
                f"--from recomputes what was saved; omit --{name.replace('_', '-')}."
            )


def _refuse_settings_beside_policy() -> None:
    """A policy holds for the settings that it was calibrated with, and asks with these."""
    context = click.get_current_context()
    for name in (*SETTINGS, "quick"):
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            option = name.replace("_", "-")
            raise click.UsageError(f"--policy asks with its own settings; omit --{option}.")


def _beginning(file: Path, most: int) -> bytes:
    """Return what a file holds, and one byte too many of one that is too large to be read."""
    with file.open("rb") as opened:
        return opened.read(most + 1)


def _report(inspection: Inspection, untaught: bool = False) -> str:
    _, withheld = words.served_sentence(inspection, untaught=untaught)
    quotes = untaught or not inspection.conceals
    headline, judgement = inspection.headline.upper(), judge(inspection)
    first = [inspection.read_as] if inspection.read_as else []
    lines = [
        *first,
        f"{headline}." if inspection.conceals else f"{headline}: {inspection.verdict.answer}",
        *words.beneath(inspection, untaught=untaught)[len(first) :],
        *([withheld] if inspection.conceals and untaught else []),
        *([] if quotes else [SAY_SHOW]),
        *([MORE_ANSWERS] if inspection.more_can_help else []),
        "",
        *(
            f"{info.symbol:>10}  {_value(inspection, name):>9}  {info.unit:<11} {info.title}"
            for name, info in SCORES.items()
        ),
        f"{'mass':>10}  {inspection.sampled_mass:9.4f}  {'probability':<11} Sampled mass",
        *filter(None, [words.likely(inspection)]),
        f"Estimator: {inspection.recording.estimator.value}.",
        *(["", *_answer_lines(inspection)] if quotes else []),
        *(["", *words.truth(judgement, inspection)] if judgement else []),
    ]
    return "\n".join(lines)


def _answer_lines(inspection: Inspection) -> list[str]:
    draws = inspection.recording.request.draws
    gaps = inspection.recording.gaps.items()
    return [
        *(
            f"{c.probability:8.1%}  {f'{c.samples:4d}×  ' if draws else ''}{c.text}"
            for c in inspection.clusters
        ),
        *(f"{'–':>8}  {count:4d}×  ({why})" for why, count in gaps),
    ]


def _value(inspection: Inspection, name: str) -> str:
    value = inspection.scores[name].value
    return "–" if value is None else f"{value:.4f}"
