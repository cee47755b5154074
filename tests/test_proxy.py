"""The guard as a server: what a request gets, and that the promise is the guard's own."""

import json
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

import believe
from core import cli
from core.abstention.policy import to_json
from core.language_models.stopping import current_stop
from core.proxy import (
    BROKEN,
    BROKEN_OFF,
    MAX_BODY,
    MOST_WAITING,
    ONE_QUESTION,
    TWICE,
    WITHHELD,
    proxy,
)
from core.studies.inspection.certificates import default_policy
from core.studies.inspection.pipeline import front_of
from core.studies.inspection.request import Request
from tests.fakes import QUERY, TableModel, falling, knows, words
from tests.loops import in_own_loop
from tests.patience import LONG
from tests.studies.inspection.test_front import Behind
from tests.test_guard import FRANCE, NEVADA, policy_for

ASK = "/v1/chat/completions"


def client(guard, *, seconds=LONG, **options):
    application = proxy(guard, seconds=seconds, **options)
    return TestClient(application, "http://localhost", raise_server_exceptions=False)


@pytest.fixture(scope="module")
def embedded():
    with client(believe.guard()) as server:
        yield server


def body(question, **parameters):
    return {"model": "embedded", "messages": [{"role": "user", "content": question}], **parameters}


def test_what_may_be_served_comes_with_its_promise(embedded):
    settings = {
        "temperature": 0.2,
        "max_tokens": 5,
        "seed": None,
        "stream": False,
        "n": 1,
        "stop": [],
    }
    reply = embedded.post(ASK, json=body([{"type": "text", "text": FRANCE}], **settings)).json()
    (choice,) = reply["choices"]
    assert choice["message"] == {"role": "assistant", "content": "Paris", "refusal": None}
    about = reply["believe"]
    assert (reply["object"], about["decision"]) == ("chat.completion", "answer")
    assert about["believed"] and about["promise"].endswith(default_policy().sentence)
    assert about["not_followed"] == ["max_tokens", "temperature"]


@pytest.mark.parametrize(
    ("question", "reason"),
    [(NEVADA, "does not know"), ("", "no question"), ("\ud800", "not valid Unicode")],
)
def test_what_is_withheld_is_in_no_part_of_the_reply(embedded, question, reason):
    reply = embedded.post(ASK, content=json.dumps(body(question)))
    about, (choice,) = reply.json()["believe"], reply.json()["choices"]
    assert choice["message"]["content"] == choice["message"]["refusal"] == WITHHELD
    assert (about["decision"], about["promise"]) == ("abstain", None)
    assert reason in about["reason"] and "Carson City" not in reply.text


SYSTEM, USER = [{"role": "system", "content": "Be brief."}], {"role": "user", "content": FRANCE}
PART = {"type": "text", "text": FRANCE}
TURNS = [{"role": "assistant", "content": "Lyon"}, {"role": "user", "content": FRANCE}]


@pytest.mark.parametrize(
    ("changes", "parameter", "status"),
    [
        ({"stream": True}, "stream", 400),
        ({"n": 2}, "n", 400),
        ({"n": 0}, "n", 400),
        ({"web_search_options": {}}, "web_search_options", 400),
        ({"tools": [{"type": "function"}]}, "tools", 400),
        ({"response_format": {"type": "json_object"}}, "response_format", 400),
        ({"logit_bias": {"1": 100}}, "logit_bias", 400),
        ({"model": "gpt-4o"}, "model", 404),
        ({"messages": SYSTEM}, "messages", 400),
        ({"messages": TURNS}, "messages", 400),
        ({"messages": [*SYSTEM, *SYSTEM, USER]}, "messages", 400),
        ({"messages": [USER, *SYSTEM]}, "messages", 400),
        ({"messages": [SYSTEM[0] | {"name": "Ann"}, USER]}, "messages", 400),
        ({"messages": [{"role": "user", "content": FRANCE, "name": "Lyon"}]}, "messages", 400),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "messages", 400),
        ({"messages": [USER | {"content": [PART | {"also": "?"}]}]}, "messages", 400),
        ({"messages": None}, "messages", 400),
    ],
)
def test_what_cannot_be_decided_on_is_refused_as_openai_does(embedded, changes, parameter, status):
    reply = embedded.post(ASK, json=body(FRANCE) | changes)
    error = reply.json()["error"]
    assert (reply.status_code, error["param"]) == (status, parameter)
    assert error["type"] == "invalid_request_error" and "Paris" not in reply.text


