"""The names of ``believe``, from where each of them is at home."""

from core.abstention.policy import Policy, PolicyError
from core.claims import TextClaim, claims
from core.guard import Abstention, Answer, Guard, guard, policy_in
from core.language_models.errors import ModelError
from core.language_models.language_model import Capabilities, LanguageModel, Response
from core.language_models.registry import open_model
from core.studies.inspection.request import InvalidRequestError
from core.studies.progress import Cancelled
from core.uncertainty.own_answers import AnswerScores, score

__all__ = [
    "Abstention",
    "Answer",
    "AnswerScores",
    "Cancelled",
    "Capabilities",
    "Guard",
    "InvalidRequestError",
    "LanguageModel",
    "ModelError",
    "Policy",
    "PolicyError",
    "Response",
    "TextClaim",
    "claims",
    "guard",
    "open_model",
    "policy_in",
    "score",
]
