"""The page and the files for deploying name what exists."""

import re
from pathlib import Path

import pytest
from streamlit import config

from core import settings

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/deploy.md").read_text(encoding="utf-8")
CONTAINER = (ROOT / "Containerfile").read_text(encoding="utf-8")


def test_the_page_names_every_setting_and_no_other():
    texts = [value for name, value in vars(settings).items() if name.isupper()]
    known = {text for text in texts if isinstance(text, str) and re.fullmatch(r"[A-Z_]+", text)}
    ours = {name for name in known if name.startswith("BELIEVE_")}
    assert len(ours) > 5
    assert set(re.findall(r"BELIEVE_[A-Z_]*[A-Z]", PAGE)) == ours
    assert known <= set(re.findall(r"[A-Z_]+", PAGE)), "keys, too"


@pytest.mark.parametrize("text", [PAGE, CONTAINER], ids=["page", "container"])
def test_streamlit_has_the_options_that_are_named(text):
    options = {option.env_var for option in config.get_config_options().values()}
    named = set(re.findall(r"STREAMLIT_[A-Z_]*[A-Z]", text))
    assert named and named <= options


def test_what_the_container_copies_is_there_and_nothing_else_reaches_its_build():
    lines = re.findall(r"^COPY (?!--from)(.+)$", CONTAINER, re.MULTILINE)
    copied = {source for line in lines for source in line.split()[:-1]}
    ignored = [
        line
        for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    ]
    assert ignored[0] == "*"
    assert {line.removeprefix("!") for line in ignored if line.startswith("!")} == copied
    assert all((ROOT / source).exists() for source in copied)


def test_the_container_installs_nothing_without_a_hash_and_runs_as_nobody():
    installs = re.findall(r"pip install.*?(?=\n[A-Z#])", CONTAINER, re.DOTALL)
    assert len(installs) == 2 and all("--require-hashes" in each for each in installs)
    assert re.search(r"^USER (?!0|root)\d+", CONTAINER, re.MULTILINE)
