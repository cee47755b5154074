"""Looks at labels: kept once, for their owner, and not deleted with results."""

from core.store.labels import Looks
from core.store.results import SavedResults


def test_looks_are_kept_once_and_in_order(database):
    looks = Looks(database)
    looks.save([("a", "1"), ("b", "2")])
    looks.save([("a", "another"), ("c", "3")])
    assert looks.save([("d", "4")], {"a", "b"}) is False  # somebody took "c" meanwhile
    assert looks.save([("c", "5")], {"a", "b", "c"}) and looks.save([])
    assert [*looks.all().items()] == [("a", "1"), ("b", "2"), ("c", "3")]
    assert not Looks(database, "somebody").all()
    id = SavedResults(database).save("policy", "Title", "", "", "{}")
    SavedResults(database).delete(id)
    assert [*looks.all()] == ["a", "b", "c"]
