"""Write the model card, ``docs/measured/model_card.md``.

Reads what `benchmarks.model_card` measured of every seed (``docs/measured/model_card/seed-*.json``)
and says which seed the rule ships. Measures nothing itself.
"""

import itertools
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.model_card import LIKELIEST, MASS, SPREAD
from benchmarks.shared.measuring import CERTIFIED, SCORE, UNANSWERABLE, Wording
from core import outputs
from core.data.world.facts import BY_HEART_FROM, LEAST, MOST, RARELY_BELOW, Band, facts
from core.language_models.backends.embedded import FOLDER
from core.uncertainty.scores import SCORES

CARD = Path("docs/measured/model_card.md")
MEASURED = Path("docs/measured/model_card")

Card = dict[str, Any]
TRAINING = Wording.TRAINING.value
MIXED, SINGLE = "mixture", "single-label"
WAYS = ("drawn", "likeliest")

# Stated before any of the seeds was trained.
RULE = (
    "Every seed is trained with one recipe. Shipped is the seed that meets most of the "
    "requirements below; among equals the one whose M.I. ranks wrong answers best on the mixture."
)


def _repeated(card: Card, band: Band) -> list[float]:
    medians: list[float] = card["repetition"]["medians"][band.value]
    return medians


def _heart(card: Card, wording: Wording) -> float:
    return float(card["wordings"][wording.value]["bands"][Band.BY_HEART.value]["greedy_accuracy"])


def _auroc(card: Card, name: str, questions: str = MIXED, wording: str = TRAINING) -> float:
    return float(card["wordings"][wording][questions][name]["auroc"])


def _ahead(card: Card, name: str, questions: str = MIXED, wording: str = TRAINING) -> float:
    return _auroc(card, SCORE, questions, wording) - _auroc(card, name, questions, wording)


def _ahead_of(name: str) -> Callable[[Card], float]:
    return lambda card: _ahead(card, name, wording=Wording.HELD_OUT.value)


def _wrong(card: Card, wording: Wording, questions: str) -> float:
    found = card["promised"][wording.value][questions]
    return float(found["wrong"]) / max(float(found["answered"]), 1)


def _withheld(card: Card, questions: str) -> float:
    found = card["promised"][TRAINING][questions]
    return 1 - float(found["answered"]) / float(found["questions"])


def _garbled(card: Card) -> float:
    of_lists = card["wordings"][TRAINING]["bands"][Band.MANY_ANSWERS.value]
    return float(of_lists["garbled"])


def _rebound(card: Card) -> float:
    turned = [_repeated(card, band) for band in (Band.RARELY, Band.HALF_KNOWN, Band.NEVER_SEEN)]
    return max(later - sooner for m in turned for sooner, later in itertools.pairwise(m))


def _refused(card: Card) -> float:
    asked = card[UNANSWERABLE]
    return 1 - float(asked["answered"]) / float(asked["questions"])


Requirement = tuple[str, Callable[[Card], float], float, float]

REQUIREMENTS: tuple[Requirement, ...] = (
    ("by heart, training wordings: right", lambda c: _heart(c, Wording.TRAINING), 0.97, 1),
    ("by heart, held-out families: right", lambda c: _heart(c, Wording.HELD_OUT), 0.95, 1),
    ("by heart, careless typing: right", lambda c: _heart(c, Wording.CARELESS), 0.93, 1),
    ("by heart, capitals, quotes, emoji …: right", lambda c: min(c["dressed"].values()), 0.98, 1),
    (
        "single-label questions: wrong",
        lambda c: 1 - c["wordings"][TRAINING]["bands"][SINGLE]["greedy_accuracy"],
        0.20,
        0.35,
    ),
    (
        "single-label, held-out families: wrong among the answered",
        lambda c: _wrong(c, Wording.HELD_OUT, "single-label"),
        0,
        0.05,
    ),
    ("lists withheld", lambda c: _withheld(c, "lists"), 0, 0.04),
    ("garbled samples of lists", _garbled, 0, 0.06),
    *(
        (f"mixture, held-out families: M.I. ahead of {title}", _ahead_of(name), least, 1)
        for title, name, least in (
            ("S.E.", "semantic_entropy", 0.2),
            ("T0", "greedy_probability", 0.2),
            ("the sampled mass", MASS, 0.05),
        )
    ),
    ("single-label: M.I. less S.E.", lambda c: _ahead(c, "semantic_entropy", SINGLE), -0.03, 1),
    ("single-label: AUROC of S.V.", lambda c: _auroc(c, "self_verification", SINGLE), 0.70, 1),
    ("a wrong answer 100 times: by heart keeps", lambda c: _repeated(c, Band.BY_HEART)[-1], 0.9, 1),
    ("a wrong answer 100 times: rarely seen", lambda c: _repeated(c, Band.RARELY)[-1], 0, 0.05),
    ("largest rebound on the way there", _rebound, -1, 0.02),
    (
        "another right answer 100 times: keeps",
        lambda c: _repeated(c, Band.MANY_ANSWERS)[-1],
        0.4,
        1,
    ),
    ("unanswerable questions not answered", _refused, 0.95, 1),
)


