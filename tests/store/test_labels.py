"""Labels by hand: one an item, the newest last, for their owner alone."""

from core.store.database import open_database
from core.store.labels import ITEMS_A_QUERY, Labels


def test_labels_are_kept_in_order_replaced_and_forgotten(database):
    labels = Labels(database)
    for item, label in (("a", "right"), ("b", "wrong"), ("a", "wrong"), ("c", "right")):
        labels.save(item, label)
    assert list(labels.of("abcd").items()) == [("b", "wrong"), ("a", "wrong"), ("c", "right")]
    labels.forget(["a"])
    assert labels.of(["c", "a"]) == {"c": "right"} and labels.of([]) == {}
    many = [f"{at}" for at in range(ITEMS_A_QUERY + 1)]
    for item in (many[-1], many[0]):
        labels.save(item, "right")
    assert list(labels.of(many)) == [many[-1], many[0]]  # by when they were made


def test_labels_belong_to_who_made_them(database):
    Labels(database, "one").save("a", "right")
    Labels(database, "other").save("a", "wrong")
    assert (Labels(database, "one").of("a"), Labels(database).of("a")) == ({"a": "right"}, {})


def test_labels_outlive_the_program(url):
    with open_database(url) as database:
        Labels(database).save("a", "right")
    with open_database(url) as database:
        assert Labels(database).of("a") == {"a": "right"}
