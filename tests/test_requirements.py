"""The lock file: every package of the dashboard at one version, each file of it with its hash."""

import re
from pathlib import Path

from packaging.requirements import Requirement

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


def test_every_package_that_is_asked_for_is_locked_within_its_range():
    locked = {}
    for requirement, _ in requirements(ROOT / "requirements/lock.txt"):
        locked.setdefault(requirement.name, []).append(requirement)
    for asked, _ in requirements(ROOT / "requirements.txt"):
        assert asked.name in locked, f"{asked.name} is not locked: run make lock"
        for pin in locked[asked.name]:
            (version,) = [s.version for s in pin.specifier if s.operator == "=="]
            assert version in asked.specifier, f"{pin} is not {asked}: run make lock"


def test_every_locked_package_has_one_version_and_hashes():
    for requirement, hashes in requirements(ROOT / "requirements/lock.txt"):
        assert [s.operator for s in requirement.specifier] == ["=="], requirement
        assert hashes and all(re.fullmatch(r"sha256:[0-9a-f]{64}", h) for h in hashes), requirement


def test_the_demo_is_installed_from_the_lock():
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "--require-hashes -r requirements/lock.txt" in recipe
    assert not re.search(r"install.*-r requirements\.txt", recipe)
