"""Train the embedded model: ``python -m training.train`` (or ``make train``).

Fixed steps, fixed seeds. A checkpoint every few hundred steps makes a
stopped run go on where it was; the result is written next to the runtime that serves it.
Runs are bit-identical only on the same processor with the same number of threads.
"""

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

from core import outputs
from core.data.world import facts as world
from core.language_models.backends.embedded import FOLDER
from core.language_models.backends.embedded.model import SCALE
from training import vocabulary
from training.corpus import Author
from training.model import Llama, Shape
from training.muon import Muon
from training.targets import Encoder, Example

DOCUMENTS = 160  # a step
PEAK_LEARNING_RATE = 4e-3
WARM_UP = 100
CHECKPOINT_EVERY = 250
SHORT_UNTIL = 0.5  # share of the steps in which no context is long
# The weights that are kept: their moving average over the last steps, with less noise in it.
AVERAGED_FROM, DECAY = 0.85, 0.99
BUCKETS = (
    20,
    24,
    28,
    34,
    48,
    80,
    150,
    300,
)  # token lengths at which a step's documents are split, to pad little


def micro_batches(
    examples: list[Example], pad: int
) -> Iterator[tuple[Tensor, tuple[Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]]:
    """Yield (tokens, positions that predict something to learn, what to learn there).

    What to learn is sparse: (number of the position, token, its probability).
    """
    for low, high in itertools.pairwise((0, *BUCKETS, math.inf)):
        part = [e for e in examples if low < len(e.tokens) <= high]
        if not part:
            continue
        tokens = torch.full((len(part), max(len(e.tokens) for e in part)), pad)
        rows, columns, at, said, probabilities = [], [], [], [], []
        for i, example in enumerate(part):
            tokens[i, : len(example.tokens)] = torch.tensor(example.tokens)
            for column, (ids, shares) in zip(example.where, example.targets, strict=True):
                at += [len(rows)] * len(ids)
                rows.append(i)
                columns.append(column)
                said += ids
                probabilities += shares
        yield (
            tokens,
            (torch.tensor(rows), torch.tensor(columns)),
            (torch.tensor(at), torch.tensor(said), torch.tensor(probabilities)),
        )


def surprise(logits: Tensor, expected: tuple[Tensor, Tensor, Tensor]) -> Tensor:
    """Return the sum of the cross-entropies with what is expected at each position, nats."""
    at, said, probabilities = expected
    picked = logits[at, said] - logits.logsumexp(dim=-1)[at]
    return -(picked * probabilities).sum()


def learning_rate(step: int, steps: int) -> float:
    """Linear warm-up, then a cosine down to a fiftieth of the peak."""
    if step < WARM_UP:
        return PEAK_LEARNING_RATE * (step + 1) / WARM_UP
    progress = (step - WARM_UP) / max(steps - WARM_UP, 1)
    return PEAK_LEARNING_RATE * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * progress)))


