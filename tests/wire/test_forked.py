"""A fork shares its parent's connections, so that one process may read what the other was told."""

import os
import subprocess
import sys

import pytest

from core.once import FORKED
from tests.language_models.openai_server import serving
from tests.patience import LONG
from tests.wire.processes import ROOT

PROGRAM = """
import os, sys
import believe

guard, model = believe.guard(sys.argv[1]), believe.open_model(sys.argv[1])
assert guard("Name a colour.").inspection and model.sample("Q: Name a colour. A:", 1)
if not os.fork():
    print(guard("Name a colour.").reason, flush=True)  # saved, but by another connection
    print(believe.guard(sys.argv[1])("Name a mammal.").inspection.recording.model, flush=True)
    try:
        model.sample("Q: Name a mammal. A:", 1)
    except believe.ModelError as error:
        print(error, flush=True)
    os._exit(0)
os.wait()
"""

COMPUTING = """
import os
import numpy as np
from core.language_models.backends.gguf import reader
from core.language_models.backends.llama.runtime import LARGE, WIDE, matrix_product

x, weights = np.ones((1, WIDE), np.float32), np.ones((LARGE // WIDE + 1, WIDE), np.float32)
for numbers in (matrix_product(x, weights), [*reader._processors().map(abs, [-1])]):
    print(sum(np.ravel(numbers)), flush=True)
if not os.fork():
    print(matrix_product(x, weights).sum(), *reader._processors().map(abs, [-1]), flush=True)
    os._exit(0)
os.wait()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_asks_nothing_over_its_parents_connections(tmp_path):
    settings = os.environ | {"BELIEVE_DATABASE_URL": f"sqlite:///{tmp_path}/believe.db"}
    with serving("none") as server:
        program = [sys.executable, "-c", PROGRAM, server.name]
        ended = subprocess.run(
            program, cwd=ROOT, env=settings, capture_output=True, text=True, check=True
        )
    assert not ended.stderr, ended.stderr
    kept, anew, asked = ended.stdout.splitlines()
    assert kept.startswith(FORKED) and asked == FORKED
    assert anew == server.name  # who opens it there may ask


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_waits_for_no_thread_that_is_not_there():
    program = subprocess.run(
        [sys.executable, "-c", COMPUTING],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=LONG,
    )
    product, number, both = program.stdout.splitlines()
    assert both == f"{product} {number}"
