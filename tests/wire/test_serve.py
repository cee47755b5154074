"""`serve` over a socket: a program asks, a page of another site does not, and Ctrl-C ends it."""

import re

import requests

from core import cli
from tests.patience import LONG
from tests.wire.test_interrupted import interrupted, running


def test_a_program_asks_the_guard(tmp_path):
    with running(tmp_path, "serve", "--port", "0") as program:
        promise, where = program.stderr.readline(), program.stderr.readline()
        assert promise.startswith("With 90% confidence")
        address = re.search(r"http://127\.0\.0\.1:\d+/v1", where)[0] + "/chat/completions"
        question = {"role": "user", "content": "What is the capital of France?"}
        body = {"model": "embedded", "messages": [question]}
        reply = requests.post(address, json=body, timeout=LONG)
        assert reply.json()["choices"][0]["message"]["content"] == "Paris"
        assert promise.strip() in reply.json()["believe"]["promise"]
        foreign = {"Origin": "http://evil.example"}
        assert requests.post(address, json=body, headers=foreign, timeout=LONG).status_code == 403
        status, said = interrupted(program)
        assert (status, said) == (cli.STOPPED, "Stopped.\n")
