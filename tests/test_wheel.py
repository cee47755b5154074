"""The library as it is installed: from a source distribution, in an empty environment."""

import ast
import json
import os
import shutil
import subprocess
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from tests.test_house import imported_names

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.slow

ALONE = "--no-build-isolation", "--no-deps", "-w"

#: What belongs to no module of the library, and may not be needed to answer.
EXTRAS = {"streamlit", "altair", "vl_convert", "google.generativeai", "gguf", "torch", "ray"}


def pip(python: Path | str, *words: str | Path) -> None:
    """Run pip; without an index that has what is needed, the test is skipped, and says so."""
    command = [python, "-m", "pip", "--disable-pip-version-check", *words]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True)
    unreachable = "No matching distribution found" in done.stderr
    if done.returncode and (unreachable or "ConnectionError" in done.stderr):
        pytest.skip(f"no package index can be reached: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, built from a copy: setuptools writes beside what it reads."""
    place = tmp_path_factory.mktemp("built")
    copy, environment = place / "checkout", place / "builds"
    passing = shutil.ignore_patterns(".git", ".venv*", ".*_cache", "__pycache__", "build")
    shutil.copytree(ROOT, copy, ignore=passing)
    venv.create(environment, with_pip=True)
    pip(environment / "bin/python", "install", "-q", "setuptools>=77")
    code = f"from setuptools import build_meta; build_meta.build_sdist({str(place)!r})"
    subprocess.run([environment / "bin/python", "-c", code], cwd=copy, check=True)
    pip(environment / "bin/python", "wheel", "-q", *ALONE, place, next(place.glob("*.tar.gz")))
    return next(place.glob("believe-*.tar.gz"))


@pytest.fixture(scope="module")
def installed(archive: Path) -> Path:
    """The Python of an environment that holds the wheel made of it, and what that needs."""
    environment, wheel = archive.parent / "environment", next(archive.parent.glob("*.whl"))
    venv.create(environment)
    builds = archive.parent / "builds/bin/python"
    pip(builds, "--python", environment, "install", "-q", "--no-compile", wheel)
    return environment / "bin/python"


def run(command: list[str | Path], place: Path, **variables: str) -> str:
    """Run a command in a folder without the checkout, and return what it prints."""
    clean = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    clean |= {"BELIEVE_DATABASE_URL": "sqlite://", **variables}
    done = subprocess.run(
        [*map(str, command)], cwd=place, env=clean, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_archive_and_wheel_hold_what_is_needed_and_name_no_core(archive, installed):
    with tarfile.open(archive) as files:
        assert not [name for name in files.getnames() if "/tests/" in name or ".pyc" in name]
    with zipfile.ZipFile(next(archive.parent.glob("*.whl"))) as wheel:
        names = set(wheel.namelist())
        sources = {name: wheel.read(name).decode() for name in names if name.endswith(".py")}
    assert {name.partition("/")[0] for name in names} == {"believe", "believe-0.1.0.dist-info"}
    assert {"believe/py.typed", "believe/.streamlit/config.toml", "believe/app.py"} <= names
    ours = {p.relative_to(ROOT) for p in (ROOT / "core").rglob("*") if p.is_file()}
    assert {f"believe/{p}" for p in ours if p.suffix != ".pyc"} <= names
    for name, source in sources.items():
        imports = {name.partition(".")[0] for _, name in imported_names(ast.parse(source))}
        assert not {"core", "pages"} & imports, name
        assert "python -m core" not in source and "-r requirements" not in source, name


def test_beside_a_package_core_of_somebody_else(installed, tmp_path):
    (tmp_path / "core").mkdir()
    (tmp_path / "core/__init__.py").write_text("raise ImportError('not ours')")
    code = (
        "import sys, believe\n"
        "assert 'numpy' not in sys.modules  # which takes most of the time\n"
        "model = believe.open_model('embedded')\n"
        "from believe.core.studies.inspection import inspection, recorder\n"
        "request = recorder.usual_request('What is the capital of France?', model.capabilities)\n"
        "seen = inspection.run(request, model)\n"
        f"assert not {EXTRAS!r} & sys.modules.keys()\n"
        "print(believe.__file__, seen.outcome)"
    )
    printed = run([installed, "-c", code], tmp_path, PYTHONPATH=str(tmp_path))
    assert "/environment/" in printed and printed.endswith("answer: Paris\n")


def test_the_command_reads_a_file_in_a_process_of_its_own(installed, tmp_path):
    (tmp_path / "core.py").write_text("raise ImportError('not ours')")
    script = installed.with_name("believe")
    asked = run([script, "inspect", "What is the capital of France?", "--json"], tmp_path)
    assert json.loads(asked)["headline"] == "answer"
    rows = "question,score,correct\n" + "".join(
        f"q{i},{i},{int(i < 150 and i % 50 > 0)}\n" for i in range(200)
    )
    (tmp_path / "rows.csv").write_text(rows)
    named = ["--score", "score", "--larger-is-doubt", "--target-error", "0.2", "--json"]
    policy = json.loads(run([script, "calibrate", "rows.csv", *named], tmp_path))
    assert policy["format"] == "believe-policy" and policy["answered"] > 100
    assert "Usage: believe [OPTIONS]" in run([installed, "-m", "believe", "--help"], tmp_path)


def test_what_an_extra_brings_is_named_where_it_is_missing(installed, tmp_path):
    script = installed.with_name("believe")
    words = {
        "gguf": [script, "inspect", "Who?", "--model", "gguf:x.gguf"],
        "gemini": [script, "inspect", "Who?", "--model", "gemini:x"],
        "dashboard": [script, "dashboard"],
        "hf": [script, "inspect", "Who?", "--model", "hf:x"],
    }
    for extra, command in words.items():
        done = subprocess.run([*map(str, command)], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 1 and f"'believe[{extra}]'" in done.stderr, (extra, done.stderr)
    version = "from importlib import metadata; print(metadata.version('believe'))"
    assert run([installed, "-c", version], tmp_path) == "0.1.0\n"
