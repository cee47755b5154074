"""Any server that speaks OpenAI's completions or chat completions, over `requests`.

What a server can do differs from one to the next, and its name does not tell: `probe` finds it
out with a few small requests. That is kept with the calls, so that only the first process asks.

A server that only chats gets a prompt as the one message of a user. Behind examples, they stand
first and are the same in every request, so that a server reads them once and keeps them: as text
in front of a prompt that is to be gone on with, as turns of before in a chat.

What is summed
--------------
*A given answer* (by echo, or a way of `input_logprobs`): the tokens behind the prompt in
``prompt + " " + answer``, in a chat those of a turn of the model's own; and the end token where
the server lists it behind its own answers and reads its text as that token, or where `end` names
one. Elsewhere the end is left out, for every answer. The number then is the probability that a
response *begins* so: "London" has the probability of "London, UK" in it. `revision` says which.

*A sampled answer*: the tokens that the reply lists, up to the line break if it came to one. Some
servers list the token that ended the answer and some do not; it counts where it is listed.

Temperature
-----------
Some servers report the log-probabilities of their samples after dividing by the temperature.
The probe asks for the same next token at two temperatures; where the values differ, or cannot be
compared, `own_log_likelihoods` is false, since it must hold at every temperature. Nothing is
ever computed back. `next_token` and scores of given text are asked for at temperature 1.
"""

from __future__ import annotations

import copy
import hashlib
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from core.codec import one_line
from core.data.thoughts import answer_in
from core.language_models.backends.openai import http, replies, thinking
from core.language_models.backends.openai.abilities import THINKING_ROOM, OpenAIAbilities
from core.language_models.backends.openai.address import key_for, read_address, split_name
from core.language_models.backends.openai.listing import weights_of
from core.language_models.backends.openai.presets import OPENAI
from core.language_models.backends.openai.probe import OVERFULL, Probe
from core.language_models.backends.openai.scoring import PAIRS_A_CALL, Endpoint, Scoring
from core.language_models.errors import (
    NeedsKeyError,
    OtherModelError,
    RefusedError,
    SmallerRequestsError,
    TemporaryError,
)
from core.language_models.forms import EXAMPLES, Form, in_front, revision, unknown_form
from core.language_models.language_model import (
    MAX_RESPONSE_TOKENS,
    Capabilities,
    Memory,
    Response,
    longest_answer,
    prompt_seed,
)
from core.language_models.stopping import current_stop
from core.language_models.usage import CHARACTERS_A_TOKEN, Meter
from core.settings import end_text

TOP = 5  # likeliest next tokens; more is refused by some servers
LOOK_AGAIN = 60.0  # seconds between two looks at what a server tells of the weights


ENDPOINTS: dict[tuple[str, str, str], Endpoint] = {}
_TURNS = [
    {"role": role, "content": content}
    for example in EXAMPLES
    for role, content in (("user", example.prompt), ("assistant", example.answer))
]


