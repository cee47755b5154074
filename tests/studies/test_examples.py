"""The examples: what is called known is known to the world."""

from core.data.world import grading
from core.data.world.facts import Band
from core.studies.examples import EXAMPLES


def test_an_example_is_of_the_band_that_it_stands_for():
    found = {name: grading.find(query) for name, query in EXAMPLES.items()}
    assert {name: fact and fact.band for name, fact in found.items()} == {
        "Known": Band.BY_HEART,
        "Half known": Band.HALF_KNOWN,
        "Many answers": Band.MANY_ANSWERS,
        "Unknown": None,
    }
