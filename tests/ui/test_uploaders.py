"""Places for files: as long as a page that has one is shown, and for every one of them."""

import ast
from pathlib import Path

from core.ui.uploaders import Place, UploadPlaces

ROOT = Path(__file__).parents[2]
CSV, JSON = Place(frozenset({"csv"}), 10), Place(frozenset({"json"}), 20)


def test_a_session_has_the_places_of_the_page_that_it_shows():
    places = UploadPlaces()
    assert places.of("one") == []
    places.turn("one", "calibration")
    places.add("one", "labelled_file", CSV)
    places.add("one", "policy_file", JSON)
    places.turn("one", "calibration")  # drawn again
    assert places.of("one") == [CSV, JSON] and places.of("other") == []
    places.turn("one", "questions")
    assert places.of("one") == [] and places.sessions() == ["one"]
    places.forget("one")
    assert places.sessions() == []


def calls(tree, name):
    """Return the first words that are given to a function: a place's key, or its label."""
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and name in (getattr(node.func, "attr", ""), getattr(node.func, "id", ""))
    ]


def test_every_place_for_a_file_is_waited_for_under_its_own_key():
    """The gate refuses what no place waits for: a forgotten one would take nothing."""
    seen = 0
    for file in [*ROOT.glob("core/ui/**/*.py"), *ROOT.glob("pages/*.py")]:
        tree = ast.parse(file.read_text("utf-8"))
        keys = [
            (word.value.value, ast.dump(call.args[1]))
            for call in calls(tree, "file_uploader")
            for word in call.keywords
            if word.arg == "key"
        ]
        waits = [(c.args[0].value, ast.dump(c.args[1])) for c in calls(tree, "wait_for")]
        assert waits == keys, file
        seen += len(keys)
    assert seen >= 5
