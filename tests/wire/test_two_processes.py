"""Two processes that ask a service the same at the same moment pay for it once."""

import json
import time

import pytest

from core.language_models.backends.openai.model import OpenAICompatible
from tests.language_models.openai_server import serving
from tests.wire.kept_calls import all_calls, twice
from tests.wire.processes import forking


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    with (
        forking(tmp_path_factory.mktemp("one")) as one,
        forking(tmp_path_factory.mktemp("other")) as other,
    ):
        yield one, other


@pytest.mark.parametrize(("flavour", "samples"), [("echo", 20), ("top", 100), ("none", 6)])
def test_two_processes_pay_once_and_say_the_same(pair, tmp_path, flavour, samples):
    settings = {"BELIEVE_DATABASE_URL": f"sqlite:///{tmp_path}/believe.db"}
    with serving(flavour, before=lambda path, body: time.sleep(0.05)) as server:
        arguments = ["inspect", "Name a mammal", "--samples", str(samples), "--json"]
        for processes in pair:
            processes.start([*arguments, "--model", server.name], settings)
        ended = [processes.end() for processes in pair]
        assert [status for status, _, _ in ended] == [0, 0], ended
        asked = all_calls(server.exchanges, OpenAICompatible(server.rest, None))
        assert len(asked) > samples and not twice(asked)
    one, other = (json.loads(printed)["scores"] for _, printed, _ in ended)
    assert one == other