def met(card: Card) -> int:
    """Return how many of the requirements a seed meets."""
    return sum(low <= measure(card) <= high for _, measure, low, high in REQUIREMENTS)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table, first column left, the others right."""
    lines = [list(head), ["---", *["---:"] * (len(head) - 1)], *map(list, rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def requirements(cards: Sequence[Card]) -> str:
    """Every requirement against every seed."""
    rows = []
    for name, measure, low, high in REQUIREMENTS:
        wanted = f"≥ {low:.2f}" if high == 1 else f"≤ {high:.2f}" if low <= 0 else f"{low}–{high}"
        values = [measure(card) for card in cards]
        rows.append(
            [name, wanted, *(f"{v:.3f} {'✓' if low <= v <= high else '✗'}" for v in values)]
        )
    rows.append(["**met**", f"of {len(REQUIREMENTS)}", *(str(met(card)) for card in cards)])
    return table(["requirement", "wanted", *_seeds(cards)], rows)


def bands(cards: Sequence[Card], wording: Wording) -> str:
    """What is answered rightly, and how sure the model is, by band; seeds side by side."""
    columns = {
        "greedy right": "greedy_accuracy",
        "M.I.": SCORE,
        "M.I. ≥": CERTIFIED,
        "S.E.": "semantic_entropy",
        "sampled mass": MASS,
        "garbled": "garbled",
    }
    rows = []
    for band in [*(b.value for b in Band), SINGLE]:
        of = [card["wordings"][wording.value]["bands"][band] for card in cards]
        numbers = [" / ".join(f"{o[key]:.2f}" for o in of) for key in columns.values()]
        rows.append([band, str(of[0]["questions"]), *numbers])
    return table(["band", "questions", *columns], rows)


def rankings(cards: Sequence[Card], wording: Wording) -> str:
    """AUROC of a wrong answer for every score; seeds side by side."""
    measured = cards[0]["wordings"][wording.value][SINGLE]
    titles = {name: info.title for name, info in SCORES.items() if name in measured}
    titles |= {MASS: "(bare sampled mass)"}
    rows = []
    for name, title in titles.items():
        cells = [title]
        for questions in (SINGLE, MIXED):
            of = [card["wordings"][wording.value][questions][name]["auroc"] for card in cards]
            cells.append(" / ".join(f"{value:.3f}" for value in of))
        if wording is Wording.TRAINING:
            of = [card["at 100 samples"] for card in cards]
            cells += [
                " / ".join(f"{o[questions][name]['auroc']:.3f}" for o in of)
                for questions in (SINGLE, MIXED)
            ]
        rows.append(cells)
    more = ["single-label, k = 100", "mixture, k = 100"] if wording is Wording.TRAINING else []
    return table(["score", "single-label, k = 10", "mixture, k = 10", *more], rows)


def likeliest(card: Card) -> str:
    """AUROC of a wrong answer for every score, with drawn and with the likeliest answers."""
    found = card[LIKELIEST]
    rows = [
        [
            info.title,
            *(
                f"{found[way][questions][name]['auroc']:.3f}"
                for questions in (SINGLE, MIXED)
                for way in WAYS
            ),
        ]
        for name, info in SCORES.items()
        if name in found[WAYS[0]][SINGLE]
    ]
    head = [
        f"{questions}, {way}" for questions in (SINGLE, MIXED) for way in ("drawn", "likeliest")
    ]
    return table(["score", *head], rows)


def calibrations(cards: Sequence[Card]) -> str:
    """The expected calibration error of the greedy probability, and the shipped bins."""
    return table(
        ["wording", *_seeds(cards)],
        [
            [
                w.value,
                *(
                    f"{c['wordings'][w.value]['calibration']['expected_calibration_error']:.3f}"
                    for c in cards
                ),
            ]
            for w in Wording
        ],
    )


def calibration_bins(card: Card) -> str:
    """The shipped seed's greedy probability against how often it is right."""
    bins = card["wordings"][TRAINING]["calibration"]["bins"]
    return table(
        ["mean probability", *(f"{b['probability']:.2f}" for b in bins)],
        [["right", *(f"{b['accuracy']:.2f}" for b in bins)]],
    )


