"""Section 3.1 on the embedded network: what is measured of each fact, and what it says."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from core.language_models.errors import ModelError
from core.reports.laboratory.yielding import sentence
from core.studies.amplification.curve import amplify
from core.studies.amplification.gallery import draw, of_fact
from core.studies.amplification.mechanism import looking
from core.studies.laboratory.yielding import (
    MEASURES,
    OF_BANDS,
    YieldingFacts,
    YieldingRow,
    YieldingSettings,
    run,
)
from core.uncertainty.attention import principal
from tests.fakes import copies

FEW = YieldingSettings(facts=8, most=3)


@pytest.fixture(scope="module")
def found(embedded):
    return run(embedded, FEW)


def row(repetitions, overlap, band=OF_BANDS[0], **more):
    values = {"exposures": 5, "odds": 1.0, "every_token": 0.1, "logit": 1.0, "gap": 1.0} | more
    values = {"relation": "capital"} | values
    return YieldingRow("q", band=band.value, repetitions=repetitions, overlap=overlap, **values)


def made(rows):
    return YieldingFacts(YieldingSettings(), "embedded", "1", 3.0, tuple(rows), np.zeros((1, 1)))


# ------------------------------------------------------------------------ what is measured


def test_as_many_facts_of_each_band_are_drawn(found):
    assert Counter(r.band for r in found.rows) == {band.value: 2 for band in OF_BANDS}
    assert len({r.question for r in found.rows}) == 8


def test_each_fact_is_measured_as_by_hand(embedded, found):
    """One fact a band: the residual stream's overlap with the span, and its curve."""
    llama = embedded.llama
    spans = [principal(q, k).asked for q, k in llama.key_query()]
    for band in OF_BANDS[::2]:
        fact = draw(band, 2)[0]
        one = next(r for r in found.rows if r.question == fact.question)
        case = of_fact(fact)
        read_as = embedded.reads(case.query)
        states = []
        embedded.attention(case.prompt(0, read_as), states)
        ids, asked = embedded.encode(case.prompt(0, read_as)), embedded.encode(f" {read_as}")
        at = next(i for i in range(len(ids)) if ids[i : i + len(asked)] == asked)
        x = np.array([state[at : at + len(asked)] for state in states], float)
        shares = [
            np.square(x[i // llama.heads] @ span).sum(-1) / np.square(x[i // llama.heads]).sum(-1)
            for i, span in enumerate(spans)
        ]
        assert one.overlap == pytest.approx(np.mean([share[-1] for share in shares]), rel=1e-6)
        assert one.every_token == pytest.approx(np.mean(shares), rel=1e-6)
        curve = amplify(case, embedded, range(4))
        assert one.repetitions == curve.crossing
        first = curve.points[0]
        assert one.odds == pytest.approx(
            first.log_likelihood_answer - first.log_likelihood_repeated, abs=1e-4
        )
        (seen,) = looking(case, embedded, [1])
        assert one.gap == pytest.approx(np.log(seen.on_question / seen.on_answer).mean(), abs=1e-6)


def test_more_of_the_question_lies_in_more_components(embedded, found):
    all_of_them = run(embedded, replace(FEW, large=1.0))
    assert (all_of_them.of("overlap") > found.of("overlap")).all()
    assert found.components < all_of_them.components == embedded.llama.head_width


# -------------------------------------------------------------------------- what it shows


def test_what_never_turns_lasts_longest_and_ranks_say_so():
    many = made([row(t, share) for t, share in ((0, 0.1), (2, 0.2), (100, 0.3), (None, 0.4))] * 10)
    assert "these facts are too alike to say" in sentence(many)  # all resamples are
    assert many.lasts.tolist()[:4] == [0, 2, 100, 101]
    assert many.correlations["overlap"].value == pytest.approx(1)
    assert "30 turn within 100 repetitions, 10 of them before any" in sentence(many)
    assert "a strong sign of what Section 3.1 describes" in sentence(
        made([*many.rows, row(3, 0.3)])
    )
    assert {*many.correlations} == {*MEASURES}


def test_no_sign_and_the_opposite_are_said_as_plainly():
    opposite = made([row(t, -t / 100, exposures=t) for t in range(40)])
    assert "−1.00: these facts are too alike to say" in sentence(opposite)
    assert ": the opposite" in sentence(made([*opposite.rows, row(3, -0.05)]))
    rng = np.random.default_rng(0)
    nothing = made([row(int(t), float(s)) for t, s in rng.random((60, 2)) * 50])
    assert "no sign of what" in sentence(nothing)


def test_what_words_alone_do_is_no_correlation_within_relations():
    rng = np.random.default_rng(0)
    rows = [
        row(int(t), 0.1 + s, relation=name)
        for name, s, many in (("capital", 0.0, 20), ("author", 0.5, 60))
        for t in rng.integers(many - 20, many, 40)
    ]
    found = made(rows)
    assert found.correlations["overlap"].value > 0.8
    assert np.isnan(found.within.value)  # one overlap a relation
    assert "Within relations it is undefined" in sentence(found)


def test_what_training_showed_is_known_of_the_embedded_model_alone():
    found = made([row(t, t / 50) for t in range(20)])
    other = replace(found, model="smollm2")
    assert {*found.correlations} - {*other.correlations} == {"exposures"}
    assert found.by_band and not other.by_band


def test_bands_are_looked_at_one_by_one():
    rows = [row(t, t / 50, band) for band in OF_BANDS[:2] for t in range(20)]
    assert {band: n for band, (n, _) in made(rows).by_band.items()} == {
        band.value: 20 for band in OF_BANDS[:2]
    }
    assert all(one.value == pytest.approx(1) for _, one in made(rows).by_band.values())


# -------------------------------------------------------------------------- what is refused


def test_a_model_that_runs_elsewhere_is_refused():
    with pytest.raises(ModelError, match="does not show its weights"):
        run(copies(3), FEW)
