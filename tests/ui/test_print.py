"""The colours that components print in are the light theme's."""

import re
import tomllib
from pathlib import Path

from core.ui import frame

ROOT = Path(__file__).parents[2]


def test_on_paper_components_have_the_light_theme():
    settings = tomllib.loads((ROOT / ".streamlit/config.toml").read_text(encoding="utf-8"))
    sheet = Path(frame.__file__).with_name("dark.css").read_text(encoding="utf-8")
    found = dict(re.findall(r"--st-([a-z-]+): (#\w+);", sheet))
    assert found
    for name, colour in found.items():
        words = name.split("-")
        key = words[0] + "".join(word.title() for word in words[1:])
        assert settings["theme"]["light"][key] == colour, name
    used = (file.read_text(encoding="utf-8") for file in ROOT.glob("core/ui/components/*.css"))
    names = {name for text in used for name in re.findall(r"var\(--st-([a-z-]+-color)\)", text)}
    assert names <= set(found), "components take these from the dark theme, on paper too"
