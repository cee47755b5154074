"""Certify the default policies: ``python -m benchmarks.default_policy [--model M] [--write]``.

Asks a model in the box the questions of the embedded world once, in a training wording. By a hash
of the question, two thirds of them certify and become the bundled labelled example; the last
third fixes the settings, and tests what was certified. On the first two thirds

- every score gets a policy by Learn-then-Test: at most 5% wrong among all that is served, or, for
  SmolLM2, which knows little of this world, the smallest of a few round errors that the last
  third lets one hope for;
- of the answers that stand (`core.studies.inspection.verdict.stands`) and are not withheld, at most
  2% are wrong: what “Believe it.” promises. Both promises share δ = 10%, half for each.

The least sampled mass is the smallest of a few round numbers at which, by the last third, at most
5% of 200 questions that nobody can answer would be served.

What the model said is kept below ``build/certify/MODEL/``, a file a question, so that a stopped run
goes on; delete the folder after anything changed that the answers depend on. With ``--model
smollm2`` asking takes two hours of processor time, and ``--first N`` asks N questions, drawn at
random. ``--again`` asks nothing, and certifies on the bundled example.

``--weights`` fixes what S.V. and the sampled mass weigh in the weighted doubt, and tests it against
M.I., on rows that certify nothing: the last third of the embedded model's world, and SmolLM2's
bundled answers to real questions. Half of each, by another hash, fix: of weights by which neither
has a lower AUROC, the pair with the largest sum. The other halves test it, and so does what SmolLM2
said to the last third of its world, where that is on file.
"""

import argparse
import csv
import functools
import hashlib
import io
import json
import math
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pyarrow import parquet

from benchmarks.shared.measuring import (
    SCORE,
    UNANSWERABLE,
    Question,
    Row,
    Wording,
    in_parallel,
    measure,
    opened,
    questions,
    unanswerable,
)
from core.abstention.metrics import auroc
from core.abstention.policy import Belief, Pipeline, Policy, to_dict
from core.abstention.resampled_measures import compare
from core.abstention.significance import delong
from core.abstention.thresholds import Threshold as Certified
from core.abstention.thresholds import learn_then_test
from core.data.datasets import questions as datasets
from core.data.tabular import uploads
from core.data.tabular.labelled_rows import labelled_rows
from core.data.tabular.suggestions import suggest
from core.data.world.grading import is_right, matches
from core.language_models.language_model import LanguageModel
from core.language_models.registry import open_model
from core.language_models.trial import in_its_form
from core.outputs import write as save
from core.reports.calibration.words import caution
from core.studies.calibration.calibration import Calibration, Target, calibrate
from core.studies.calibration.example import example_of
from core.studies.calibration.first_calibration import OTHERS
from core.studies.calibration.groups import by_group
from core.studies.evaluation import bundled
from core.studies.evaluation.local import Task
from core.studies.evaluation.rows import Row as ScoredRow
from core.studies.evaluation.rows import scored_row
from core.studies.evaluation.run import pipeline_for
from core.studies.evaluation.run_folder import parts_of
from core.studies.evaluation.saved_run import Filter, Run, labelled_table
from core.studies.evaluation.score_comparison import ENOUGH_FOR_DELONG, of_test
from core.studies.inspection.certificates import (
    DECIDES,
    EMBEDDED,
    SMOLLM2,
    certifies,
    default_policy,
    policies_file,
)
from core.studies.inspection.inspection import Inspection, read, run
from core.studies.inspection.recorder import record, usual_request
from core.studies.inspection.recording import Recording
from core.studies.inspection.request import Reading
from core.studies.inspection.serialise import recording_from_json, recording_to_json
from core.studies.inspection.verdict import DecisionRule, raised_doubt
from core.uncertainty.scores import OF_MASS, OF_VERIFICATION, SCORES, weight

BELIEVED = 0.02  # of the answers that stand, the share that may be wrong
TARGET = Target(error=0.05, confidence=0.9, method="ltt", score=SCORE)
# Two promises share δ. SmolLM2 knows too little for the second to be tried.
EACH = replace(TARGET, confidence=1 - (1 - TARGET.confidence) / 2)
TESTED = {EMBEDDED: EACH, SMOLLM2: TARGET}
ERRORS = {EMBEDDED: (TARGET.error,), SMOLLM2: (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5)}
UNANSWERABLE_QUESTIONS = 200
MASSES = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
FOLDER = Path("build/certify")
OF_OTHERS = ("question", SCORE, f"{SCORE}_correct", "entropy")
WEIGHTS = tuple(round(0.05 * i, 2) for i in range(21))


