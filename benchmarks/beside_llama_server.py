"""The same weights behind llama.cpp's server and in our own runtime: same scores? same time?

    llama-server -m SmolLM2-135M-Instruct.Q4_1.gguf
    python -m benchmarks.beside_llama_server [--address http://localhost:8080/v1] [--rounds 5]

1. Likelihoods of answers behind 60 prompts, none to two answers told, one by one.
2. One inspection of ten drawn answers through the server; the same answers scored here.
3. The time of such an inspection, runs interleaved; nothing is kept between them but what the
   server keeps of its own.
"""

import argparse
import statistics
import time
from dataclasses import replace

import numpy as np

from core import prompts
from core.data.world.facts import facts
from core.language_models.client.stack import with_layers
from core.language_models.forms import Form
from core.language_models.language_model import LanguageModel
from core.language_models.registry import open_model
from core.studies.inspection.inspection import Inspection, read, run
from core.studies.inspection.request import Request, Sampling
from core.uncertainty.scores import SCORES

PROMPTS = 60
QUESTION = "Name a city in Europe."
DRAWN = Request(QUESTION, samples=10, sampling=Sampling.DRAWN)


def differences(server: LanguageModel, ours: LanguageModel) -> list[float]:
    """Return how far apart the two are on an answer each behind `PROMPTS` prompts, nats."""
    rng = np.random.default_rng(0)
    found = []
    for i, place in enumerate(rng.choice(len(facts()), PROMPTS, replace=False)):
        fact = facts()[place]
        prompt = prompts.iterative(ours.reads(fact.question), ["Paris", "Homer"][: i % 3])
        asked = [prompt], [fact.answers[0].text]
        one, other = (model.log_likelihoods(*asked)[0, 0] for model in (server, ours))
        found.append(abs(float(one - other)))
    return found


def rescored(found: Inspection, ours: LanguageModel) -> Inspection:
    """Return an inspection with the likelihoods that our own runtime gives its answers."""
    texts = found.recording.texts
    told = [prompts.iterative(QUESTION, [text]) for text in texts]
    matrix = ours.log_likelihoods([prompts.iterative(QUESTION), *told], texts)
    stated = [prompts.self_verification(QUESTION, text) for text in texts]
    greedy = ours.log_likelihoods([prompts.iterative(QUESTION)], [found.recording.greedy.text])
    return read(
        replace(
            found.recording,
            log_likelihoods=matrix,
            greedy_log_likelihood=float(greedy[0, 0]),
            verification=ours.log_likelihoods(stated, [prompts.TRUE, prompts.FALSE]),
        )
    )


def seconds(model: LanguageModel, seed: int) -> float:
    """Return how long an inspection takes, of samples that nobody has drawn yet."""
    started = time.perf_counter()
    run(replace(DRAWN, seed=seed), model)
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--address", default="http://localhost:8080/v1")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    server = with_layers(open_model(f"openai:default@{options.address}"), None, None)
    ours = open_model("smollm2").in_form(Form.PLAIN)
    apart = differences(server, ours)
    print(f"{PROMPTS} prompts: {max(apart):.4f} nats apart at most, {np.median(apart):.4f} mostly")
    found = run(DRAWN, server)
    again = rescored(found, ours)
    for name, info in SCORES.items():
        print(f"{info.symbol}: {found.scores[name].value:.4f}, ours {again.scores[name].value:.4f}")
    times = [(seconds(server, i), seconds(ours, i)) for i in range(1, options.rounds + 1)]
    theirs, own = (statistics.median(each) for each in zip(*times, strict=True))
    print(f"An inspection: {theirs:.2f} s through the server, {own:.2f} s here")


if __name__ == "__main__":
    main()
