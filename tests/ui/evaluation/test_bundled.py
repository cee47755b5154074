"""What comes with the program is measured once a process; what is somebody's own, by them alone."""

import numpy as np
import pytest

from core.studies.evaluation import results as studied
from core.studies.evaluation.bundled import folders as folders
from core.studies.evaluation.saved_run import Run, unfit_scores
from core.ui.evaluation import measures
from core.ui.runs import widget
from tests.sessions import of_key, said, settled, table
from tests.ui.evaluation.test_results import opened

NAME, *_ = folders()


@pytest.fixture
def work(monkeypatch):
    """The kinds of work that are done from now on, in their order, in a process that is new."""
    done = []
    monkeypatch.setattr(measures, "JOBS", measures.Registry())
    monkeypatch.setattr(widget, "QUICK", 0.0)  # as where a machine is busy
    measures.rows_of.cache_clear()
    for name in ("rows", "resample"):
        place = Run if name == "rows" else studied
        real = getattr(place, name)

        def counted(*args, _name=name, _real=real, **kwargs):
            if kwargs.get("number") != 0:  # the measures without intervals, shown meanwhile
                done.append(_name)
            return _real(*args, **kwargs)

        monkeypatch.setattr(place, name, counted)
    return done


def test_the_second_session_reads_and_measures_nothing_anew(work):
    unfit_scores(np.array(["any"], object))  # what all runs are held against is read once
    work.clear()
    first = opened(folders()[NAME])
    assert sorted(work) == ["resample", "rows"]
    second = opened(folders()[NAME])
    assert sorted(work) == ["resample", "rows"]
    assert table(second, "AUROC").equals(table(first, "AUROC"))
    assert said(second, "paired bootstrap of ")


def test_what_one_session_filters_is_not_what_another_sees(work):
    first, second = opened(folders()[NAME]), opened(folders()[NAME])
    before = table(second, "AUROC")
    sources = of_key(first.multiselect, "results_sources_")
    settled(sources.set_value(sources.options[:1]).run())
    assert said(first, " of other sources.")
    second = settled(second.run())
    assert not said(second, " of other sources.")
    assert table(second, "AUROC").equals(before) and not table(first, "AUROC").equals(before)


def test_the_rows_of_any_other_run_are_nobody_elses(tmp_path):
    assert measures.is_bundled(Run(folders()[NAME]))
    assert not measures.is_bundled(Run(tmp_path))
    assert not measures.is_bundled_whole(studied.read_results(Run(folders()[NAME])))  # other rows
