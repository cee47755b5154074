"""lm-polygraph's side of `benchmarks.beside_lm_polygraph`, run in lm-polygraph's environment.

    python -m benchmarks._lm_polygraph FOLDER

A model in the form of transformers lies in FOLDER. Each line of standard input is a request in
JSON, each line of standard output its answer. Of lm-polygraph two things are replaced:

- the comparison of answers: its model of textual entailment, microsoft/deberta-large-mnli, must be
  downloaded. Two answers entail each other where we call them the same, by token F1. How long
  its own comparison takes is measured with a network of that shape and random weights;
- `min_new_tokens=2`, with which no answer is a single token long.

Classes, estimator, sampling and the order of all of it are its own.
"""

import functools
import json
import os
import sys
import time
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from lm_polygraph.defaults.register_default_stat_calculators import (
    register_default_stat_calculators,
)
from lm_polygraph.estimators import SemanticEntropy
from lm_polygraph.stat_calculators import SemanticClassesCalculator, SemanticMatrixCalculator
from lm_polygraph.stat_calculators.stat_calculator import StatCalculator
from lm_polygraph.utils.builder_enviroment_stat_calculator import BuilderEnvironmentStatCalculator
from lm_polygraph.utils.dataset import Dataset
from lm_polygraph.utils.factory_stat_calculator import StatCalculatorContainer
from lm_polygraph.utils.generation_parameters import GenerationParameters
from lm_polygraph.utils.manager import UEManager
from lm_polygraph.utils.model import WhiteboxModel
from transformers import (
    AutoModelForCausalLM,
    DebertaConfig,
    DebertaForSequenceClassification,
    PreTrainedTokenizerFast,
)

from core.uncertainty.similarity import USUAL_THRESHOLD, pairwise

Texts = Sequence[Sequence[str]]
Numbers = Sequence[Sequence[float]]

ENTAILMENT = 1
# deberta-large, as its authors describe it; beyond this, what transformers takes by default.
LARGE = DebertaConfig(
    hidden_size=1024,
    pooler_hidden_size=1024,
    num_hidden_layers=24,
    num_attention_heads=16,
    intermediate_size=4096,
    relative_attention=True,
    pos_att_type=["c2p", "p2c"],
    position_biased_input=False,
    label2id={"CONTRADICTION": 0, "NEUTRAL": 1, "ENTAILMENT": 2},
    id2label={0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"},
)


class FreeLengthModel(WhiteboxModel):
    """Lets an answer end whenever the model ends it."""

    def generate(self, **settings: Any) -> Any:
        return super().generate(**{**settings, "min_new_tokens": 0})


class SameWords(StatCalculator):
    """Compares answers by token F1, in place of `SemanticMatrixCalculator`."""

    @staticmethod
    def meta_info() -> tuple[list[str], list[str]]:
        made = ["semantic_matrix_entail", "semantic_matrix_classes", "entailment_id"]
        return made, ["sample_texts"]

    def __call__(self, dependencies: dict[str, Any], *_: Any, **__: Any) -> dict[str, Any]:
        samples = dependencies["sample_texts"]
        most = max(map(len, samples))
        same = np.zeros((len(samples), most, most), dtype=int)
        for matrix, texts in zip(same, samples, strict=True):
            matrix[: len(texts), : len(texts)] = pairwise(texts) >= USUAL_THRESHOLD
        return {
            "semantic_matrix_entail": same.astype(float),
            "semantic_matrix_classes": np.where(same, ENTAILMENT, 0),
            "entailment_id": ENTAILMENT,
        }


def load_stat_calculator(config: Any, environment: Any) -> SameWords:
    """Build `SameWords`: lm-polygraph calls a function of this name in a builder's module."""
    return SameWords()


def calculators() -> list[StatCalculatorContainer]:
    """Return its own calculators, without what semantic entropy does not read, and ours."""
    made, read = SameWords.meta_info()
    ours = StatCalculatorContainer(
        obj=SameWords, builder="benchmarks._lm_polygraph", stats=made, dependencies=read
    )
    its_own = register_default_stat_calculators(
        "Whitebox", output_attentions=False, output_hidden_states=False
    )
    return [*its_own, ours]  # the last that makes something is asked for it


def opened(folder: str) -> WhiteboxModel:
    network = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=f"{folder}/tokenizer.json",
        pad_token="<|pad|>",
        eos_token="<|end|>",
        padding_side="left",
        model_input_names=["input_ids", "attention_mask"],
    )
    settings = GenerationParameters(temperature=1.0, top_k=0, top_p=1.0)
    return FreeLengthModel(network, tokenizer, folder, generation_parameters=settings)


