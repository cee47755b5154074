"""One record of a query: ordered, clustered, validated."""

import pickle

import numpy as np
import pytest

from core.uncertainty.certified_bound import certified_lower_bound
from core.uncertainty.evidence import Evidence
from tests.uncertainty.tuned import tuned


def test_build_orders_and_clusters(evidence):
    assert evidence.responses == ("London", "London, UK", "Paris", "Berlin")
    np.testing.assert_array_equal(evidence.counts, [5, 3, 1, 1])
    np.testing.assert_allclose(np.exp(evidence.log_marginal), [0.5, 0.2, 0.1, 0.05])
    # Row and column 0 are London's, row 2 is that of Paris.
    np.testing.assert_allclose(np.exp(evidence.log_conditionals[0]), [0.6, 0.15, 0.05, 0.04])
    np.testing.assert_allclose(np.exp(evidence.log_conditionals[2]), [0.3, 0.1, 0.4, 0.05])
    np.testing.assert_array_equal(evidence.labels, [0, 0, 1, 2])
    assert evidence.complete.all()


def test_ties_keep_the_order_first_seen(record):
    record |= {"log_marginal": np.log([0.2, 0.2, 0.2, 0.2])}
    assert Evidence.build(**record).responses == record["responses"]


def test_clusters(evidence):
    assert evidence.centre_texts == ("London", "Paris", "Berlin")
    np.testing.assert_array_equal(evidence.centres, [0, 2, 3])
    np.testing.assert_array_equal(evidence.cluster_counts, [8, 1, 1])
    np.testing.assert_allclose(np.exp(evidence.cluster_log_marginal), [0.7, 0.1, 0.05])
    np.testing.assert_allclose(evidence.row_masses, [0.84, 0.85, 0.8])
    assert evidence.sampled_mass == pytest.approx(0.85)


def test_distributions(evidence):
    first = np.array([0.7, 0.1, 0.05]) / 0.85
    # Conditioned on the centre's text alone: London's row, not a mixture with London, UK's.
    rows = np.array([[0.75, 0.05, 0.04], [0.4, 0.4, 0.05], [0.4, 0.1, 0.3]])
    rows /= rows.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(np.exp(evidence.log_first), first)
    np.testing.assert_allclose(np.exp(evidence.log_second_given_first), rows)
    np.testing.assert_allclose(np.exp(evidence.log_second), first @ rows)
    np.testing.assert_allclose(evidence.mutual_information.joint, first[:, None] * rows)
    assert evidence.mutual_information.log_mass == pytest.approx(np.log(0.85))


def test_the_hyperparameters_are_applied(record, evidence):
    def built(**options):
        return Evidence.build(**tuned(record | options))

    apart = built(threshold=1.0)
    np.testing.assert_array_equal(apart.labels, [0, 1, 2, 3])
    assert apart.mutual_information.joint.shape == (4, 4)
    by_characters = built(similarity="partial_ratio", threshold=0.9)
    np.testing.assert_array_equal(by_characters.labels, [0, 0, 1, 2])
    stabilised = built(gamma_1=0.1, gamma_2=0.2)
    assert stabilised.labels.tolist() == evidence.labels.tolist()
    assert stabilised.mutual_information.value != evidence.mutual_information.value
    assert stabilised.unstabilised.value == evidence.mutual_information.value
    # In the order of `record`: Paris and Berlin alike, nothing else.
    matrix = np.eye(4)
    matrix[0, 2] = matrix[2, 0] = 1
    judged = built(similarity="a judge", compared=(record["responses"], matrix))
    np.testing.assert_array_equal(judged.labels, [0, 1, 2, 2])


def test_certified_table(evidence):
    marginal, rows = evidence.certified_table()
    np.testing.assert_allclose(np.exp(marginal), [0.7, 0.1, 0.05])
    # London's cluster: 5/7 of London's row and 2/7 of London, UK's.
    expected = (5 * np.array([0.75, 0.05, 0.04]) + 2 * np.array([0.75, 0.05, 0.05])) / 7
    np.testing.assert_allclose(np.exp(rows[0]), expected)


