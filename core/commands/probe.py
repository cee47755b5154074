"""The command that asks a model what it can do."""

import json
from collections.abc import Sequence
from dataclasses import asdict

import click

from core.commands.files import FilesFirst
from core.commands.model import by_name, calls, tell
from core.language_models.client.retry import RetryingModel
from core.language_models.language_model import Capabilities, LanguageModel
from core.studies import costs
from core.studies.inspection.recording import estimator_of


@click.command(
    cls=FilesFirst, help="Ask a model what it can do, and report how that was found out."
)
@click.argument("model")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def probe(model: str, as_json: bool) -> None:
    """Print what a model can do; the next commands start from that."""
    opened_model = by_name(model)
    opened_model.remember_in(lambda: calls().services)
    resilient = RetryingModel(opened_model, tell=tell).probe()
    able = opened_model.capabilities
    content = {
        "model": opened_model.name,
        "revision": opened_model.revision,
        "estimator": estimator_of(able),
        "capabilities": asdict(able),
        "asked": resilient,
    }
    click.echo(json.dumps(content) if as_json else _abilities(opened_model, able, resilient))


def _abilities(model: LanguageModel, able: Capabilities, names: Sequence[str]) -> str:
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
    if names:
        lines += ["", f"Found out by {costs.calls(len(names))}:", *names]
    return "\n".join(lines)