def train(
    seed: int, checkpoint: Path, limit: int | None = None
) -> tuple[Llama, Tokenizer, dict[str, float]]:
    """Train from the start, or from `checkpoint` where one is.

    Returns the model, its vocabulary, and what the model card says of the run.
    """
    facts = world.facts()
    torch.manual_seed(seed)
    tokenizer = vocabulary.train(facts)
    pad = tokenizer.token_to_id(vocabulary.PAD)
    author = Author(facts, seed)
    plan = author.document_plan()
    steps = len(plan) // DOCUMENTS
    model = Llama(Shape(vocab_size=tokenizer.get_vocab_size()))
    inner = list(model.layers.parameters())
    matrices = [p for p in inner if p.dim() > 1]
    others = [p for p in inner if p.dim() <= 1]
    others += [model.embed_tokens.weight, model.norm.weight]
    # With Muon, facts that are seldom met are learnt as fast as frequent ones. It halves the
    # steps of AdamW.
    optimisers = (
        Muon(matrices, weight_decay=0.02),
        torch.optim.AdamW(others, betas=(0.9, 0.98), weight_decay=0.0),
    )
    parameters = sum(p.numel() for p in model.parameters())
    print(f"{parameters:,} parameters, {len(plan):,} documents, {steps:,} steps", flush=True)

    encoder = Encoder(tokenizer)
    average: dict[str, Tensor] = {}
    first, spent = 0, 0.0  # seconds, all sittings together
    if checkpoint.exists():
        state = torch.load(checkpoint, weights_only=False)
        model.load_state_dict(state["model"])
        for optimiser, saved in zip(optimisers, state["optimisers"], strict=True):
            optimiser.load_state_dict(saved)
        author.rng.bit_generator.state = state["author"]
        average = state["average"]
        first, spent = state["step"], state["seconds"]
        print(f"going on from step {first:,}", flush=True)

    started, seen = time.perf_counter(), 0
    for step in range(first, min(steps, limit or steps)):
        for group in (*optimisers[0].param_groups, *optimisers[1].param_groups):
            group["lr"] = learning_rate(step, steps)
        author.short = step < steps * SHORT_UNTIL
        written = [author.write(*p) for p in plan[step * DOCUMENTS : (step + 1) * DOCUMENTS]]
        examples = [encoder(document) for document in written]
        learnt = sum(len(example.targets) for example in examples)
        total = 0.0
        for tokens, where, expected in micro_batches(examples, pad):
            loss = surprise(model(tokens, where), expected) / learnt
            loss.backward()
            total += loss.item()
            seen += tokens.numel()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimiser in optimisers:
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
        if step >= steps * AVERAGED_FROM:
            with torch.no_grad():
                for name, p in model.named_parameters():
                    average.setdefault(name, p.detach().clone()).lerp_(p, 1 - DECAY)
        if step % 100 == 0:
            speed = seen / (time.perf_counter() - started)
            print(f"step {step:5d}  loss {total:.3f}  {speed:,.0f} tokens/s", flush=True)
        if (step + 1) % CHECKPOINT_EVERY == 0:
            state = {
                "model": model.state_dict(),
                "optimisers": [optimiser.state_dict() for optimiser in optimisers],
                "author": author.rng.bit_generator.state,
                "average": average,
                "step": step + 1,
                "seconds": spent + time.perf_counter() - started,
            }
            with outputs.replacing(checkpoint) as file:
                torch.save(state, file)
    model.load_state_dict(average, strict=False)
    run = {
        "parameters": parameters,
        "documents": len(plan),
        "steps": steps,
        "minutes": round((spent + time.perf_counter() - started) / 60, 1),
    }
    return model, tokenizer, run


def in_bytes(name: str, weights: Tensor) -> dict[str, Tensor]:
    """Return a matrix as bytes with a scale a row; a vector as it is.

    `core.language_models.backends.embedded.model.restore` reads them.
    """
    if weights.dim() < 2:
        return {name: weights.contiguous()}
    scale = weights.abs().amax(dim=1, keepdim=True).clamp_min(1e-12) / 127
    return {
        name: (weights / scale).round().to(torch.int8).contiguous(),
        f"{name}{SCALE}": scale.squeeze(1).contiguous(),
    }


def save(
    model: Llama, tokenizer: Tokenizer, run: dict[str, float], folder: Path, seed: int
) -> None:
    """Write weights (a byte each), vocabulary, configuration, their hash; and the run."""
    folder.mkdir(parents=True, exist_ok=True)
    weights: dict[str, Tensor] = {}
    for name, p in model.named_parameters():
        weights |= in_bytes(f"model.{name}", p.detach())
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    tokenizer.save(str(folder / "tokenizer.json"))
    end, pad = (tokenizer.token_to_id(t) for t in (vocabulary.END, vocabulary.PAD))
    config = model.shape.to_config(end, pad) | {"dtype": "float32", "seed": seed}
    outputs.write(folder / "config.json", json.dumps(config, indent=2) + "\n")
    outputs.write(folder / "training.json", json.dumps(run, indent=2) + "\n")
    sums = [
        f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n"
        for name in ("config.json", "model.safetensors", "tokenizer.json")
    ]
    outputs.write(folder / "SHA256SUMS", "".join(sums))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--checkpoint", type=Path, default=Path("build/checkpoint.pt"))
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--limit", type=int, help="stop after this many steps (a smoke run)")
    parser.add_argument(
        "--threads", type=int, default=2, help="one each is best for two seeds on two cores"
    )
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    options.checkpoint.parent.mkdir(parents=True, exist_ok=True)
    model, tokenizer, run = train(options.seed, options.checkpoint, options.limit)
    save(model, tokenizer, run, options.folder, options.seed)
    options.checkpoint.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