def inspect(
    model: WhiteboxModel, prompts: list[str], batch: int, seed: int, tokens: int
) -> dict[str, Any]:
    """Draw ten answers to each prompt and estimate their semantic entropy."""
    torch.manual_seed(seed)
    started = time.process_time()
    manager = UEManager(
        Dataset(prompts, [""] * len(prompts), batch_size=batch),
        model,
        [SemanticEntropy()],
        BuilderEnvironmentStatCalculator(model),
        calculators(),
        generation_metrics=[],
        ue_metrics=[],
        processors=[],
        ignore_exceptions=False,
        verbose=False,
        max_new_tokens=tokens,
        save_stats=["sample_texts", "sample_log_probs"],
    )
    manager()
    seconds = time.process_time() - started
    return {
        "seconds": seconds,
        "entropies": manager.estimations["sequence", "SemanticEntropy"],
        "greedy": manager.stats["greedy_texts"],
        "texts": manager.stats["sample_texts"],
        "log_probs": manager.stats["sample_log_probs"],
    }


def estimate(texts: Texts, log_probs: Numbers) -> dict[str, Any]:
    """Return the semantic entropies of given samples, by each way in which it estimates them."""
    stats: dict[str, Any] = {"sample_texts": texts, "sample_log_probs": log_probs}
    stats |= SameWords()(stats)
    stats |= SemanticClassesCalculator()(stats, [], None)
    ways = [
        SemanticEntropy(),
        SemanticEntropy(use_unique_responses=True),
        SemanticEntropy(class_probability_estimation="frequency"),
    ]
    return {str(way): way(stats).tolist() for way in ways}


def weigh(
    texts: Texts, log_probs: Numbers, log_weights: Numbers, labels: Sequence[Sequence[int]]
) -> list[float]:
    """Return its semantic entropies of given samples in given classes, weighted."""
    members = {
        i: [[j for j, own in enumerate(row) if own == label] for label in range(max(row) + 1)]
        for i, row in enumerate(labels)
    }
    classes = {"class_to_sample": members, "sample_to_class": dict(enumerate(labels))}
    estimator = SemanticEntropy(use_unique_responses=True)
    estimator(
        {"sample_texts": texts, "sample_log_probs": log_probs, "semantic_classes_entail": classes}
    )  # which only tells it the classes
    return estimator.batched_call(texts, log_probs, log_weights).tolist()


@functools.cache
def network_of_entailment() -> DebertaForSequenceClassification:
    return DebertaForSequenceClassification(LARGE).eval()


def compare(model: WhiteboxModel, texts: Texts) -> dict[str, float]:
    """Return how long its own comparison of given samples takes, by a network that knows nothing.

    Its tokens are the model's own, without those that stand around a pair: rather too few.
    """
    entailment = SimpleNamespace(
        deberta=network_of_entailment(),
        deberta_tokenizer=model.tokenizer,
        batch_size=10,
        device="cpu",
    )
    calculator = SemanticMatrixCalculator(entailment)
    calculator({"sample_texts": texts[:1]}, [], model)  # warm
    started = time.process_time()
    for each in texts:
        calculator({"sample_texts": [each]}, [], model)
    return {"seconds": time.process_time() - started}


def main() -> None:
    # Whatever libraries print is no answer: it goes where errors go.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    torch.set_num_threads(1)
    model = opened(sys.argv[1])
    for line in sys.stdin:
        request = json.loads(line)
        what = request.pop("what")
        if what in ("inspect", "compare"):
            answer: Any = {"inspect": inspect, "compare": compare}[what](model, **request)
        else:
            answer = {"estimate": estimate, "weigh": weigh}[what](**request)
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
