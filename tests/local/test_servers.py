"""Real model servers on this machine, asked as anybody's are: the embedded model behind each.

What they say is held against our own runtime of the same weights.
"""

import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import astuple

import numpy as np
import pytest
import requests
from safetensors.numpy import save_file

from core import prompts
from core.data.datasets.predictions import predictions_of
from core.data.tabular.uploads import parse
from core.language_models.backends.embedded import FOLDER
from core.language_models.backends.embedded.model import restore
from core.language_models.client.stack import limit, stop, with_layers
from core.language_models.errors import ModelError, StoppedError
from core.language_models.registry import open_model
from core.language_models.trial import in_its_form
from core.language_models.true_false import sameness
from core.studies import costs
from core.studies.calibration.judging import control_prompts, judge_predictions, judge_prompts
from core.studies.inspection.inspection import run
from core.studies.inspection.recorder import usual_request
from tests.language_models.backends.gguf.files import embedded_as_gguf
from tests.patience import LONG

QUESTION = "What is the capital of France?"

LLAMA_CPP = """
import sys, threading, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.port = sys.argv[1], int(sys.argv[2])
params.n_ctx, params.n_parallel = 4096, 4
params.cache_type_k = params.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
server = xllamacpp.Server(params)
threading.Event().wait()
"""


@contextmanager
def serving(command, health):
    """Run a server until it says that it is ready; yield its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    process = subprocess.Popen(
        [part.replace("PORT", str(port)) for part in command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"GGML_NO_BACKTRACE": "1", "VLLM_CPU_KVCACHE_SPACE": "1"},
    )

    def is_ready():
        assert process.poll() is None, "the server ended"
        try:
            return requests.get(address + health, timeout=LONG).ok
        except requests.ConnectionError:
            return False

    try:
        while not is_ready():
            time.sleep(0.2)
        yield address
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module", params=["llama.cpp", "vLLM"])
def server(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("server")
    if request.param == "vLLM":
        if not (program := shutil.which("vllm")):
            pytest.skip("needs vLLM, which no requirements name: a `vllm` on the PATH")
        save_file(restore(FOLDER), folder / "model.safetensors", metadata={"format": "pt"})
        for part in ("config.json", "tokenizer.json"):
            shutil.copy(FOLDER / part, folder)
        command = [program, "serve", str(folder), "--served-model-name", "embedded"]
        command += ["--generation-config", "vllm", "--dtype", "float32", "--enforce-eager"]
        command += ["--max-model-len", "1024", "--port", "PORT"]
        ours = open_model("embedded")
    else:
        if importlib.util.find_spec("xllamacpp") is None:
            pytest.skip("needs xllamacpp: run `make test-local`")
        file = embedded_as_gguf(folder / "embedded.gguf")
        command, ours = (
            [sys.executable, "-c", LLAMA_CPP, str(file), "PORT"],
            open_model(f"gguf:{file}"),
        )
    with serving(command, "/health") as address:
        yield f"openai:embedded@{address}/v1", ours


def test_an_inspection_through_a_server_is_that_of_our_own_runtime(server):
    name, ours = server
    model, trials = in_its_form(with_layers(open_model(name), None, None))
    able = model.capabilities
    assert able.scores_given_text and trials[-1].suits
    request = usual_request(QUESTION, able)
    stated, before = costs.plan(request, able), model.meter.usage
    limit(model, stated)
    inspection = run(request, model)
    assert all(map(int.__le__, astuple(model.meter.usage - before), astuple(stated)))
    recording, prompt = inspection.recording, prompts.iterative(QUESTION)
    assert recording.greedy.text == ours.sample(prompt, 1, temperature=0)[0].text
    told = [prompt, *(prompts.iterative(QUESTION, [text]) for text in recording.texts)]
    scores = ours.log_likelihoods(told, recording.texts)
    np.testing.assert_allclose(recording.log_likelihoods, scores, atol=0.02)
    assert np.exp(recording.log_likelihoods).sum(axis=1).max() <= 1


def judged(rows, model):
    """Return a model's labels as text, or why it cannot judge, without its name."""
    try:
        return str(judge_predictions(rows, model).tolist())
    except ModelError as error:
        return str(error).replace(model.name, "")


def test_a_server_judges_predictions_as_our_own_runtime_does(server):
    name, ours = server
    served = with_layers(open_model(name), None, None)
    cities = (
        "Paris",
        "Rome",
        "Oslo",
        "Madrid",
        "Vienna",
        "Cairo",
        "Lima",
        "Delhi",
        "Tokyo",
        "Bern",
    )
    lines = [f"Which is number {n} of {c}?,It is {c},{c} {n}" for c in cities for n in (1, 2)]
    upload = parse("\n".join(["question,prediction,reference", *lines]).encode(), "graded.csv")
    rows = predictions_of(upload)
    prompts = [*control_prompts(rows), *(prompt for each in judge_prompts(rows) for prompt in each)]
    np.testing.assert_allclose(sameness(served, prompts), sameness(ours, prompts), atol=0.02)
    assert judged(rows, served) == judged(rows, ours)


def test_what_a_server_is_asked_ends_when_somebody_stops(server):
    model = with_layers(open_model(server[0]), None, None)
    stop(model)
    with pytest.raises(StoppedError):
        model.sample(prompts.iterative(QUESTION), 1)
