"""Text of strangers takes time in proportion to its length: no pattern may do more.

A pattern that tries every way to divide a text takes the square of its length, and holds the
interpreter, and with it every session, meanwhile.
"""

import resource
import subprocess
import sys

import pytest

from core.data.tabular import columns, headings
from core.data.tabular.columns import LONGEST_LIST, LONGEST_NUMBER, parse_list, parse_score

LONG = 300_000  # characters: in their square, hours
SECONDS = 60  # of CPU, not of a clock: a busy machine has as many

# Patterns that see text of a file, a model, a server or an address, each with what takes longest:
# texts that fail as late as possible.
PATTERNS = {
    "core.claims._END": ["'!' * n + 'x'", "'.' + ')' * n + 'x'"],
    "core.data.tabular.columns._NUMBER": [
        "'1' * n + 'x'",
        "'1' * n + '.' + '1' * n + 'x'",
        "'1e' * n",
    ],
    "core.data.tabular.columns._DECIMAL_COMMA": ["'1' * n + ',' + '1' * n + 'x'", "'1,' * n"],
    "core.data.tabular.columns._PRINTED_LIST": [
        "'[' + \"'a' \" * n + 'x'",
        "'[' + \"'a'\" + ' ' * n + 'x'",
        "'[' + \"'a'\" + ' , ' * n + 'x'",
        '"[\'" + chr(92) * n',
        "\"['\" + 'a\"' * n",
    ],
    "core.data.tabular.directions._DOUBT": ["'mutual ' * n", "'mutual' + ' ' * n"],
    "core.data.tabular.directions._SURE": ["'log ' * n", "'p ' * n"],
    "core.data.tabular.directions._NEGATIVE": ["'minu' * n"],
    "core.data.tabular.directions._TURNED": ["' ' * n + 'x'", "'1' + ' ' * n + 'x'"],
    "core.data.tabular.suggestions._NO_SCORE": ["'n' * n", "'row' + 'number' * n"],
    "core.reports.result_files._TEXT": ["'\"' * n", "'\"' + chr(92) * n", "(chr(92) + '\"') * n"],
    "core.uncertainty.similarity._ARTICLES": ["'a' * n", "'the ' * n"],
    "core.language_models.backends.openai.http.TOO_LONG": [
        "'context ' * n",
        "'maximum input ' * n",
    ],
    "core.language_models.backends.openai.address.NAME": ["'a' * n + '/'", "'[' + 'a' * n"],
    "core.language_models.backends.openai.address.PATH": ["'/' * n + ' '"],
    "core.language_models.backends.openai.address.ADDRESSED": ["'@http:/' * n", "'@' * n"],
    "core.language_models.backends.openai.address.NO_SCHEME": [
        "'a:1' * n + '@'",
        "'a:' + '1' * n + '@'",
        "'/v1' * n + '@'",
    ],
    "core.language_models.backends.huggingface.loading.HUB_NAME": ["'a' * n + '!'", "'a/' * n"],
}
TRY = """
import importlib, sys
n = int(sys.argv[1])
for name, texts in eval(sys.argv[2]).items():
    module, _, attribute = name.rpartition(".")
    pattern = getattr(importlib.import_module(module), attribute)
    for text in map(eval, texts):
        print(name, flush=True)
        pattern.match(text), pattern.fullmatch(text)
# A refusal is known by its beginning.
from core.uncertainty.no_answer import is_no_answer
assert not any(is_no_answer(word * n) for word in ("given ", "sorry, ", "as a ", "ik het "))
# What a service says without end is heard in one pass.
from core.language_models.backends.gemini.faults import too_much
assert not too_much("token count " * n)
assert too_much("The input token count (9) exceeds the most") and not too_much("it exceeds")
"""
# Whatever patterns the reader of files has: bytes or text, from where a file begins.
TRY_ALL = """
import re, sys
from core.data.tabular import uploads
n = int(sys.argv[1])
starts = ("", "[", "{", '{"', '[{"', "<", "__index_level_")
for pattern in filter(lambda each: isinstance(each, re.Pattern), vars(uploads).values()):
    print(n, flush=True)
    for start in starts:
        for unit in (" ", "\\n", "a", '"', chr(92), '" ', "{", "1", "<", ","):
            text = start + unit * n + "!"
            pattern.match(text if isinstance(pattern.pattern, str) else text.encode())
"""


def limited():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def tried(*arguments):
    """Return what a program prints before it ends or has used up its share of the processor."""
    command = [sys.executable, "-c", *arguments]
    done = subprocess.run(command, preexec_fn=limited, capture_output=True, text=True, check=False)
    assert done.returncode in (0, -9, -24), done.stderr  # killed: it took too long
    assert not done.returncode, f"too long: {done.stdout.split()[-1:]}"
    return done.stdout.split()


@pytest.mark.slow
def test_a_pattern_takes_time_in_proportion():
    # One process after the other would import the same again and again.
    assert set(tried(TRY, str(LONG), repr(PATTERNS))) == PATTERNS.keys()


def test_no_pattern_of_the_reader_of_files_does():
    assert int(tried(TRY_ALL, str(LONG))[-1]) > 0


class Watched:
    """A pattern that remembers the longest text that it was given."""

    def __init__(self, pattern):
        self.pattern, self.longest = pattern, 0

    def fullmatch(self, text):
        self.longest = max(self.longest, len(text))
        return self.pattern.fullmatch(text)


@pytest.mark.parametrize(
    ("name", "read", "limit", "text"),
    [
        ("_NUMBER", parse_score, LONGEST_NUMBER, "{}x"),
        ("_NUMBER", parse_score, LONGEST_NUMBER, "{}"),
        ("_DECIMAL_COMMA", parse_score, LONGEST_NUMBER, "0,{}x"),
        ("_PRINTED_LIST", parse_list, LONGEST_LIST, "['{}' x]"),
    ],
)
def test_no_pattern_is_given_a_cell_that_is_too_long(monkeypatch, name, read, limit, text):
    watched = Watched(getattr(columns, name))
    monkeypatch.setattr(columns, name, watched)
    read(text.format("1" * (limit - len(text))))
    assert 0 < watched.longest <= limit
    assert read(text.format("1" * (limit + 1))) is None
    assert read(text.format("1" * 1_000_000)) is None
    assert watched.longest <= limit


@pytest.mark.parametrize("text", ["1" * 400, "1" * 5000, "-" + "9" * 400, "1e" + "9" * 400])
def test_endless_digits_are_no_number_and_no_traceback(text):
    assert parse_score(text) is None
    assert parse_list(f"[{text}]") is None or len(parse_list(f"[{text}]")) == 1


def test_a_long_heading_is_compared_by_its_beginning():
    """Every heading is compared with every other one."""
    assert len(headings.plain_heading("ab_" * 50_000)) < headings.LONGEST_HEADING
    assert headings.plain_heading("Is Correct") == "iscorrect"
