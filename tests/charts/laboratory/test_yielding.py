"""Pictures of why a model gives way: every fact is drawn, and every number has its interval."""

import numpy as np
import pytest

from core.charts.laboratory import yielding as charts
from core.charts.theme import LIGHT
from core.reports.laboratory.yielding import chart_data
from core.studies.laboratory.experiment import plain
from core.studies.laboratory.yielding import OF_BANDS, YieldingFacts, YieldingRow, YieldingSettings
from tests.charts.drawing import check, drawn, only_text, rows_of, texts
from tests.hostile import ANY_TEXTS, LINES


def made(model="embedded", n=40, question="q"):
    rng = np.random.default_rng(0)
    rows = tuple(
        YieldingRow(
            f"{question}{i}",
            f"relation {i % 5}",
            OF_BANDS[i % 4].value,
            exposures=i * 7,
            repetitions=None if i % 4 == 0 else i % 12,
            odds=float(rng.normal()),
            overlap=float(rng.random()),
            every_token=float(rng.random()),
            logit=float(rng.normal()),
            gap=float(rng.normal()),
        )
        for i in range(n)
    )
    heads = np.array([[0.1, np.nan], [-0.4, 0.2]])
    return YieldingFacts(YieldingSettings(most=50), model, "1", 3.0, rows, heads)


def of(found):
    return plain(chart_data(found))


MADE = made()
FOUND = of(MADE)


def test_facts_that_nothing_turns_are_drawn_above_all_others():
    chart = charts.scatter(FOUND, LIGHT, "overlap")
    rows = rows_of(chart, "turns")
    assert len(rows) == len(MADE.rows)
    never = [row["y"] for row in rows if row["turns"] == "never"]
    others = [row["y"] for row in rows if row["turns"] != "never"]
    assert len(never) == 10 and min(never) > 50 > max(others)
    turned = [(row["y"], int(row["turns"])) for row in rows if row["turns"] != "never"]
    assert 0 < max([abs(np.log1p(at) - np.log1p(times)) for at, times in turned]) <= charts.SPREAD
    assert "never" in texts(drawn(chart))


def test_every_correlation_stands_with_its_interval():
    one = MADE.correlations["overlap"]
    said = f"{one.value:+.2f} ({one.lower:+.2f} to {one.upper:+.2f})"
    said = said.replace("-", "−")
    assert said in " ".join(texts(drawn(charts.correlations(FOUND, LIGHT))))
    assert said in charts.correlations_alt(FOUND) and said in charts.scatter_alt(FOUND, "overlap")
    assert "3 heads: from -0.40 to +0.20" in charts.heads_alt(FOUND)
    check({"heads": charts.heads(FOUND, LIGHT)}, LIGHT)  # one of four has no correlation


def test_of_another_model_nobody_knows_what_it_was_taught():
    found = of(made("smollm2"))
    assert "exposures" not in {p.name for p in charts.PICTURES if p.there(found)}
    assert "never" not in charts.correlations_alt(found)


@pytest.mark.parametrize("text", [*ANY_TEXTS[:2], *LINES])
def test_any_question_is_drawn_as_text(text):
    assert only_text(drawn(charts.scatter(of(made(n=4, question=text)), LIGHT, "overlap")))
