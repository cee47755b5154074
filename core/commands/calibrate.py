"""The command that finds a threshold on labelled scores, or tests one on new rows."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from core.abstention.ledger import Look
from core.abstention.policy import Policy, to_dict, to_json
from core.abstention.thresholds import Uncertifiable
from core.codec import encode, one_line
from core.commands.files import (
    FilesFirst,
    Input,
    Output,
    beginning,
    report_option,
    write,
    write_report,
)
from core.commands.grading import grades, grading
from core.commands.history import KEEP, keep
from core.commands.ledger import ledger
from core.commands.model import refuse_typed, tell, usage
from core.data.tabular import rows
from core.data.tabular.columns import word_of
from core.data.tabular.isolation import parse_isolated
from core.data.tabular.label_meanings import Meaning
from core.data.tabular.labelled_rows import LabelledRows
from core.data.tabular.mixed_rows import RowFilter
from core.data.tabular.suspicion import Claim, SuspiciousScoreError
from core.data.tabular.uploads import Upload
from core.guard import policy_in
from core.reports.calibration import words
from core.reports.result_files import about
from core.reports.text import brackets
from core.studies.calibration import calibration, delta_spending, diagnostics, groups, holdout
from core.studies.calibration.calibration import METHODS, Calibration
from core.studies.calibration.groups import ByGroup

MEANING = (
    "What a label that says neither right nor wrong means: VALUE=right, VALUE=wrong, or VALUE=out "
    "to leave its rows out. An empty VALUE is an empty cell. Repeat it for every value."
)
FILTER = (
    "Which rows count, where there are several models, filters or epochs: COLUMN=VALUE, or COLUMN "
    "if their mix counts. Repeat it for several columns."
)
VOUCH = f"Say of a suspicious score that it {' and '.join(Claim)}. Repeat it for several."
DIRECTION = (
    "Direction of all scores; needed unless their headings say it, as “confidence” and “entropy” "
    "do."
)
#: What a policy says already, or a test has none of.
OF_CALIBRATION = (
    *("scores", "surer", "group", "target_error", "confidence", "method"),
    *("hold_back", "out", "report", "keep"),
)


@click.command(
    cls=FilesFirst,
    help="Find an abstention threshold on labelled scores, with its promise, or test an earlier "
    "--policy on new rows.",
)
@click.argument("file", type=Input())
@click.option(
    "--score",
    "scores",
    multiple=True,
    help="Column of scores. Of several, the best is taken, each at δ divided by their number.",
)
@click.option(
    "--correct",
    help="Column that says right or wrong; guessed if omitted. For the rows of a run also f1: "
    "each score’s own labels by the paper’s rule.",
)
@click.option(
    "--question",
    help="Column of questions: rows of the same question count once. Empty if every row asks "
    "another; guessed if omitted.",
)
@click.option("--group", help="Column of groups; guessed if omitted, none if empty.")
@click.option("--larger-is-surer/--larger-is-doubt", "surer", default=None, help=DIRECTION)
@click.option("--meaning", "meanings", multiple=True, metavar="VALUE=MEANING", help=MEANING)
@grades
@click.option("--filter", "filters", multiple=True, metavar="COLUMN[=VALUE]", help=FILTER)
@click.option("--vouch", "vouched", multiple=True, metavar="SCORE", help=VOUCH)
@click.option("--target-error", default=0.05, show_default=True, help="α, between 0 and 1.")
@click.option("--confidence", default=0.9, show_default=True, help="1 − δ, between 0 and 1.")
@click.option(
    "--method",
    type=click.Choice(list(METHODS)),
    default="ltt",
    show_default=True,
    help=f"{'; '.join(f'{name}: {what}' for name, what in METHODS.items())}.",
)
@click.option("--policy", type=Input(), help="Test this policy on the rows instead.")
@click.option(
    "--hold-back",
    is_flag=True,
    help="Calibrate on half of the questions, drawn at random, and test the policy on the others.",
)
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
    policy = policy_in(options["policy"]) if options["policy"] else None
    if policy:
        refuse_typed(OF_CALIBRATION, "--policy is tested as it is")
        scores, options["surer"] = (policy.score,), policy.larger_is_surer
    content = beginning(file, rows.MAX_UPLOAD_BYTES)
    try:
        data = calibration.read(
            *(content, file.name, scores, options["correct"], options["surer"], meant),
            parse=_parse,
            group=options["group"],
            question=options["question"],
            vouched=options["vouched"],
            graded=grading(options),
            filters=_filters(options["filters"]),
        )
    except SuspiciousScoreError as error:
        for line in error.reading:
            tell(line)
        raise
    if policy:
        _test(policy, data, as_json)
        return
    score = calibration.usual_score(data, scores, method)
    target = usage(
        calibration.Target, options["target_error"], options["confidence"], method, score
    )
    held = None
    if options["hold_back"]:
        data, held = holdout.halves(data)
    outcome, by_group = _paid_calibration(data, target)
    _say_reading(data, as_json)
    for line in words.earlier_looks(outcome):
        tell(line)
    if outcome.look and delta_spending.other_batches(outcome.look, outcome.looks or ()):
        tell(words.batches(outcome))
    if repeated := words.repeated_questions(outcome.repeated):
        tell(repeated)
    if against := words.contradiction(diagnostics.contradictions(outcome.data)):
        tell(against)
    if options["report"] is not None:
        from core.reports.calibration.document import (
            report as report_of,  # Altair takes long to load
        )

        write_report(options["report"], report_of(outcome))
    if isinstance(outcome.outcome, Uncertifiable) or outcome.policy is None:
        if as_json:
            click.echo(encode({"guarantee": None, "answered": 0, **_payment(outcome)}, indent=2))
        raise click.ClickException(getattr(outcome.outcome, "reason", "There is no policy."))
    policy = replace(outcome.policy, caution=words.caution(by_group))
    if out is not None:
        write(out, to_json(policy))
    if options["keep"]:
        keep("policy", *about(policy), to_json(policy), policy.sentence)
    if as_json:
        printed = _policy_json(outcome, policy, by_group)
    else:
        click.echo(_policy_report(policy, by_group))
    if held is not None:
        test = partial(holdout.confirm_half, policy, held)
        checked = ledger(test, lambda of: [of.look])
        if as_json:
            printed["held_back"] = _test_json(checked)
        else:
            click.echo("\n".join(["", *words.limits_of_test(checked), words.confirmation(checked)]))
    if as_json:
        click.echo(encode(printed, indent=2))


def _parse(content: bytes, name: str) -> Upload:
    """Read a file, and say what had to be decided: that headings among its rows were left out."""
    upload = parse_isolated(content, name)
    for note in upload.notes:
        tell(note)
    return upload


def _say_reading(data: LabelledRows, as_json: bool) -> None:
    """Say what the table was read as, and what of it could not be read."""
    reading = (*data.reading, *data.reading_of_others)
    for line in data.decided if as_json else (*reading, *data.decided):
        tell(line)
    for problem in data.problems if as_json else set(data.problems).difference(reading):
        tell(problem)


def _test(policy: Policy, data: LabelledRows, as_json: bool) -> None:
    """Test a policy on new rows, note the look at their labels, and print what came out."""
    checked = ledger(partial(holdout.confirm_on, policy, data), lambda of: [of.look])
    _say_reading(data, as_json)
    for sentence in words.limits_of_test(checked):
        tell(sentence)
    if not as_json:
        click.echo(words.confirmation(checked))
        return
    click.echo(encode(_test_json(checked), indent=2))


def _test_json(checked: holdout.Confirmation) -> dict[str, Any]:
    observed = checked.observed
    outcome = "kept" if checked.keeps_target else "refuted" if checked.exceeds_target else "open"
    return {
        "questions": observed.queries,
        "answered": observed.answered,
        "errors": observed.errors,
        "other_errors": checked.other_errors,
        "target_error": checked.policy.target_error,
        "lower_bound": checked.lower_bound,
        "upper_bound": observed.upper_bound,
        "confidence": round(checked.confidence, 12),
        "outcome": outcome,
        "looks": checked.look.place if checked.look else 0,
    }


def _paid_calibration(
    data: LabelledRows, target: calibration.Target
) -> tuple[Calibration, ByGroup]:
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
        "spent_by": delta_spending.looks_before(outcome.look, outcome.looks),
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
        lines += ["", words.by_group(by_group), ""]
    for group in by_group.groups:
        other = "" if group.other_errors is None else f" ({group.other_errors})"
        lines.append(
            f"{one_line(group.name) or '(none)'}: answered {group.answered} of {group.queries}, "
            f"{group.errors}{other} of them wrong"
        )
    if by_group.groups and policy.codebook and policy.codebook.other:
        lines.append(brackets(f"by “{one_line(policy.codebook.other)}”"))
    return "\n".join(lines)


def _policy_json(outcome: Calibration, policy: Policy, by_group: ByGroup) -> dict[str, Any]:
    """Return the policy as it is written, what it spent, and its groups if the data have any."""
    content = to_dict(policy) | _payment(outcome)
    if by_group.groups:
        content["group_guarantee"] = words.by_group(by_group)
        content["groups"] = [asdict(group) for group in by_group.groups]
    return content
