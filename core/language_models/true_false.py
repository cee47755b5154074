"""“True” or “False”? A model's own opinion on a statement, by the best means it has."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core import prompts
from core.language_models.language_model import LanguageModel, Response
from core.prompts import FALSE, TRUE
from core.uncertainty.scores import NEITHER

LEAST_LEFT = 1e-6  # of the probability: what services round away from their lists
SPACES = "Ġ▁"  # in vocabularies of bytes, and of SentencePiece
OPINIONS = 10  # answers, where nothing says how probable “True” is
NO_JUDGE: Final = (
    "The embedded model never learnt to compare answers: it judges no better than a coin toss. "
    "Choose a model that follows instructions."
)


def opinion(model: LanguageModel, prompt: str, *, seed: int = 0) -> NDArray[np.float64]:
    """Return ln p("True") and ln p("False") of a model that cannot score given text, (2,).

    Of its next tokens, all spellings of a word together; else of the share of samples, with
    half a vote for either. Both are `NEITHER` where it says neither word.
    """
    if model.capabilities.next_token:
        return from_next_token(model.next_token(prompt))
    return from_samples(model.sample(prompt, OPINIONS, seed=seed))


def from_next_token(listed: dict[str, float]) -> NDArray[np.float64]:
    """Add up the spellings of each word; one that is not listed gets a bound, and never 0.

    It has at most the probability of the least likely token that is listed, and at most what
    all of those leave over.
    """
    if not any(says(token, word) for token in listed for word in (TRUE, FALSE)):
        return np.full(2, NEITHER)
    left = max(1 - np.exp(list(listed.values())).sum(), LEAST_LEFT)
    least = min(np.log(left), min(listed.values(), default=np.log(0.5)))
    masses = [[p for token, p in listed.items() if says(token, word)] for word in (TRUE, FALSE)]
    added = [np.logaddexp.reduce(p) if p else least for p in masses]
    return np.minimum(added, 0.0)  # rounded by the service, they may add up to more than 1


def from_samples(responses: Sequence[Response]) -> NDArray[np.float64]:
    """Count the words among samples; half a vote for either, for ten samples prove little."""
    counted = [sum(says(response.text, word) for response in responses) for word in (TRUE, FALSE)]
    if not any(counted):
        return np.full(2, NEITHER)
    return np.asarray(np.log((np.array(counted) + 0.5) / (sum(counted) + 1)))


def says(text: str, word: str) -> bool:
    """Whether a token or an answer is the word, whatever its case and the space before it.

    Some servers (mlx-lm) write tokens as the vocabulary does, with a sign for that space.
    """
    return text.lstrip(SPACES).strip().strip(".,:;!*()[]\"'").casefold() == word.casefold()


def question(query: str, one: str, other: str) -> str:
    """Return what is asked about a pair of answers: the same, whichever of them came first."""
    return prompts.same_meaning(query, *sorted((one, other)))


def sameness(model: LanguageModel, contexts: Sequence[str]) -> NDArray[np.float64]:
    """Return how sure a model is that two answers mean the same, question by question.

    p("True") / (p("True") + p("False")), in [0, 1]; NaN where the model says neither. Exact where
    the model scores given text, all questions in one call; else of its next tokens; else its one
    greedy answer, 1 or 0: ten samples a pair would cost ten times as much. `question` makes the
    contexts.
    """
    if model.capabilities.scores_given_text:
        opinions = model.log_likelihoods(contexts, [TRUE, FALSE])
    elif model.capabilities.next_token:
        opinions = np.array([from_next_token(model.next_token(prompt)) for prompt in contexts])
    else:
        opinions = np.array(
            [_first_word(model.sample(prompt, 1, temperature=0.0)[0].text) for prompt in contexts]
        )
    log_true, log_false = opinions.reshape(-1, 2).T
    either = np.logaddexp(log_true, log_false)
    neither = either < NEITHER + 1
    return np.where(neither, np.nan, np.exp(log_true - np.where(neither, 0.0, either)))


def _first_word(answer: str) -> Sequence[float]:
    """Return the logarithms of 1 and 0 by an answer's first word; “True, both are …” is True."""
    first = (answer.split() or [""])[0]
    return [0.0 if says(first, word) else -np.inf for word in (TRUE, FALSE)]
