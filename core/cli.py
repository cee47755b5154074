"""Can I believe what this language model just told me? The dashboard's studies as commands.

Exit status 0: done; 1: could not be done, with a sentence on standard error; 2: wrong
usage; 130: stopped with Ctrl-C. With --json, standard output is one JSON object and nothing else.
"""

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import click

from core.abstention.policy import PolicyError
from core.codec import encode, no_more
from core.commands.calibrate import calibrate
from core.commands.claims import claims
from core.commands.dashboard import dashboard
from core.commands.dataset import dataset
from core.commands.decide import decide
from core.commands.evaluate import evaluate
from core.commands.files import FilesFirst, Input, beginning, report_option, write_report
from core.commands.history import KEEP, keep
from core.commands.laboratory import laboratory
from core.commands.model import asks, open_for_study, payment, refuse_others, refuse_typed, usage
from core.commands.probe import probe
from core.commands.request import context_in, front, reads, request_of
from core.commands.score import score
from core.commands.serve import serve
from core.data.datasets.predictions import UngradedError
from core.data.tabular.directions import UnknownDirectionError
from core.data.tabular.label_meanings import UnreadLabelsError
from core.data.tabular.labelled_rows import UnknownLabelsError, UnknownQuestionsError
from core.data.tabular.mixed_rows import UnknownMixtureError
from core.data.tabular.repeated_answers import SeveralSourcesError
from core.data.tabular.suspicion import SuspiciousScoreError
from core.data.tabular.uploads import UploadError
from core.guard import policy_in, settings_of
from core.language_models.backends.gguf import SMOLLM2
from core.language_models.errors import ModelError
from core.reports.amplification.words import in_words, remarks, verdict
from core.reports.amplification.words import to_dict as curve_to_dict
from core.reports.amplification.words import to_json as curves_to_json
from core.reports.inspection import words
from core.reports.inspection.truth import truth
from core.reports.result_files import FROM_FILE
from core.reports.text import table
from core.store.errors import StoreError
from core.store.results import MAX_RESULT_BYTES
from core.studies.amplification import curve
from core.studies.amplification import serialise as serialise_curves
from core.studies.amplification.curve import DEFAULT_REPETITIONS, Amplification, Case, tidy
from core.studies.calibration.calibration import CalibrationError
from core.studies.costs import plan, plan_curves, quick_plan
from core.studies.evaluation.recorded_answers import (
    open_recorded,
    recorded_answer,
    recorded_elsewhere,
)
from core.studies.evaluation.run_folder import RunError
from core.studies.inspection import serialise as serialise_inspection
from core.studies.inspection.conditional_rows import chance
from core.studies.inspection.grading import judge
from core.studies.inspection.inspection import Inspection, read
from core.studies.inspection.quick_look import ANSWERS, quick_look
from core.studies.inspection.recorder import check_samples, record, usual_request
from core.studies.inspection.request import InvalidRequestError, Request
from core.studies.inspection.taught_questions import in_taught_words
from core.studies.inspection.verdict import CERTIFIED
from core.uncertainty.scores import SCORES

T = TypeVar("T")

SETTINGS = (
    *("samples", "sampling", "temperature", "seed", "similarity", "threshold"),
    *("gamma_1", "gamma_2", "answer_tokens"),
)
# What a person can act on, and reads as a sentence.
PROBLEMS = (
    *(InvalidRequestError, ModelError, StoreError, UploadError, CalibrationError),
    *(RunError, PolicyError),
)
STOPPED = 130  # exit status after Ctrl-C, as shells have it
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
    SeveralSourcesError: "--filter COLUMN=VALUE keeps them.",
    SuspiciousScoreError: "Add --vouch SCORE to say so.",
    UnknownQuestionsError: 'Add --question COLUMN, or --question "" if every row asks another.',
}
NOT_INSTALLED = (
    "The package “{}” is not installed. Install what {} needs with pip install 'believe[{}]'."
)
SAY_SHOW = "Add --show-untaught to see what it would have said."
SAY_RECORDED = "{0.sentence}, to “{0.question}”: {0.outcome}. --recorded alone opens it."
SAY_OTHER = "Add --model smollm2 to ask a model that learnt from real texts."
SAY_CONNECTED = "Add --model to ask another, such as ollama:NAME of this machine."


class StoppableGroup(click.Group):
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


@click.group(cls=StoppableGroup, help=__doc__)
def main() -> None:
    """Believe's commands."""


