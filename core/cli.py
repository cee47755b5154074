"""The command line: the same studies, the same numbers, no browser.

Exit status 0: done; 1: could not be done, with a sentence on standard error; 2: wrong
usage; 130: stopped with Ctrl-C. With ``--json`` standard output is one JSON object and nothing
else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import click

from core import settings
from core.abstention.policy import Policy, to_dict, to_json
from core.abstention.thresholds import Uncertifiable
from core.codec import encoded, shortened
from core.commands.dataset import dataset
from core.data.tabular import rows
from core.data.tabular.columns import word_of
from core.data.tabular.directions import UnknownDirectionError
from core.data.tabular.isolation import parse_isolated
from core.data.tabular.labels import Meaning, UnreadLabelsError
from core.data.tabular.uploads import UploadError
from core.language_models.base import Capabilities, LanguageModel
from core.language_models.client.retry import Resilient
from core.language_models.client.stack import prepared, stop
from core.language_models.errors import ModelError
from core.language_models.forms import Form
from core.language_models.registry import SERVICES, full_name, open_model
from core.language_models.trial import in_its_form
from core.language_models.usage import Budget, Used
from core.store.calls import Calls
from core.store.database import open_database
from core.store.errors import StoreError
from core.store.results import Results
from core.studies import costs
from core.studies.amplification import curve
from core.studies.amplification import serialise as serialise_curves
from core.studies.amplification.curve import (
    DEFAULT_REPETITIONS,
    HOW,
    Amplification,
    Case,
    Point,
    tidied,
)
from core.studies.calibration import calibration, diagnostics, groups
from core.studies.calibration.calibration import METHODS, CalibrationError
from core.studies.calibration.groups import ByGroup
from core.studies.costs import Plan, plan, plan_curves
from core.studies.inspection import serialise as serialise_inspection
from core.studies.inspection.grading import judge
from core.studies.inspection.inspection import Cluster, Inspection, run
from core.studies.inspection.recorder import check_samples, usual_request
from core.studies.inspection.recording import estimator_of
from core.studies.inspection.request import InvalidRequestError, Reading, Request, Sampling
from core.uncertainty.scores import SCORES
from core.uncertainty.similarity import COMPARISONS, JUDGE, usual_threshold

T = TypeVar("T")

MODELS = (
    "embedded, smollm2, gguf:PATH, gemini:NAME, openai:NAME@BASE_URL, ollama:NAME, llamacpp: or "
    "hf:PATH_OR_NAME."
)
AUTO = "auto"
FORM = (
    "How the model is asked; auto tries its forms and takes the first that suits. Of a service, "
    "each form takes five calls the first time."
)
PRICES = "Prices per million tokens in and out; the run then states its cost."
KEEP = "Save the result to History."
# What a person can act on, and reads as a sentence.
PROBLEMS = (InvalidRequestError, ModelError, StoreError, UploadError, CalibrationError)
STOPPED = 130  # exit status after Ctrl-C, as shells have it
BUDGET = "Most calls to a service; cached answers are free."
MEANING = (
    "What a label that says neither right nor wrong means: VALUE=right, VALUE=wrong, or VALUE=out "
    "to leave its rows out. An empty VALUE is an empty cell. Repeat it for every value."
)
SAY_IT_SO = (
    "Add --meaning VALUE=right, --meaning VALUE=wrong or --meaning VALUE=out for each; "
    "--meaning =wrong decides about empty cells."
)
DIRECTION = (
    "Direction of all the scores; needed where a heading does not say it, as “confidence” and "
    "“entropy” do."
)
SAY_WHICH_WAY = (
    "Add --larger-is-surer or --larger-is-doubt; of several scores, name the one you mean with "
    "--score."
)


class Stoppable(click.Group):
    """Commands that the first Ctrl-C ends, with a sentence and a status of its own."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; see `click.Group.invoke`. What a person can act on is a sentence."""
        try:
            return super().invoke(ctx)
        except UnreadLabelsError as error:
            raise click.ClickException(f"{error} {SAY_IT_SO}") from error
        except UnknownDirectionError as error:
            raise click.ClickException(f"{error} {SAY_WHICH_WAY}") from error
        except PROBLEMS as error:
            raise click.ClickException(str(error)) from error
        except KeyboardInterrupt:
            click.echo("Stopped.", err=True)
        ctx.exit(STOPPED)


