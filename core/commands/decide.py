"""The command that decides on rows by a policy that somebody has calibrated."""

from codecs import BOM_UTF8
from pathlib import Path

import click

from core.codec import encode
from core.commands.files import FilesFirst, Input, Output, beginning, write
from core.commands.model import tell
from core.data.tabular import rows
from core.data.tabular.isolation import parse_isolated
from core.guard import policy_in
from core.reports.calibration.words import decisions_in_words, promise_for
from core.studies.calibration.new_rows import new_decisions, new_scores


@click.command(
    cls=FilesFirst,
    help="Print ROWS, a table, as CSV with a column “decision”, by a POLICY. ROWS need the column "
    "of the policy’s score, and no labels.",
)
@click.argument("policy", type=Input())
@click.argument("table", metavar="ROWS", type=Input())
@click.option("--out", type=Output(), help="Write the CSV into this file instead.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead.")
def decide(policy: Path, table: Path, out: Path | None, as_json: bool) -> None:
    """Print every row with its decision; what is promised goes to standard error."""
    rule = policy_in(policy)
    upload = parse_isolated(beginning(table, rows.MAX_UPLOAD_BYTES), table.name)
    for note in upload.notes:
        tell(note)
    fresh = new_scores(upload, rule)
    decisions = new_decisions(fresh)
    if out is not None:
        write(out, decisions)
    promise = promise_for(fresh)
    tell(promise)
    tell(decisions_in_words(fresh))
    if as_json:
        words = ["answer" if each else "abstain" for each in fresh.answers]
        about = {"answer_if": rule.answer_if, "promise": promise}
        click.echo(encode({**about, "answered": fresh.answered, "decisions": words}))
    elif out is None:
        click.echo(decisions.removeprefix(BOM_UTF8), nl=False)
