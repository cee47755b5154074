"""A complete inspection against its physical floor.

    python -m benchmarks.inspection [--model smollm2]

The inspection: the likeliest answers, the greedy response, every answer under every prompt, and
self-verification; read into clusters, scores and a verdict. Measured, all in this process:

- against the bare forward passes of the same tokens, replayed: at most 1.5 times;
- against the matrix products of these passes alone, dealt to as many processors: the share of the
  machine's own matrix product that it reaches;
- against an inspection of ten drawn answers, as in the paper: at most 1.2 times;
- against the same procedure batched through transformers, where that is installed
  (``requirements/local.txt``); of SmolLM2, against the back end for transformers on the same
  weights.

Medians of ratios over interleaved runs; absolute times are only printed.
"""

from __future__ import annotations

import argparse
import functools
import statistics
import sys
from collections.abc import Callable
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.ratios import Ratio, each, report, seconds
from core import prompts
from core.data.world import facts as world
from core.language_models.backends.gguf.model import smollm2_file
from core.language_models.backends.llama.runtime import Llama, matrix_product
from core.language_models.forms import Form
from core.language_models.language_model import LanguageModel
from core.language_models.registry import open_model
from core.language_models.trial import in_its_form
from core.studies.inspection.inspection import run
from core.studies.inspection.recorder import record, usual_request
from core.studies.inspection.request import Request

QUESTIONS = 12
ROUNDS = 7
REAL_QUESTIONS, REAL_ROUNDS = 3, 2


def _ratios(of: str) -> tuple[Ratio, Ratio, Ratio, Ratio]:
    return (
        Ratio(f"{of} / its bare forward passes", most=1.5),
        Ratio(f"{of} / with ten drawn answers", most=1.2),
        Ratio(f"{of} with ten drawn answers through transformers / ours"),
        Ratio(f"{of}: share of the machine’s own matrix product", least=0.5),
    )


OF = {"embedded": _ratios("Inspection"), "smollm2": _ratios("Inspection by SmolLM2")}
RATIOS = tuple(ratio for ratios in OF.values() for ratio in ratios)


