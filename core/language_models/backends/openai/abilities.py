"""How a server wants to be asked, and what it does then, as the probe has found out."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

from core.language_models.backends.openai import input_logprobs
from core.language_models.backends.openai.http import Rejection
from core.language_models.backends.openai.replies import Reply
from core.language_models.language_model import StoredAbilities

CANDIDATES_A_CALL = 8
THINKING_ROOM = 1500  # tokens for thoughts that cannot be switched off
# Samplers that some servers leave on unless they are told otherwise (llama.cpp: min_p .05,
# top_k 40): each with the values that switch it off. Servers differ in what means "all tokens".
NEUTRAL: Mapping[str, tuple[float, ...]] = {
    "min_p": (0,),
    "top_k": (-1, 0),
    "repeat_penalty": (1,),
    "repetition_penalty": (1,),
}
# For servers that take none of these: `transformers serve` decodes greedily, or with top_k 50.
INSTEAD: Mapping[str, str] = {"generation_config": '{"do_sample": true, "top_k": 0}'}
# How servers speak of a field that they do not have, rather than of what stands in it.
UNKNOWN = re.compile(
    r"unrecogni[sz]ed|unknown|unexpected|unsupported parameter|is (not |un)supported|not permitted"
    r"|extra (inputs|fields)|additional propert",
    re.IGNORECASE,
)
# What a server may do without, in the order in which it is blamed for a refusal without a reason.
OPTIONAL = ("top_logprobs", "logprobs", "seed", "stop", "top_p", "temperature")


@dataclass(frozen=True)
class OpenAIAbilities(StoredAbilities):
    """How to speak to a server, and what it does then."""

    FORMAT: ClassVar[int] = 4  # since 4, the weights are part of it where a server tells them

    chat: bool = False  # Chat completions instead of completions
    echo: bool = False  # whether it scores given text, as exactly as what it sampled itself
    # Whether it can be made to say given tokens, and says then how likely they were.
    forced: bool = False
    # The field by which it tells how likely given text is, where it echoes none (see the module
    # `input_logprobs`); else "".
    given: str = ""
    # Whether it lists what it sampled with log-probabilities, at any temperature the same.
    own: bool = False
    next_token: bool = False  # whether it lists the likeliest next tokens
    candidates: int = CANDIDATES_A_CALL  # how many it draws at once
    # Whether completions ask for log-probabilities as chats do: with yes, and a number beside.
    flagged: bool = False
    # Whether samples must be asked for without likely tokens, which it lists in their place.
    bare: bool = False
    # The samplers that it is told to leave off.
    sampler: Mapping[str, float | str] = field(
        default_factory=lambda: {name: values[0] for name, values in NEUTRAL.items()}
    )
    without: tuple[str, ...] = ()  # the fields of a request that it refuses
    # What is sent to switch thinking off; empty where nothing has to be.
    switches: Mapping[str, Any] = field(default_factory=dict)
    thinks: bool = False  # whether thoughts stand in front of its answers all the same
    # Whether log-probabilities depend on the temperature; None if that is not known.
    scaled: bool | None = None
    limit: str = "max_tokens"  # what it calls the largest number of tokens
    # The text of the token that ends its answers, if it reads it as that token; else "".
    end: str = ""
    stated: str = ""  # the model that it says it is
    weights: str = ""  # what it says of the weights behind that name
    remarks: tuple[str, ...] = ()  # what was found out besides, in sentences

    @property
    def path(self) -> str:
        """Where requests go, below the base URL."""
        return "/chat/completions" if self.chat else "/completions"

    @property
    def beside(self) -> int | None:
        """How many likely tokens to ask for beside those of a sample; None where none are told."""
        return (0 if self.bare else 1) if self.own else None

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person has to know of its answers, in sentences."""
        notes = list(self.remarks)
        if self.given:
            notes.append(
                f"It scores given answers by its field {self.given}, as documented by "
                f"{input_logprobs.MAKERS[self.given]}. What it drew had the same score."
            )
        if self.thinks:
            notes.append(
                "It thinks before it answers. Its thoughts are left out; each answer may take "
                f"{THINKING_ROOM:,} more tokens for them, which are paid for."
            )
        elif self.switches:
            notes.append("It can think before it answers; that is switched off.")
        if "temperature" in self.without:
            notes.append(
                "It takes no temperature: every answer is drawn at its own, the greedy one too."
            )
        left = [name for name in NEUTRAL if name not in self.sampler]
        if left and not any(name in self.sampler for name in INSTEAD):
            notes.append(
                f"It refuses the fields {', '.join(left)}. If it uses such samplers, its answers "
                "vary less than the model’s own."
            )
        if self.next_token and self.scaled is not False:
            notes.append(
                "Its log-probabilities depend on the temperature, so those of its samples are not "
                "used."
                if self.scaled
                else "Whether its log-probabilities depend on the temperature cannot be seen, so "
                "those of its samples are not used."
            )
        if self.end:
            notes.append(f"Its answers end with the token “{self.end}”, which is scored as well.")
        return tuple(notes)

    def body(
        self,
        model: str,
        prompt: str,
        *,
        limit: int,
        temperature: float,
        n: int = 1,
        seed: int = 0,
        top: int | None = None,
    ) -> Reply:
        """Return a request for `n` answers of up to `limit` tokens, without what it refuses.

        With log-probabilities, and those of the `top` likeliest tokens, where that is given.
        """
        body: Reply = {"model": model, "temperature": temperature, self.limit: limit}
        if self.chat:
            body["messages"] = [{"role": "user", "content": prompt}]
        else:
            body["prompt"] = prompt
        body |= {"top_p": 1.0, "stop": ["\n"], "seed": seed, **self.sampler, **self.switches}
        if self.thinks:  # a thought has line breaks
            body[self.limit] += THINKING_ROOM
            del body["stop"]
        if n > 1:
            body["n"] = n
        if top is not None:
            flagged = self.chat or self.flagged
            body["logprobs"] = True if flagged else top
            if flagged and top:
                body["top_logprobs"] = top
        return {name: value for name, value in body.items() if name not in self.without}

    def after(self, refusal: Rejection, body: Reply) -> Self | None:
        """Return how to ask without the field that a refusal names; None where nothing is left.

        A refusal that names no field of the protocol may mean any: one after the other goes.
        """
        unknown = bool(UNKNOWN.search(refusal.words))
        if refused := [name for name in refusal.named if name in self.sampler]:
            if unknown and len(refused) < len(self.sampler):  # who names one knows none of them
                return replace(self, sampler={})
            return replace(self, sampler=self._calmer(refused))
        if unknown and "n" in refusal.named and "n" in body:
            return replace(self, candidates=1)
        for name in sorted(refusal.named, key="temperature".__eq__):  # rather our top_p of 1
            if name in body and (less := self._less(name, body)):
                return less
        if refusal.named:
            return None
        if self.sampler or self.switches:
            return replace(self, sampler={}, switches={})
        if "n" in body:
            return replace(self, candidates=1)
        left = (self._less(name, body) for name in OPTIONAL if name in body)
        return next(filter(None, left), None)

    def _less(self, name: str, body: Reply) -> Self | None:
        """Return how to ask with less of one field, or without it; None where it is needed."""
        if name == "n":
            return replace(self, candidates=body["n"] // 2)
        if name == "max_tokens":
            return replace(self, limit="max_completion_tokens")
        if name in self.switches:
            return replace(self, switches={})
        if name == "logprobs" and not (self.chat or self.flagged):  # mlx-lm takes true, no number
            return replace(self, flagged=True)
        if name == "logprobs":  # the other means nothing alone
            return replace(self, without=(*self.without, "logprobs", "top_logprobs"))
        return replace(self, without=(*self.without, name)) if name in OPTIONAL else None

    def _calmer(self, refused: Sequence[str]) -> Mapping[str, float | str]:
        """Return the samplers to leave off without those refused; one alone by another value."""
        sampler = {name: value for name, value in self.sampler.items() if name not in refused}
        alone = refused[0] if len(refused) == 1 else ""
        other = [value for value in NEUTRAL.get(alone, ())[1:] if value != self.sampler[alone]]
        if other:
            return sampler | {alone: other[0]}
        return sampler or {name: value for name, value in INSTEAD.items() if name not in refused}
