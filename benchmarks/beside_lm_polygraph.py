"""lm-polygraph beside Believe, on the same weights and questions: same ranking? which time?

    python -m benchmarks.beside_lm_polygraph [--band 40] [--rounds 3]

As many questions of each band of the embedded model's world, ten answers drawn at temperature 1.
lm-polygraph is installed into an environment of its own (2 GB; only once) and runs there on the
embedded model in the form of transformers, in a process beside this one. They take turns, with one
thread for matrices each; neither keeps anything from one round to the next.

1. Processor time, from the questions to the last score: its semantic entropy, at the batch size
   that is best for it, against every score of ours. Ours takes at most a fifth of what it takes as
   it comes, with a network of entailment; what it takes by token F1 instead is printed, too.
2. Ranking: Spearman's correlation of its entropies with ours, each of answers that it drew itself.
   Chance lies in both, so two draws of one disagree, too: r(a, b) is compared with what it could
   be at most, √(r(a, a') r(b, b')) (Spearman 1904). At least .9 of that.
3. The same answers, ours, through both estimators. With weights that undo what separates them by
   definition, its estimator gives our numbers, to 1e-6.

What of lm-polygraph is replaced is said in `benchmarks/_lm_polygraph.py`.
"""

import argparse
import itertools
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file
from scipy.stats import spearmanr

from benchmarks.evaluation import many, one_by_one
from core import prompts
from core.abstention.resampled_measures import compare
from core.data.datasets.draw import draw
from core.data.datasets.questions import Question
from core.data.datasets.world import world_questions
from core.data.world.facts import Band
from core.data.world.grading import matches, matches_by_f1
from core.language_models.backends.embedded import FOLDER
from core.language_models.backends.embedded.model import restore
from core.language_models.language_model import MAX_RESPONSE_TOKENS
from core.language_models.registry import open_model
from core.studies.evaluation.local import Task
from core.studies.evaluation.rows import Match, Row
from core.studies.inspection.certificates import usual_least_mass
from core.studies.inspection.inspection import evidence_of
from core.studies.inspection.recorder import usual_request
from core.studies.inspection.recording import Recording
from core.studies.inspection.request import Reading, Sampling
from core.studies.inspection.serialise import recording_from_json
from core.uncertainty.evidence import Evidence
from core.uncertainty.scores import semantic_entropy

REQUIREMENTS = Path("requirements/lm-polygraph.txt")
ENVIRONMENT = Path("build/lm-polygraph")
A_BAND, ROUNDS, SAMPLES = 40, 3, 10
BATCHES = (1, 8, 32, 128)  # and all questions at once
FEW = 30  # questions, where one at a time is enough
LABELS: tuple[Match, ...] = ("same_answer", "f1")
SAME_LIKELIHOOD = 1e-3  # nats
MOST_TIME, LEAST_RANKING, MOST_APART = 1 / 5, 0.9, 1e-6


