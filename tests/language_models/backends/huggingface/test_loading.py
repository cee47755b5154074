"""The Hugging Face back end where PyTorch is not installed, or not asked for."""

import os
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

from core.language_models.backends.embedded import FOLDER
from core.language_models.backends.huggingface.loading import FILES, NOT_FILES, fingerprint
from core.language_models.errors import ModelError, UnknownModelError
from core.language_models.registry import open_model

ROOT = Path(__file__).resolve().parents[4]


@pytest.mark.parametrize("missing", ["torch", "transformers"])
def test_what_is_missing_is_a_command_that_installs_it(monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)  # as if it were not installed
    with pytest.raises(ModelError, match=r"`pip install -r requirements/local\.txt`\.$") as caught:
        open_model(f"hf:{FOLDER}")
    assert caught.value.__cause__ is None


def test_the_file_that_installs_it_is_there():
    wanted = (ROOT / "requirements/local.txt").read_text(encoding="utf-8")
    assert "torch" in wanted and "transformers" in wanted


@pytest.mark.parametrize(
    "name",
    [
        "./nowhere",
        "/no/such/folder",
        "core/language_models/backends/embedded/weight",
        "~/no-such",
        "~nobody-here/folder",
        "a b",
        "/" + "x" * 5000,
    ],
)
def test_a_folder_that_does_not_exist_is_a_sentence(name):
    with pytest.raises(UnknownModelError, match="There is no folder") as caught:
        open_model(f"hf:{name}")
    assert f"“{name}”" in str(caught.value)


def test_a_file_is_no_folder_and_is_not_looked_for_on_the_hub(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.gguf").write_bytes(b"")
    with pytest.raises(UnknownModelError, match="There is no folder"):
        open_model("hf:model.gguf")


@pytest.mark.parametrize("name", ["hf", "hf:"])
def test_a_model_has_to_be_named(name):
    with pytest.raises(UnknownModelError, match="hf:PATH_OR_NAME"):
        open_model(name)


FOLDER_OF_A_MODEL = (
    *("config.json", "generation_config.json", "model.safetensors", "tokenizer.json"),
    *("tokenizer_config.json", "special_tokens_map.json", "vocab.json", "merges.txt"),
    *("added_tokens.json", "sentencepiece.bpe.model", "chat_template.jinja"),
    "additional_chat_templates/tools.jinja",
)


def test_changing_any_file_of_a_folder_changes_the_revision(tmp_path):
    seen = set()
    for name in (*FOLDER_OF_A_MODEL, "what_comes_next.json"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        for text in ("one", "another"):
            file.write_text(text)
            seen.add(fingerprint(tmp_path))
    assert len(seen) == 2 * (len(FOLDER_OF_A_MODEL) + 1)
    for name in ("pytorch_model.bin", ".git/config", "onnx/model.onnx"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("not read")
        assert fingerprint(tmp_path) in seen


@pytest.mark.parametrize("name", FOLDER_OF_A_MODEL)
def test_what_is_read_of_a_model_is_fetched_with_it(name):
    assert fetched(name)


@pytest.mark.parametrize("name", ["modeling_x.py", "consolidated.safetensors", "tf/vocab.json"])
def test_code_and_copies_are_not_fetched(name):
    assert not fetched(name)


def fetched(name):
    """Whether the hub's library fetches a file: by the patterns that it is handed."""
    allowed, ignored = (any(fnmatch(name, p) for p in patterns) for patterns in (FILES, NOT_FILES))
    return allowed and not ignored


def test_nothing_loads_pytorch_before_such_a_model_is_opened(tmp_path):
    for library in ("torch", "transformers", "huggingface_hub"):
        (tmp_path / f"{library}.py").write_text(f"raise SystemExit('{library} was loaded')")
    code = (
        "import core.cli, core.ui.frame, core.ui.inspection.recordings\n"
        "import core.language_models.backends.huggingface.model\n"
        "core.language_models.registry.open_model('embedded')"
    )
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    environment = os.environ | {"PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr.strip()[-500:]) == (0, "")