main.add_command(calibrate)
main.add_command(claims)
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
@front
@click.option(
    "--as-typed",
    is_flag=True,
    help="Ask in exactly these words, even if a taught question is surely meant.",
)
@click.option("--policy", type=Input(), help="Decide by this policy, and ask with its settings.")
@report_option
@click.option(
    "--show-untaught",
    "untaught",
    is_flag=True,
    help="Show the model’s answer even where it was taught nothing near the question.",
)
@click.option("--quick", is_flag=True, help=words.QUICK)
@click.option(
    "--recorded",
    is_flag=True,
    help="Open what a larger model answered to this question before; no model is asked.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def inspect(
    query: str | None,
    source: Path | None,
    report: Path | None,
    untaught: bool,
    quick: bool,
    recorded: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Print one inspection, asked anew or recomputed from a file."""
    if (query is None) == (source is None):
        raise click.UsageError("Give either a QUERY or --from FILE.")
    if quick and not recorded:
        click.echo(_quick(query, as_json, options))
        return
    if query is not None and recorded:
        inspection = _recording_of(query)
    elif source is None:
        inspection = _new_inspection(query, options)
    else:
        shows = {"source", "report", "untaught", "as_json"}
        refuse_others(shows, "--from recomputes what was saved")
        saved = beginning(source, MAX_RESULT_BYTES)
        inspection = replace(serialise_inspection.from_json(saved), from_file=True)
        if not as_json:
            click.echo(f"Not verified. {FROM_FILE}")
    asks = source is None and not recorded
    if as_json:
        click.echo(encode(serialise_inspection.to_dict(inspection)))
    else:
        click.echo(_report(inspection, untaught, asks))
    if report is not None:
        from core.reports.inspection.document import (
            report as report_of,  # Altair takes long to load
        )

        write_report(report, report_of(inspection, untaught=untaught), from_file=source is not None)


def _recording_of(query: str) -> Inspection:
    """Return the recorded inspection of the question that is surely meant."""
    shows = {"query", "recorded", "report", "as_json"}
    refuse_others(shows, "--recorded opens what was recorded")
    answer = recorded_answer(query)
    if answer is None:
        raise click.ClickException("No recorded question is near this one. Omit --recorded.")
    inspection = open_recorded(answer)
    if answer.question == query:
        return inspection
    recording = inspection.recording
    request = replace(recording.request, typed=query)
    return replace(inspection, recording=replace(recording, request=request))


def _quick(query: str | None, as_json: bool, options: dict[str, Any]) -> str:
    """Look at a question quickly, and say that this is all it was."""
    asks = {"query", "quick", "model", "form", "budget", "prices", "seed", "as_typed"}
    refuse_others(asks | {"keep", "as_json"}, f"--quick counts {ANSWERS} answers to a QUERY alone")
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
            "The same command without --quick tells whether the model does not know, or many "
            "answers are right.",
        ]
    )


def _new_inspection(query: str | None, options: dict[str, Any]) -> Inspection:
    chosen, reading = request_of(query, options)
    policy = policy_in(options["policy"]) if options["policy"] else None
    if policy:
        refuse_typed((*SETTINGS, "quick"), "--policy asks with its own settings")
    model = open_for_study(options["model"], options["form"], options["budget"])
    request = usual_request(query or "", model.capabilities, **chosen)
    if policy and policy.pipeline:
        request, reading = settings_of(model, policy)
        request = replace(request, query=query or "")
    request = replace(request, system=options["system"], context=context_in(options))
    if not options["as_typed"] and policy is None:  # that of a person is of questions as typed
        request = in_taught_words(request, model)
    check_samples(request, model.capabilities)
    with payment(model, plan(request, model.capabilities), options["budget"], options["prices"]):
        inspection = read(record(request, model), reading, policy=policy)
    if options["keep"]:
        text = serialise_inspection.to_json(inspection)
        keep("inspection", request.query, model.name, text, words.outcome(inspection))
    return inspection


@main.command(
    help="Repeat one answer ever more often in the prompt, and see what becomes of another."
)
@click.argument("query")
@click.option("--answer", required=True, help="The answer to test: the right one, or the model’s.")
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
        keep("amplification", case.query, model.name, text, verdict(result))
    click.echo(encode(curve_to_dict(result)) if as_json else _curve(result))
    if options["report"] is not None:
        from core.reports.amplification.document import (
            report as report_of,  # Altair takes long to load
        )

        write_report(options["report"], report_of([result]))


def _curve(amplification: Amplification) -> str:
    points = serialise_curves.to_table([amplification], texts=False)
    return "\n".join([*in_words(amplification), *remarks([amplification]), "", *table(points)])


def _report(inspection: Inspection, untaught: bool, asks: bool) -> str:
    """Return an inspection in words, with what to add to a command that asks."""
    served = words.served_sentence(inspection, untaught=untaught)
    quotes, judgement = untaught or not inspection.conceals, judge(inspection)
    can_ask_more = asks and inspection.policy is None  # a policy has its own settings
    more = [MORE_ANSWERS] if can_ask_more and inspection.more_can_help else []
    if more and inspection.verdict.rule:
        more.append(words.USUAL_NUMBER_ALONE)
    first = list(filter(None, (inspection.read_as, words.source_sentence(inspection))))
    answer = recorded_elsewhere(inspection.recording)
    other = SAY_OTHER if find_spec(SMOLLM2) else SAY_CONNECTED
    lines = [
        *first,
        *filter(None, served),
        *words.beneath(inspection, untaught=untaught)[len(first) :],
        *([] if quotes else [SAY_SHOW]),
        *([SAY_RECORDED.format(answer)] if asks and answer else []),
        *([other] if asks and inspection.conceals else []),
        *more,
        "",
        *(
            f"{info.symbol:>10}  {_value(inspection, name):>9}  {info.unit:<11} {info.title}"
            for name, info in SCORES.items()
        ),
        f"{'mass':>10}  {inspection.sampled_mass:9.4f}  {'probability':<11} Sampled mass"
        + words.by_draws(inspection),
        *filter(None, [words.likely(inspection), inspection.origin]),
        f"Estimator: {inspection.recording.estimator.value}.",
        *(["", *_answer_lines(inspection)] if quotes else []),
        *(["", *truth(judgement, inspection)] if judgement else []),
    ]
    return "\n".join(lines)


def _answer_lines(inspection: Inspection) -> list[str]:
    draws = inspection.recording.request.draws
    gaps = inspection.recording.gaps.items()
    is_counted = inspection.evidence.row_masses is None
    return [
        *(
            f"{chance(c.mass, is_counted, 1):>8}  {f'{c.samples:4d}×  ' if draws else ''}{c.text}"
            for c in inspection.clusters
        ),
        *(f"{'–':>8}  {count:4d}×  ({why})" for why, count in gaps),
    ]


def _value(inspection: Inspection, name: str) -> str:
    value = inspection.scores[name].value
    if value is None:
        return "–"
    return no_more(value, 4) if name == CERTIFIED else f"{value:.4f}"