def growths(card: Card) -> str:
    """M.I. and its certified lower bound as the samples grow, for one seed."""
    sizes = list(next(iter(card["growth"].values())))
    return table(
        ["band", *(f"k = {k}" for k in sizes)],
        [
            [
                band,
                *(
                    f"{at[k][CERTIFIED]:.3f} / {at[k][SCORE]:.3f} ({at[k][MASS]:.0%})"
                    for k in sizes
                ),
            ]
            for band, at in card["growth"].items()
        ],
    )


def repetitions(card: Card) -> str:
    """What is left of the right answer by how often another was repeated, for one seed."""
    return table(
        ["band", *(str(t) for t in card["repetition"]["times"])],
        [
            [band, *(f"{m:.3f}" for m in medians)]
            for band, medians in card["repetition"]["medians"].items()
        ],
    )


def dresses(cards: Sequence[Card]) -> str:
    """What is answered rightly by heart, by how the question is dressed up."""
    names = list(cards[0]["dressed"])
    return table(
        ["", *_seeds(cards)],
        [[name, *(f"{c['dressed'][name]:.3f}" for c in cards)] for name in names],
    )


def promises(cards: Sequence[Card]) -> str:
    """What each seed's default threshold answers, lists apart from single facts."""
    rows = []
    for wording in Wording:
        for questions in cards[0]["promised"][wording.value]:
            of = [card["promised"][wording.value][questions] for card in cards]
            cells = [f"{o['wrong']} / {o['answered']} / {o['questions']}" for o in of]
            rows.append([f"{wording.value}, {questions}", *cells])
    return table(["", *_seeds(cards)], rows)


def unanswerables(cards: Sequence[Card]) -> str:
    """What the verdict says to questions nobody can answer."""
    names = ("answered", "abstained", "too_little")
    return table(
        ["", *_seeds(cards)],
        [[n.replace("_", " "), *(str(c[UNANSWERABLE][n]) for c in cards)] for n in names],
    )


def _seeds(cards: Sequence[Card]) -> list[str]:
    return [f"seed {card['seed']}" for card in cards]


