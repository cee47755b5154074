"""The one table of all ratios: its rows are the benchmarks' own, and a missed promise is seen."""

import re
from pathlib import Path

import pytest

from benchmarks import ratios
from benchmarks.ratios import Ratio, each


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setattr(ratios, "RESULTS", tmp_path / "build" / "ratios.json")


def row(table, name):
    (line,) = (line for line in table.splitlines() if line.startswith(f"| {name} |"))
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


def test_a_promise_is_about_the_median():
    least, most = Ratio("a / b", least=2), Ratio("a / b", most=1.5)
    assert least.keeps([1, 2, 9]) and not least.keeps([1, 1.9, 9])
    assert most.keeps([1, 1.5, 9]) and not most.keeps([1, 1.6, 1.7])
    assert not most.keeps([float("nan")]) and not least.keeps([float("nan")])
    assert Ratio("a / b").keeps([1e9])
    assert each([2, 9], [1, 3]) == [2, 3]
    with pytest.raises(ValueError):
        each([1], [1, 2])


def test_what_was_measured_is_in_the_table_and_measured_again_it_is_replaced(results, capsys):
    first, *_ = ratios.declared()["amplification"]
    assert row(ratios.table({}), first.name)[0] == ratios.NOT_MEASURED
    assert ratios.report({first: [7, 5, 6, 8, 9]})
    assert first.name in capsys.readouterr().out
    table = ratios.table(ratios.results())
    assert row(table, first.name) == ["7.00", "6.00 to 8.00", "5", "at least 5", "`amplification`"]
    assert ratios.machine() in table and "numpy" in table
    assert not ratios.report({first: [4]})
    table = ratios.table(ratios.results())
    assert row(table, first.name)[:4] == ["4.00", "", "1", "at least 5: **missed**"]


def test_the_page_quotes_every_ratio_of_every_benchmark():
    """`python -m benchmarks.ratios --write` brings the rows there."""
    page = ratios.QUOTED.read_text(encoding="utf-8")
    part = page.partition(ratios.BEGIN)[2].partition(ratios.END)[0]
    names = [line.split("|")[1].strip() for line in part.splitlines() if line.startswith("| ")][2:]
    assert names == [ratio.name for each in ratios.declared().values() for ratio in each]
    assert len(set(names)) == len(names)
    assert ratios.quoted(page, part.strip()) == page
    with pytest.raises(ValueError, match="no place"):
        ratios.quoted("", "table")


def test_make_bench_runs_every_benchmark_of_the_table():
    recipe = Path("Makefile").read_text(encoding="utf-8")
    (names,) = re.findall(r"^RATIOS := (.*)$", recipe.replace("\\\n", ""), re.MULTILINE)
    assert tuple(names.split()) == ratios.BENCHMARKS
