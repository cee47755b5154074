"""Record what transformers says of the shipped weights: ``python -m training.reference``.

Two hundred seeded prompts, each with one answer, and their log-likelihoods by
``LlamaForCausalLM`` in float32. ``make test`` holds the NumPy runtime against these
recorded values; ``make test-local`` computes them again, live.
"""

import json
from pathlib import Path

import numpy as np
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from core import outputs, prompts
from core.data.world import facts as world
from core.language_models.backends.embedded import FOLDER
from core.language_models.backends.embedded.model import restore
from core.language_models.registry import open_model
from training.corpus import Author

FILE = Path("tests/language_models/backends/embedded/data/reference_log_likelihoods.json")
CASES = 200


def cases(count: int = CASES, seed: int = 20_26) -> list[tuple[str, str]]:
    """Return seeded (prompt, answer) pairs: documents of the world, right and wrong."""
    author = Author(world.facts(), seed)
    rng = np.random.default_rng(seed)
    plan = author.document_plan()
    pairs = []
    for i in range(count):
        document = author.write(*plan[i])
        answers = [document.answer, author.pick(author.everything), "Ünheard-of  (42) “thing”"]
        pairs.append((document.prompt, answers[rng.choice(3, p=[0.5, 0.4, 0.1])]))
    # And the ends of what is possible: no letters, many repetitions.
    pairs[-2] = (prompts.iterative("¿?"), "…")
    pairs[-1] = (prompts.iterative("Name a city in the UK", ["London"] * 100), "Manchester")
    return pairs


def in_transformers(folder: Path = FOLDER) -> LlamaForCausalLM:
    """Return the network of a folder in transformers: a stock Llama with our weights."""
    weights = {name: torch.from_numpy(part) for name, part in restore(folder).items()}
    network = LlamaForCausalLM.from_pretrained(
        None, config=LlamaConfig.from_pretrained(folder), state_dict=weights, dtype=torch.float32
    )
    return network.eval()


def by_transformers(pairs: list[tuple[str, str]]) -> list[float]:
    """Return ln Q(answer | prompt), the end token included, by an independent runtime."""
    reference = in_transformers()
    model = open_model("embedded")
    values = []
    for prompt, answer in pairs:
        opening = model.tokenizer.encode(prompt).ids
        target = [*model.tokenizer.encode(f" {answer}").ids, model.end]
        with torch.no_grad():
            logits = reference(torch.tensor([opening + target])).logits[0]
        steps = logits.log_softmax(-1)[len(opening) - 1 : -1]
        values.append(float(steps.gather(1, torch.tensor(target)[:, None]).double().sum()))
    return values


def main() -> None:
    pairs = cases()
    rows = [
        {"prompt": prompt, "answer": answer, "log_likelihood": value}
        for (prompt, answer), value in zip(pairs, by_transformers(pairs), strict=True)
    ]
    FILE.parent.mkdir(parents=True, exist_ok=True)
    saved = {
        "about": "ln Q(answer | prompt), nats, by transformers in float32",
        "revision": open_model("embedded").revision,
        "cases": rows,
    }
    outputs.write(FILE, json.dumps(saved, ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    main()