class Recorder:
    """Writes down every pass of a network, to run them again and nothing else."""

    METHODS = ("forward_all", "log_softmax", "log_probability")

    def __init__(self, llama: Llama) -> None:
        self.llama = llama
        self.passes: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []

    def __enter__(self) -> Recorder:
        for name in self.METHODS:
            method = getattr(self.llama, name)
            setattr(self.llama, name, self._recording(method))
        return self

    def __exit__(self, *_: object) -> None:
        for name in self.METHODS:
            delattr(self.llama, name)

    def _recording(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            self.passes.append((method, arguments))
            return method(*arguments)

        return call

    def replay(self) -> None:
        for method, arguments in self.passes:
            method(*arguments)

    def products(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the matrix products of the passes, as many numbers in the same shapes."""
        rng = np.random.default_rng(0)
        longest = max(map(self._rows, self.passes))
        layers = [
            weights
            for layer in self.llama.layers
            for weights in (layer.qkv, layer.output, layer.gate_up, layer.down)
        ]
        wide = {weights.shape[1] for weights in (*layers, self.llama.unembedding)}
        inputs = {width: rng.random((longest, width), np.float32) for width in wide}
        return [
            (inputs[weights.shape[1]][: self._rows(one)], weights)
            for one in self.passes
            for weights in (layers if self._reads_layers(one) else [self.llama.unembedding])
        ]

    def forward_passes(self) -> int:
        """Return how many passes went over all layers."""
        return sum(map(self._reads_layers, self.passes))

    @staticmethod
    def _reads_layers(one: tuple[Callable[..., Any], tuple[Any, ...]]) -> bool:
        return bool(one[0].__name__ == "forward_all")

    def _rows(self, one: tuple[Callable[..., Any], tuple[Any, ...]]) -> int:
        _, (first, *_rest) = one
        if self._reads_layers(one):
            return sum(tokens.size for tokens, _ in first)
        return int(first.size // first.shape[-1])


def multiply(products: list[tuple[np.ndarray, np.ndarray]]) -> None:
    for x, weights in products:
        if len(x):
            matrix_product(x, weights)


def through_transformers(model: LanguageModel) -> Callable[[Request], None] | None:
    """Return the procedure with drawn answers as a transformers user would batch it."""
    try:
        import torch

        from training.reference import in_transformers
    except ImportError:
        return None
    network = in_transformers()
    pad = network.config.pad_token_id

    def score(pairs: list[tuple[list[int], list[int]]]) -> np.ndarray:
        length = max(len(p) + len(a) for p, a in pairs)
        tokens = torch.full((len(pairs), length), pad)
        for i, (prompt, answer) in enumerate(pairs):
            tokens[i, : len(prompt) + len(answer)] = torch.tensor(prompt + answer)
        steps = network(tokens).logits[:, :-1].log_softmax(-1)
        picked = steps.gather(2, tokens[:, 1:, None])[:, :, 0]
        return np.array(
            [
                float(picked[i, len(p) - 1 : len(p) + len(a) - 1].sum())
                for i, (p, a) in enumerate(pairs)
            ]
        )

    @torch.no_grad()
    def inspect(request: Request) -> None:
        torch.manual_seed(request.seed)
        query = model.reads(request.query)
        opening = torch.tensor([model.encode(prompts.iterative(query))])
        settings: dict[str, Any] = {"max_new_tokens": 32, "eos_token_id": model.end}
        drawn = network.generate(
            opening,
            attention_mask=torch.ones_like(opening),
            do_sample=True,
            temperature=request.temperature,
            top_k=0,
            num_return_sequences=request.samples,
            pad_token_id=pad,
            **settings,
        )
        network.generate(
            opening,
            attention_mask=torch.ones_like(opening),
            do_sample=False,
            pad_token_id=pad,
            **settings,
        )
        texts = {model.tokenizer.decode(r[opening.shape[1] :].tolist()).strip() for r in drawn}
        answers = [[*model.encode(f" {text}"), model.end] for text in texts]
        told = [prompts.iterative(query)]
        told += [prompts.iterative(query, [text]) for text in texts]
        asked = [prompts.self_verification(query, text) for text in texts]
        verdicts = [[*model.encode(f" {v}"), model.end] for v in (prompts.TRUE, prompts.FALSE)]
        score([(model.encode(p), a) for p in told for a in answers])
        score([(model.encode(p), v) for p in asked for v in verdicts])

    return inspect


def in_a_folder(folder: str, form: Form) -> Callable[[Request], object] | None:
    """Return inspections by the back end for transformers, on SmolLM2 written to `folder`."""
    try:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer
    except ImportError:
        return None
    file = smollm2_file()
    network = AutoModelForCausalLM.from_pretrained(
        file.parent, gguf_file=file.name, dtype=torch.float32
    )
    network.hf_quantizer.remove_quantization_config(network)  # its weights are numbers by now
    network.save_pretrained(folder)
    AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name).save_pretrained(folder)
    return functools.partial(run, model=open_model(f"hf:{folder}").in_form(form))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="embedded", choices=("embedded", "smollm2"))
    options = parser.parse_args()
    # Both sides of the first ratio with one thread, as the models themselves run.
    with threadpool_limits(limits=1, user_api="blas"):
        if options.model == "embedded":
            model = open_model("embedded")
            peer = through_transformers(model)
            return compare(model, peer, QUESTIONS, ROUNDS, OF[options.model])
        model, _ = in_its_form(open_model(options.model))
        with TemporaryDirectory() as folder:
            peer = in_a_folder(folder, model.form)
            return compare(model, peer, REAL_QUESTIONS, REAL_ROUNDS, OF[options.model])


def compare(
    model: LanguageModel,
    peer: Callable[[Request], object] | None,
    questions: int,
    rounds: int,
    ratios: tuple[Ratio, Ratio, Ratio, Ratio],
) -> int:
    facts = world.facts()
    chosen = np.random.default_rng(0).permutation(len(facts))[:questions]

    ours, floor, plain, drawn, theirs = [], [], [], [], []
    passes, work = [], []
    for i in chosen:
        request = usual_request(facts[i].question, model.capabilities)
        draws = Request(facts[i].question, seed=int(i))
        with Recorder(model.llama) as recorder:
            record(request, model)
        products = recorder.products()
        passes.append(recorder.forward_passes())
        work.append(sum(2.0 * len(x) * weights.size for x, weights in products))
        run(request, model)  # warm
        run(draws, model)
        if peer:
            peer(draws)
        for _ in range(rounds):
            ours.append(seconds(lambda request=request: run(request, model)))
            floor.append(seconds(recorder.replay))
            plain.append(seconds(lambda products=products: multiply(products)))
            drawn.append(seconds(lambda draws=draws: run(draws, model)))
            if peer:
                theirs.append(seconds(lambda draws=draws: peer(draws)))

    middle = statistics.median
    print(f"complete inspection            {1000 * middle(ours):8.1f} ms")
    print(f"bare forward passes            {1000 * middle(floor):8.1f} ms")
    print(f"its matrix products alone      {1000 * middle(plain):8.1f} ms")
    print(f"passes over all layers         {middle(passes):8.1f}")
    print(f"multiplied and added           {middle(work) / 1e9:8.1f} GFLOP")
    print(f"with ten drawn answers         {1000 * middle(drawn):8.1f} ms")
    if peer:
        print(f"these through transformers     {1000 * middle(theirs):8.1f} ms")
    else:
        print("transformers is not there (requirements/local.txt): not compared.")
    over_passes, over_drawn, through, share = ratios
    measured = {
        over_passes: each(ours, floor),
        over_drawn: each(ours, drawn),
        share: each(plain, ours),
    }
    if peer:
        measured[through] = each(theirs, drawn)
    return 0 if report(measured) else 1


if __name__ == "__main__":
    sys.exit(main())