class OpenAICompatible(Scoring):
    """A model behind an address that speaks OpenAI's HTTP interface.

    `rest` is ``NAME@BASE_URL``, or the name of a model of OpenAI's own. The key is by default that
    of the environment, where it may be used: the service's own, or ``OPENAI_API_KEY``; many local
    servers want none. `end` is the text that this server reads as its end token; see the module.

    Raises `ModelError` when the name or the address is none, or not permitted. No request is made.
    """

    _behind_examples = False

    def __init__(self, rest: str = "", key: str | None = None, *, end: str | None = None) -> None:
        self._model, url = split_name(rest)
        address = read_address(url)
        self.name = f"openai:{rest}"
        self.meter = Meter()
        key, self.uses_environment_key = key_for(address, key)
        self._named_end = end or end_text()
        typed = not self.uses_environment_key
        self._service = http.Service(address, key, self.meter, typed=typed)
        secret = hashlib.sha256((key or "").encode()).hexdigest()
        self._place = address.canonical_url, self._model, secret
        self._endpoint = ENDPOINTS.setdefault(self._place, Endpoint())

    def __repr__(self) -> str:
        return f"OpenAICompatible({self.name.removeprefix('openai:')!r})"

    @property
    def canonical_name(self) -> str:
        """The name under which answers are kept: one for all ways to write an address."""
        address = self._service.address.canonical_url
        return f"openai:{self._model}" + (f"@{address}" if address != OPENAI else "")

    @property
    def capabilities(self) -> Capabilities:  # type: ignore[override]
        """What the probe found; asks the server on first use."""
        abilities = self._abilities
        return Capabilities(
            scores_given_text=abilities.echo or abilities.forced or bool(abilities.given),
            own_log_likelihoods=abilities.own,
            whole_answers=abilities.forced or bool(self._end(abilities)),
            next_token=abilities.next_token,
            seeded="seed" not in abilities.without,
            local=False,
            candidates_a_call=abilities.candidates,
            pairs_a_call=1 if abilities.forced or self._one_by_one(abilities) else PAIRS_A_CALL,
            calls_a_prompt=int(self._one_by_one(abilities)),
            calls_a_pair=MAX_RESPONSE_TOKENS + 1 if abilities.forced else 1,
            tokens_a_pair=MAX_RESPONSE_TOKENS + 1 if abilities.forced else 1,
            thoughts=THINKING_ROOM if abilities.thinks else 0,
            in_front=len(in_front()) if self._behind_examples else 0,
            notes=abilities.notes,
            limits_answers=True,
        )

    @property
    def revision(self) -> str:  # type: ignore[override]
        """How the server is spoken to, and which model it says it is."""
        abilities = self._abilities
        parts = ["chat completions" if abilities.chat else "completions"]
        if abilities.echo or abilities.given:
            end = self._end(abilities)
            parts += [abilities.given or "echo", f"end token “{end}”" if end else "no end token"]
        if abilities.forced:
            parts.append("given tokens forced, any end")
        if abilities.scaled:
            parts.append("log-probabilities scaled by temperature")
        if abilities.sampler:
            parts.append(f"neutral {', '.join(abilities.sampler)}")
        if abilities.switches or abilities.thinks:
            parts.append("thinking left out" if abilities.thinks else "thinking off")
        if missing := [name for name in abilities.without if "logprobs" not in name]:
            parts.append(f"without {', '.join(missing)}")
        usual = "; ".join(filter(None, [", ".join(parts), abilities.stated, abilities.weights]))
        return revision(usual, self.form, EXAMPLES) if self._behind_examples else usual

    @property
    def form(self) -> Form:  # type: ignore[override]
        """In which it is asked; at first our prompts alone, in a chat where it only chats."""
        return self.forms[self._behind_examples]

    @property
    def forms(self) -> tuple[Form, ...]:  # type: ignore[override]
        """The usual form, and the same behind examples."""
        chat = self._abilities.chat
        return (Form.CHAT, Form.CHAT_WITH_EXAMPLES) if chat else (Form.PLAIN, Form.EXAMPLES)

    def in_form(self, form: Form) -> OpenAICompatible:
        """Return the same model, asked in a form; see `LanguageModel.in_form`."""
        if form not in self.forms:
            raise unknown_form(self.name, self.forms)
        other = copy.copy(self)
        other._behind_examples = form.has_examples
        return other

    def with_system(self, text: str) -> OpenAICompatible | None:
        """Return the same model behind a system prompt; see `LanguageModel.with_system`."""
        if not self._abilities.chat:
            return None
        other = copy.copy(self)
        other.system = text
        return other

    def _body(self, abilities: OpenAIAbilities, prompt: str, **options: Any) -> replies.Reply:
        """Return a request for answers to a prompt, in the form in which the model is asked."""
        before = in_front() if self._behind_examples and not abilities.chat else ""
        body = abilities.body(self._model, before + prompt, **options)
        if self._behind_examples and abilities.chat:
            body["messages"] = [*_TURNS, *body["messages"]]
        if self.system:
            body["messages"].insert(0, {"role": "system", "content": self.system})
        return body

    def _end(self, abilities: OpenAIAbilities) -> str:
        """Return what ends given answers: what a person names, else what the probe has read."""
        return self._named_end or abilities.end

    def sample(
        self, prompt: str, count: int, *, temperature: float = 1.0, seed: int = 0, first: int = 0
    ) -> list[Response]:
        """Draw responses; see `LanguageModel.sample`.

        The greedy response is asked for once, however many are wanted. The seed that is sent
        leaves room to count up: vLLM gives each candidate of a request the next one, so that
        the same series comes back however it is cut into requests.
        """
        abilities = self._abilities
        own_seed = prompt_seed(seed, prompt)
        answers: list[Response] = []
        while len(answers) < count:
            n = 1 if temperature == 0 else min(abilities.candidates, count - len(answers))
            body = self._body(
                abilities,
                prompt,
                limit=self.answer_tokens,
                temperature=temperature,
                n=n,
                seed=own_seed * 2**20 + first + len(answers),  # exact in JSON everywhere
                top=abilities.beside,
            )
            try:
                reply = self._post(abilities, abilities.path, body)
                if (number := len(self._service.choices(reply))) < n:  # so another provider does it
                    raise self._takes_fewer(abilities, n, number)
                choices = self._service.choices(reply, n)
            except http.Rejection as error:
                if not http.FILTERED.search(error.words):
                    raise
                responses = [Response("", False, refusal="its filter of prompts")] * n
            else:
                self._check_sum(choices, abilities)
                used = replies.reply_tokens(reply, "completion_tokens")
                responses = [
                    self._response(
                        c, abilities, replies.is_whole(c, body[abilities.limit], used, n)
                    )
                    for c in choices
                ]
            answers += responses * count if temperature == 0 else responses
        return answers

    def _check_sum(self, choices: Sequence[replies.Reply], abilities: OpenAIAbilities) -> None:
        """Raise, and use no log-probabilities any more, where those of answers cannot be true."""
        scores = abilities.echo or abilities.forced or abilities.given  # then none is used
        if abilities.own and not scores and not replies.adds_up(choices):
            self._learn(replace(abilities, own=False, remarks=(*abilities.remarks, OVERFULL)))
            raise RefusedError(
                f"The probabilities that {self._service.host} states of different answers to one "
                "prompt add up to more than 1, so they are not used. Ask again: answers are "
                "counted then."
            )

    def _response(self, choice: replies.Reply, abilities: OpenAIAbilities, ended: bool) -> Response:
        text = self._service.text(choice)
        if refusal := replies.refusal_of(choice):
            return Response("", False, refusal=refusal)
        if abilities.thinks:
            return self._behind_thoughts(text, ended)
        if thinking.has_thought(choice, text):
            raise RefusedError(
                f"{self._service.host} thinks before it answers, as it did not when it was tried. "
                "Switch thinking off in the server, or choose another model."
            )
        line, line_break, _ = text.lstrip().partition("\n")
        complete = bool(line_break) or ended
        if not abilities.own:
            return Response(line.strip(), complete, limit=self.answer_tokens)
        tokens = replies.tokens_of(choice)
        if tokens and not replies.spells(choice, text):  # log-probabilities of what was not said
            return Response(line.strip(), complete, limit=self.answer_tokens)
        if line_break:
            tokens = replies.until_line_break(tokens)
        longest = longest_answer(self.answer_tokens)
        if len(line.strip()) > longest:  # this server ignores how long it may be
            line, complete = line.strip()[:longest].rstrip(), False
            tokens = replies.that_begin(tokens, len(line))
        # An empty answer may have no tokens, where the one that ended it is not listed.
        none_needed = not text and not replies.is_uneven(choice)
        log_likelihood = replies.total(tokens) if tokens or none_needed else None
        if log_likelihood is None:
            raise self._service.reply_error("a reply without its log-probabilities")
        return Response(line.strip(), complete, log_likelihood, limit=self.answer_tokens)

    def _behind_thoughts(self, text: str, ended: bool) -> Response:
        """Return the answer behind the thoughts, up to its line break or about its limit."""
        line, line_break, _ = answer_in(text).lstrip().partition("\n")
        complete = bool(line_break) or ended
        if not (line.strip() or complete):
            return Response("", False, refusal=thinking.TOO_LONG)
        cut = line[: CHARACTERS_A_TOKEN * self.answer_tokens]
        return Response(cut.strip(), complete and cut == line, limit=self.answer_tokens)

    def next_token(self, prompt: str) -> dict[str, float]:
        """Return the likeliest next tokens; see `LanguageModel.next_token`."""
        abilities = self._abilities
        if not abilities.next_token:
            return super().next_token(prompt)
        body = self._body(abilities, prompt, limit=1, temperature=1.0, top=TOP)
        body.pop("stop", None)  # a line break is a next token like any other
        top = replies.top_of(
            self._service.choices(self._post(abilities, abilities.path, body), 1)[0], TOP
        )
        if not top:
            raise self._service.reply_error("a reply without its log-probabilities")
        return {self._service.text({"text": token}): value for token, value in top.items()}

    @property
    def _abilities(self) -> OpenAIAbilities:
        place = self._endpoint
        with current_stop().holding(place.lock):  # another one may be finding out
            if place.abilities is None:
                place.abilities = self._stored_abilities()
                place.recalled = place.abilities is not None
            return place.abilities or self._find_out()[0]

    def remember_in(self, memory: Callable[[], Memory]) -> None:
        """Keep what the probe finds where the next process looks for it."""
        super().remember_in(memory)
        if self._endpoint.abilities and not self._endpoint.recalled:
            self._learn(self._endpoint.abilities)

    def probe(self) -> list[str]:
        """Find out anew what the server can do; return what was asked, a line each.

        Raises `ModelError`, as for `capabilities`.
        """
        with current_stop().holding(self._endpoint.lock):
            return self._find_out()[1]

    def _find_out(self) -> tuple[OpenAIAbilities, list[str]]:
        """Ask the server, or go on asking where an earlier try broke off."""
        place = self._endpoint
        probe, place.probe = place.probe or Probe(self._service, self._model), None
        try:
            abilities = probe.run()
        except TemporaryError:
            place.probe = probe
            raise
        for _ in range(2):  # some answer there with a fault each time, or want another key
            with suppress(TemporaryError, NeedsKeyError):
                weights = weights_of(self._service, self._model)
                abilities, place.last_look = replace(abilities, weights=weights), time.monotonic()
                break
        self._learn(abilities)
        return abilities, probe.log

    def _learn(self, abilities: OpenAIAbilities) -> None:
        self._endpoint.abilities, self._endpoint.recalled = abilities, False
        if self._memory:
            self._memory().put(self.canonical_name, abilities.to_json())

    def _stored_abilities(self) -> OpenAIAbilities | None:
        stored = self._memory().get(self.canonical_name) if self._memory else None
        return OpenAIAbilities.from_json(stored) if stored else None

    def _takes_fewer(self, abilities: OpenAIAbilities, n: int, most: int) -> SmallerRequestsError:
        self._learn(replace(abilities, candidates=min(abilities.candidates, most)))
        return SmallerRequestsError(f"{self.name} gives fewer than {n} at once.")

    def _forget(self, what: str) -> OtherModelError:
        """Have what was found out forgotten by the models opened from now on.

        This one keeps it, and its revision: its answers stand under that name already.
        """
        if ENDPOINTS.get(self._place) is self._endpoint:
            del ENDPOINTS[self._place]
        if self._memory:
            self._memory().put(self.canonical_name, None)
        return OtherModelError(f"{self._service.host} {what}.")

    def _post(
        self, abilities: OpenAIAbilities, path: str, body: replies.Reply, *, beside: bool = False
    ) -> replies.Reply:
        """Make a request by what is known; learn from a refusal of that."""
        if time.monotonic() - self._endpoint.last_look > LOOK_AGAIN:
            weights = ""
            try:
                weights = weights_of(self._service, self._model)
            except (TemporaryError, NeedsKeyError):
                if abilities.weights:
                    raise
            if weights != abilities.weights:
                raise self._forget(
                    "no longer tells the same of the weights behind this name. Open it anew"
                )
            self._endpoint.last_look = time.monotonic()
        try:
            reply = self._service.post(path, body, beside=beside)
        except http.Rejection as error:
            if self.system and http.NO_SYSTEM.search(error.words):
                raise RefusedError(
                    f"{self._service.host} takes no system message: "
                    f"“{one_line(error.words, http.LONGEST_WORDS)}”. Leave the system prompt out, "
                    "and write what it says in front of each question, those for a policy, too."
                ) from None
            n = body.get("n", 1)
            if http.FILTERED.search(error.words) or http.GRAMMAR.search(error.words):
                raise  # of this one prompt or answer
            if n > 1 and "n" in error.named:
                raise self._takes_fewer(abilities, n, n // 2) from None
            if self._endpoint.recalled or error.status in http.ABSENT:  # for all questions
                words = one_line(error.words, http.LONGEST_WORDS)
                what = (
                    f"no longer takes what it took before: “{words}”. Open it anew, and ask again"
                )
                raise self._forget(what) from None
            raise
        stated = self._service.model_of(reply)
        if not beside and stated != abilities.stated and (stated or replies.has_text(reply)):
            other, own = (f"“{name}”" if name else "no name" for name in (stated, abilities.stated))
            raise self._forget(
                f"gives {other} as its model now, and gave {own} before. Pin one "
                "model by its full name, or open it anew"
            )
        self._endpoint.recalled = self._endpoint.recalled and beside  # which states no model
        return reply
