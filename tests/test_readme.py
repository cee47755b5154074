"""README, CONTRIBUTING and docs: measured numbers, links, named files and length."""

import re
from collections import Counter
from pathlib import Path

import click
import pytest

from benchmarks import readme_tables
from core.cli import main

PAGES = [*readme_tables.pages(), Path("CONTRIBUTING.md")]
SUFFIXES = "py|md|toml|csv|txt|json|png|safetensors"
PATH = re.compile(rf"(?:[\w.-]+/)+(?:[\w.-]+\.(?:{SUFFIXES}))?|[\w-]+\.(?:{SUFFIXES})")
MODULE = re.compile(r"(?:core|benchmarks|training)(?:\.\w+)+")
WRITTEN = re.compile(
    r"(build|\.venv[\w-]*)/|(inspection|policy|run)\.json|(NAME|found|scores)\.csv|secrets\.toml"
)


def text_of(path):
    return path.read_text(encoding="utf-8")


def test_the_measured_parts_are_those_of_the_shipped_model():
    named = Counter(n for p in PAGES for n in re.findall(r"<!-- ([a-z]+) -->", text_of(p)))
    del named["end"]
    assert named == Counter({*readme_tables.PARTS}), "each part once"
    for path in PAGES:
        filled = readme_tables.filled(text_of(path))
        assert filled == text_of(path), f"{path}: run python -m benchmarks.readme_tables"


def test_a_changed_number_is_noticed():
    text = text_of(Path("docs/embedded-model.md"))
    changed = text.replace("by heart (96 or more) | 7", "by heart (96 or more) | 8", 1)
    assert changed != text
    assert readme_tables.filled(changed) == text


@pytest.mark.parametrize(
    "pattern, most", [("README.md", 900), ("CONTRIBUTING.md", 1_800), ("docs/*.md", 25_000)]
)
def test_the_pages_keep_to_their_words(pattern, most):
    words = sum(len(text_of(path).split()) for path in Path().glob(pattern))
    assert 0 < words <= most, "cut, or move tables to docs/measured/"


MEASURED_PAGES = sorted(Path("docs/measured").glob("*.md"))


@pytest.mark.parametrize("path", MEASURED_PAGES, ids=str)
def test_a_measured_page_begins_with_the_command_that_makes_it_and_is_linked(path):
    _, first, *_ = text_of(path).split("\n\n")
    assert f"`python -m benchmarks.{path.stem}" in first
    assert Path(f"benchmarks/{path.name}").with_suffix(".py").exists()
    assert any(f"measured/{path.name}" in text_of(page) for page in Path("docs").glob("*.md"))


def anchors(path):
    """Return the anchors that GitHub gives the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", text_of(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", PAGES, ids=str)
def test_links_lead_somewhere(path):
    for link in re.findall(r"\]\(([^)\s]+)\)", text_of(path)):
        if not link.startswith("https://"):
            name, _, anchor = link.partition("#")
            target = path.parent / name if name else path
            assert target.exists(), link
            assert not anchor or anchor in anchors(target), link


def named(text):
    """Yield the files, folders and modules that a page names in code."""
    for code in re.findall(r"```.*?```|`[^`\n]+`", text, re.DOTALL):
        for word in re.findall(r"[^\s`,;:(){}=<>|]+", code):
            if re.match(r"[a-z+]+:|https?|/", word) or WRITTEN.search(word) or "*" in word:
                continue
            if PATH.fullmatch(word) or MODULE.fullmatch(word):
                yield word


def exists(name):
    if MODULE.fullmatch(name):
        parts = name.split(".")  # the last may be a name within a module
        files = (Path(*parts[:n]) for n in (len(parts), len(parts) - 1) if n > 1)
        return any(f.with_suffix(".py").exists() or f.is_dir() for f in files)
    return Path(name).exists()


@pytest.mark.parametrize("path", PAGES, ids=str)
def test_named_files_exist(path):
    missing = sorted({name for name in named(text_of(path)) if not exists(name)})
    assert not missing, missing


def unknown(line):
    """Return what a command line names that does not exist: a target, a subcommand, options."""
    program, *words = re.sub(r"\s#\s.*|\s[>|]\s.*", "", line).split()
    if program == "make":
        targets = re.findall(r"^([\w-]+):", text_of(Path("Makefile")), re.MULTILINE)
        return [word for word in words[:1] if word not in targets]
    command = main
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        name, *words = words
        if name not in command.commands:
            return [name]
        command = command.commands[name]
    options = {name for each in command.params for name in (*each.opts, *each.secondary_opts)}
    return [word for word in words if word.startswith("--") and word not in {*options, "--help"}]


def commands(text):
    """Yield the lines in code that begin with `make` or `python -m core`."""
    for code in re.findall(r"```.*?```|`[^`]+`", text, re.DOTALL):
        for line in code.strip("`").replace("\\\n", " ").splitlines():
            if match := re.match(r"\s*(?:[A-Z_]+=\S+ )*(?:python -m )?((make|core)( .*|$))", line):
                yield match[1]


@pytest.mark.parametrize("path", PAGES, ids=str)
def test_named_commands_exist(path):
    assert not {line: words for line in commands(text_of(path)) if (words := unknown(line))}


def test_a_command_that_is_gone_is_noticed():
    lines = "`make gone`, `python -m core gone`, `python -m core inspect --gone`"
    assert [unknown(line) for line in commands(lines)] == [["gone"], ["gone"], ["--gone"]]
    assert [unknown(line) for line in commands("```\nmake demo    # start\n```")] == [[]]


def test_a_file_that_is_gone_is_noticed():
    gone = "See `core/ui/gone.py`, `core/nowhere/`, `python -m benchmarks.gone` and `gone.txt`."
    assert sum(not exists(name) for name in named(gone)) == 4
