"""The registry: back ends by name, and a sentence for every name that is none."""

import subprocess
import sys
from dataclasses import replace

import pytest

from core.language_models import registry
from core.language_models.back_end import BackEnd, Preset, attribute_at
from core.language_models.backends.openai.presets import PRESETS
from core.language_models.errors import (
    BrokenModelError,
    ModelError,
    PromptTooLongError,
    UnknownModelError,
)
from core.language_models.language_model import LanguageModel
from core.language_models.registry import BACK_ENDS, full_name, open_model, with_only_model
from core.language_models.scan import local_servers
from tests.fakes import TableModel
from tests.language_models.openai_server import serving


@pytest.mark.parametrize(
    "name",
    [5, "", "unknown", "Embedded", " embedded", "unknown:embedded", ":embedded", "os:system"],
)
def test_an_unknown_name_gets_a_sentence_that_lists_the_known_ones(name):
    with pytest.raises(UnknownModelError) as caught:
        open_model(name)
    message = str(caught.value)
    assert f"“{name}”" in message
    assert all(known in message for known in BACK_ENDS)
    assert message.endswith(".")


@pytest.mark.parametrize("error", [UnknownModelError, PromptTooLongError, BrokenModelError])
def test_every_error_can_be_caught_as_one(error):
    assert issubclass(error, ModelError)


@pytest.mark.parametrize("back_end", BACK_ENDS.values(), ids=BACK_ENDS)
def test_every_place_of_a_back_end_has_what_it_names(back_end):
    assert issubclass(attribute_at(back_end.place), LanguageModel)
    assert all(callable(attribute_at(p)) for p in (back_end.lists, back_end.key_for) if p)


def test_to_describe_every_back_end_loads_no_model():
    script = "import sys, core.language_models.registry; print(*sys.modules)"
    command = [sys.executable, "-c", script]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    folder = "core.language_models.backends."
    assert f"{folder}gemini.description" in loaded
    assert not [m for m in loaded if m.startswith(folder) and m.endswith((".model", ".address"))]
    assert not {"google.generativeai", "gguf", "requests", "torch", "transformers"} & {*loaded}


def test_the_embedded_model_opens_by_its_name():
    model = open_model("embedded")
    assert model.name == "embedded"
    assert model.capabilities.scores_given_text
    assert model.revision


@pytest.mark.parametrize(
    ("short", "server", "model"),
    [
        ("ollama:qwen3:4b", "Ollama", "qwen3:4b"),
        ("llamacpp:a.gguf", "llama.cpp", "a.gguf"),
        ("lmstudio:a/b", "LM Studio", "a/b"),
        ("openrouter:a/b:free", "OpenRouter", "a/b:free"),
        ("groq:m", "Groq", "m"),
        ("mistral:m", "Mistral", "m"),
        ("anthropic:m", "Anthropic", "m"),
    ],
)
def test_a_server_that_many_have_has_a_short_name(short, server, model):
    (url,) = (preset.base_url for preset in PRESETS if preset.name == server)
    assert open_model(short).name == full_name(short) == f"openai:{model}@{url}"


def test_a_short_name_alone_asks_its_server():
    with pytest.raises(ModelError, match="at localhost:11434"):  # where none answers
        open_model("ollama:")


def test_the_only_model_of_a_server_needs_no_name():
    with serving("none") as server:
        name = with_only_model(f"openai:@{server.base_url}")
        assert name == server.name and with_only_model(name) == name
    with (
        serving("none", models={"data": [{"id": "b"}, {"id": "a"}]}) as server,
        pytest.raises(ModelError, match=r"has 2 models\. Name one of them, such as “a”"),
    ):
        with_only_model(f"openai:@{server.base_url}")
    for name in ("embedded", "gemini:x", "openai:gpt", "nothing:"):
        assert with_only_model(name) == name


def test_a_server_that_answers_to_any_name_is_asked_for_that_of_its_model(monkeypatch):
    """By a name that fits each file, answers and policies of one would stand for the next."""
    (own,) = (preset for preset in PRESETS if preset.one_model)
    for file in ("a.gguf", "/models/b.gguf"):
        with serving("none", models={"data": [{"id": file}]}) as server:
            presets = (replace(own, base_url=server.base_url),)
            kinds = {"openai": replace(BACK_ENDS["openai"], presets=presets)}
            monkeypatch.setattr(registry, "BACK_ENDS", kinds)
            assert open_model(f"{own.short}:").name == f"openai:{file}@{server.base_url}"


def test_a_scan_finds_the_servers_of_this_machine_that_list_models(monkeypatch):
    with serving("none") as server, serving("none", models="none") as silent:
        presets = [
            Preset("here", server.base_url.replace("127.0.0.1", "localhost"), "", ""),
            Preset("silent", silent.base_url.replace("127.0.0.1", "localhost"), "", ""),
            Preset("gone", "http://localhost:9/v1", "", ""),
            Preset("elsewhere", "https://127.0.0.1:9/v1", "", ""),
        ]
        kinds = {"openai": replace(BACK_ENDS["openai"], presets=tuple(presets))}
        monkeypatch.setattr(registry, "BACK_ENDS", kinds)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-service")  # and of no stranger's program
        assert local_servers() == {presets[0].base_url: (server.model,)}
        assert all("Authorization" not in each.headers for each in server.exchanges)


def test_what_stands_behind_the_colon_is_handed_on(monkeypatch, tmp_path):
    class Echo(TableModel):
        def __init__(self, where="nothing"):
            self.where = where

    echo = BackEnd("echo", "tests.fakes:Echo", "echo:WHERE", "Echo", "Model: echo", "It repeats.")
    monkeypatch.setitem(BACK_ENDS, "echo", echo)
    monkeypatch.setattr("tests.fakes.Echo", Echo, raising=False)
    assert open_model("echo:NAME@http://host:1/v1").where == "NAME@http://host:1/v1"
    assert open_model("echo").where == "nothing"
    with pytest.raises(BrokenModelError, match="cannot be read"):
        open_model(f"embedded:{tmp_path}")