def fixes(question: str) -> bool:
    """Say whether a question that certifies nothing is of the half that fixes the weights."""
    return int(hashlib.sha256(f"half\0{question}".encode()).hexdigest(), 16) % 2 == 0


def in_order(asked: Sequence[Question]) -> list[Question]:
    """Return questions in an order drawn at random, so that the first ones are a fair sample."""
    rank = np.random.default_rng(4).permutation(len(asked))
    first = [question for place, question in enumerate(asked) if place in set(rank[:1000].tolist())]
    random.Random(0).shuffle(first)
    rest = [question for place, question in enumerate(asked) if place in set(rank[1000:].tolist())]
    return first + rest


def choose(answerable: Sequence[Row], nobody_can: Sequence[Row]) -> tuple[float, float, int]:
    """Return λ, the least mass, and how many were tried, on rows that certify nothing."""
    for tried, least in enumerate(MASSES, 1):
        found = learn_then_test(
            np.array([row.decisive(least) for row in answerable]),
            np.array([row.correct[SCORE] for row in answerable]),
            target_error=TARGET.error,
            confidence=TARGET.confidence,
        )
        if isinstance(found, Certified):
            answered = sum(row.answered(found.value, least) for row in nobody_can)
            if answered <= TARGET.error * len(nobody_can):
                return found.value, least, tried
    raise SystemExit("No least mass keeps the unanswerable questions from being answered.")


def labelled_question(question: Question) -> datasets.Question:
    """Return a question of the world with its right answers."""
    fact = question.fact
    assert fact is not None
    answers = tuple(answer.names for answer in fact.answers)
    return datasets.Question(question.text, question.text, answers, question.band)


@functools.cache
def answering(name: str) -> LanguageModel:
    """Open a model once a process, in the form that suits it."""
    return opened() if name == EMBEDDED else in_its_form(open_model(name))[0]


def _file(question: Question, name: str) -> Path:
    return FOLDER / name / f"{hashlib.sha256(question.text.encode()).hexdigest()[:16]}.json"


def recorded(question: Question, name: str) -> Recording:
    """Return what a model says to a question: what is on file, or what it says now."""
    file = _file(question, name)
    if file.exists():
        return recording_from_json(file.read_text(encoding="utf-8"))
    model = answering(name)
    recording = record(usual_request(question.text, model.capabilities), model)
    file.parent.mkdir(parents=True, exist_ok=True)
    save(file, recording_to_json(recording))
    return recording


class Read(NamedTuple):
    """A question scored, and whether its answer stands."""

    row: ScoredRow
    stands: bool

    def doubt(self, score: str) -> float:
        """Return a score's doubt; NaN where it abstains."""
        value = self.row.values[score]
        return math.nan if value is None else value


def read_as(question: Question, name: str, least_mass: float) -> Read:
    """Score what a model says to a question, nothing answered below a sampled mass."""
    seen = read(recorded(question, name), rule=DecisionRule(math.inf, least_mass))
    return Read(scored_row(labelled_question(question), seen), bool(seen.stands))


def pipeline_with(name: str, least_mass: float) -> Pipeline:
    """Return what scores of a model in the box are made with."""
    model = answering(name)
    request = usual_request("any", model.capabilities)
    return pipeline_for(Task(model, request, Reading(), least_mass))


def example(scored: Sequence[Read], pipeline: Pipeline, wanted: Sequence[str] = ()) -> bytes:
    """Return scored questions as the table that the page Calibration reads.

    One more column says whether an answer stands, for what “Believe it.” promises. The labels by
    the paper's rule are left out: what is certified counts by the other. `wanted`: only these
    columns of it.
    """
    table = labelled_table((each.row for each in scored), pipeline)
    rows = list(csv.DictReader(io.StringIO(table.decode("utf-8-sig"), newline="")))
    columns = wanted or [column for column in rows[0] if not column.endswith("_f1")]
    longer = io.StringIO(newline="")
    writer = csv.writer(longer)  # the cells are disarmed already
    writer.writerow([*columns, "stands"])
    writer.writerows(
        [*(row[column] for column in columns), int(each.stands)]
        for row, each in zip(rows, scored, strict=True)
    )
    return longer.getvalue().encode("utf-8-sig")


