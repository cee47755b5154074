"""The command that scores answers which somebody has already; it asks no model."""

from codecs import BOM_UTF8
from collections import Counter
from pathlib import Path
from typing import Any

import click

from core.codec import encode, one_line
from core.commands.files import FilesFirst, Input, Output, beginning, write
from core.commands.model import tell
from core.data.tabular import rows
from core.data.tabular.csv_export import to_csv
from core.data.tabular.isolation import parse_isolated
from core.data.tabular.repeated_answers import NAMES, repeated_answers
from core.uncertainty.own_answers import score as score_of
from core.uncertainty.scores import SCORES
from core.uncertainty.similarity import DEFAULT, SIMILARITIES, usual_threshold


@click.command(
    cls=FilesFirst,
    help="Score answers that are in a FILE already, several to a question: in lists, or one a row.",
)
@click.argument("file", type=Input())
@click.option(
    "--question", metavar="COLUMN", help="The questions. Every column is guessed if omitted."
)
@click.option("--responses", metavar="COLUMN", help="The answers.")
@click.option(
    "--log-probabilities", metavar="COLUMN", help="Log-probabilities of whole answers, in nats."
)
@click.option("--second", metavar="COLUMN", help="Answers given with a response in the prompt.")
@click.option("--second-log-probabilities", metavar="COLUMN", help="Their log-probabilities.")
@click.option("--greedy", metavar="COLUMN", help="The answer at temperature zero.")
@click.option(
    "--filter",
    "filters",
    multiple=True,
    metavar="COLUMN=VALUE",
    help="Which rows count, of several models or kinds. Repeat it for several columns.",
)
@click.option(
    "--similarity",
    type=click.Choice(list(SIMILARITIES)),
    default=DEFAULT,
    show_default=True,
    help="How two answers are compared.",
)
@click.option("--out", type=Output(), help="Write the CSV into this file instead.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead.")
def score(
    file: Path,
    filters: tuple[str, ...],
    out: Path | None,
    as_json: bool,
    similarity: str,
    **options: Any,
) -> None:
    """Print a row for every question, and say of each score that is missing why it is."""
    pairs = [(name, value) for name, _, value in (text.partition("=") for text in filters)]
    upload = parse_isolated(beginning(file, rows.MAX_UPLOAD_BYTES), file.name)
    questions, reading = repeated_answers(
        upload, {role: options[role] for role in NAMES}, options["question"], pairs
    )
    for sentence in (*upload.notes, *reading):
        tell(sentence)
    table, reasons, failures = [], Counter[tuple[str, str]](), Counter[str]()
    for each in questions:
        try:
            result = score_of(
                *(each.responses, each.log_probabilities, each.second),
                each.second_log_probabilities,
                greedy=each.greedy,
                similarity=similarity,
                threshold=usual_threshold(similarity),
            ).to_dict()
        except ValueError as error:
            failures[str(error)] += 1
            result = {"error": str(error), "answers": [], "scores": {}}
        table.append({"question": each.question, **result})
        reasons.update(
            (name, own["reason"]) for name, own in result["scores"].items() if own["reason"]
        )
    for why, number in failures.items():
        tell(f"{number:,} of {len(table):,} questions have no scores: {why}")
    if failures.total() == len(table):
        raise click.ClickException("No question could be scored.")
    for (name, why), number in reasons.items():
        tell(
            f"{SCORES[name].symbol}, missing of {number:,} of {len(table):,}: {one_line(why, 300)}"
        )
    content = to_csv(("question", "answer", *SCORES), map(_cells, table))
    if out is not None:
        write(out, content)
    if as_json:
        click.echo(encode({"rows": table}))
    elif out is None:
        click.echo(content.removeprefix(BOM_UTF8), nl=False)


def _cells(row: dict[str, Any]) -> tuple[object, ...]:
    values = (row["scores"].get(name, {}).get("value") for name in SCORES)
    answer = row["answers"][0]["text"] if row["answers"] else ""
    return row["question"], answer, *values
