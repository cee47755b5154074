"""What strangers meet: ``python -m benchmarks.visitors``.

Two hundred questions in five kinds, typed by somebody who had not seen the tables, and kept out
of training, of the wordings and of λ (``tests/data/visitors.csv``). The two thresholds of the
nearest question were settled after a look at them, and not of the 130 of somebody else
(``tests/data/visitors_130.csv``), nor of another 130 (``tests/data/visitors_130_more.csv``), which
nobody had seen when the model was trained and certified; what the reading of questions leaves out
was settled after a look at all of them, and not of a third to sixth 130
(``tests/data/visitors_130_unseen.csv``, ``…_fourth.csv`` to ``…_sixth.csv``). Of each, for
each kind: how many are answered rightly and wrongly under “Believe it.”, under “Perhaps.”, and
else by the recording of a larger model beside, how often a question that is offered instead has
the right answer, how many are withheld, and how often the headline says that this was not taught.
Then what comes at once, without a second try.
"""

import csv
import sys
from collections import Counter
from pathlib import Path

from benchmarks.shared.measuring import in_parallel, opened
from core.data.world import grading
from core.studies.evaluation.recorded_answers import open_recorded, recorded_answer
from core.studies.inspection.inspection import run
from core.studies.inspection.recorder import usual_request
from core.studies.inspection.request import InvalidRequestError
from core.studies.inspection.taught_questions import in_taught_words
from core.studies.inspection.verdict import Decision, Headline

FILES = "", "_130", "_130_more", "_130_unseen", "_130_fourth", "_130_fifth", "_130_sixth"
QUESTIONS = tuple(Path("tests/data", f"visitors{name}.csv") for name in FILES)
OUTCOMES = (
    "believed, right",
    "believed, wrong",
    "perhaps, right",
    "perhaps, wrong",
    "recorded, right",
    "recorded, wrong",
    "offered rightly",
    "withheld",
    "said to be not taught",
    "refused",
)
NOTHING_RIGHT = ("fictive", "hostile")  # kinds of which no answer is right


def outcome(row: dict[str, str]) -> str:
    """Ask one question as a visitor would, and say what came of it."""
    right = [answer.strip() for answer in row["answers"].split(";") if answer.strip()]
    model = opened()
    try:
        request = usual_request(row["question"], model.capabilities)
        found = run(in_taught_words(request, model), model)
    except InvalidRequestError:
        return "refused"
    taught = found.nearest_taught
    if found.verdict.decision is Decision.ANSWER and not (taught and taught.outside):
        right_answer = grading.matches(found.verdict.answer, right)
        word = "believed" if found.headline is Headline.BELIEVE else "perhaps"
        return f"{word}, {'right' if right_answer else 'wrong'}"
    if (answer := recorded_answer(row["question"])) is not None:
        beside = open_recorded(answer).verdict
        if beside.decision is Decision.ANSWER:
            return f"recorded, {'right' if grading.matches(beside.answer, right) else 'wrong'}"
    for offer in taught.offers if taught else ():
        fact = grading.find(offer.question)
        names = [name for answer in fact.answers for name in answer.names] if fact else []
        if any(grading.matches(name, right) for name in names):
            return "offered rightly"
    return "said to be not taught" if taught and taught.outside else "withheld"


def main() -> None:
    for questions in QUESTIONS:
        summarise(questions)


def summarise(questions: Path) -> None:
    """Ask the questions of a file, and print what came of each kind."""
    with questions.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    found = in_parallel(outcome, rows)
    print(f"{'kind':<10}" + "".join(f"{name:>23}" for name in OUTCOMES))
    for kind in dict.fromkeys(row["kind"] for row in rows):
        counts = Counter(o for o, row in zip(found, rows, strict=True) if row["kind"] == kind)
        print(f"{kind:<10}" + "".join(f"{counts[name]:>23}" for name in OUTCOMES))
    at_once = sum(came.endswith(", right") for came in found)
    invented = [c for c, row in zip(found, rows, strict=True) if row["kind"] in NOTHING_RIGHT]
    refused = sum(came in OUTCOMES[-3:] for came in invented)
    print(f"at once: of {len(rows)}, {at_once} answered rightly, {refused} refused rightly")
    for row, came in zip(rows, found, strict=True):
        if came.endswith(("wrong", "withheld")) and "-v" in sys.argv:
            print(f"{row['kind']}: {row['question']!r}: {came}")


if __name__ == "__main__":
    main()
