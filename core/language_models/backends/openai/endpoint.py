"""What this process knows about one server, model and key."""

import threading
from dataclasses import dataclass, field

from core.language_models.backends.openai.abilities import OpenAIAbilities
from core.language_models.backends.openai.probe import Probe
from core.language_models.backends.openai.replies import Tokens


@dataclass
class Endpoint:
    """What this process knows about one server, model and key."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    abilities: OpenAIAbilities | None = None  # None until they are known
    # Whether they are from another process, and the server has not been seen to be the same.
    recalled: bool = False
    probe: Probe | None = None  # one that broke off
    # Those of answers, where the server was asked for them.
    tokens: dict[str, list[int]] = field(default_factory=dict)
    # Answers of which some tokens are only parts of characters.
    parted: set[str] = field(default_factory=set)
    # Those of prompts, where they are asked for one by one.
    alone: dict[str, Tokens] = field(default_factory=dict)
