"""What is installed, and what it weighs: ``python -m benchmarks.dependencies [--write]``.

Prints a table of the packages of ``requirements/lock.txt`` that belong on this machine: the size
of each as it is installed here (the files of its RECORD, without compiled bytecode), its licence
as its metadata give it, who wants it, and when its newest release came out, which PyPI says. With
``--write`` the table goes into ``docs/measured/dependencies.md``. Run it where ``make demo``
installed the lock: a package of another version than the lock's ends it.
"""

import argparse
import platform
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any, Final

import requests
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from benchmarks.ratios import quoted
from core import outputs

LOCK: Final = Path("requirements/lock.txt")
ASKED: Final = Path("requirements.txt")
PAGE: Final = Path("docs/measured/dependencies.md")
BEGIN: Final = "<!-- written by python -m benchmarks.dependencies --write -->"
END: Final = "<!-- end of the packages -->"
INDEX: Final = "https://pypi.org/simple"
SMALL: Final = 0.95  # MB: written as “< 1”


@dataclass(frozen=True)
class Package:
    """One installed package of the lock."""

    name: str
    version: str
    megabytes: float
    licence: str
    wanted_by: tuple[str, ...]
    newest: str

    @property
    def row(self) -> str:
        size = f"{self.megabytes:,.0f}" if self.megabytes >= SMALL else "< 1"
        wanted = ", ".join(self.wanted_by)
        cells = [self.name, self.version, size, self.licence, self.newest, wanted]
        return f"| {' | '.join(cells)} |"


def locked(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the versions that the lock names for a machine, or for this one, by package."""
    found = {}
    for line in LOCK.read_text(encoding="utf-8").splitlines():
        if re.match(r"[a-z0-9]", line):
            requirement = Requirement(line.rstrip("\\ "))
            if requirement.marker is None or requirement.marker.evaluate(dict(environment or {})):
                (pin,) = requirement.specifier
                found[canonicalize_name(requirement.name)] = pin.version
    return found


def asked() -> set[str]:
    """Return the packages that `requirements.txt` names."""
    lines = ASKED.read_text(encoding="utf-8").splitlines()
    words = (line.partition("#")[0].strip() for line in lines)
    return {canonicalize_name(Requirement(word).name) for word in words if word}


def packages() -> list[Package]:
    """Return every package of the lock, the largest first.

    Raises `SystemExit` when another version of one is installed.
    """
    versions, ours = locked(), asked()
    installed = {name: distribution(name) for name in versions}
    off = [name for name, found in installed.items() if found.version != versions[name]]
    if off:
        raise SystemExit(f"Other versions than the lock's are installed: {', '.join(off)}.")
    wanted = who_wants(installed)
    made = [
        Package(
            name,
            versions[name],
            megabytes(found),
            licence(found),
            (*(["**Believe**"] if name in ours else []), *sorted(wanted[name])),
            newest(name),
        )
        for name, found in installed.items()
    ]
    return sorted(made, key=lambda package: -package.megabytes)


def who_wants(installed: Mapping[str, Distribution]) -> dict[str, set[str]]:
    """Return by which of the others each package is wanted here, their extras included."""
    needs = {name: [*map(Requirement, found.requires or ())] for name, found in installed.items()}
    extras: dict[str, set[str]] = defaultdict(lambda: {""})
    for requirement in (each for some in needs.values() for each in some):
        extras[canonicalize_name(requirement.name)] |= requirement.extras
    wanted: dict[str, set[str]] = defaultdict(set)
    for name, some in needs.items():
        for each in some:
            if each.marker is None or any(each.marker.evaluate({"extra": e}) for e in extras[name]):
                wanted[canonicalize_name(each.name)].add(name)
    return wanted


def megabytes(found: Distribution) -> float:
    """Return the size of a package's files as they lie on the disk, without bytecode."""
    return sum(_sizes(found)) / 1e6


def _sizes(found: Distribution) -> Iterator[int]:
    for file in found.files or ():
        path = Path(str(found.locate_file(file)))
        if path.suffix != ".pyc" and path.is_file():
            yield path.stat().st_size


def licence(found: Distribution) -> str:
    """Return a package's licence as its metadata name it, in a few words."""
    said = found.metadata.get("License-Expression") or ""
    if not said:
        classes = found.metadata.get_all("Classifier") or []
        names = [c.rpartition(" :: ")[2] for c in classes if c.startswith("License :: OSI")]
        said = ", ".join(name.removesuffix(" License") for name in names if name != "OSI Approved")
    if not said:  # sometimes its whole text
        said = (found.metadata.get("License") or "").strip().partition("\n")[0]
    return re.sub(r"\s+", " ", said).replace("|", "/")[:60] or "not stated"


def newest(name: str) -> str:
    """Return the month of the newest release on PyPI that is no preview."""
    accept = {"Accept": "application/vnd.pypi.simple.v1+json"}
    reply = requests.get(f"{INDEX}/{name}/", headers=accept, timeout=30)
    reply.raise_for_status()
    days = [file["upload-time"] for file in reply.json()["files"] if _is_final(file)]
    return max(days)[:7]


def _is_final(file: dict[str, Any]) -> bool:
    """Say whether a file is of a release; its name has the version behind the first dash."""
    stem = file["filename"].removesuffix(".tar.gz").removesuffix(".zip")
    part = stem.split("-")[1] if file["filename"].endswith(".whl") else stem.rpartition("-")[2]
    try:
        return not Version(part).is_prerelease and not file.get("yanked")
    except InvalidVersion:
        return False


def table(made: list[Package]) -> str:
    """Return the table in Markdown, with the sum above it."""
    ours = [package for package in made if "**Believe**" in package.wanted_by]
    return "\n".join(
        [
            f"{datetime.now(UTC):%Y-%m-%d}: {sum(p.megabytes for p in made):,.0f} MB in "
            f"{len(made)} packages for {platform.system()}, {platform.machine()} and Python "
            f"{platform.python_version()}. Believe imports {len(ours)} of them.",
            "",
            "| package | version | MB | licence | newest release | wanted by |",
            "| --- | --- | --: | --- | --- | --- |",
            *(package.row for package in made),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"into {PAGE}, too")
    options = parser.parse_args()
    made = table(packages())
    print(made)
    if options.write:
        text = PAGE.read_text(encoding="utf-8")
        outputs.write(PAGE, quoted(text, made, BEGIN, END))


if __name__ == "__main__":
    main()
