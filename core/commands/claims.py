"""The command that splits a text into claims and asks about each."""

from pathlib import Path
from typing import Any

import click

from core.claims import MOST_CHARACTERS, NO_PROMISE, claims_of, questions_about, requests_of
from core.codec import encode, one_line
from core.commands.files import FilesFirst, Input, text_in
from core.commands.model import asks, open_for_study, payment, tell
from core.commands.request import context_in, front
from core.studies.costs import Plan, plan
from core.studies.progress import silent


@click.command(
    cls=FilesFirst,
    help="Split the text in FILE (“-”: standard input) into sentences, and ask a model whether "
    "each is true. Nothing is promised of them.",
)
@click.argument("file", type=Input(dash=True))
@click.option("--question", default="", help="What the text answers; asked with every sentence.")
@front
@asks
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def claims(file: Path, question: str, as_json: bool, **options: Any) -> None:
    """Print every sentence with its mark: perhaps true, perhaps false or open."""
    text = text_in(file, MOST_CHARACTERS)
    before = {"system": options["system"], "context": context_in(options)}
    requested = questions_about(text, question, **before)
    model = open_for_study(options["model"], options["form"], options["budget"])
    offered = sum(
        (plan(request, model.capabilities) for request in requests_of(requested, model, **before)),
        Plan(),
    )
    with payment(model, offered, options["budget"], options["prices"]):
        result = list(claims_of(text, requested, model, silent, **before))
    tell(NO_PROMISE)
    if as_json:
        rows = [claim.to_dict() for claim in result]
        click.echo(encode({"model": model.name, "promise": None, "claims": rows}))
        return
    for claim in result:
        click.echo(f"{claim.mark:>13}  {one_line(claim.text, 300)}\n{'':15}{claim.reason}")
