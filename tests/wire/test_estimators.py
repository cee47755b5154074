"""The same question through a server and in process: the same mutual information."""

import pytest

from core.language_models.backends.openai.model import OpenAICompatible
from core.studies.inspection.inspection import run
from core.studies.inspection.recorder import FEWEST_CHAINS
from core.studies.inspection.recording import Estimator
from core.studies.inspection.request import Request
from core.uncertainty.scores import SCORES
from tests.fakes import Limited
from tests.language_models.openai_server import END, serving

# As the embedded model reads them: who asks a service does not know how that reads.
QUESTIONS = ("name a mammal", "what is the capital of wales", "who painted the mona lisa")
CLOSE = 1e-4  # nats


def both(flavour, near, request, **options):
    """Inspect through a server and in process; the same answers, drawn with the same seeds."""
    with serving(flavour) as server:
        far = run(request, OpenAICompatible(server.rest, **options))
    near = run(request, near)
    assert far.recording.estimator is near.recording.estimator
    assert [s.text for s in far.recording.samples] == [s.text for s in near.recording.samples]
    assert far.recording.greedy.text == near.recording.greedy.text
    return far, near


@pytest.mark.parametrize("question", QUESTIONS)
def test_exact_scores_are_those_of_the_model_in_process(question, embedded):
    far, near = both("echo", embedded, Request(question, 10, seed=3), end=END)
    assert far.recording.estimator is Estimator.EXACT
    for name in SCORES:
        assert far.scores[name].value == pytest.approx(near.scores[name].value, abs=CLOSE), name
    assert far.certified_bound == pytest.approx(near.certified_bound, abs=CLOSE)


@pytest.mark.parametrize(
    ("question", "flavour"), [("name a mammal", "top"), ("who wrote beowulf", "chat-top")]
)
def test_chained_scores_are_those_of_the_model_in_process(question, flavour, embedded):
    """At a low temperature, so that no answer comes in odd tokens (“uk” without the space before
    it): a server says how likely the tokens were that it drew, the model in process how likely
    the text is. Its opinion on its own answers is left out for the same reason.
    """
    limited = Limited(embedded, own_log_likelihoods=True, next_token=True)
    request = Request(question, FEWEST_CHAINS, temperature=0.5, seed=4)
    far, near = both(flavour, limited, request)
    assert far.recording.estimator is Estimator.CHAINED
    seconds = [[[r.text for r in row] for row in each.recording.seconds] for each in (far, near)]
    assert seconds[0] == seconds[1]
    for name in SCORES.keys() - {"self_verification"}:
        assert far.scores[name].value == pytest.approx(near.scores[name].value, abs=CLOSE), name


@pytest.mark.parametrize(
    ("question", "flavour"), [("name a mammal", "none"), ("who wrote beowulf", "chat-none")]
)
def test_counted_scores_are_those_of_the_model_in_process(question, flavour, embedded):
    far, near = both(flavour, Limited(embedded), Request(question, 10, seed=3))
    assert far.recording.estimator is Estimator.COUNTED
    for name in SCORES:
        assert far.scores[name].value == pytest.approx(near.scores[name].value, abs=1e-12), name