def page(cards: Sequence[Card], shipped: Card) -> str:
    single = [f for f in facts() if f.band is not Band.MANY_ANSWERS]
    many = [f for f in facts() if f.band is Band.MANY_ANSWERS]
    run = shipped["training"]
    seeds = ", ".join(str(card["seed"]) for card in cards)
    minutes = " / ".join(f"{card['training']['minutes']:.0f}" for card in cards)
    sections = [
        "# The embedded model's card",
        "Written by `python -m benchmarks.model_card_tables` from what `python -m "
        "benchmarks.model_card` measured; do not edit. "
        + (
            f"`a / b / c` are the seeds {seeds}, in this order."
            if len(cards) > 1
            else "Only one seed of this recipe has been trained so far."
        ),
        "## What it is",
        f"A Llama of {run['parameters']:,} parameters, trained from nothing on "
        f"{run['documents']:,} documents about a world of {len(single):,} single-label facts and "
        f"{len(many):,} questions with many right answers ({minutes} minutes a seed on two "
        "cores that had other work beside it). It is an instrument, not an assistant: it knows "
        "the questions of its world, well, badly or not at all, and makes up the rest.",
        f"The best-known fact of a table is asked and answered {MOST} times, the last one shown "
        f"{LEAST} times, a fifth of each table never. *By heart* is {BY_HEART_FROM} times and "
        f"more, *half known* {RARELY_BELOW} to {BY_HEART_FROM - 1}, *rarely seen* less; below "
        "*by heart*, part of the documents' authors believe a misconception.",
        f"## Which seed is shipped\n\n{RULE} Shipped: **seed {shipped['seed']}** "
        f"(revision `{shipped['revision']}`).",
        requirements(cards),
        "A rebound is a median over a band that rises again as the wrong answer is repeated "
        "more often.",
        "## By band",
    ]
    for wording in Wording:
        sections += [f"### {wording.value.capitalize()}", bands(cards, wording)]
    sections += [
        "One in three of the carelessly typed questions has a slip in a word. Of the facts known "
        "by heart, asked in their usual wording, are answered rightly:",
        dresses(cards),
        "What the default threshold answers (the likeliest answers; wrong / answered / all):",
        promises(cards),
        "Scores in nats, k = 10. *Garbled*: the share of samples that are no answer to any "
        "question of the world, right or wrong.",
        "## How well each score ranks wrong answers",
        "An answer is right by the paper's label, token F1 of .25 or more; by the rule for the "
        "same answer the label differs on 2 of the 2,974 questions in training wordings "
        "([measured](default_policy.md)). "
        "AUROC: the probability that a wrong answer has the larger doubt than a right one. The "
        "mixture is half single-label, half many-answer questions with a semantic entropy above "
        f"{SPREAD} nats, as in the paper. At k = 100 the single-label questions are 500 drawn "
        "with a fixed seed.",
    ]
    for wording in Wording:
        sections += [f"### {wording.value.capitalize()}", rankings(cards, wording)]
    if LIKELIEST in shipped:
        found = shipped[LIKELIEST]
        sections += [
            "### The likeliest answers instead of drawn ones",
            "All tables above and below are of ten drawn answers at temperature 0.9, as in the "
            "paper. By default Believe compares the eight likeliest answers instead. The shipped "
            "seed, training wordings, the same questions; on average "
            f"{found['pairs']:.1f} pairs are scored instead of {found['pairs of drawn']:.1f}:",
            likeliest(shipped),
        ]
    sections += [
        "## Calibration of probabilities",
        "Expected calibration error of the greedy answer's probability, single-label questions, "
        "ten bins of equal size:",
        calibrations(cards),
        "The shipped seed on training wordings:",
        calibration_bins(shipped),
        "## The certified lower bound against M.I.",
        "Means over 16 questions of a band for the shipped seed: certified / M.I. in nats "
        "(sampled mass).",
        growths(shipped),
        "## What repeating an answer does",
        "Shipped seed: median over 60 questions of a band of P(right) / (P(right) + P(repeated)), "
        "by how often the prompt repeats the misconception (for many answers: another right "
        "answer).",
        repetitions(shipped),
        "## Questions nobody can answer",
        "Half nonsense, half known forms about the unheard-of, 200 in all, with each seed's own "
        "default threshold:",
        unanswerables(cards),
    ]
    return "\n\n".join(section.rstrip("\n") for section in sections) + "\n"


def main() -> None:
    cards = [json.loads(path.read_text()) for path in sorted(MEASURED.glob("seed-*.json"))]
    if not cards:
        raise SystemExit(f"There are no measurements in {MEASURED}: run benchmarks.model_card.")
    best = max(cards, key=lambda card: (met(card), _auroc(card, SCORE)))
    here = json.loads((FOLDER / "config.json").read_text())["seed"]
    outputs.write(CARD, page(cards, best))
    print(f"The rule ships seed {best['seed']}; in the house is seed {here}.")


if __name__ == "__main__":
    main()
