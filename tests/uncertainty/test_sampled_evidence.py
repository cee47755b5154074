"""Evidence of models that score no given text: from sampled pairs, and from counts alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from core.uncertainty.chance import adjustment_of_counts
from core.uncertainty.joint import from_table
from core.uncertainty.mutual_information import cluster_tuples, from_counts, from_tuples
from core.uncertainty.sampled_evidence import from_chains, from_tallies
from core.uncertainty.scores import FEWEST_SECONDS, SCORES
from tests.uncertainty.tuned import tuned

WORDS = ["one", "two", "three", "four", "five"]  # nothing in common
# Two answers in several wordings: any two of one answer are alike, of two answers never.
WORDINGS = ["London", "London, UK", "London, England", "Rome", "Rome, Italy"]
# What is alike to what here depends on who is a centre.
OVERLAPPING = ["red", "red wine", "white wine", "white", "white wine glass"]

# Five of them add up to less than 1.
LOGS = st.floats(-30, -1.7) | st.floats(-2000, -1.7)
GAMMAS = st.sampled_from([(0.0, 0.0), (0.1, 0.1), (0.01, 0.2), (0.5, 0.0)])


def chained(chains, **options):
    options = {"greedy": chains[0][0], "greedy_log_likelihood": -1.0} | options
    return from_chains(chains, **tuned(options))


def counted(firsts, seconds, **options):
    return from_tallies(firsts, seconds, **tuned({"greedy": next(iter(firsts))} | options))


def h(probabilities):
    p = np.asarray(probabilities, float).ravel()
    p = p[p > 0]
    return float(-(p * np.log(p)).sum())


@st.composite
def sampled_chains(draw, texts=WORDS, logs=LOGS):
    """Up to twenty pairs, some of them twice, each text with one likelihood and each pair."""
    n = len(texts)
    first = draw(arrays(float, n, elements=logs))
    rows = draw(arrays(float, (n, n), elements=logs))
    index = st.integers(0, n - 1)
    pairs = draw(st.lists(st.tuples(index, index), min_size=1, max_size=20))
    return [(texts[i], texts[j], float(first[i]), float(rows[i, j])) for i, j in pairs]


@st.composite
def tallies(draw, texts=WORDS):
    """How often each text came first, and what came after it; some never came first."""
    firsts = draw(
        st.dictionaries(st.sampled_from(texts), st.integers(1, 9), min_size=1, max_size=len(texts))
    )
    row = st.dictionaries(st.sampled_from(texts), st.integers(1, 20), min_size=1)
    return firsts, {text: draw(row) for text in firsts}


# ------------------------------------------------------------------- Algorithms 1 and 2


@pytest.mark.parametrize("texts", [WORDS, WORDINGS], ids=["words", "wordings"])
def test_chains_are_algorithms_1_and_2(texts):
    @given(sampled_chains(texts), GAMMAS)
    def check(chains, gammas):
        # By token F1 these wordings are alike whatever stands between them: the order in which
        # they are clustered does not matter then.
        how = "token_f1"
        evidence = chained(chains, gamma_1=gammas[0], gamma_2=gammas[1], similarity=how)
        merged = cluster_tuples([c[:2] for c in chains], [c[2] + c[3] for c in chains], method=how)
        expected = from_tuples(
            merged.labels, merged.log_probabilities, gamma_1=gammas[0], gamma_2=gammas[1]
        )
        found = evidence.mutual_information
        assert found.plug_in == pytest.approx(expected.value, abs=1e-9)
        assert found.value == pytest.approx(found.plug_in + found.correction, abs=1e-9)
        assert found.log_mass == pytest.approx(expected.log_mass)
        for ours, theirs in (
            (found.joint, expected.joint),
            (found.contributions, expected.contributions),
        ):
            entries = np.sort(theirs)
            padded = np.sort(np.concatenate([entries, np.zeros(ours.size - entries.size)]))
            np.testing.assert_allclose(np.sort(ours.ravel()), padded, atol=1e-10)
        assert (evidence.parameters.gamma_1, evidence.parameters.gamma_2) == gammas

    check()


@given(sampled_chains(OVERLAPPING), GAMMAS)
def test_chains_of_any_partition_are_algorithm_1_on_its_labels(chains, gammas):
    evidence = chained(chains, gamma_1=gammas[0], gamma_2=gammas[1])
    label = dict(zip(evidence.responses, evidence.labels.tolist(), strict=True))
    mass = {}
    for a, b, p, q in dict.fromkeys(chains):
        pair = label[a], label[b]
        mass[pair] = np.logaddexp(mass.get(pair, -np.inf), p + q)
    expected = from_tuples(list(mass), list(mass.values()), gamma_1=gammas[0], gamma_2=gammas[1])
    found = evidence.mutual_information
    assert found.plug_in == pytest.approx(expected.value, abs=1e-9)
    for (i, j), p, product in zip(mass, expected.joint, expected.product, strict=True):
        assert found.joint[i, j] == pytest.approx(p, abs=1e-12)
        assert found.product[i, j] == pytest.approx(product, abs=1e-12)


def test_chains_by_hand():
    log = np.log
    evidence = chained(
        [
            ("x", "x", log(0.5), log(0.8)),
            ("x", "y", log(0.5), log(0.2)),
            ("x", "x", log(0.5), log(0.8)),  # a second time: it counts once
            ("y", "y", log(0.25), log(0.4)),
        ]
    )
    joint = np.array([[0.4, 0.1], [0.0, 0.1]]) / 0.6
    information = evidence.mutual_information
    np.testing.assert_allclose(information.joint, joint, atol=1e-15)
    assert np.exp(information.log_mass) == pytest.approx(evidence.sampled_mass) == 0.6
    assert evidence.counts.tolist() == [3, 1]
    np.testing.assert_allclose(np.exp(evidence.log_marginal), [0.5, 0.25])
    np.testing.assert_allclose(np.exp(evidence.log_conditionals), [[0.8, 0.2], [0, 0.4]])


def test_a_likelihood_that_differs_by_a_servers_noise_counts_as_first_said():
    evidence = chained([("x", "y", -1.0, -2.0), ("x", "y", -1.0001, -2.0001)])
    assert (evidence.log_marginal[0], evidence.log_conditionals[0, 1]) == (-1.0, -2.0)
    assert evidence.counts.tolist() == [2, 0]


# --------------------------------------------------------------------------- from counts


def test_counts_by_hand():
    evidence = counted({"x": 3, "y": 1}, {"x": {"x": 20, "y": 10}, "y": {"x": 10, "y": 20}})
    information = evidence.mutual_information
    correction = adjustment_of_counts(np.array([0.75, 0.25]), np.array([[20, 10], [10, 20]]))
    np.testing.assert_allclose(information.joint, [[0.5, 0.25], [1 / 12, 1 / 6]])
    assert information.correction == pytest.approx(correction) != 0
    assert information.value == pytest.approx(information.plug_in + correction)
    assert np.exp(information.log_mass) == pytest.approx(4)
    np.testing.assert_allclose(np.exp(evidence.log_marginal), [0.75, 0.25])
    np.testing.assert_allclose(np.exp(evidence.log_conditionals), [[2 / 3, 1 / 3], [1 / 3, 2 / 3]])
    assert evidence.counts.tolist() == evidence.cluster_counts.tolist() == [3, 1]
    assert (evidence.parameters.gamma_1, evidence.parameters.gamma_2) == (0, 0)


def test_second_answers_of_a_cluster_are_those_after_any_of_its_wordings():
    firsts = {"London": 5, "Rome": 2, "London, UK": 3}
    seconds = {
        "London": {"London": 6, "Rome": 4},
        "London, UK": {"London, UK": 1, "London": 2, "Rome, Italy": 7},
        "Rome": {"Rome": 9, "Oslo": 1},
    }
    evidence = counted(firsts, seconds)
    assert evidence.centre_texts == ("London", "Rome", "Oslo")
    assert evidence.cluster_counts.tolist() == [8, 2, 0]
    expected = from_counts([8, 2, 0], [[9, 11, 0], [0, 9, 1], [0, 0, 0]])
    found = evidence.mutual_information
    assert found.value == expected.value
    assert found.correction == expected.correction
    np.testing.assert_array_equal(found.joint, expected.joint)


@given(tallies())
def test_counts_of_unlike_words_are_from_counts(case):
    firsts, seconds = case
    evidence = counted(firsts, seconds)
    texts = evidence.responses
    table = [[seconds.get(a, {}).get(b, 0) for b in texts] for a in texts]
    expected = from_counts([firsts.get(text, 0) for text in texts], table)
    found = evidence.mutual_information
    assert found.value == expected.value
    np.testing.assert_array_equal(found.joint, expected.joint)
    np.testing.assert_array_equal(found.contributions, expected.contributions)
    assert found.joint.shape == (len(evidence.centres),) * 2


# ----------------------------------------------------------------- clusters and their order


def test_texts_stand_by_their_likelihood_as_first_answers_and_then_as_second_ones():
    evidence = chained(
        [
            ("Rome", "Oslo", -2.0, -1.0),
            ("Rome", "Bern", -2.0, -0.5),
            ("London", "London, UK", -1.0, -3.0),
            ("London, UK", "Riga", -3.0, -0.2),
        ]
    )
    assert evidence.responses == ("London", "Rome", "London, UK", "Bern", "Oslo", "Riga")
    assert evidence.labels.tolist() == [0, 1, 0, 2, 3, 4]
    assert evidence.centre_texts == ("London", "Rome", "Bern", "Oslo", "Riga")
    assert evidence.centres.tolist() == [0, 1, 3, 4, 5]
    assert evidence.counts.tolist() == [1, 2, 1, 0, 0, 0]
    assert evidence.cluster_counts.tolist() == [2, 2, 0, 0, 0]
    np.testing.assert_allclose(
        evidence.cluster_log_marginal, [np.logaddexp(-1, -3), -2, -np.inf, -np.inf, -np.inf]
    )
    assert evidence.likeliest_first == "London"
    assert evidence.likeliest_second == "Bern"


def test_second_answers_stand_by_all_that_they_follow():
    """Oslo comes after two answers: .1 and .1 of all probability; Bern after one of them: .15."""
    log = np.log
    evidence = chained(
        [
            ("Rome", "Oslo", log(0.5), log(0.2)),
            ("Rome", "Bern", log(0.5), log(0.3)),
            ("Paris", "Oslo", log(0.4), log(0.25)),
        ]
    )
    assert evidence.responses == ("Rome", "Paris", "Oslo", "Bern")
    assert evidence.likeliest_second == "Oslo"


def test_counted_texts_stand_by_how_often_they_came():
    firsts = {"Rome": 1, "Oslo": 4, "Bern": 2}
    seconds = {
        "Rome": {"Kyiv": 2, "Rome": 7},
        "Oslo": {"Riga": 2, "Oslo": 7},
        "Bern": {"Kyiv": 1, "Bern": 8},
    }
    evidence = counted(firsts, seconds)
    # Riga: 4/7 · 2/9 = .127. Kyiv: 1/7 · 2/9 + 2/7 · 1/9 = .063.
    assert evidence.responses == ("Oslo", "Bern", "Rome", "Riga", "Kyiv")
    assert evidence.likeliest_first == evidence.likeliest_second == "Oslo"


def test_ties_of_pairs_are_alphabetical_and_of_counts_as_first_seen():
    evidence = chained([("b", "y", -1.0, -1.0), ("a", "x", -1.0, -1.0)])
    assert evidence.responses == ("a", "b", "x", "y")
    evidence = counted({"b": 1, "a": 1}, {"b": {"y": 1}, "a": {"x": 1}})
    assert evidence.responses == ("b", "a", "y", "x")


@given(sampled_chains(OVERLAPPING, st.floats(-30, -1.7)))
def test_distributions_of_chains_are_those_of_the_joint(chains):
    evidence = chained(chains)
    joint = evidence.mutual_information.joint
    np.testing.assert_allclose(np.exp(evidence.log_second), joint.sum(axis=0))
    assert np.exp(evidence.log_second).sum() == pytest.approx(1)
    # The first answer is not the joint's row sum: that would count rows by what was sampled.
    marginal = dict((a, np.exp(p)) for a, _, p, _ in reversed(chains))
    label = dict(zip(evidence.responses, evidence.labels, strict=True))
    expected = np.zeros(len(joint))
    for text, p in marginal.items():
        expected[label[text]] += p / sum(marginal.values())
    np.testing.assert_allclose(np.exp(evidence.log_first), expected)
    rows = joint.sum(axis=1)
    told = rows > 0
    np.testing.assert_array_equal(told, np.isfinite(evidence.log_first))
    np.testing.assert_allclose(
        np.exp(evidence.log_second_given_first[told]), joint[told] / rows[told, None]
    )
    assert np.isneginf(evidence.log_second_given_first[~told]).all()


@given(tallies(OVERLAPPING))
def test_distributions_of_counts_are_those_of_the_joint(case):
    evidence = counted(*case)
    joint = evidence.mutual_information.joint
    np.testing.assert_allclose(np.exp(evidence.log_first), joint.sum(axis=1))
    np.testing.assert_allclose(np.exp(evidence.log_second), joint.sum(axis=0))
    k = sum(case[0].values())
    np.testing.assert_allclose(np.exp(evidence.log_first), evidence.cluster_counts / k)


# ------------------------------------------------------------------------- sampled mass


def test_mass_of_chains_is_the_sum_of_the_likelihoods_of_distinct_pairs():
    """Few of many pairs make information seem larger: it is they that must have been seen."""
    chains = [("x", "y", np.log(0.3), np.log(0.5)), ("z", "x", np.log(0.2), np.log(0.1))]
    assert chained(chains * 3).sampled_mass == pytest.approx(0.17)
    # Likelihoods of cut answers, or of a server's noise, may add up to more than 1.
    assert chained([("x", "y", -0.1, -0.1), ("z", "y", -0.1, -0.1)]).sampled_mass == 1


@pytest.mark.parametrize(
    ("firsts", "mass"),
    [
        ({"Rome": 1}, 0.0),
        ({"Rome": 2}, 1.0),
        ({"Rome": 8, "Oslo": 1, "Bern": 1}, 0.8),
        ({"Rome": 1, "Rome, Italy": 1, "Oslo": 2}, 1.0),  # one answer in two wordings
        ({"Rome": 1, "Oslo": 1, "Bern": 1}, 0.0),
    ],
)
def test_mass_of_counts_is_what_good_and_turing_estimate(firsts, mass):
    evidence = counted(firsts, {text: {text: 30} for text in firsts})
    assert evidence.sampled_mass == pytest.approx(mass)


# ------------------------------------------------------------------------------- scores

FIRST = np.array([0.5, 0.3])
ROWS = np.array([[0.6, 0.2], [0.1, 0.7]])
FULL = [
    (text, other, float(np.log(FIRST[i])), float(np.log(ROWS[i, j])))
    for i, text in enumerate("xy")
    for j, other in enumerate("xy")
]


def test_scores_of_chains_by_hand():
    options = {"greedy": "x", "greedy_log_likelihood": np.log(0.5)}
    options["verification"] = {"x": (np.log(0.6), np.log(0.2))}
    evidence = chained(FULL * FEWEST_SECONDS, **options)
    joint = FIRST[:, None] * ROWS / (FIRST @ ROWS.sum(axis=1))
    rows = joint / joint.sum(axis=1, keepdims=True)
    first = FIRST / FIRST.sum()
    found = {name: info.function(evidence) for name, info in SCORES.items()}
    assert {name: score.value for name, score in found.items()} == pytest.approx(
        {
            "mutual_information": from_table(np.log(joint)).value,
            "semantic_entropy": h(first),
            "greedy_probability": 0.5,
            "self_verification": 0.75,
            "min_conditional_entropy": min(h(rows[0]), h(rows[1])),
            "pair_covariance": (first * (np.diag(rows) - first)).sum(),
            "certified_mutual_information": None,
            "weighted_doubt": None,
        }
    )
    assert found["certified_mutual_information"].reason == (
        "A certified bound needs exact likelihoods of given texts; this model reports none."
    )
    assert {score.answer for score in found.values()} == {"x"}


def test_scores_of_counts_by_hand():
    seconds = {"x": {"x": 24, "y": 6}, "y": {"x": 10, "y": 20}}
    evidence = counted({"x": 6, "y": 4}, seconds, verification={"x": (np.log(0.3), np.log(0.6))})
    first, told_x = np.array([0.6, 0.4]), np.array([0.8, 0.2])
    found = {name: info.function(evidence) for name, info in SCORES.items()}
    assert {name: score.value for name, score in found.items()} == pytest.approx(
        {
            "mutual_information": evidence.mutual_information.value,
            "semantic_entropy": h(first),
            "greedy_probability": None,
            "self_verification": 1 / 3,
            "min_conditional_entropy": h(told_x),
            "pair_covariance": (first * (np.array([0.8, 2 / 3]) - first)).sum(),
            "certified_mutual_information": None,
            "weighted_doubt": None,
        }
    )
    assert "does not report how probable" in found["greedy_probability"].reason


def check_scores(evidence):
    """Every score has a finite value and doubt, or a sentence why not."""
    for name, info in SCORES.items():
        score = info.function(evidence)
        if score.value is not None:
            assert score.reason is None
            assert np.isfinite([score.value, score.doubt]).all(), name
        else:
            assert score.doubt is None
            assert score.reason.endswith("."), name
        if name != "greedy_probability":
            assert score.answer in evidence.centre_texts
    for name in ("certified_mutual_information", "weighted_doubt"):
        assert SCORES[name].function(evidence).value is None
    assert 0 <= evidence.sampled_mass <= 1


@given(sampled_chains(OVERLAPPING), GAMMAS)
def test_chains_have_every_score_or_a_reason(chains, gammas):
    check_scores(chained(chains, gamma_1=gammas[0], gamma_2=gammas[1]))


@given(tallies(OVERLAPPING))
def test_counts_have_every_score_or_a_reason(case):
    check_scores(counted(*case))


def test_self_verification_wants_the_text_it_is_about():
    def verify(evidence):
        return SCORES["self_verification"].function(evidence)

    about = {"verification": {"y": (-1.0, -1.0)}}
    assert "was not asked whether “x”" in verify(chained(FULL, **about)).reason
    seconds = {text: {"x": 1} for text in "xy"}
    assert "was not asked whether “x”" in verify(counted({"x": 2, "y": 1}, seconds, **about)).reason
    assert verify(counted({"x": 1, "y": 2}, seconds, **about)).value == pytest.approx(0.5)


def test_answers_that_were_never_told_do_not_lower_the_conditional_entropy():
    """Nothing is known of what comes after them: their rows are no distribution."""
    score = SCORES["min_conditional_entropy"].function
    assert score(counted({"x": 3}, {"x": {"y": 15, "z": 15}})).value == pytest.approx(np.log(2))
    chains = [("x", "y", -1.0, -1.0), ("x", "z", -1.0, -1.0)]
    assert score(chained(chains * 5)).value == pytest.approx(np.log(2))


def test_what_follows_on_one_that_was_told_too_seldom_has_no_entropy():
    """A single second answer would seem to be copied, whatever the model knows."""
    score = SCORES["min_conditional_entropy"].function
    often = [("x", word, -1.0, -1.0) for word in ("y", "z")] * 5
    once = [("y", "y", -1.0, -1.0)]
    assert score(chained(often + once)).value == pytest.approx(np.log(2))
    assert score(chained(often[1:] + once)).value is None
    assert "No answer was given in the prompt 10 times" in score(chained(once)).reason


# ------------------------------------------------------------------------- probability 0


@pytest.mark.filterwarnings("error")
def test_impossible_answers_give_no_numpy_warning():
    evidence = chained(
        [("x", "y", -1.0, -np.inf), ("z", "x", -np.inf, -1.0), ("x", "x", -1.0, -0.5)]
    )
    check_scores(evidence)
    assert evidence.mutual_information.value == 0
    assert evidence.log_marginal[evidence.responses.index("z")] == -np.inf
    assert evidence.sampled_mass == pytest.approx(np.exp(-1.5))


@pytest.mark.filterwarnings("error")
def test_second_answers_that_never_came_first_give_no_numpy_warning():
    evidence = counted({"x": 2}, {"x": {"y": 1, "z": 2}})
    check_scores(evidence)
    assert evidence.cluster_counts.tolist() == [2, 0, 0]
    assert np.isneginf(evidence.log_first[1:]).all()
    assert np.isneginf(evidence.log_conditionals[1:]).all()


def test_likelihoods_of_e_to_the_minus_2000():
    near = chained(FULL)
    far = chained([(a, b, p - 2000, q - 2000) for a, b, p, q in FULL])
    assert far.mutual_information.value == pytest.approx(near.mutual_information.value, abs=1e-9)
    assert far.mutual_information.log_mass == pytest.approx(near.mutual_information.log_mass - 4000)
    np.testing.assert_allclose(far.log_first, near.log_first, atol=1e-9)
    check_scores(far)


# ------------------------------------------------------------------- what is handed through


def test_cut_texts_are_marked_whether_they_came_first_or_second():
    cut = {"complete": {"y": False, "never": False}}
    chains = [("x", "y", -1.0, -1.0), ("x", "x", -1.0, -1.0)]
    for evidence in (chained(chains, **cut), counted({"x": 2}, {"x": {"y": 1, "x": 2}}, **cut)):
        marked = dict(zip(evidence.responses, evidence.complete, strict=True))
        assert marked == {"x": True, "y": False}
    assert chained(chains).complete.all()


def test_the_greedy_answer_is_kept_apart_from_the_samples():
    evidence = chained([("x", "y", -1.0, -1.0)], greedy="z", greedy_log_likelihood=None)
    assert evidence.greedy == "z" and "z" not in evidence.responses
    assert SCORES["greedy_probability"].function(evidence).reason


@pytest.mark.parametrize(
    ("chains", "sentence"),
    [
        ([], "no chains"),
        ([("x", "y", np.nan, -1.0)], "NaN"),
        ([("x", "y", -1.0, np.nan)], "NaN"),
        ([("x", "y", 0.5, -1.0)], "at most 0"),
        ([("x", "y", -1.0, 0.5)], "at most 0"),
        ([("x", "y", -np.inf, -1.0)], "cannot be normalised"),
    ],
)
def test_chains_that_are_none_are_refused(chains, sentence):
    with pytest.raises(ValueError, match=sentence):
        from_chains(chains, greedy="x", greedy_log_likelihood=-1.0)


def test_rows_of_unlikely_first_answers_survive():
    """e^-1000 is 0 in floating point, and what came after it was told is not."""
    chains = [("x", word, -1000.0, -1.0) for word in ("y", "z")]
    chains += [("z", word, -1.0, -1.0) for word in ("u", "v", "w")]
    evidence = chained(chains * 5)
    row = evidence.log_second_given_first[evidence.responses.index("x")]
    assert np.exp(row).sum() == pytest.approx(1)
    assert SCORES["min_conditional_entropy"].function(evidence).value == pytest.approx(np.log(2))


@pytest.mark.parametrize(
    ("firsts", "seconds", "sentence"),
    [
        ({}, {}, "no first answers"),
        ({"x": 1, "y": 1}, {"x": {"x": 3}}, "no second answers"),
        ({"x": 1}, {"x": {}}, "no second answers"),
        ({"x": 1}, {"x": {"x": 3}, "y": {"x": 3}}, "no first answer"),
        ({"x": 0}, {"x": {"x": 3}}, "at least 1"),
        ({"x": 1}, {"x": {"x": 3, "y": 0}}, "at least 1"),
    ],
)
def test_counts_that_are_none_are_refused(firsts, seconds, sentence):
    with pytest.raises(ValueError, match=sentence):
        from_tallies(firsts, seconds, greedy="x")


# ---------------------------------------------------------------------------- in the limit

TABLE = np.array([[0.20, 0.05, 0.05, 0.01], [0.04, 0.16, 0.08, 0.01], [0.02, 0.06, 0.2, 0.12]])
KNOWN = TABLE / TABLE.sum()  # three first answers, four second ones
EXACT = float(from_table(np.log(KNOWN)).value)


def draw_chains(k, seed, known=KNOWN, texts=WORDS):
    drawn = np.random.default_rng(seed).choice(known.size, size=k, p=known.ravel())
    first = known.sum(axis=1)
    return [
        (texts[i], texts[j], float(np.log(first[i])), float(np.log(known[i, j] / first[i])))
        for i, j in zip(*np.unravel_index(drawn, known.shape), strict=True)
    ]


@pytest.mark.slow
def test_chains_of_a_known_table_arrive_at_its_information():
    """Exact once every pair came; at 100 samples 0.04 nats away on average of 20 runs."""
    away = [chained(draw_chains(100, seed)).mutual_information.value - EXACT for seed in range(20)]
    assert abs(np.mean(away)) < 0.04
    for seed in range(5):
        value = chained(draw_chains(2000, seed)).mutual_information.value
        assert value == pytest.approx(EXACT, abs=1e-9)


@pytest.mark.slow
def test_chains_of_a_large_table_come_nearer_from_above():
    """400 pairs, of which 100 samples miss most: about 0.9, 0.2 and 0.04 nats too high."""
    rng = np.random.default_rng(5)
    first, rows = rng.dirichlet(np.ones(20)), rng.dirichlet(np.ones(20), 20)
    known = first[:, None] * (0.5 * np.eye(20) + 0.5 * rows)
    truth = from_table(np.log(known)).value
    texts = [f"answer{i}" for i in range(20)]
    above = [
        chained(draw_chains(k, 0, known, texts)).mutual_information.value - truth
        for k in (100, 1000, 10_000)
    ]
    assert above[0] > above[1] > above[2] > 0
    assert above[0] > 0.5 and above[2] < 0.02


# --------------------------------------------------------------------- a given similarity

GIVEN = (["three", "one", "two"], [[1.0, 0.1, 0.2], [0.1, 1.0, 0.6], [0.2, 0.6, 1.0]])


def test_a_given_similarity_clusters_chains_and_counts():
    chains = [("one", "two", -1.0, -1.0), ("two", "three", -1.5, -1.0), ("three", "one", -2.0, -1)]
    seconds = {"one": {"two": 3}, "two": {"three": 3}, "three": {"one": 3}}
    for threshold, clusters in ((0.5, ["one", "three"]), (0.7, ["one", "two", "three"])):
        given = {"similarity": "judge", "compared": GIVEN, "threshold": threshold}
        of_chains = chained(chains, **given)
        of_counts = counted({"one": 3, "two": 2, "three": 1}, seconds, **given)
        for evidence in (of_chains, of_counts):
            assert list(evidence.centre_texts) == clusters
            assert evidence.parameters.similarity == "judge"


def test_a_given_similarity_must_know_every_text():
    given = {"similarity": "judge", "compared": GIVEN}
    with pytest.raises(ValueError, match="lacks 'four'"):
        chained([("one", "four", -1.0, -1.0)], **given)
    with pytest.raises(ValueError, match="lacks 'four'"):
        counted({"one": 1}, {"one": {"four": 3}}, **given)
