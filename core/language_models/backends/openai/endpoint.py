"""What this process knows about one server, model and key."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from core.language_models.backends.openai.abilities import OpenAIAbilities
from core.language_models.backends.openai.probe import Probe
from core.language_models.backends.openai.replies import Tokens


@dataclass
class Endpoint:
    """What this process knows about one server, model and key.

    Attributes
    ----------
    abilities : OpenAIAbilities or None
        None until they are known.
    recalled : bool
        Whether they are from another process, and the server has not been seen to be the same.
    probe : Probe or None
        One that broke off.
    tokens : dict of str to list of int
        Those of answers, where the server was asked for them.
    parted : set of str
        Answers of which some tokens are only parts of characters.
    alone : dict of str to Tokens
        Those of prompts, where they are asked for one by one.
    """

    lock: threading.Lock = field(default_factory=threading.Lock)
    abilities: OpenAIAbilities | None = None
    recalled: bool = False
    probe: Probe | None = None
    tokens: dict[str, list[int]] = field(default_factory=dict)
    parted: set[str] = field(default_factory=set)
    alone: dict[str, Tokens] = field(default_factory=dict)