def test_responses_cut_off_are_left_out_of_the_certified_table(record):
    part = Evidence.build(**record, complete=[True, False, True, True])
    marginal, rows = part.certified_table()
    np.testing.assert_allclose(np.exp(marginal), [0.2, 0.1, 0.05])
    assert rows.shape == (3, 3)
    # Without Paris, labels 0 and 2 remain: the gap closes.
    part = Evidence.build(**record, complete=[False, True, True, True])
    marginal, rows = part.certified_table()
    np.testing.assert_allclose(np.exp(marginal), [0.7, 0.05])
    assert certified_lower_bound(marginal, rows) >= 0
    with pytest.raises(ValueError, match="cut off"):
        Evidence.build(**record, complete=[False] * 4).certified_table()


def test_every_sample_keeps_its_row_in_the_sample_table_and_only_whole_ones_a_column(record):
    counts, rows = Evidence.build(**record, complete=[False, True, True, True]).sample_table()
    np.testing.assert_array_equal(counts, [5, 3, 1, 1])
    expected = [[0.75, 0.04], [0.75, 0.05], [0.4, 0.05], [0.4, 0.3]]
    np.testing.assert_allclose(np.exp(rows), expected)
    with pytest.raises(ValueError, match="cut off"):
        Evidence.build(**record, complete=[False] * 4).sample_table()


def test_one_response(record):
    one = Evidence.build(["London"], [-0.1], [[-0.2]], greedy="London", greedy_log_likelihood=-0.1)
    assert one.mutual_information.value == 0
    assert one.counts.tolist() == [1]
    assert one.verification == {}


def test_arrays_are_copies_and_read_only(record):
    log_marginal = np.log([0.5, 0.4, 0.05, 0.01])
    built = Evidence.build(**(record | {"log_marginal": log_marginal}))
    log_marginal[:] = 0
    assert np.exp(built.log_marginal[0]) == pytest.approx(0.5)
    for array in (built.log_conditionals, built.labels):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0


def test_survives_pickling(evidence):
    again = pickle.loads(pickle.dumps(evidence))
    assert again.responses == evidence.responses
    assert again.mutual_information.value == evidence.mutual_information.value


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"responses": []}, "one or more texts"),
        ({"responses": ["x", "x", "y", "z"]}, "distinct"),
        ({"responses": ["x", "y"]}, r"log_marginal must have shape \(2,\)"),
        ({"log_marginal": [np.nan, -1, -1, -1]}, "NaN"),
        ({"log_marginal": [1.0, -1, -1, -1]}, "at most 0"),
        ({"log_marginal": [-np.inf] * 4}, "cannot be normalised"),
        ({"log_conditionals": [[-1, -2]]}, r"must have shape \(4, 4\)"),
        ({"log_conditionals": np.full((4, 4), -np.inf)}, "in one row is 0"),
        ({"counts": [1, 1]}, r"counts must have shape \(4,\)"),
        ({"counts": [0, 1, 1, 1]}, "counts must be whole numbers of at least 1"),
        ({"counts": [0.5, 1, 1, 1]}, "counts must be whole numbers"),
        ({"complete": [True]}, r"complete must have shape \(4,\)"),
        ({"greedy_log_likelihood": np.nan}, "greedy_log_likelihood is nan"),
        ({"greedy_log_likelihood": 0.5}, "greedy_log_likelihood is 0.5"),
        ({"verification": {"x": (-np.inf, -1.0)}}, r"p\(True\) of 'x' is -inf"),
        ({"verification": {"x": (-1.0, 2.0)}}, r"p\(False\) of 'x' is 2"),
        ({"similarity": "unknown"}, "Unknown similarity"),
        ({"compared": (["x"] * 4, [[1.0]])}, r"similarity_matrix must have shape \(4, 4\)"),
        ({"threshold": -0.1}, "threshold is -0.1"),
        ({"gamma_1": -1}, "gamma_1 is -1"),
    ],
)
def test_bad_input_says_how_to_mend_it(record, change, sentence):
    with pytest.raises(ValueError, match=sentence):
        Evidence.build(**tuned(record | change))
