"""Which worked examples to put in front of a model: what their choice and order move.

    python -m benchmarks.forms [--model smollm2] [--relation 2]

Asks popular questions of the world's tables, but for two relations that no choice here has seen:
they are for `benchmarks.real_model`. A line for every choice of examples:

- right: the share of the greedy answers that are right, where one is: by *same answer* / by F1;
- AUROC of M.I. and S.E. at telling right answers from wrong ones by *same answer*, on all; where
  too little of the probability was seen for a verdict, both doubt;
- median M.I., nats, where the answer is right, wrong, or one of many, and of nonsense;
- kept: ln of the odds of its right answer against another, told the other 0, 1 and 20 times.

With ``--trial`` the forms of SmolLM2 are tried instead, and what came of it is written to where it
ships, so that its first opening need not try them.
"""

import argparse
from collections.abc import Sequence

import numpy as np

from benchmarks.shared.measuring import Question, Row, inspect, unanswerable
from core import outputs, prompts
from core.abstention.metrics import auroc
from core.data.world.facts import Band, Fact, facts
from core.data.world.grading import is_right
from core.language_models import trial
from core.language_models.forms import EXAMPLES, Example, Form
from core.language_models.language_model import LanguageModel
from core.language_models.registry import open_model
from core.studies.inspection.certificates import usual_least_mass

HELD_OUT = ("capital", "author")
NONSENSE = 8
TOLD = (0, 1, 20)

# What the default is compared with: the same kinds with other contents, and other balances.
OTHERS = (
    Example("Which animal barks?", ("The cow",), "The dog"),
    Example("Name a day of the week.", ("Monday",), "Thursday"),
    Example("What colour is coal?", ("Black",), "Black"),
    Example("Where do penguins live?", (), "Antarctica"),
    Example("Who was the first man on the Moon?", ("Neil Armstrong",), "Neil Armstrong"),
    Example("What is the opposite of hot?", (), "Cold"),
)


def choices() -> dict[str, tuple[Example, ...]]:
    """Return the examples that are compared, by their names."""
    untold = tuple(Example(e.query, (), e.answer) for e in EXAMPLES)
    kept = tuple(e for e in (*EXAMPLES, *OTHERS) if not e.earlier or e.answer in e.earlier)
    replaced = tuple(e for e in (*EXAMPLES, *OTHERS) if not e.earlier or e.answer not in e.earlier)
    orders = {
        f"the default, order {seed}": tuple(
            EXAMPLES[i] for i in np.random.default_rng(seed).permutation(len(EXAMPLES))
        )
        for seed in (1, 2, 3)
    }
    return {
        "the default": EXAMPLES,
        **orders,
        "the same kinds, other contents": OTHERS,
        "both": (*EXAMPLES, *OTHERS),
        "nothing told": untold,
        "told answers kept": kept,
        "told answers replaced": replaced,
    }


def popular(relation: int) -> list[Question]:
    """Return the best known questions of every relation but those held out."""
    asked: list[Question] = []
    for name in dict.fromkeys(fact.relation for fact in facts()):
        if name not in HELD_OUT:
            known = [fact for fact in facts() if fact.relation == name and fact.subject][:relation]
            asked += [Question(fact.ask(fact.templates[0]), fact, 0) for fact in known]
    return asked


def odds(question: Question, model: LanguageModel) -> list[float] | None:
    """Return ln of the odds of the right answer, told another 0, 1 and 20 times; else None."""
    fact = question.fact
    if fact is None or fact.band is Band.MANY_ANSWERS or not (wrong := _another(fact)):
        return None
    told = [prompts.iterative(question.text, [wrong] * t) for t in TOLD]
    values = model.log_likelihoods(told, [fact.answers[0].text, wrong])
    return list(values[:, 0] - values[:, 1])


def _another(fact: Fact) -> str | None:
    others = (o.answers[0].text for o in facts() if o.relation == fact.relation)
    return next((text for text in others if not is_right(text, fact)), None)


def line(name: str, asked: Sequence[Question], model: LanguageModel) -> str:
    """Return what one choice of examples gives."""
    rows = [inspect(question, model) for question in asked]
    known = [(q, r) for q, r in zip(asked, rows, strict=True) if q.fact]
    single = [r for q, r in known if q.band != Band.MANY_ANSWERS]
    right = [r for r in single if r.correct["mutual_information"]]
    groups = [
        right,
        [r for r in single if not r.correct["mutual_information"]],
        [r for q, r in known if q.band == Band.MANY_ANSWERS],
        [r for q, r in zip(asked, rows, strict=True) if not q.fact],
    ]
    medians = " / ".join(f"{_median(group):.2f}" for group in groups)
    moved = [found for question in asked if (found := odds(question, model))]
    kept = " / ".join(f"{value:+.1f}" for value in np.median(moved, axis=0))
    greedy = [
        np.mean([label["greedy_probability"] for label in labels])
        for labels in zip(*((r.correct, r.correct_by_f1) for r in single), strict=True)
    ]
    ranks = " | ".join(f"{_auroc(rows, name):.2f}" for name in SHOWN)
    return f"| {name} | {greedy[0]:.0%} / {greedy[1]:.0%} | {ranks} | {medians} | {kept} |"


SHOWN = ("mutual_information", "semantic_entropy")


def _auroc(rows: Sequence[Row], name: str) -> float:
    """Return the AUROC of a score; where too little was seen, it says that one should doubt."""
    seen = [row.says_something(usual_least_mass()) for row in rows]
    doubts = [row.doubt[name] if s else np.inf for row, s in zip(rows, seen, strict=True)]
    return auroc(doubts, [row.correct[name] for row in rows])


def _median(rows: Sequence[Row]) -> float:
    return float(np.median([r.doubt["mutual_information"] for r in rows])) if rows else np.nan


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--relation", type=int, default=2, help="questions of each relation")
    parser.add_argument("--trial", action="store_true")
    options = parser.parse_args()
    model = open_model(options.model)
    if options.trial:
        outputs.write(trial.SHIPPED, trial.to_ship(model))
        return
    asked = [*popular(options.relation), *unanswerable(NONSENSE)]
    print(f"{len(asked)} questions, {options.model}\n")
    print("| examples | right | AUROC M.I. | S.E. | M.I.: right / wrong / many / nonsense | kept |")
    print("| --- | --: | --: | --: | --: | --: |")
    for name, examples in choices().items():
        print(line(name, asked, model.in_form(Form.EXAMPLES, examples)), flush=True)


if __name__ == "__main__":
    main()
