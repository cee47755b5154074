"""The command that splits a text into claims and asks about each."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from core.claims import MOST_CHARACTERS, NO_PROMISE, claims_of, questions_about, requests_of
from core.codec import encode, one_line
from core.commands.files import FilesFirst, Input
from core.commands.model import asks, open_for_study, payment, tell
from core.studies.costs import Plan, plan

LONGEST_CHARACTER = 4  # bytes, in UTF-8


@click.command(
    cls=FilesFirst,
    help="Split the text in FILE (“-”: standard input) into sentences, and ask a model whether "
    "each is true. Nothing is promised of them.",
)
@click.argument("file", type=Input(dash=True))
@click.option("--question", default="", help="What the text answers; asked with every sentence.")
@asks
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def claims(file: Path, question: str, as_json: bool, **options: Any) -> None:
    """Print every sentence with its mark: perhaps true, perhaps false or open."""
    with click.open_file(os.fspath(file), "rb") as stream:
        content = stream.read(LONGEST_CHARACTER * (MOST_CHARACTERS + 1))
    cut = len(content) > LONGEST_CHARACTER * MOST_CHARACTERS  # maybe within a character
    try:
        text = content.decode("utf-8-sig", "ignore" if cut else "strict")
    except UnicodeDecodeError:
        raise click.BadParameter("The text is not UTF-8; save it as UTF-8.") from None
    requested = questions_about(text, question)
    model = open_for_study(options["model"], options["form"], options["budget"])
    offered = sum(
        (plan(request, model.capabilities) for request in requests_of(requested, model)), Plan()
    )
    with payment(model, offered, options["budget"], options["prices"]):
        result = list(claims_of(text, requested, model))
    tell(NO_PROMISE)
    if as_json:
        rows = [claim.to_dict() for claim in result]
        click.echo(encode({"model": model.name, "promise": None, "claims": rows}))
        return
    for claim in result:
        click.echo(f"{claim.mark:>13}  {one_line(claim.text, 300)}\n{'':15}{claim.reason}")
