"""The names of ``believe``, from where each of them is at home."""

from core.abstention.policy import Policy, PolicyError
from core.language_models.base import Capabilities, LanguageModel, Response
from core.language_models.errors import ModelError
from core.language_models.registry import open_model

__all__ = [
    "Capabilities",
    "LanguageModel",
    "ModelError",
    "Policy",
    "PolicyError",
    "Response",
    "open_model",
]