def test_a_system_message_stands_in_front_and_only_a_policy_made_with_it_serves_anything():
    model = Behind(knows(6))
    policy = policy_for(model, front=front_of(Request(QUERY, system="Be brief.")))
    question = {"role": "user", "content": QUERY}
    with client(believe.Guard(model, policy, system="Be brief.")) as server:
        for turns, decision, front in (
            ([question], "answer", "Be brief."),  # the guard's own
            ([*SYSTEM, question], "answer", "Be brief."),
            (
                [SYSTEM[0] | {"role": "developer", "content": "Be long."}, question],
                "abstain",
                "Be long.",
            ),
        ):
            model.fronts.clear()
            reply = server.post(ASK, json={"model": model.name, "messages": turns}).json()
            assert reply["believe"]["decision"] == decision
            assert model.fronts == ({f"{front}\n\n"} if decision == "answer" else set())
    assert "in front of the prompt" in reply["believe"]["reason"]


@pytest.mark.parametrize("content", [b"", b"[]", b"[" * 100_000, b'{"model": "\xff"}'])
def test_what_is_no_request_is_refused(embedded, content):
    reply = embedded.post(ASK, content=content)
    assert (reply.status_code, "no JSON object" in reply.text) == (400, True)


def test_a_key_that_stands_twice_is_refused(embedded):
    content = json.dumps(body(FRANCE)).replace("{", '{"stream": true, "stream": false, ', 1)
    reply = embedded.post(ASK, content=content)
    assert (reply.status_code, reply.json()["error"]["message"]) == (400, TWICE)


def test_an_asker_who_leaves_within_the_request_is_no_failure():
    async def leave():
        return {"type": "http.disconnect"}

    sent = []

    async def send(message):
        sent.append(message)

    headers = [(b"host", b"localhost")]
    scope = {"type": "http", "method": "POST", "path": ASK, "headers": headers, "query_string": b""}
    in_own_loop(proxy(believe.Guard(knows(3)), seconds=LONG)(scope, leave, send))
    assert sent[0]["status"] == 400 and BROKEN_OFF.encode() in sent[1]["body"]