def believed(content: bytes, threshold: float) -> Belief | None:
    """Certify what is served of the answers that stand, on the same table."""
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    stand = np.array([row["stands"] == "1" for row in rows])
    doubts = np.array([float(row[SCORE] or "nan") for row in rows])
    correct = np.array([row[f"{SCORE}_correct"] == "1" for row in rows])
    spread = np.array([float(row["entropy"]) for row in rows])  # 0 where there is a single answer
    untested = (spread > 0) & (spread < threshold)  # λ withholds none of these, whatever it says
    doubts[~stand | untested | ~(doubts < threshold)] = np.nan  # nothing else is believed
    found = learn_then_test(doubts, correct, target_error=BELIEVED, confidence=EACH.confidence)
    if not isinstance(found, Certified):
        print(f"believed: nothing. {found.reason}")
        return None
    print(f"believed: {found.answered}, {found.errors} of them wrongly")
    return Belief(min(found.value, threshold), BELIEVED, found.answered, found.errors)


def certified(content: bytes, target: Target) -> dict[str, Calibration]:
    """Calibrate every score on a table, each named beforehand."""
    upload = uploads.parse(content, "example.csv")
    data = labelled_rows(upload, suggest(upload))
    return {name: calibrate(data, replace(target, score=name)) for name in SCORES}


def certify(content: bytes, name: str, errors: Sequence[float], *, write: bool) -> Policy:
    """Certify a model's policies on its table, print them, and make them its default.

    Of several errors, the first that can be certified is promised; how many were tried on these
    rows stands in the policy.
    """
    tried, policy = 0, None
    while policy is None:
        if tried == len(errors):
            raise SystemExit("The default policy could not be certified.")
        calibrations = certified(content, replace(TESTED[name], error=errors[tried]))
        policy, tried = calibrations[DECIDES[name]].policy, tried + 1
    for score, calibration in calibrations.items():
        print(f"{score}: {_outcome(calibration)}")
    policies = {
        score: c.policy and replace(c.policy, settings_tried=tried, rows="")
        for score, c in calibrations.items()
    }
    belief = believed(content, policy.threshold) if name == EMBEDDED else None
    policy = replace(policy, settings_tried=tried, confidence=TARGET.confidence, belief=belief)
    if write:
        save(example_of(name), content)
        save_policies(name, policies | {DECIDES[name]: policy}, calibrations[DECIDES[name]])
    return policy


def save_policies(name: str, policies: Mapping[str, Policy | None], deciding: Calibration) -> None:
    """Make policies a model's defaults, with the group for which the deciding one does not hold."""
    own = {deciding.score: caution(by_group(deciding))}
    every = {
        score: policy and to_dict(replace(policy, caution=own.get(score)))
        for score, policy in policies.items()
    }
    text = json.dumps(every, indent=2, ensure_ascii=False)
    save(policies_file(name), f"{text}\n")


def _outcome(calibration: Calibration) -> str:
    policy = calibration.policy
    if policy is None:
        return f"no policy. {calibration.outcome}"
    return (
        f"λ = {policy.threshold:.4f}, answers {policy.answered} of {policy.labels}, "
        f"{policy.errors} of them wrongly"
    )


def least_of(masses: NDArray[np.float64]) -> float:
    """Return the largest least mass at which at most half of the questions have too little."""
    return max(mass for mass in MASSES if (masses < mass).mean() <= 0.5)


