"""Nothing heavy is loaded before it is needed: not for Home, the first page that anybody sees."""

import json
import os
import subprocess
import sys

from tests.browser.server import ROOT

LATER = (  # by what takes them first
    *("scipy.stats", "scipy.optimize"),  # tests and intervals
    *("pandas", "pyarrow", "openpyxl"),  # tables
    *("altair", "jsonschema", "vl_convert"),  # charts, and their files
    *("gguf", "torch", "transformers", "google.generativeai"),  # other models
    *("ray", "nltk"),  # runs on a cluster, and WordNet
)
FIRST_RUN = """
import json, sys
from streamlit.testing.v1 import AppTest
page = AppTest.from_file(sys.argv[1], default_timeout=120).run()
print(json.dumps([[error.message for error in page.exception], len(page.main), list(sys.modules)]))
"""


def test_home_loads_nothing_that_other_pages_need(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-c", FIRST_RUN, str(ROOT / "app.py")],
        cwd=ROOT,
        env=os.environ | {"BELIEVE_DATABASE_URL": f"sqlite:///{tmp_path}/believe.db"},
        capture_output=True,
        text=True,
        check=True,
    )
    errors, elements, loaded = json.loads(ran.stdout)
    assert not errors and elements
    assert "core.ui.home" in loaded  # its script has run
    assert sorted({*LATER} & {*loaded}) == []
