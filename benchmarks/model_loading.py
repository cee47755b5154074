"""What opening SmolLM2 costs, in processor seconds, beside what it is opened for.

    python -m benchmarks.model_loading [--rounds 5]

1. Opening, of a process that has imported all it needs, over one inspection in it.
2. The package `gguf` reading what the file says and unpacking its weights, over our opening.

Each round is a process of its own: a model is opened once a process. Other work on the machine
makes processor seconds longer, and hardly changes their ratio.
"""

import argparse
import itertools
import json
import statistics
import subprocess
import sys
import time

from gguf import GGUFReader, dequantize

from core.language_models.backends.gguf.model import smollm2_file
from core.language_models.forms import Form
from core.language_models.registry import open_model
from core.studies.inspection.inspection import run
from core.studies.inspection.recorder import usual_request

QUESTION = "Who wrote Hamlet?"
ONCE = "--once"


def once() -> dict[str, float]:
    """Return the processor seconds of each part, in this process."""
    marks = [time.process_time()]
    model = open_model("smollm2")
    marks.append(time.process_time())
    asked = model.in_form(Form.EXAMPLES)  # the examples are read once a process, too
    marks.append(time.process_time())
    run(usual_request(QUESTION, asked.capabilities), asked)
    marks.append(time.process_time())
    for tensor in GGUFReader(smollm2_file()).tensors:
        dequantize(tensor.data, tensor.tensor_type)
    marks.append(time.process_time())
    names = ("opening", "examples", "inspection", "the package’s reading")
    return dict(zip(names, (b - a for a, b in itertools.pairwise(marks)), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(ONCE, action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.once:
        print(json.dumps(once()))
        return
    command = [sys.executable, "-m", "benchmarks.model_loading", ONCE]
    rounds = [json.loads(subprocess.check_output(command)) for _ in range(options.rounds)]
    for name in rounds[0]:
        print(f"{name:24} {statistics.median(each[name] for each in rounds):6.2f} CPU s")
    for one, other in (("opening", "inspection"), ("the package’s reading", "opening")):
        ratio = statistics.median(each[one] / each[other] for each in rounds)
        print(f"{one} / {other}: {ratio:.2f}")


if __name__ == "__main__":
    main()
