"""The lock file: every package of the dashboard at one version, each file of it with its hash."""

import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from benchmarks import dependencies
from benchmarks.ratios import quoted

ROOT = Path(__file__).parents[1]


def requirements(path):
    """Return what a requirements file asks for, and the hashes behind each."""
    text = re.sub(r"(^|\s)#.*", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    found = []
    for line in text.replace("\\\n", " ").splitlines():
        if line.strip():
            asked, *hashes = line.split("--hash=")
            found.append((Requirement(asked.strip()), [h.strip() for h in hashes]))
    return found


@pytest.mark.parametrize("name", ["requirements.txt", "requirements/server.txt"])
def test_every_package_is_locked_at_one_version_within_its_range_with_hashes(name):
    lock = {"requirements.txt": "requirements/lock.txt"}.get(name, "requirements/server-lock.txt")
    locked = {}
    for requirement, hashes in requirements(ROOT / lock):
        (pin,) = requirement.specifier
        assert pin.operator == "==", requirement
        assert hashes and all(re.fullmatch(r"sha256:[0-9a-f]{64}", h) for h in hashes), requirement
        locked.setdefault(requirement.name, []).append(pin.version)
    for asked, _ in requirements(ROOT / name):
        assert asked.name in locked, f"{asked.name} is not locked: run make lock"
        for version in locked[asked.name]:
            assert version in asked.specifier, f"{version} is not {asked}: run make lock"


def test_what_a_server_adds_goes_with_the_lock():
    versions = {}
    for name in ("lock", "server-lock"):
        for requirement, _ in requirements(ROOT / f"requirements/{name}.txt"):
            versions.setdefault(requirement.name, {}).setdefault(name, set()).add(
                str(requirement.specifier)
            )
    both = [found for found in versions.values() if len(found) == 2]
    assert both and all(found["server-lock"] <= found["lock"] for found in both)


def test_the_demo_is_installed_from_the_lock():
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "--require-hashes -r requirements/lock.txt" in recipe
    assert not re.search(r"\(VENV\).*-r requirements\.txt", recipe)


#: The machine that the page is about: the lock names other packages on others.
LINUX = {
    "sys_platform": "linux",
    "platform_machine": "x86_64",
    "platform_python_implementation": "CPython",
    "implementation_name": "cpython",
    "python_version": "3.11",
    "python_full_version": "3.11.7",
}


def test_the_page_names_what_the_lock_installs_and_what_believe_asks_for():
    """`python -m benchmarks.dependencies --write` brings the table there."""
    page = (ROOT / dependencies.PAGE).read_text(encoding="utf-8")
    part = page.partition(dependencies.BEGIN)[2].partition(dependencies.END)[0]
    rows = [line.strip("| ").split(" | ") for line in part.splitlines() if line.startswith("| ")]
    listed = {name: version for name, version, *_ in rows[2:]}
    assert listed == dependencies.locked(LINUX), "run python -m benchmarks.dependencies --write"
    ours = {name for name, *_, wanted in rows[2:] if "**Believe**" in wanted}
    assert ours == dependencies.asked()
    assert all(wanted.strip() for *_, wanted in rows[2:]), "nobody wants it"
    assert quoted(page, part.strip(), dependencies.BEGIN, dependencies.END) == page
