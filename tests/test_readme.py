"""The numbers in the README are those that were measured."""

import re

from benchmarks import readme_tables


def test_the_measured_parts_are_those_of_the_shipped_model(monkeypatch):
    text = readme_tables.README.read_text(encoding="utf-8")
    named = re.findall(r"<!-- ([a-z]+) -->", text)
    assert {*readme_tables.PARTS} == {*named} - {"end"}
    assert readme_tables.filled(text) == text, "run python -m benchmarks.readme_tables"


def test_a_changed_number_is_noticed():
    text = readme_tables.README.read_text(encoding="utf-8")
    changed = text.replace("by heart (96 or more) | 6", "by heart (96 or more) | 7", 1)
    assert changed != text
    assert readme_tables.filled(changed) == text
