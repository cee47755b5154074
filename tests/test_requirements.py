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


def test_every_package_is_locked_at_one_version_within_its_range_with_hashes():
    locked = {}
    for requirement, hashes in requirements(ROOT / "requirements/lock.txt"):
        (pin,) = requirement.specifier
        assert pin.operator == "==", requirement
        assert hashes and all(re.fullmatch(r"sha256:[0-9a-f]{64}", h) for h in hashes), requirement
        locked.setdefault(requirement.name, []).append(pin.version)
    for asked, _ in requirements(ROOT / "requirements.txt"):
        assert asked.name in locked, f"{asked.name} is not locked: run make lock"
        for version in locked[asked.name]:
            assert version in asked.specifier, f"{version} is not {asked}: run make lock"


def test_the_demo_is_installed_from_the_lock():
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "--require-hashes -r requirements/lock.txt" in recipe
    assert not re.search(r"install.*-r requirements\.txt", recipe)
