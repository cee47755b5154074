"""What was found out about a server is kept: the next process need not ask, and notices changes."""

import json

import pytest

from core.language_models.backends.embedded.model import EmbeddedModel
from core.language_models.backends.openai import model
from core.language_models.backends.openai.model import OpenAICompatible
from core.language_models.client.stack import with_layers
from core.language_models.errors import NeedsKeyError, OtherModelError, RefusedError
from core.studies.inspection.inspection import run
from core.studies.inspection.request import Request
from tests.language_models.openai_server import END, serving

REQUEST = Request("Name a mammal", 4)


@pytest.fixture
def process(monkeypatch, calls):
    """Open a model like a new process: only the database knows anything."""

    def begin(rest):
        monkeypatch.setattr(model, "ENDPOINTS", {})
        return with_layers(OpenAICompatible(rest), lambda: calls, None)

    return begin


@pytest.mark.parametrize("flavour", ["echo", "none", "chat-none"])
def test_what_was_asked_before_needs_no_server(flavour, process):
    with serving(flavour) as server:
        found = run(REQUEST, process(server.rest))
    again = run(REQUEST, process(server.rest))
    elsewhere = run(REQUEST, process(f"{server.rest}/".replace("127.0.0.1", "localhost")))
    assert again.scores == elsewhere.scores == found.scores
    assert again.recording.revision == found.recording.revision


def test_the_next_process_makes_no_probe(process):
    with serving("echo", slots=4) as server:
        process(server.rest)
        server.exchanges.clear()
        assert len(process(server.rest).sample("Q: Name a mammal. A:", 8)) == 8
        assert [body["n"] for body in server.bodies] == [4, 4]


def test_fewer_answers_at_once_are_remembered_too(process):
    most = [1000]

    def fewer(path, body):
        return (400, {}, b'{"error": "n is too large"}') if body.get("n", 1) > most[0] else None

    with serving("top", before=fewer) as server:
        process(server.rest)
        most[0] = 4
        assert len(process(server.rest).sample("Q: Name a mammal. A:", 8)) == 8
        server.exchanges.clear()
        assert len(process(server.rest).sample("Q: Name a bird. A:", 8)) == 8
        assert len(server.exchanges) == 2


@pytest.mark.parametrize("change", ["model", "fields"])
def test_a_server_that_has_changed_is_noticed_and_asked_anew(change, process):
    changed = []

    def refuse(path, body):
        refused = changed and change == "fields" and "seed" in body
        return (400, {}, b'{"error": "Unknown parameter: seed"}') if refused else None

    def restate(reply):
        return reply | ({"model": "another"} if changed and change == "model" else {})

    with serving("top", before=refuse, after=restate) as server:
        process(server.rest)
        changed.append(True)
        ready = process(server.rest)
        before = ready.revision
        with pytest.raises(RefusedError, match="pen it anew"):
            ready.sample("Q: Name a mammal. A:", 1)
        assert ready.revision == before  # under which its rows stand
        anew = process(server.rest)
        assert anew.sample("Q: Name a mammal. A:", 1) and anew.revision != before


def test_what_was_kept_by_another_version_is_not_misread(process, calls):
    with serving("echo") as server:
        calls.services.put(
            OpenAICompatible(server.rest).canonical_name, '{"format": 0, "chat": true}'
        )
        assert END in process(server.rest).revision


def llama_cpp(file, size=96576768):
    """List a model as its server does, which answers to any name."""
    return {"data": [{"id": file, "owned_by": "llamacpp", "meta": {"n_vocab": 3, "size": size}}]}


def vllm(root):
    return {"data": [{"id": "embedded", "object": "model", "root": root}]}


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        (llama_cpp("/m/a.gguf"), llama_cpp("/m/b.gguf"), "; /m/a.gguf, 96576768 bytes"),
        (llama_cpp("NAME", 7), llama_cpp("NAME", 8), "; 7 bytes"),
        (vllm("org/a"), vllm("org/b"), "; org/a"),
        (vllm("NAME"), vllm("org/b"), "1ac1c069d137"),
    ],
)
def test_other_weights_behind_the_same_name_are_another_model(
    before, after, says, process, monkeypatch
):
    """Else a policy of the one would decide for the other, with its promise."""
    models = {}
    with serving("none", models=models) as server:
        models |= json.loads(json.dumps(before).replace("NAME", server.model))
        first = process(server.rest)
        assert first.revision.endswith(says)
        assert process(server.rest).sample("Q: Name a mammal. A:", 1)  # the same, seen again
        models |= json.loads(json.dumps(after).replace("NAME", server.model))
        asked = len(server.exchanges)
        recalled = process(server.rest)
        monkeypatch.setattr(model, "LOOK_AGAIN", -1.0)  # as a minute later
        for each in (recalled, first, first):
            with pytest.raises(OtherModelError, match="tells the same of the weights"):
                each.sample("Q: Name a bird. A:", 1)
        assert len(server.exchanges) == asked, "nobody asked the other model for an answer"
        assert process(server.rest).revision != first.revision


def test_a_wrong_key_says_nothing_of_the_weights(calls):
    with serving("none", key="sk-right-012345", models=llama_cpp("/m/a.gguf")) as server:
        right, wrong = (
            with_layers(OpenAICompatible(server.rest, f"sk-{key}-012345"), lambda: calls, None)
            for key in ("right", "wrong")
        )
        assert right.revision == wrong.revision  # as it was remembered
        with pytest.raises(NeedsKeyError, match="did not accept the key"):
            wrong.sample("Q: Name a mammal. A:", 1)
        assert right.sample("Q: Name a mammal. A:", 1)


def test_an_ollama_tag_that_is_filled_anew_is_another_model(process):
    tags = {"models": [{"name": "a:4b", "digest": "0" * 64}, {"name": "b:latest", "digest": ""}]}
    listed = {"data": [{"id": "a:4b", "owned_by": "library"}, {"id": "b:latest"}]}
    with serving("none", models=listed, tags=tags) as server:
        tags["models"][1] |= {"name": f"{server.model}:latest", "digest": "1f" * 32}
        first = process(server.rest).revision
        assert first.endswith(f"; {'1f' * 6}")
        tags["models"][1]["digest"] = "2e" * 32
        with pytest.raises(OtherModelError, match="tells the same of the weights"):
            process(server.rest).sample("Q: Name a mammal. A:", 1)
        assert process(server.rest).revision.endswith(f"; {'2e' * 6}")


@pytest.mark.parametrize(
    "models", ["none", "broken", "forbidden", {"data": [{"id": "b"}, {"id": "c"}]}]
)
def test_a_server_that_does_not_tell_its_weights_is_believed(models, process):
    with serving("none", models=models) as server:
        revision = process(server.rest).revision
        assert revision.endswith(f"{server.model}-{EmbeddedModel().revision}")
        assert process(server.rest).sample("Q: Name a mammal. A:", 1)
