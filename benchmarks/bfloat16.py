"""What it costs and changes to keep a GGUF file's weights in half the memory.

    python -m benchmarks.bfloat16 [FILE.gguf] [--form examples] [--rounds 1]

The same inspections in processes of their own, whose weights have 32 and 16 bits a number. Printed
are processor seconds an inspection, which other work on the machine changes little; the most memory
that a process took; and how far apart ln P of the answers and M.I. are, nats.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np

from core.language_models.backends.gguf import weights
from core.language_models.backends.gguf.model import smollm2_file
from core.language_models.forms import Form
from core.language_models.registry import open_model
from core.studies.inspection.inspection import run
from core.studies.inspection.recorder import usual_request

QUESTIONS = (
    "What is the capital of France?",
    "Who painted The Night Watch?",
    "Name a city in the UK.",
    "What is the capital of Zorvania?",
)
KINDS = {"32 bits": sys.maxsize, "16 bits": 0}  # from how many numbers on weights are bfloat16


def once(file: str, form: Form, kind: str) -> dict[str, Any]:
    """Return what one process took, and what the model said in it."""
    weights.BFLOAT16_FROM = KINDS[kind]
    started = time.process_time()
    model = open_model(f"gguf:{file}").in_form(form)
    opened = time.process_time()
    inspections = [run(usual_request(q, model.capabilities), model) for q in QUESTIONS]
    asked = time.process_time()
    return {
        "opening": opened - started,
        "inspection": (asked - opened) / len(QUESTIONS),
        "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9,
        "informations": [i.scores["mutual_information"].value for i in inspections],
        "likelihoods": [
            dict(zip(i.recording.texts, i.recording.log_likelihoods[0].tolist(), strict=True))
            for i in inspections
        ],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", default=str(smollm2_file()))
    parser.add_argument("--form", type=Form, default=Form.EXAMPLES)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--kind", choices=KINDS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.kind:
        print(json.dumps(once(options.file, options.form, options.kind)))
        return
    command = [sys.executable, "-m", "benchmarks.bfloat16", options.file, "--form", options.form]
    seconds: dict[str, list[float]] = {kind: [] for kind in KINDS}
    last = {}
    for _ in range(options.rounds):
        for kind in KINDS:
            last[kind] = json.loads(subprocess.check_output([*command, "--kind", kind]))
            seconds[kind].append(last[kind]["inspection"])
    for kind, one in last.items():
        print(
            f"{kind}: {one['opening']:.1f} s to open, {min(seconds[kind]):.1f} s an inspection, "
            f"{one['gigabytes']:.1f} GB"
        )
    whole, half = last.values()
    apart = [
        abs(value - other[text])
        for values, other in zip(whole["likelihoods"], half["likelihoods"], strict=True)
        for text, value in values.items()
        if text in other and np.exp(value) > 0.01
    ]
    of_scores = np.abs(np.subtract(whole["informations"], half["informations"]))
    print(f"{min(seconds['16 bits']) / min(seconds['32 bits']):.2f} times as long")
    print(f"ln P of answers above 1%: {np.median(apart):.3f} apart, at most {max(apart):.3f}")
    print(f"M.I.: {np.median(of_scores):.3f} apart, at most {of_scores.max():.3f}")


if __name__ == "__main__":
    main()
