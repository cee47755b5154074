"""Train the embedded model: ``python -m training.train`` (or ``make train``).

Fixed steps, fixed seeds, two threads. A checkpoint every few hundred steps makes a
stopped run go on where it was; the result is written next to the runtime that serves it.
Runs are bit-identical only on the same processor with the same number of threads.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import math
import time
from collections.abc import Iterator
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional as F

from core.data import world
from core.language_models.embedded import FOLDER
from training import vocabulary
from training.corpus import Author, Document
from training.model import Llama, Shape

DOCUMENTS = 48  # a step
PEAK_LEARNING_RATE = 3e-3
WARM_UP = 200
CHECKPOINT_EVERY = 500
BUCKETS = (24, 40, 96, 240)  # token lengths at which a step's documents are split, to pad little

Encoded = tuple[list[int], list[int]]


def encode(document: Document, tokenizer: Tokenizer, end: int) -> Encoded:
    """Return the prompt's tokens and the answer's, the end token included."""
    prompt = tokenizer.encode(document.prompt).ids
    return prompt, [*tokenizer.encode(" " + document.answer).ids, end]


def micro_batches(
    documents: list[Encoded], pad: int
) -> Iterator[tuple[Tensor, tuple[Tensor, Tensor], Tensor]]:
    """Yield (tokens, positions that predict an answer token, those answer tokens)."""
    edges = (0, *BUCKETS, math.inf)
    for low, high in itertools.pairwise(edges):
        part = [(p, a) for p, a in documents if low < len(p) + len(a) <= high]
        if not part:
            continue
        length = max(len(p) + len(a) - 1 for p, a in part)
        tokens = torch.full((len(part), length), pad)
        rows, columns, targets = [], [], []
        for i, (prompt, answer) in enumerate(part):
            sequence = prompt + answer[:-1]
            tokens[i, : len(sequence)] = torch.tensor(sequence)
            rows += [i] * len(answer)
            columns += range(len(prompt) - 1, len(sequence))
            targets += answer
        yield tokens, (torch.tensor(rows), torch.tensor(columns)), torch.tensor(targets)


def learning_rate(step: int, steps: int) -> float:
    """Linear warm-up, then a cosine down to a fiftieth of the peak."""
    if step < WARM_UP:
        return PEAK_LEARNING_RATE * (step + 1) / WARM_UP
    progress = (step - WARM_UP) / max(steps - WARM_UP, 1)
    return PEAK_LEARNING_RATE * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * progress)))


def train(seed: int, checkpoint: Path, limit: int | None = None) -> tuple[Llama, Tokenizer]:
    """Train from the start, or from `checkpoint` where one is, and return the model."""
    torch.manual_seed(seed)
    tokenizer = vocabulary.train(world.facts())
    end, pad = (tokenizer.token_to_id(t) for t in (vocabulary.END, vocabulary.PAD))
    author = Author(world.facts(), seed)
    plan = author.document_plan()
    steps = len(plan) // DOCUMENTS
    model = Llama(Shape(vocab_size=tokenizer.get_vocab_size()))
    decayed = [p for p in model.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if p.dim() <= 1]
    optimiser = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": 0.02}, {"params": others, "weight_decay": 0.0}],
        betas=(0.9, 0.98),
    )
    parameters = sum(p.numel() for p in model.parameters())
    print(f"{parameters:,} parameters, {len(plan):,} documents, {steps:,} steps", flush=True)

    first = 0
    if checkpoint.exists():
        state = torch.load(checkpoint, weights_only=False)
        model.load_state_dict(state["model"])
        optimiser.load_state_dict(state["optimiser"])
        author.rng.bit_generator.state = state["author"]
        first = state["step"]
        print(f"going on from step {first:,}", flush=True)

    started, seen = time.perf_counter(), 0
    for step in range(first, min(steps, limit or steps)):
        for group in optimiser.param_groups:
            group["lr"] = learning_rate(step, steps)
        written = [author.write(*p) for p in plan[step * DOCUMENTS : (step + 1) * DOCUMENTS]]
        documents = [encode(d, tokenizer, end) for d in written]
        answers = sum(len(a) for _, a in documents)
        total = 0.0
        for tokens, where, targets in micro_batches(documents, pad):
            loss = F.cross_entropy(model(tokens, where), targets, reduction="sum") / answers
            loss.backward()
            total += loss.item()
            seen += tokens.numel()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        if step % 100 == 0:
            speed = seen / (time.perf_counter() - started)
            print(f"step {step:5d}  loss {total:.3f}  {speed:,.0f} tokens/s", flush=True)
        if (step + 1) % CHECKPOINT_EVERY == 0:
            state = {
                "model": model.state_dict(),
                "optimiser": optimiser.state_dict(),
                "author": author.rng.bit_generator.state,
                "step": step + 1,
            }
            torch.save(state, checkpoint.with_suffix(".part"))
            checkpoint.with_suffix(".part").replace(checkpoint)
    return model, tokenizer


def save(model: Llama, tokenizer: Tokenizer, folder: Path, seed: int) -> None:
    """Write weights (half precision), vocabulary, configuration and their hash."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = {f"model.{n}": p.detach().half().contiguous() for n, p in model.named_parameters()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    tokenizer.save(str(folder / "tokenizer.json"))
    end, pad = (tokenizer.token_to_id(t) for t in (vocabulary.END, vocabulary.PAD))
    config = model.shape.to_config(end, pad) | {"dtype": "float32", "seed": seed}
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    sums = [
        f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n"
        for name in ("config.json", "model.safetensors", "tokenizer.json")
    ]
    (folder / "SHA256SUMS").write_text("".join(sums))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--checkpoint", type=Path, default=Path("build/checkpoint.pt"))
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--limit", type=int, help="stop after this many steps (a smoke run)")
    options = parser.parse_args()
    torch.set_num_threads(2)
    options.checkpoint.parent.mkdir(parents=True, exist_ok=True)
    model, tokenizer = train(options.seed, options.checkpoint, options.limit)
    save(model, tokenizer, options.folder, options.seed)
    options.checkpoint.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
