"""The table of the best-known files counts what is asked of them by asking."""

import pytest

from benchmarks.published_files import RESULTS, answered
from core.data.tabular.uploads import UploadError


def test_what_a_file_settles_is_not_asked():
    number = {}
    for name, content in RESULTS.items():
        if name.startswith("lm-evaluation-harness"):  # which logs no doubt
            with pytest.raises(UploadError, match="no column taken for a score"):
                answered(name, content)
        else:
            data, answers = answered(name, content)
            number[name.partition(",")[0]] = len(answers)
            assert [labels.sum() for labels in data.correct.values()] == [2]
    assert number == {
        **{"uqlm": 0, "HaluEval": 0, "deepeval": 2},
        **dict.fromkeys(["Inspect", "promptfoo", "ragas", "Langfuse", "Phoenix"], 1),
        "LM-Polygraph": 1,
    }
