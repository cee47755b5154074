"""What a file takes is told before it is opened."""

import re

from core.language_models.backends.gguf import cost
from core.language_models.registry import opening_cost
from tests.language_models.backends.gguf.files import embedded_as_gguf


def test_memory_and_seconds_are_told_before_a_file_is_opened(tmp_path, monkeypatch, embedded):
    file = embedded_as_gguf(tmp_path / "some.gguf")
    little = tmp_path / "meminfo"
    little.write_text("MemTotal: 9 kB\nMemAvailable:   2000 kB\n")
    monkeypatch.setattr(cost, "FREE", little)
    sentence = opening_cost(f"gguf:{file}")
    megabytes, *_ = map(int, re.findall(r"(\d+) MB of memory", sentence))
    # Its weights alone are in it, 4 bytes a number.
    assert abs(megabytes * 1e6 - file.stat().st_size) < 1e6
    assert re.search(r"(under a second|\d+ s) to open and (under a second|\d+ s) a ques", sentence)
    assert sentence.endswith("Only 2 MB of memory are free.")


def test_of_what_is_no_file_and_of_small_models_nothing_is_told(tmp_path):
    (tmp_path / "x.gguf").write_bytes(b"GGUF")
    for name in (f"gguf:{tmp_path}/x.gguf", "gguf:/nowhere", "gguf:", "embedded", "nobody:x"):
        assert opening_cost(name) == ""
