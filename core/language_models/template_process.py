"""A stranger's chat template, filled in: run as a process of its own, with limits.

Jinja's sandbox keeps a template from everything but its own variables. It does not keep it from
taking all memory (``{{ 'x' * 10**11 }}``) or from going on for ever (loops in loops). So
`core.language_models.chat_template` starts this file by its path, and gives it a template and its
variables as JSON. It answers in JSON, too: with the text, or with what was wrong. It imports
nothing of this program, so that it starts quickly.
"""

import contextlib
import json
import sys
from typing import Any, Final

from jinja2.exceptions import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

with contextlib.suppress(ImportError):  # Windows has none: only the clock's limit holds there
    import resource

MEMORY: Final = 500_000_000  # bytes, all of the process
SECONDS: Final = 2  # of the processor
LONGEST: Final = 1_000_000  # characters of the text


def render(template: str, variables: dict[str, Any]) -> str:
    """Fill a template in; raises whatever a stranger's program can raise."""

    def refuse(words: str) -> None:
        raise TemplateError(words)

    rules = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    rules.globals["raise_exception"] = refuse
    text = rules.from_string(template).render(**variables)
    if len(text) > LONGEST:
        raise ValueError("The text is too long.")
    return text


def main() -> None:
    """Answer the one template that stands in the input."""
    request = json.load(sys.stdin)
    if "resource" in globals():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        with contextlib.suppress(OSError, ValueError):  # elsewhere than on Linux
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    try:
        answer = {"text": render(request["template"], request["variables"])}
    except Exception as error:
        answer = {"failed": type(error).__name__}
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
