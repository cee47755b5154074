"""What llama.cpp says of the files of `layouts`, recorded by this script for the tests.

    python -m venv LLAMA && LLAMA/bin/pip install xllamacpp requests
    python -m tests.language_models.backends.gguf.recording LLAMA/bin/python

Each file is opened by a server of llama.cpp with caches of 32-bit numbers. Written down are its
tokens of each prompt, and ln P of the likeliest next tokens; nothing where it refuses the file.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.language_models.backends.gguf.layouts import LAYOUTS, PROMPTS, written

RECORDED = Path(__file__).parent / "recorded.json"
LIKELIEST = 8
SERVER = """
import json, os, socket, sys, time, requests, xllamacpp as x
file, prompts, likeliest = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3])
params = x.CommonParams()
params.model.path, params.n_parallel, params.n_ctx, params.warmup = file, 1, 512, False
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    params.port = free.getsockname()[1]
params.flash_attn_type = x.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
params.cache_type_k = params.cache_type_v = x.ggml_type.GGML_TYPE_F32
for threads in (params.cpuparams, params.cpuparams_batch):
    threads.n_threads, threads.poll = 1, 0
server = x.Server(params)
address = server.listening_address
def ready():
    try:
        return requests.get(address + "/health", timeout=5).ok
    except requests.ConnectionError:
        return False
while not ready():
    time.sleep(0.1)
def post(path, **body):
    return requests.post(address + path, json=body, timeout=60).json()
said = []
for prompt in prompts:
    tokens = post("/tokenize", content=prompt, add_special=True, parse_special=False)["tokens"]
    listed, seed = None, 0
    while not listed:  # where an end was drawn, nothing is listed
        seed += 1
        reply = post("/completion", prompt=tokens, n_predict=1, n_probs=likeliest, seed=seed,
                     temperature=2.0, top_k=0, top_p=1.0, min_p=0.0)
        listed = reply.get("completion_probabilities")
    top = listed[0]["top_logprobs"]
    said.append([tokens, {entry["id"]: round(entry["logprob"], 5) for entry in top}])
print("SAID" + json.dumps(said), flush=True)
os._exit(0)
"""


def _said(python: str, file: Path) -> list[Any] | None:
    """Return what llama.cpp says of a file: tokens and ln P, prompt by prompt; None if nothing."""
    arguments = [str(file), json.dumps(PROMPTS), str(LIKELIEST)]
    done = subprocess.run(
        [python, "-c", SERVER, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "GGML_NO_BACKTRACE": "1"},  # gathering one takes many seconds
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("SAID")]
    if not lines:
        print(*(line for line in done.stderr.splitlines() if "rror" in line), sep="\n")
    return json.loads(lines[0].removeprefix("SAID")) if lines else None


def main(python: str) -> None:
    version = "import importlib.metadata as m; print(m.version('xllamacpp'))"
    made_by = subprocess.check_output([python, "-c", version], text=True).strip()
    with TemporaryDirectory() as folder:
        said = {}
        for name in LAYOUTS:
            said[name] = _said(python, written(name, Path(folder)))
            print(name, "refused" if said[name] is None else "recorded", flush=True)
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(each)}" for name, each in said.items())
    RECORDED.write_text(f'{{"by": "xllamacpp {made_by}", "layouts": {{\n{lines}\n}}}}\n')


if __name__ == "__main__":
    main(*sys.argv[1:])