@click.group(cls=Stoppable, help=__doc__)
def main() -> None:
    """Believe's commands."""


main.add_command(dataset)


@main.command(help="Ask a model one question and report whether to believe the answer.")
@click.argument("query", required=False)
@click.option(
    "--from",
    "source",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Recompute a saved inspection (JSON) instead; calls no model.",
)
@click.option("--model", default="embedded", show_default=True, help=MODELS)
@click.option(
    "--form", type=click.Choice([AUTO, *map(str, Form)]), default=AUTO, show_default=True, help=FORM
)
@click.option("--budget", type=click.IntRange(0), default=2000, show_default=True, help=BUDGET)
@click.option("--prices", type=(float, float), default=(0, 0), metavar="IN OUT", help=PRICES)
@click.option("--keep/--no-keep", default=True, show_default=True, help=KEEP)
@click.option(
    "--samples",
    type=int,
    help="k, 1 to 300: how many answers are drawn, or compared at most of the likeliest.  "
    "[default: 8 of the likeliest; 10 drawn, 100 if the model scores only its own answers]",
)
@click.option(
    "--sampling",
    type=click.Choice([Sampling.LIKELIEST.value, Sampling.DRAWN.value]),
    help="Which answers are compared.  [default: likeliest if the model can be searched for them, "
    "and neither --temperature nor --seed is given]",
)
@click.option("--temperature", type=float, help="Of drawn answers.  [default: 0.9]")
@click.option("--seed", type=int, help="Of drawn answers.  [default: 0]")
@click.option(
    "--similarity",
    type=click.Choice(list(COMPARISONS)),
    default="token_f1",
    show_default=True,
    help="How two answers are compared; judge asks the model about each pair.",
)
@click.option(
    "--threshold", type=float, help="τ, the similarity threshold.  [default: 0.25; judge: 0.5]"
)
@click.option("--gamma-1", default=0.0, show_default=True, help="γ₁, stabilises M.I.")
@click.option("--gamma-2", default=0.0, show_default=True, help="γ₂, stabilises M.I.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def inspect(query: str | None, source: Path | None, as_json: bool, **given: Any) -> None:
    """Print one inspection, asked anew or recomputed from a file."""
    if (query is None) == (source is None):
        raise click.UsageError("Give either a QUERY or --from FILE.")
    if source is None:
        inspection = _inspected(query, given)
    else:
        _refuse_options_beside_from()
        saved = _beginning(source, serialise_inspection.MAX_BYTES)
        inspection = serialise_inspection.from_json(saved)
    click.echo(serialise_inspection.to_json(inspection) if as_json else _report(inspection))


def _inspected(query: str | None, given: dict[str, Any]) -> Inspection:
    """Ask a question anew, by the options of `inspect`."""
    samples, similarity, tau = given["samples"], given["similarity"], given["threshold"]
    drawing = {name: given[name] for name in ("temperature", "seed") if given[name] is not None}
    sampling = given["sampling"] or (Sampling.DRAWN if drawing else None)
    if sampling == Sampling.LIKELIEST and drawing:
        raise click.UsageError("--temperature and --seed are of drawn answers only.")
    wanted = {"samples": samples, "sampling": sampling, "judged": similarity == JUDGE, **drawing}
    wanted = {name: value for name, value in wanted.items() if value is not None}
    _usage(Request, query, **wanted)  # before a model is opened
    tau = usual_threshold(similarity) if tau is None else tau
    reading = _usage(Reading, similarity, tau, given["gamma_1"], given["gamma_2"])
    opened = _opened(given["model"], given["form"], given["budget"])
    request = usual_request(query or "", opened.capabilities, **wanted)
    check_samples(request, opened.capabilities)
    with _paid(opened, plan(request, opened.capabilities), given["budget"], given["prices"]):
        inspection = run(request, opened, reading)
    if given["keep"]:
        text = serialise_inspection.to_json(inspection)
        _keep("inspection", request.query, opened.name, text, inspection.outcome)
    return inspection


@main.command(help="Find an abstention threshold on labelled scores, with its guarantee.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--score",
    "scores",
    multiple=True,
    help="Column of scores; of several, the best, at δ divided by their number.",
)
@click.option("--correct", help="Column that says right or wrong; guessed if omitted.")
@click.option("--group", help="Column of groups; guessed if omitted, none if empty.")
@click.option("--larger-is-surer/--larger-is-doubt", "surer", default=None, help=DIRECTION)
@click.option("--meaning", "meanings", multiple=True, metavar="VALUE=MEANING", help=MEANING)
@click.option("--target-error", default=0.05, show_default=True, help="α, between 0 and 1.")
@click.option("--confidence", default=0.9, show_default=True, help="1 − δ, between 0 and 1.")
@click.option("--method", type=click.Choice(list(METHODS)), default="ltt", show_default=True)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write the policy.")
@click.option("--keep/--no-keep", default=True, show_default=True, help=KEEP)
@click.option(
    "--json", "as_json", is_flag=True, help="Print the policy, and its groups, as one JSON object."
)
def calibrate(
    file: Path, scores: tuple[str, ...], method: str, out: Path | None, as_json: bool, **given: Any
) -> None:
    """Print the policy that the page Calibration exports for the same file and target."""
    meant = _meant(given["meanings"])
    content = _beginning(file, rows.MAX_BYTES)
    data = calibration.read(
        *(content, file.name, scores, given["correct"], given["surer"], meant),
        parse=parse_isolated,
        group=given["group"],
    )
    score = calibration.preferred(data, scores, method)
    target = _usage(calibration.Target, given["target_error"], given["confidence"], method, score)
    found = calibration.calibrate(data, target)
    for problem in (*data.problems, *data.decided):
        click.echo(problem, err=True)
    if found.repeated:
        click.echo(calibration.REPEATED.format(found.repeated), err=True)
    if against := diagnostics.speaks_against(found.data):
        click.echo(against, err=True)
    if isinstance(found.outcome, Uncertifiable) or found.policy is None:
        raise click.ClickException(getattr(found.outcome, "reason", "There is no policy."))
    if out is not None:
        try:
            out.write_text(to_json(found.policy), encoding="utf-8")
        except OSError as error:
            raise click.ClickException(f"{out} cannot be written: {error.strerror}.") from error
    if given["keep"]:
        policy = found.policy
        score = SCORES[policy.score].title if policy.score in SCORES else policy.score
        title = f"{score}: answer {policy.where}"
        made_on = policy.pipeline.model if policy.pipeline else "scores of unknown origin"
        _keep("policy", title, made_on, to_json(policy), policy.sentence)
    told = groups.by_group(found)
    click.echo(_policy_json(found.policy, told) if as_json else _policy_report(found.policy, told))


def _meant(options: tuple[str, ...]) -> dict[str, Meaning]:
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
        lines += ["", by_group.sentence, ""]
    for group in by_group.groups:
        lines.append(
            f"{shortened(group.name) or '(none)'}: answered {group.answered} of {group.queries}, "
            f"{group.errors} of them wrong"
        )
    return "\n".join(lines)


def _policy_json(policy: Policy, by_group: ByGroup) -> str:
    """Return the policy as it is written, with its groups if the data have any."""
    found = to_dict(policy)
    if by_group.groups:
        found["group_guarantee"] = by_group.sentence
        found["groups"] = [asdict(group) for group in by_group.groups]
    return encoded(found, indent=2)


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
@click.option("--model", default="embedded", show_default=True, help=MODELS)
@click.option(
    "--form", type=click.Choice([AUTO, *map(str, Form)]), default=AUTO, show_default=True, help=FORM
)
@click.option("--budget", type=click.IntRange(0), default=2000, show_default=True, help=BUDGET)
@click.option("--prices", type=(float, float), default=(0, 0), metavar="IN OUT", help=PRICES)
@click.option("--keep/--no-keep", default=True, show_default=True, help=KEEP)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def amplify(
    query: str, answer: str, repeated: str, repetitions: str, as_json: bool, **given: Any
) -> None:
    """Print the curve of the normalised probability over the number of repetitions."""
    try:
        times = [int(part) for part in repetitions.split(",") if part.strip()]
    except ValueError as error:
        raise click.UsageError(
            "--repetitions takes whole numbers separated by commas: 0,1,10."
        ) from error
    case = _usage(Case, query, answer, repeated)
    _usage(tidied, times)
    opened = _opened(given["model"], given["form"], given["budget"])
    with _paid(opened, plan_curves([case], opened, times), given["budget"], given["prices"]):
        found = curve.amplify(case, opened, times)
    if given["keep"]:
        text = serialise_curves.all_to_json([found])
        _keep("amplification", case.query, opened.name, text, found.verdict)
    click.echo(serialise_curves.to_json(found) if as_json else _curve(found))


def _curve(found: Amplification) -> str:
    head = f"{'t':>5}  {'P(a)/(P(a)+P(b))':>17}  {'ln P(a)':>9}  {'ln P(b)':>9}"
    how = [HOW[found.source]] if found.source in HOW else []
    return "\n".join([found.verdict, *how, "", head, *map(_point, found.points)])


def _point(point: Point) -> str:
    numbers = (
        (point.normalised_probability, 17),
        (point.log_likelihood_answer, 9),
        (point.log_likelihood_repeated, 9),
    )
    cells = [f"{'–':>{w}}" if v is None else f"{v:{w}.4f}" for v, w in numbers]
    return "  ".join([f"{point.repetitions:5d}", *cells])


@main.command(help="Ask a model what it can do, and report how that was found out.")
@click.argument("model")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def probe(model: str, as_json: bool) -> None:
    """Print what a model can do; the next commands start from that."""
    opened = _named(model)
    opened.remember_in(lambda: _calls().services)
    asked = Resilient(opened, tell=_tell).probe()
    able = opened.capabilities
    found = {
        "model": opened.name,
        "revision": opened.revision,
        "estimator": estimator_of(able),
        "capabilities": asdict(able),
        "asked": asked,
    }
    click.echo(json.dumps(found) if as_json else _abilities(opened, able, asked))


def _abilities(model: LanguageModel, able: Capabilities, asked: Sequence[str]) -> str:
    lines = [
        f"{model.name}: {model.revision}",
        f"Estimator: {estimator_of(able)}.",
        f"Self-verification: {'probabilities of next tokens' if able.next_token else 'samples'}."
        if not able.scores_given_text
        else "Self-verification: exact likelihoods.",
    ]
    if not able.local:
        lines.append(f"Answers a request: up to {able.candidates_a_call}.")
    lines += able.notes
    if asked:
        lines += ["", f"Found out by {costs.calls(len(asked))}:", *asked]
    return "\n".join(lines)


def _tell(said: str) -> None:
    click.echo(said, err=True)


def _calls() -> Calls:
    database = open_database()
    if database.notice:
        _tell(database.notice)
    return Calls(database)


def _named(name: str) -> LanguageModel:
    """Open a model by its name."""
    # On a public server, too, whoever types commands there is no stranger.
    key = settings.owners_key(_kind(name)) if settings.is_public() else None
    return open_model(name, key) if key else open_model(name)


def _kind(name: str) -> str:
    return full_name(name).partition(":")[0]


def _opened(name: str, form: str, budget: int) -> LanguageModel:
    """Open a model as a study should ask it; a service's answers are kept in the database."""
    model, allowed = _named(name), Budget(budget)
    if _kind(name) in SERVICES:
        Budget(budget).take()  # with nothing left, its abilities are not asked for either
    try:
        opened = prepared(model, _calls, allowed, _tell)
    finally:  # a request under way counts as well when somebody stops: it may be billed
        took = model.meter.requests
        if took:
            click.echo(f"Finding out what {name} can do took {costs.calls(took)}.", err=True)
    for _ in range(took):
        allowed.take()
    if form != AUTO and not opened.capabilities.local:  # chosen: no trial has to be paid for
        return opened.asked_in(Form(form))
    return _in_its_form(opened, None if form == AUTO else Form(form))


def _in_its_form(opened: LanguageModel, wanted: Form | None) -> LanguageModel:
    """Find the form in which a model is asked, and say what that took of a service."""
    before = opened.meter.requests
    try:
        asked, trials = in_its_form(opened, wanted)
    finally:
        took = opened.meter.requests - before
        if took and not opened.capabilities.local:
            click.echo(f"Trying how {opened.name} is asked took {costs.calls(took)}.", err=True)
    if trials:
        said = f"{opened.name} is asked in the form {asked.form}. {trials[-1].sentence}"
        click.echo(said, err=True)
    return asked


@contextmanager
def _paid(
    model: LanguageModel, offered: Plan, budget: int, prices: tuple[float, float]
) -> Iterator[None]:
    """Say what a run can take of a service, and what it took, however it ended."""
    if model.capabilities.local:
        yield
        return
    most = costs.at_most(offered, _costing(offered, prices))
    click.echo(f"{model.name}: {most} The budget is {costs.calls(budget)}.", err=True)
    ended, more, before = False, "", model.meter.used
    try:
        yield
        ended = True
    except KeyboardInterrupt:
        stop(model)  # other threads may still be asking
        more = " Requests in flight may still be billed. Answers received are saved; run the same "
        more += "command again to continue."
        raise
    finally:
        used = model.meter.used - before
        said = costs.spent(used, _costing(used, prices), ended=ended)
        click.echo(f"Used: {said}{more}", err=True)


def _costing(tokens: Used, prices: tuple[float, float]) -> str:
    return f", {costs.price(tokens, *prices):,.4f} at your prices" if any(prices) else ""


def _keep(kind: str, query: str, model: str, payload: str, outcome: str) -> None:
    """Keep a result for History; what was found is printed even where that fails."""
    try:
        with open_database() as database:
            Results(database).save(kind, query, query, model, payload, outcome=outcome)
    except StoreError as error:
        click.echo(f"Not saved to History: {error}", err=True)


def _refuse_options_beside_from() -> None:
    """A saved inspection is recomputed as it was saved: no option may pretend otherwise."""
    context = click.get_current_context()
    for name in context.params:
        given = context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if given and name not in ("source", "as_json"):
            raise click.UsageError(
                f"--from recomputes what was saved; omit --{name.replace('_', '-')}."
            )


def _beginning(file: Path, most: int) -> bytes:
    """Return what a file holds, and one byte too many of one that is too large to be read."""
    with file.open("rb") as opened:
        return opened.read(most + 1)


def _usage(make: Callable[..., T], *values: object, **named: object) -> T:
    """Make a request, a reading or a target; values out of range are wrong usage."""
    try:
        return make(*values, **named)
    except (InvalidRequestError, CalibrationError) as error:
        raise click.UsageError(str(error)) from error


def _report(inspection: Inspection) -> str:
    lines = [
        *inspection.headlines,
        *([f"On few answers: ask for {inspection.wanted}."] if inspection.wanted else []),
        inspection.verdict.reason,
        "",
        *(
            f"{info.symbol:>10}  {_value(inspection, name):>9}  {info.unit:<11} {info.title}"
            for name, info in SCORES.items()
        ),
        f"{'mass':>10}  {inspection.sampled_mass:9.4f}  {'probability':<11} Sampled mass",
        *([inspection.likely] if inspection.likely else []),
        f"Estimator: {inspection.recording.estimator.value}.",
        *([inspection.caveat] if inspection.caveat else []),
        *inspection.recording.notes,
        "",
        *(f"{c.probability:8.1%}  {_times(inspection, c)}{c.text}" for c in inspection.clusters),
        *_truth(inspection),
    ]
    return "\n".join(lines)


def _times(inspection: Inspection, cluster: Cluster) -> str:
    return f"{cluster.samples:4d}×  " if inspection.recording.request.draws else ""


def _truth(inspection: Inspection) -> list[str]:
    judgement = judge(inspection)
    if judgement is None:
        return []
    fact = judgement.fact
    answers = ", ".join(answer.text for answer in fact.answers)
    what = "Right answers in its training" if len(fact.answers) > 1 else "Truth"
    return ["", f"{what}: {answers} ({fact.band.value}, {fact.exposures} times in training)"]


def _value(inspection: Inspection, name: str) -> str:
    value = inspection.scores[name].value
    return "–" if value is None else f"{value:.4f}"
