"""How a command's questions are asked, and how what was said is read."""

from typing import Any

import click

from core.commands.files import Input, text_in, with_options
from core.commands.model import usage
from core.language_models import meaning
from core.language_models.language_model import MOST_ANSWER_TOKENS
from core.studies.inspection.request import MAX_FRONT_CHARACTERS, Reading, Request, Sampling
from core.uncertainty.similarity import COMPARISONS, DEFAULT, JUDGE, usual_threshold


class _Comparison(click.Choice[str]):
    """A rule by its name, or a model that compares, which is opened."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if isinstance(value, str) and value.startswith(meaning.PREFIX):
            return meaning.open_comparison(value)
        return str(super().convert(value, param, ctx))


#: The options on which answers are found, and how they are compared.
reads = with_options(
    click.option(
        "--answer-tokens",
        type=int,
        help=f"Tokens at which an answer is cut, 1 to {MOST_ANSWER_TOKENS}; a line break ends "
        "it, too.  [default: 32]",
    ),
    click.option(
        "--samples",
        type=int,
        help="k, 1 to 300: how many answers are drawn, or how many of the likeliest are compared "
        "at most.  [default: 8 of the likeliest; 10 drawn, 100 if the model scores only its own "
        "answers]",
    ),
    click.option(
        "--sampling",
        type=click.Choice([Sampling.LIKELIEST.value, Sampling.DRAWN.value]),
        help="Which answers are compared.  [default: likeliest if the model can be searched "
        "for them, and neither --temperature nor --seed is given]",
    ),
    click.option("--temperature", type=float, help="Temperature of drawn answers.  [default: 0.9]"),
    click.option("--seed", type=int, help="Seed of drawn answers.  [default: 0]"),
    click.option(
        "--similarity",
        type=_Comparison(list(COMPARISONS)),
        default=DEFAULT,
        show_default=True,
        help="How two answers are compared; judge asks the model about each pair; "
        "meaning:FOLDER asks a small model of embeddings or entailment.",
    ),
    click.option(
        "--threshold",
        type=float,
        help="τ, the similarity threshold.  [default: 0.25; judge: 0.5, meaning: 0.8]",
    ),
    click.option("--gamma-1", default=0.0, show_default=True, help="γ₁, stabilises M.I."),
    click.option("--gamma-2", default=0.0, show_default=True, help="γ₂, stabilises M.I."),
)
#: The options on what stands in front of every prompt.
front = with_options(
    click.option("--system", default="", help="A system prompt, in front of every prompt."),
    click.option(
        "--context", type=Input(), help="A text file that the answer is to be drawn from."
    ),
)


def context_in(options: dict[str, Any]) -> str:
    """Return the text that `--context` names."""
    return text_in(options["context"], MAX_FRONT_CHARACTERS) if options["context"] else ""


def request_of(query: str | None, options: dict[str, Any]) -> tuple[dict[str, Any], Reading]:
    """Return what somebody chose of a request, and the reading, by the options of `reads`.

    Raises `UsageError` when they contradict each other, or are out of range; no model is opened
    yet.
    """
    similarity, tau = options["similarity"], options["threshold"]
    drawing = {name: options[name] for name in ("temperature", "seed") if options[name] is not None}
    sampling = options["sampling"] or (Sampling.DRAWN if drawing else None)
    if sampling == Sampling.LIKELIEST and drawing:
        raise click.UsageError(
            "--temperature and --seed apply to drawn answers only: omit them, or choose "
            "--sampling drawn."
        )
    chosen = {
        "samples": options["samples"],
        "answer_tokens": options["answer_tokens"],
        "sampling": sampling,
        "judged": similarity == JUDGE,
        **drawing,
    }
    chosen = {name: value for name, value in chosen.items() if value is not None}
    usage(Request, query, **chosen)
    tau = usual_threshold(similarity) if tau is None else tau
    return chosen, usage(Reading, similarity, tau, options["gamma_1"], options["gamma_2"])