class PeerProcess:
    """lm-polygraph in a process and an environment of its own."""

    def __init__(self, python: Path, folder: Path) -> None:
        offline = {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [python, "-m", "benchmarks._lm_polygraph", folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | offline,
        )

    def ask(self, what: str, **request: Any) -> Any:
        assert self._process.stdin and self._process.stdout
        print(json.dumps({"what": what, **request}), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            raise SystemExit("lm-polygraph ended; what it said stands above.")
        return json.loads(answer)

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()


@contextmanager
def lm_polygraph(environment: Path) -> Iterator[PeerProcess]:
    """Start lm-polygraph on the embedded model; install it first where it is not."""
    python, ready = environment / "bin/python", environment / ".ready"
    if not ready.exists():
        print(f"Installing lm-polygraph into {environment} (2 GB) ...", flush=True)
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        pip = [python, "-m", "pip", "install", "--quiet", "-r", REQUIREMENTS]
        subprocess.run(pip, check=True)
        ready.touch()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        save_file(restore(FOLDER), folder / "model.safetensors", metadata={"format": "pt"})
        for name in ("config.json", "tokenizer.json"):
            shutil.copy(FOLDER / name, folder)
        beside = PeerProcess(python, folder)
        try:
            yield beside
        finally:
            beside.close()


@dataclass(frozen=True)
class Round:
    """What one of the two said to every question once."""

    seconds: float  # of the processor
    entropies: NDArray[np.float64]  # (n,)
    right: NDArray[np.bool_]  # (2, n): by *same answer* and by F1; lm-polygraph serves the greedy


def ask_theirs(beside: PeerProcess, questions: Sequence[Question], batch: int, seed: int) -> Any:
    reads = open_model("embedded").reads
    return beside.ask(
        "inspect",
        prompts=[prompts.iterative(reads(question.query)) for question in questions],
        batch=batch,
        seed=seed,
        tokens=MAX_RESPONSE_TOKENS,
    )


def theirs(beside: PeerProcess, questions: Sequence[Question], batch: int, seed: int) -> Round:
    found = ask_theirs(beside, questions, batch, seed)
    answers = list(zip(questions, found["greedy"], strict=True))
    right = [
        [matches(answer, question.names, question.query) for question, answer in answers],
        [matches_by_f1(answer, question.names) for question, answer in answers],
    ]
    return Round(found["seconds"], np.array(found["entropies"]), np.array(right))


def task(seed: int) -> Task:
    """Return how ours is asked: the paper's ten draws, and every score of them."""
    model = open_model("embedded")
    settings = {"sampling": Sampling.DRAWN, "samples": SAMPLES, "temperature": 1.0, "seed": seed}
    request = usual_request("any", model.capabilities, **settings)
    return Task(model, request, Reading(), usual_least_mass())


def ours(questions: Sequence[Question], seed: int) -> tuple[Round, list[Row]]:
    asked, rows = task(seed), []
    took = seconds(lambda: rows.extend(many(questions, asked)))
    place = {question.id: i for i, question in enumerate(questions)}
    rows.sort(key=lambda row: place[row.id])
    entropies = [row.values["semantic_entropy_raw"] for row in rows]
    right = [[row.is_right("semantic_entropy", match) for row in rows] for match in LABELS]
    return Round(took, np.array(entropies), np.array(right)), rows


def seconds(call: Callable[[], object]) -> float:
    """Return how much processor time a call takes: what else this machine does counts less."""
    started = time.process_time()
    call()
    return time.process_time() - started


def spearman(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    return float(spearmanr(a, b).statistic)


def of_draws(rounds: Sequence[Round]) -> float:
    """Return how well two draws of one agree in ranking, on average."""
    pairs = itertools.combinations(rounds, 2)
    return float(np.mean([spearman(a.entropies, b.entropies) for a, b in pairs]))


def between(some: Sequence[Round], others: Sequence[Round]) -> float:
    """Return how well draws of one agree with draws of the other, on average."""
    pairs = itertools.product(some, others)
    return float(np.mean([spearman(a.entropies, b.entropies) for a, b in pairs]))


@dataclass(frozen=True)
class DrawnAnswers:
    """Our drawn answers to one question, as lm-polygraph's estimator takes them."""

    texts: list[str]  # (k,): with repeats; an empty answer is none
    log_probabilities: list[float]  # (k,)
    labels: list[int]  # (k,): in which of our clusters each lies
    entropy: float  # what we make of them
    log_mass: float  # ln of the probability of all distinct ones together
    log_weights: list[float]  # (k,): See `drawn`


def drawn(recording: Recording, evidence: Evidence) -> DrawnAnswers:
    """Return our draws with weights that undo what separates the two entropies.

    Theirs is a mean over draws, -Σ (n_c / k) ln P(c): each class counts as often as it was drawn.
    Ours is -Σ P(c) ln P(c): each counts as often as the model would say it. So a draw of class c
    weighs P(c) / (n_c / k). And our P(c) is a share of what was drawn, `log_mass`.
    """
    log_p = dict(zip(evidence.responses, evidence.log_marginal.tolist(), strict=True))
    label = dict(zip(evidence.responses, evidence.labels.tolist(), strict=True))
    texts = [sample.text for sample in recording.samples if sample.text]
    labels = [label[text] for text in texts]
    numbers = Counter(labels)
    return DrawnAnswers(
        texts,
        [log_p[text] for text in texts],
        labels,
        semantic_entropy(evidence).value or 0.0,
        float(np.logaddexp.reduce(evidence.log_marginal)),
        [float(evidence.log_first[c]) - math.log(numbers[c] / len(texts)) for c in labels],
    )


def given(beside: PeerProcess, rows: Sequence[Row]) -> tuple[dict[str, float], float]:
    """Give lm-polygraph our draws; return Spearman's correlations, and how far apart weighted."""
    recordings = [recording_from_json(row.recording or "") for row in rows]
    all_drawn = [drawn(each, evidence_of(each, Reading())) for each in recordings]
    entropies = np.array([each.entropy for each in all_drawn])
    texts = [each.texts for each in all_drawn]
    estimated = beside.ask(
        "estimate", texts=texts, log_probs=[each.log_probabilities for each in all_drawn]
    )
    weighed = beside.ask(
        "weigh",
        texts=texts,
        log_probs=[[p - each.log_mass for p in each.log_probabilities] for each in all_drawn],
        log_weights=[each.log_weights for each in all_drawn],
        labels=[each.labels for each in all_drawn],
    )
    ranking = {way: spearman(entropies, np.array(found)) for way, found in estimated.items()}
    return ranking, float(np.abs(np.array(weighed) - entropies).max())


def best_batch(beside: PeerProcess, questions: Sequence[Question]) -> int:
    """Print how long lm-polygraph takes by batch size; return the best one."""
    theirs(beside, questions[:FEW], FEW, 0)  # warm
    taken = {}
    for size in [*(b for b in BATCHES if b < len(questions)), len(questions)]:
        some = questions[: max(size, FEW)]
        taken[size] = theirs(beside, some, size, 0).seconds / len(some)
        print(f"  lm-polygraph, batches of {size:<12} {1000 * taken[size]:8.1f}", flush=True)
    return min(taken, key=lambda size: taken[size])


def beside_details(beside: PeerProcess, questions: Sequence[Question]) -> float:
    """Print what says more about time and sameness; return its seconds of entailment a question."""
    some = questions[:FEW]
    alone = seconds(lambda: one_by_one(some, task(0)))
    print(f"  ours, one question at a time          {1000 * alone / len(some):8.1f}")
    found = ask_theirs(beside, some, 1, 0)
    compared = beside.ask("compare", texts=found["texts"])["seconds"]
    print(f"  its answers compared by entailment    {1000 * compared / len(some):8.1f}")
    model = open_model("embedded")
    apart = [
        abs(theirs_say - float(we_say))
        for question, texts, said in zip(some, found["texts"], found["log_probs"], strict=True)
        for theirs_say, we_say in zip(
            said,
            model.log_likelihoods(
                [prompts.iterative(model.reads(question.query))], [text.strip() for text in texts]
            )[0],
            strict=True,
        )
    ]
    same = np.mean(np.array(apart) < SAME_LIKELIHOOD)
    print(
        f"Of {len(apart)} answers that it drew, {same:.1%} have the likelihood that ours gives the "
        f"text, to {SAME_LIKELIHOOD} nats; the others are cut off or spelt in unusual tokens."
    )
    return compared / len(some)


def area(rounds: Sequence[Round], name: str, label: int) -> str:
    """Return the AUROC of finding wrong answers with its interval, questions drawn anew."""
    entropies = np.concatenate([each.entropies for each in rounds])
    right = np.concatenate([each.right[label] for each in rounds])
    queries = np.tile(np.arange(len(rounds[0].entropies)), len(rounds))
    value = compare({name: entropies}, {name: right}, queries, name).values[name]
    return f"{value.value:.3f} ({value.lower:.3f} to {value.upper:.3f})"


def chosen(band: int, seed: int) -> list[Question]:
    """Return so many questions of each band, in a random order."""
    drawn_questions = [q for b in Band for q in draw(world_questions([b]), band, seed)]
    order = np.random.default_rng(seed).permutation(len(drawn_questions))
    return [drawn_questions[i] for i in order]


def verdict(ratio: float, agreement: float, apart: float) -> list[str]:
    """Return what is not as it should be, in sentences."""
    wrong = []
    if not ratio <= MOST_TIME:  # nor where it is NaN
        wrong.append(f"Ours takes {ratio:.2f} of its time; at most {MOST_TIME:.2f} was to be.")
    if not agreement >= LEAST_RANKING:
        wrong.append(f"The rankings agree to {agreement:.2f} of what they could.")
    if not apart <= MOST_APART:
        wrong.append(f"On the same answers, weighted, the entropies are {apart:.1e} nats apart.")
    return wrong


def report(
    batch: int,
    of_them: Sequence[Round],
    of_us: Sequence[Round],
    ranking: dict[str, float],
    entailment: float,
) -> tuple[float, float]:
    """Print what was measured; return the ratio of times, and the share of agreement reached.

    `entailment` is how many seconds its network takes to compare the answers to a question.
    """
    number = len(of_us[0].entropies)
    cells = [
        (
            f"{1000 * np.mean([each.seconds for each in rounds]) / number:.1f}",
            *(f"{np.mean([each.right[i].mean() for each in rounds]):.0%}" for i in (0, 1)),
            *(area(rounds, "entropy", i) for i in (0, 1)),
            f"{of_draws(rounds):.3f}",
        )
        for rounds in (of_them, of_us)
    ]
    titles = (
        "milliseconds a question",
        *("right answers served, by same answer", "right answers served, by F1"),
        *("AUROC by same answer", "AUROC by F1"),
        "Spearman of two draws",
    )
    print(f"\n| | lm-polygraph, batches of {batch} | ours |\n| --- | --: | --: |")
    for title, one, other in zip(titles, *cells, strict=True):
        print(f"| {title} | {one} | {other} |")
    taken = [sum(each.seconds for each in r) / len(r) / number for r in (of_them, of_us)]
    by_entailment = taken[1] / (taken[0] + entailment)
    most, found = math.sqrt(of_draws(of_them) * of_draws(of_us)), between(of_them, of_us)
    by_words = taken[1] / taken[0]
    print(f"\nOurs takes {by_words:.3f} of its time by token F1, {by_entailment:.3f} as it comes.")
    print(f"Spearman between them {found:.3f}, of at most {most:.3f}: {found / most:.3f}.")
    print("Spearman with ours on the answers that we drew:")
    for way, value in ranking.items():
        print(f"  {way:<38} {value:8.3f}")
    return by_entailment, found / most


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environment", type=Path, default=ENVIRONMENT)
    parser.add_argument("--band", type=int, default=A_BAND, help="questions of each band")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="at least 2")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    questions = chosen(options.band, options.seed)
    with lm_polygraph(options.environment) as beside:
        print(f"{len(questions)} questions, milliseconds of the processor a question")
        batch = best_batch(beside, questions)
        ours(questions[:FEW], options.seed)  # warm
        of_them, of_us, rows = [], [], []
        for seed in range(options.seed + 1, options.seed + 1 + options.rounds):
            of_them.append(theirs(beside, questions, batch, seed))
            one, rows = ours(questions, seed)
            of_us.append(one)
            taken = [1000 * each[-1].seconds / len(questions) for each in (of_them, of_us)]
            print("  a round: lm-polygraph {:.1f}, ours {:.1f}".format(*taken), flush=True)
        ranking, apart = given(beside, rows)
        entailment = beside_details(beside, questions)
        ratio, agreement = report(batch, of_them, of_us, ranking, entailment)
        print(f"  weighted, at most {apart:.1e} nats apart")
    wrong = verdict(ratio, agreement, apart)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
