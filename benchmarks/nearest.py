"""How well the nearest taught question is found, and from which similarity on it is near.

    python -m benchmarks.nearest

`tests/data/foreign_wordings.csv` holds questions in words that no table foresees, with the fact
that each asks for where the world has it; `tests/data/outside.csv` questions that ask for nothing
of the world; `tests/data/other_questions.csv` wordings that ask for something else about a name of
the world, written before the rules of reading were settled, after it, or later, when somebody had
shown what these let pass; `tests/data/rewordings.csv` other words for what a taught question asks.
The threshold `NEAR` and the
other numbers of `core/data/world/nearest.py` were chosen on the first two. What
`tests/data/visitors.csv` gives is reported; it was looked at before `NEAR` and `OFFERED` were
settled, so it is no clean test of these two.
"""

import csv
import pickle
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.shared.measuring import Wording
from benchmarks.shared.measuring import questions as typed
from core.data.world import grading
from core.data.world import nearest as searched
from core.data.world.facts import Fact, facts, fill
from core.data.world.nearest import NEAR, Nearest, nearest, nearest_questions

DATA = Path(__file__).parents[1] / "tests" / "data"
FOREIGN, OUTSIDE, VISITORS = "foreign_wordings", "outside", "visitors"
MISLEADING = "misleading"
OTHER = "other_questions"
REWORDINGS = "rewordings"
NAMES = 12  # by which each of these wordings is asked
THRESHOLDS = sorted([*np.arange(0.35, 0.86, 0.05), NEAR])


def rows(name: str) -> list[dict[str, str]]:
    """Return the rows of one of the files of questions."""
    with (DATA / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def named(fact: Fact) -> str:
    """Return a fact as the column `fact` names it."""
    return f"{fact.relation}: {fact.subject}"


def is_right(found: Nearest | None, row: dict[str, str]) -> bool:
    """Return whether the nearest question asks for the row's fact."""
    return found is not None and named(found.fact) == row["fact"]


def similarities(found: Sequence[Nearest | None]) -> np.ndarray:
    """Return how similar each nearest question is; 0 where there is none."""
    return np.array([one.similarity if one else 0.0 for one in found])


def main() -> None:
    """Print what it costs, how often it is right, and what each threshold lets through."""
    facts()
    began = time.process_time()
    nearest("")
    print(f"processor time: start-up {time.process_time() - began:.2f} s", end=", ")
    print(f"index {len(pickle.dumps(vars(searched._index()))) / 1e6:.1f} MB", end=", ")
    foreign, outside = rows(FOREIGN), rows(OUTSIDE)
    questions = [row["question"] for row in (*foreign, *outside)]
    began = time.process_time()
    found = [nearest(question) for question in questions]
    print(f"{(time.process_time() - began) / len(questions) * 1000:.1f} ms a question")
    ours = np.array([bool(row["fact"]) for row in foreign])
    right = np.array([is_right(*pair) for pair in zip(found, foreign, strict=False)])
    how = similarities(found)
    whole = np.array([one is not None and not one.missing for one in found])
    how *= whole  # what lacks a word that decides is near at no threshold
    foreigns, outsides = how[: len(foreign)], how[len(foreign) :]
    held = sum(one is not None and one.similarity >= NEAR for one in found) - (how >= NEAR).sum()
    print(f"kept from being near by a missing number or word: {held} of {len(found)}")
    print(f"right at 1: {right[ours].sum()} of {ours.sum()} ({right[ours].mean():.1%})")
    print("\nfrom   right  wrong  not ours | outside")
    for least in THRESHOLDS:
        near = foreigns >= least
        print(
            f"{least:.2f}  {(near & right)[ours].mean():6.1%} {(near & ~right)[ours].mean():6.1%}"
            f"    {near[~ours].mean():6.1%} |  {np.mean(outsides >= least):6.1%}"
            f"{'   NEAR' if np.isclose(least, NEAR) else ''}"
        )
    _what_passes(outside, found[len(foreign) :])
    _mistyped()
    misleading = [row["question"] for row in rows(MISLEADING)]
    unknown = [question for question in misleading if grading.find(question) is None]
    meant = sum(one is not None and one.is_meant for one in map(nearest, unknown))
    print(f"\nwritten to mislead: {meant} of {len(unknown)} read as a taught one")
    others: dict[str, list[str]] = defaultdict(list)
    for question, written in other_questions():
        others[written].append(question)
    for written, asked in others.items():
        meant = sum(one is not None and one.is_meant for one in map(nearest, asked))
        print(f"asking else, written {written}: {meant} of {len(asked)} read as a taught one")
    _reworded()
    _visitors()


def other_questions(names: int = NAMES) -> list[tuple[str, str]]:
    """Return what asks for something else about the first names of each relation.

    With it stands when its wording was written: before the rules were settled, or after.
    """
    questions = [
        (fill(row["wording"], fact.subject), row["written"])
        for row in rows(OTHER)
        for fact in [fact for fact in facts() if fact.relation == row["relation"]][:names]
    ]
    return [pair for pair in dict.fromkeys(questions) if grading.find(pair[0]) is None]


def _reworded() -> None:
    """Print how many rewordings are read as the taught question, or offer it."""
    came: Counter[str] = Counter()
    for row in rows(REWORDINGS):
        found = nearest_questions(row["question"])
        offered = any(one.is_plausible and is_right(one, row) for one in found)
        if found and found[0].is_meant:
            came["read rightly" if is_right(found[0], row) else "read wrongly"] += 1
        else:
            came["offered" if offered else "neither"] += 1
    print("\nreworded:", dict(came))


def _what_passes(outside: Sequence[dict[str, str]], found: Sequence[Nearest | None]) -> None:
    print("\noutside, and yet near:")
    for row, one in zip(outside, found, strict=True):
        if one and one.near:
            print(f"{one.similarity:.2f}  {row['kind']}: {row['question']} → {one.question}")


def _mistyped(most: int = 500) -> None:
    """Print how often a fact is found again whose question was typed with a slip."""
    asked = [q for q in typed(Wording.CARELESS) if grading.find(q.text) is None][:most]
    found = [nearest(question.text) for question in asked]
    near = [one for one in zip(found, asked, strict=True) if one[0] and one[0].near]
    right = sum(one.fact is question.fact for one, question in near if one)
    print(
        f"\ntyped with a slip: of {len(asked)}, {right} right and near, {len(near) - right} wrong"
    )


def _visitors() -> None:
    kinds: dict[str, list[str]] = defaultdict(list)
    for row in rows(VISITORS):
        question = row["question"]
        found = nearest(question)
        recognised = grading.find(question) is not None
        kinds[row["kind"]].append(
            "recognised" if recognised else "near" if found and found.near else "neither"
        )
    print("\nvisitors")
    for kind, outcomes in kinds.items():
        print(kind, {one: outcomes.count(one) for one in ("recognised", "near", "neither")})


if __name__ == "__main__":
    main()
