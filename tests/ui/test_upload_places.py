"""Places for files: as long as a page that has one is shown, and for every one of them."""

from pathlib import Path

from core.ui.upload_places import Place, UploadPlaces

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


def test_every_field_for_a_file_makes_its_place():
    """The gate refuses what no place waits for: a field of Streamlit's own would take nothing."""
    files = [*ROOT.glob("core/ui/**/*.py"), *ROOT.glob("pages/*.py")]
    own = [file.name for file in files if ".file_uploader(" in file.read_text("utf-8")]
    assert own == ["upload_places.py"]
