"""Two processes that ask a service the same at the same moment pay for it once."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.language_models.backends.openai.model import OpenAICompatible
from tests.language_models.openai_server import serving
from tests.wire.kept_calls import all_calls, twice

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("flavour", "samples"), [("echo", 20), ("top", 100), ("none", 6)])
def test_two_processes_pay_once_and_say_the_same(tmp_path, flavour, samples):
    environment = os.environ | {"BELIEVE_DATABASE_URL": f"sqlite:///{tmp_path}/believe.db"}
    with serving(flavour, before=lambda path, body: time.sleep(0.05)) as server:
        arguments = ["inspect", "Name a mammal", "--samples", str(samples), "--json"]
        processes = [
            subprocess.Popen(
                [sys.executable, "-m", "core", *arguments, "--model", server.name],
                cwd=ROOT,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(2)
        ]
        printed = [process.communicate() for process in processes]
        assert [process.returncode for process in processes] == [0, 0], printed
        asked = all_calls(server.exchanges, OpenAICompatible(server.rest, None))
        assert len(asked) > samples and not twice(asked)
    one, other = (json.loads(said)["scores"] for said, _ in printed)
    assert one == other
