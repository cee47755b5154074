"""Commands in this process, as a person types them."""

from click.testing import CliRunner

from core import cli


def believe(*words, **more):
    return CliRunner().invoke(cli.main, [*map(str, words)], **more)


def refused(result, says, status=1):
    """Standard error ends in a sentence that says why, and nothing else was said."""
    assert (result.exit_code, result.stdout) == (status, "")
    assert says in result.stderr and "Traceback" not in result.stderr
    assert result.stderr.rstrip().endswith(".") and isinstance(result.exception, SystemExit)
