"""The command line in one process after the other: ``python -m tests.wire.processes``.

Every process is forked from one that has imported everything, for that takes Python a second.
A line of JSON in: arguments, environment, and files for what is printed. Two lines out: the
number of the process, and how it ended.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]


class Processes:
    """Runs the command line, one process at a time."""

    def __init__(self, forking: subprocess.Popen, folder: Path) -> None:
        self._forking, self._files = forking, (folder / "printed", folder / "said")

    def start(self, arguments: list[str], environment: dict[str, str]) -> int:
        """Start one, and return its number."""
        job = [arguments, environment, list(map(str, self._files))]
        self._forking.stdin.write(f"{json.dumps(job)}\n")
        self._forking.stdin.flush()
        return int(self._forking.stdout.readline())

    def end(self) -> tuple[int, str, str]:
        """Wait until it ends; return its status (minus a signal's number) and both outputs."""
        status = int(self._forking.stdout.readline())
        printed, said = (file.read_text(encoding="utf-8") for file in self._files)
        return status, printed, said


@contextmanager
def forking(folder: Path) -> Iterator[Processes]:
    """Run this module as a program until the end of the block."""
    program = subprocess.Popen(
        [sys.executable, "-m", "tests.wire.processes"],
        cwd=ROOT,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},  # no threads where one forks
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield Processes(program, folder)
    finally:
        program.communicate()


def _child(arguments: list[str], environment: dict[str, str], files: list[str]) -> None:
    from core import cli

    os.environ.update(environment)
    for output, file in enumerate(files, start=1):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), output)
    try:
        cli.main(arguments, prog_name="believe")
    except SystemExit as error:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(int(error.code or 0))
    finally:
        os._exit(70)


if __name__ == "__main__":
    import core.cli
    import core.language_models.backends.openai.model
    import core.store.database  # noqa: F401

    for line in sys.stdin:
        process = os.fork()
        if not process:
            _child(*json.loads(line))
        print(process, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)