def test_a_request_without_end_is_refused(embedded):
    reply = embedded.post(ASK, content=(b" " * 1000 for _ in range(MAX_BODY // 1000 + 1)))
    assert (reply.status_code, ONE_QUESTION in reply.text) == (413, True)


def test_its_model_is_listed_and_other_addresses_say_what_there_is(embedded):
    assert [each["id"] for each in embedded.get("/v1/models").json()["data"]] == ["embedded"]
    for reply, status in ((embedded.get("/v1"), 404), (embedded.get(ASK), 405)):
        assert reply.status_code == status and "POST /v1/chat" in reply.json()["error"]["message"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Host": "evil.example", "Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost:3000"}, 200),
    ],
)
def test_a_page_of_another_site_gets_nothing(embedded, headers, status):
    assert embedded.post(ASK, json=body(FRANCE), headers=headers).status_code == status


def test_names_that_a_person_gives_replace_the_usual_ones():
    server = client(believe.Guard(knows(3)), names=["guard.example"])
    hosts = {"guard.example": 200, "localhost": 403}
    for host, status in hosts.items():
        assert server.get("/v1/models", headers={"Host": host}).status_code == status


def test_a_policy_that_promises_nothing_is_not_said_to_promise():
    model = knows(6)
    by_hand = policy_for(model).with_threshold(0.5, 10, 5)
    reply = client(believe.Guard(model, by_hand)).post(ASK, json=body(QUERY) | {"model": "table"})
    about = reply.json()["believe"]
    assert about["decision"] == "answer" and about["promise"].startswith("No promise")
    assert not about["believed"]


class Broken(TableModel):
    def sample(self, prompt, count, **options):
        raise ZeroDivisionError("sk-secret")


class Shut(Broken):
    def beside(self):
        raise ZeroDivisionError("sk-secret")


@pytest.mark.parametrize(("kind", "status"), [(Broken, 200), (Shut, 500)])
def test_what_nobody_foresaw_serves_no_answer_and_tells_no_secret(kind, status):
    server = client(believe.Guard(kind(words(3), falling(3), np.tile(falling(3), (3, 1)))))
    reply = server.post(ASK, json=body(QUERY) | {"model": "table"})
    assert reply.status_code == status and "secret" not in reply.text
    if status == 200:
        assert reply.json()["believe"]["reason"].startswith("table failed with ZeroDivisionError;")
    else:
        assert reply.json()["error"]["message"] == BROKEN


class Waiting(TableModel):
    """Answers when it may."""

    def sample(self, prompt, count, **options):
        self.stop = current_stop()
        self.begun.set()
        assert self.may.wait(LONG)
        return super().sample(prompt, count, **options)


@pytest.fixture
def waiting():
    model = Waiting(words(6), falling(6), np.tile(falling(6), (6, 1)))
    model.begun, model.may = threading.Event(), threading.Event()
    yield model
    model.may.set()


def test_what_is_not_decided_in_time_is_withheld_and_given_up(waiting, monkeypatch):
    """By a clock that stands until the model is asked: before that, nothing need be given up."""
    clock = SimpleNamespace(time=time.time, monotonic=lambda: 9.0 * waiting.begun.is_set())
    monkeypatch.setattr("core.proxy.time", clock)
    with client(believe.Guard(waiting, policy_for(waiting)), seconds=5) as server:
        reply = server.post(ASK, json=body(QUERY) | {"model": "table"}).json()
    assert reply["believe"]["reason"] == "It was not decided within 5 seconds."
    assert reply["choices"][0]["message"]["content"] == WITHHELD
    assert waiting.begun.is_set() and waiting.stop.is_set


def test_too_many_questions_at_once_are_refused(waiting):
    with client(believe.Guard(waiting, policy_for(waiting))) as server:
        asked = []
        ask = lambda: asked.append(server.post(ASK, json=body(QUERY) | {"model": "table"}))  # noqa: E731
        threads = [threading.Thread(target=ask) for _ in range(MOST_WAITING + 1)]
        for thread in threads:
            thread.start()
        while not asked:
            threading.Event().wait(0.01)
        waiting.may.set()
        for thread in threads:
            thread.join(LONG)
    assert sorted(reply.status_code for reply in asked) == [200] * MOST_WAITING + [429]


def test_the_command_refuses_what_it_cannot_serve(tmp_path):
    """Before a model is opened: the policy is read, and the address taken."""
    file = tmp_path / "policy.json"
    file.write_text(to_json(replace(default_policy(), target_error=0.01)))
    outcome = CliRunner().invoke(cli.main, ["serve", "--policy", str(file)])
    assert outcome.exit_code == 1 and "cannot prove that" in outcome.output
    outcome = CliRunner().invoke(cli.main, ["serve", "--host", "192.0.2.1"])
    assert outcome.exit_code == 1 and "Nothing can listen on 192.0.2.1" in outcome.output
    for name in ("http://believe.example", "believe.example:8000", "a b", ""):
        others = ["--allowed-host", "::1", "--allowed-host", "*.believe.example"]
        outcome = CliRunner().invoke(cli.main, ["serve", *others, "--allowed-host", name])
        assert outcome.exit_code == 2 and "give a name alone" in outcome.output