def settled(rest: Sequence[Read]) -> tuple[float, tuple[float, ...]]:
    """Choose SmolLM2's least mass and the errors to try, on rows that certify nothing.

    The mass of `least_of`, and errors from the one that this third could certify by itself on.
    """
    masses = np.array([each.row.values["sampled_mass"] for each in rest])
    least = least_of(masses)
    score = DECIDES[SMOLLM2]
    correct = np.array([each.row.is_right(score) for each in rest])
    doubts = np.array([each.doubt(score) for each in rest])
    doubts[masses < least] = np.nan
    for place, error in enumerate(ERRORS[SMOLLM2]):
        if isinstance(
            learn_then_test(doubts, correct, target_error=error, confidence=0.5), Certified
        ):
            return least, ERRORS[SMOLLM2][place:]
    raise SystemExit("No error can be hoped for.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default=EMBEDDED, choices=TESTED)
    parser.add_argument("--first", type=int, help="ask so many questions only")
    parser.add_argument("--weights", action="store_true", help="fix and test the weighted doubt")
    parser.add_argument("--held-out", action="store_true", help="how untaught wordings are headed")
    parser.add_argument("--again", action="store_true", help="certify on what was asked before")
    parser.add_argument("--write", action="store_true", help="make the result the default")
    options = parser.parse_args()
    if options.held_out:
        held_out()
        return
    if options.weights:
        weigh()
        return
    if options.again:
        own = default_policy(options.model).target_error
        certify(example_of(options.model).read_bytes(), options.model, (own,), write=options.write)
        return
    asked = in_order(questions(Wording.TRAINING))[: options.first]
    work = functools.partial(recorded, name=options.model)
    if options.model == EMBEDDED:
        in_parallel(work, asked)
    else:  # its own threads use both cores
        for question in asked:
            work(question)
    ours = [question for question in asked if certifies(question.text)]
    others = [question for question in asked if not certifies(question.text)]
    nobody_can: list[Row] = []
    if options.model == EMBEDDED:
        nobody_can = measure(unanswerable(UNANSWERABLE_QUESTIONS))
        _, least, _ = choose(measure(others), nobody_can)
        errors = ERRORS[EMBEDDED]
    else:
        least, errors = settled([read_as(q, options.model, MASSES[0]) for q in others])
    print(f"least sampled mass = {least}")
    content = example(
        [read_as(q, options.model, least) for q in ours], pipeline_with(options.model, least)
    )
    policy = certify(content, options.model, errors, write=options.write)
    print(policy.sentence)
    rest = [read_as(q, options.model, least) for q in others]
    report(rest, policy)
    if options.write and options.model == EMBEDDED:
        save(OTHERS, example(rest, pipeline_with(EMBEDDED, least), OF_OTHERS))
    if nobody_can:
        served = sum(row.answered(policy.threshold, least) for row in nobody_can)
        print(f"{UNANSWERABLE}: {len(nobody_can)}, served {served}")


def held_out(number: int = 300) -> None:
    """Print how the embedded model's answers to wordings that training never saw are headed."""
    asked = questions(Wording.HELD_OUT)
    model, headed = opened(), Counter[tuple[str, bool]]()
    for place in np.random.default_rng(0).permutation(len(asked))[:number]:
        question = asked[place]
        assert question.fact is not None
        seen = run(usual_request(question.text, model.capabilities), model)
        headed[seen.headline, is_right(seen.verdict.answer, question.fact)] += 1
    for (headline, right), times in sorted(headed.items()):
        print(f"{headline:<20}{'right' if right else 'wrong':<8}{times:>5}")


# What a question says of the weighted doubt: M.I. as it decides, the doubt of S.V., the sampled
# mass, and whether the answer of M.I. is right.
Parts = tuple[float, float, float, bool]


def parts(seen: Inspection, names: Iterable[str]) -> Parts:
    scores = seen.scores
    information = raised_doubt(scores, SCORE, seen.others)
    verification = scores["self_verification"].doubt
    assert information is not None and verification is not None  # exact likelihoods have both
    right = matches(scores[SCORE].answer, names, seen.query)
    return information, verification, seen.sampled_mass, right


def _of_world(question: Question, name: str) -> tuple[str, str, Parts]:
    seen = read(recorded(question, name), rule=DecisionRule(math.inf, 0.0))
    return question.text, "the world", parts(seen, labelled_question(question).names)


def of_real_questions() -> Iterator[tuple[str, str, Parts]]:
    """Yield what SmolLM2 said in its bundled run where answers are short, with the source."""
    run = Run(bundled.FOLDER / "smollm2_real_questions")
    columns = ["id", "query", "answers", "source"]
    rows = {
        row["id"]: row for row in run.rows([Filter.from_text("short")], columns).table.to_pylist()
    }
    for part in parts_of(run.folder, "recordings"):
        for each in parquet.read_table(part).to_pylist():
            if row := rows.get(each["id"]):
                recording = recording_from_json(each["recording"])
                seen = read(recording, run.reading, DecisionRule(math.inf, 0.0))
                names = chain(*row["answers"])
                yield row["query"], row["source"].partition(" ")[0], parts(seen, names)


def ranks(rows: NDArray[np.float64], weights: tuple[float, float]) -> float:
    """Return the AUROC of the weighted doubt for wrong answers; with weights of 0, that of M.I."""
    return auroc(weight(*rows.T[:3], weights), rows[:, 3] == 1)


def weigh() -> None:
    """Fix the weights of the weighted doubt on half of some rows; test it on the other half."""
    asked = in_order(questions(Wording.TRAINING))
    rest = [question for question in asked if not certifies(question.text)]
    ours = in_parallel(functools.partial(_of_world, name=EMBEDDED), rest)
    sets = {EMBEDDED: ours, SMOLLM2: list(of_real_questions())}
    fixing = [
        np.array([row for text, _, row in rows if fixes(text)], float) for rows in sets.values()
    ]
    alone = [ranks(rows, (0.0, 0.0)) for rows in fixing]

    def worth(weights: tuple[float, float]) -> float:
        both = [ranks(rows, weights) for rows in fixing]
        return sum(both) if all(np.array(both) >= alone) else 0.0

    weights = max(product(WEIGHTS, repeat=2), key=worth)
    in_use = OF_VERIFICATION, OF_MASS
    print(f"weights of S.V. and −ln mass: {weights}; in use: {in_use}\n")
    print("| new rows | questions | wrong | M.I. | weighted doubt | difference |")
    print("| --- | --: | --: | --: | --: | --: |")
    there = [q for q in rest if _file(q, SMOLLM2).exists()]
    tests = [
        (f"{name}, {source}", row)
        for name, rows in sets.items()
        for text, source, row in rows
        if not fixes(text)
    ]
    tests += [
        (f"{SMOLLM2}, all real questions", row) for text, _, row in sets[SMOLLM2] if not fixes(text)
    ]
    tests += [(f"{SMOLLM2}, the world", _of_world(q, SMOLLM2)[2]) for q in there]
    for title in dict.fromkeys(title for title, _ in tests):
        print(tested(title, [row for of, row in tests if of == title], in_use))


def tested(title: str, found: Iterable[Parts], weights: tuple[float, float]) -> str:
    """Return a row of a table: both AUROCs, and their difference with its 95% interval."""
    rows = np.array(list(found), float)
    right = rows[:, 3] == 1
    doubts = {"ours": weight(*rows.T[:3], weights), SCORE: weight(*rows.T[:3], (0.0, 0.0))}
    by = delong(doubts["ours"], doubts[SCORE], right)
    if by.pairs >= ENOUGH_FOR_DELONG:
        of = of_test(by)
    else:
        each = np.arange(len(rows))
        of = compare(doubts, dict.fromkeys(doubts, right), each, "ours").differences[SCORE]
    return (
        f"| {title} | {len(rows)} | {np.count_nonzero(~right)} | {by.second:.3f} | {by.first:.3f} "
        f"| {of.value:+.3f} ({of.lower:+.3f} to {of.upper:+.3f}) |"
    )


def report(rest: Sequence[Read], policy: Policy) -> None:
    """Print what a policy does to the questions that certified nothing, by kind."""
    print(f"\nOn the {len(rest)} questions that certified nothing:\n")
    print(f"{'kind':<18}{'questions':>10}{'served':>9}{'wrong':>7}{'believed':>10}{'wrong':>7}")
    limit, score = policy.belief.threshold if policy.belief else -math.inf, policy.score
    for kind in [*dict.fromkeys(str(each.row.values["source"]) for each in rest), "all"]:
        part = [each for each in rest if kind in (each.row.values["source"], "all")]
        served = [each for each in part if each.doubt(score) < policy.threshold]
        firm = [
            each
            for each in served
            if each.stands
            and each.doubt(score) < limit
            and not 0 < (each.row.values["entropy"] or 0) < policy.threshold
        ]
        print(
            f"{kind:<18}{len(part):>10}{len(served):>9}"
            f"{sum(not r.row.is_right(score) for r in served):>7}{len(firm):>10}"
            f"{sum(not r.row.is_right(score) for r in firm):>7}"
        )


if __name__ == "__main__":
    main()
