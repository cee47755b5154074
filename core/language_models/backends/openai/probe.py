"""What a server can do, found out by asking it: the name of a model tells nothing.

1. *Completions*: draw some answers at once, with log-probabilities. A field that is refused is
   let go of, one after the other; a number of answers that is refused is halved.
2. *Echo*: have given texts repeated with the log-probability of each token, among them what it
   has just said. It is believed where both say the same; whatever ends its answers is scored
   with them where the server reads that text as its end token.
   A server that repeats nothing may take a grammar of tokens: then it is made to say them. Or
   an address beside OpenAI's tells the tokens of given texts, which is compared as well.
3. *Chat completions*, where completions give no log-probabilities: the same as 1. Thinking is
   switched off where that can be done; elsewhere it gets room, and is told from the answer.
   A sampled answer is given as the beginning of the model's own turn, to see if it is scored.
4. *Draws*: ask again with another seed; where the answers are the same, for what has many, freely.
   A server that says the same each time decodes greedily, and no doubt can be read off that;
   what keeps replies, whatever the seed, would give one as many.
5. *Temperature*: ask for one next token at another temperature. Log-probabilities that change
   with it are those of another distribution; a temperature that is refused is not sent again.

What was answered is kept until the end, so that a probe that breaks off goes on where it was.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from core.codec import one_line
from core.data.thoughts import answer_in
from core.language_models import errors
from core.language_models.backends.openai import echo, grammar, input_logprobs, replies, thinking
from core.language_models.backends.openai.abilities import OpenAIAbilities
from core.language_models.backends.openai.consistency import (
    SampledAnswer,
    agree,
    all_agree,
    repeats,
    to_repeat,
    usual_end,
)
from core.language_models.backends.openai.http import ABSENT, LONGEST_WORDS, Rejection, Service

MOST_PROBES = 20  # mostly three to seven; each refused field takes one more
PROBES = (
    "Q: Name a colour. A:",
    "Q: What is the capital of France? A: Paris. Q: What is the capital of Italy? A:",
    "Q: Say twelve letters in any order. A:",
)
SHORT = 16  # tokens of an answer
LISTED = 8  # of them, where a server is made to say them, or draws beside OpenAI's addresses
TOP = 5  # likeliest next tokens; more is refused by some servers
FREE = 1.5  # at which no two long answers are alike
DRAWS = 4  # so many alike prove that nothing is drawn
SEED = 2**52 - 2**20  # as large as those in use: some services take 32 bits, or cut others to that
MALFORMED = 422  # a request whose fields are others than those that are read
OVERFULL = (
    "It states probabilities of different answers that add up to more than 1, so they are not used."
)
ODD = "It lists log-probabilities that contradict each other, so they are not used."
COPIES = (
    "{host} gives copies of one answer where several are to be drawn, so no doubt can be read off "
    "how often it gives one. Switch off what keeps its replies (a cache in front of it), or choose "
    "another one."
)
WRONG_ECHO = (
    "It repeats given texts, but with other log-probabilities than those of its own samples, so "
    "they are not used."
)


class Probe:
    """Finds out how to speak to one model of a server.

    In at most `MOST_PROBES` requests, and one more for each field that a refusal names.

    `log`: what was asked and what came of it, a line each.
    """

    def __init__(self, service: Service, model: str) -> None:
        self.service, self.model = service, model
        self.log: list[str] = []
        self._heard: dict[str, replies.Reply | Rejection] = {}
        self._rejected: list[Rejection] = []
        self._named: set[str] = set()  # fields that refusals spoke of
        self._broke: set[str] = set()  # requests of no standard that did not come through once
        self._vary = False  # whether two answers of one reply differed
        self._top: Mapping[str, float] = {}  # the likeliest next tokens at temperature 1

    def run(self) -> OpenAIAbilities:
        """Find out everything; after a fault that passes, call it again.

        Raises `ModelError` when no way of asking works, or what is drawn is always the same.
        """
        self._rejected = []
        abilities = self._completions()
        if not (abilities and (abilities.echo or abilities.own or abilities.given)):
            chat = self._chat(must=abilities is None)
            abilities = chat if chat and (chat.own or not abilities) else self._completions()
        if abilities is None:
            raise self._failure()
        return self._heat(self._draws(abilities))

    def _completions(self) -> OpenAIAbilities | None:
        how, reply = self._sample(OpenAIAbilities())
        if reply is None:
            return None
        abilities = self._barely(self._abilities_in(how, reply), reply)
        if self._thinks(reply):
            return self._with_room(abilities)
        if not abilities.own:
            return self._generate(abilities, reply)
        scored = self._echo(abilities, reply)
        scored = scored if scored.echo else self._try_forcing(scored, reply)
        return scored if scored.echo or scored.forced else self._generate(scored, reply)

    def _chat(self, must: bool) -> OpenAIAbilities | None:
        how, reply = self._sample(OpenAIAbilities(chat=True))
        if reply is None:
            return None
        abilities = self._barely(self._abilities_in(how, reply), reply)
        if self._thinks(reply):
            return self._unthinking(abilities, must)
        return self._try_continuing(abilities, reply)

    def _unthinking(self, abilities: OpenAIAbilities, must: bool) -> OpenAIAbilities | None:
        """Switch thinking off, by what the server understands; else give it room, if it must."""
        for switches in thinking.SWITCHES:
            quiet, reply = self._sample(replace(abilities, switches=switches))
            if reply and quiet.switches and not self._thinks(reply):
                return self._try_continuing(self._abilities_in(quiet, reply), reply)
        return self._with_room(abilities) if must else None

    def _with_room(self, abilities: OpenAIAbilities) -> OpenAIAbilities:
        """Let it think, and look for the answer behind the thoughts."""
        how, reply = self._sample(replace(abilities, thinks=True), many=False)
        if reply is None:
            raise self._failure()
        texts = map(self.service.text, self.service.choices(reply))
        if not any(map(str.strip, map(answer_in, texts))):
            raise thinking.no_answer(self.service.host, SHORT)
        return replace(how, own=False, next_token=False)

    def _sample(
        self, how: OpenAIAbilities, *, many: bool = True
    ) -> tuple[OpenAIAbilities, replies.Reply | None]:
        """Draw answers with log-probabilities, past line breaks: thoughts have some."""
        how, reply = self._ask(how, PROBES[0], limit=SHORT, many=many, top=TOP, stops=False)
        if reply:
            self._vary |= _differ(self.service.choices(reply))
        return how, reply

    def _abilities_in(self, how: OpenAIAbilities, reply: replies.Reply) -> OpenAIAbilities:
        """Return what a reply to `_sample` shows."""
        choices = self.service.choices(reply)
        listed = _all_listed(choices)
        odd = listed and any(map(replies.contradicts_itself, choices))
        overfull = listed and not odd and not replies.adds_up(choices)
        self._top = replies.top_of(choices[0], TOP)
        return replace(
            how,
            own=listed and not odd and not overfull,
            next_token=bool(self._top) and not odd,
            candidates=how.candidates if len(choices) == how.candidates else 1,
            stated=self.service.model_of(reply),
            remarks=(ODD,) if odd else (OVERFULL,) if overfull else (),
        )

    def _barely(self, how: OpenAIAbilities, reply: replies.Reply) -> OpenAIAbilities:
        """Ask without likely tokens where what is listed beside them is not what was said."""
        choices = self.service.choices(reply)
        if not how.own or self._any_spelt(choices):
            return how
        if how.chat or how.flagged:
            _, again = self._ask(how, PROBES[0], limit=SHORT, many=True, top=0, stops=False)
            choices = self.service.choices(again) if again else []
            if again and _all_listed(choices) and self._any_spelt(choices):
                return replace(how, bare=True)
        return replace(how, own=False, remarks=(ODD,))

    def _any_spelt(self, choices: Sequence[replies.Reply]) -> bool:
        return any(replies.spells(c, self.service.text(c)) for c in choices)

    def _thinks(self, reply: replies.Reply) -> bool:
        return thinking.counts_thoughts(reply) or any(
            thinking.has_thought(choice, self.service.text(choice))
            for choice in self.service.choices(reply)
        )

    def _echo(self, how: OpenAIAbilities, sampled: replies.Reply) -> OpenAIAbilities:
        """Have what was sampled repeated, and compare; its end token with it, if it lists one."""
        answers = [SampledAnswer.of(c, self.service.text(c)) for c in self.service.choices(sampled)]
        end = usual_end(answers)
        repeatable = [d for d in answers if d.tokens]
        ended = [d for d in repeatable if end and d.ended_by == end]
        texts = [*PROBES[:2], *(PROBES[0] + d.text for d in repeatable)]
        texts += [PROBES[0] + d.text + end for d in ended]
        body = echo.request(self.model, texts)
        try:
            reply = self._post("/completions", body)
        except Rejection as error:
            self._rejected.append(error)
            return how
        if not self._is_echo(reply, texts):
            return how
        try:
            before, _, *echoes = echo.tokens(self.service, reply, texts)
        except errors.RefusedError:
            return how
        behind = [text[len(before) :] for text in echoes]
        if not all_agree([agree(d.tokens, b) for d, b in zip(repeatable, behind, strict=False)]):
            return replace(how, remarks=(*how.remarks, WRONG_ECHO))
        whole = [agree(d.listed, b) for d, b in zip(ended, behind[len(repeatable) :], strict=True)]
        return replace(how, echo=True, end=end if all_agree(whole) else "")

    def _is_echo(self, reply: replies.Reply, texts: list[str]) -> bool:
        """Whether all texts came back, with the log-probabilities of their tokens."""
        choices = self.service.choices(reply)
        return len(choices) == len(texts) and all(
            self.service.text(choice).startswith(text)
            and not replies.is_uneven(choice)
            and len(replies.tokens_of(choice)) > 2
            and replies.total(replies.tokens_of(choice)[1:]) is not None
            for choice, text in zip(choices, texts, strict=True)
        )

    def _try_forcing(self, how: OpenAIAbilities, sampled: replies.Reply) -> OpenAIAbilities:
        """Have a sampled answer said once more, token by token, and compare."""
        listed = grammar.token_entries(self.service.choices(sampled)[0])
        entries = [entry for entry in listed[:LISTED] if entry.get("token")]
        tokens = [token for e in entries if type(token := e.get("id")) is int]
        if not tokens or len(tokens) < len(entries):
            return how
        body = how.body(self.model, PROBES[0], limit=1, temperature=1.0)
        try:
            self._reads(PROBES[0])
            reply = self._post(how.path, grammar.request(body, tokens, top=1))
            *values, _ = grammar.token_log_probabilities(self.service, reply, tokens, top=1)
        except errors.RefusedError:
            return how
        before = [replies.log_probability(e.get("logprob")) for e in entries]
        pairs = [(str(token), value) for token, value in zip(tokens, before, strict=True)]
        repeated = [(str(token), value) for token, value in zip(tokens, values, strict=True)]
        return replace(how, forced=agree(pairs, repeated) is True)

    def _generate(self, how: OpenAIAbilities, sampled: replies.Reply) -> OpenAIAbilities:
        """Compare what was drawn with its scores beside OpenAI's."""
        ask = partial(self._attempt, input_logprobs.PATH, beside=True)
        for way, together in input_logprobs.TOGETHER.items():
            reply = ask(input_logprobs.request(way, PROBES[:1] * min(together, 8), LISTED))
            if isinstance(reply, Rejection) and reply.status == MALFORMED:
                continue  # it is there, and reads another kind of request
            if reply is None or isinstance(reply, Rejection):
                return how
            before = input_logprobs.read(way, reply)
            answers = to_repeat(
                self._answers_in(sampled) if how.own else input_logprobs.generations(reply)
            )[:together]
            if not (before and answers):
                return how
            texts = [PROBES[0] + text for text, _ in answers]
            again = ask(input_logprobs.request(way, texts))
            token_lists = input_logprobs.read(way, again) if isinstance(again, dict) else []
            if len(token_lists) == len(answers):
                pairs = zip(token_lists, answers, strict=True)
                compared = [repeats(before[0], whole, listed) for whole, (_, listed) in pairs]
                return replace(how, given=way) if all_agree(compared) else how
            return how
        return how

    def _try_continuing(self, how: OpenAIAbilities, sampled: replies.Reply) -> OpenAIAbilities:
        """Give a sampled answer as all are given later, and compare; with its end, if listed."""
        answers = to_repeat(self._answers_in(sampled))
        if not answers or not how.own or how.bare:
            return how
        body = how.body(self.model, PROBES[0], limit=1, temperature=1.0)

        def tell(answer: str | None, end: str = "") -> replies.Tokens:
            reply = self._attempt(how.path, input_logprobs.continuation(body, answer))
            if not isinstance(reply, dict):
                return []
            token_lists = input_logprobs.read(input_logprobs.PROMPT_LOGPROBS, reply, end)
            return token_lists[0] if token_lists else []

        text, listed = answers[0]
        whole = tell(text.strip())
        before = tell(None) if whole else []
        if not before or not repeats(before, whole, listed):
            return how
        choices = self.service.choices(sampled)
        end = usual_end([SampledAnswer.of(c, self.service.text(c)) for c in choices])
        for text, listed in answers:
            if end and listed[-1][0] == end:
                whole = tell(text.strip() + end, end)
                is_whole = len(whole) == len(before) + len(listed) and whole[-1][0] == end
                good = is_whole and repeats(before, whole, listed)
                return replace(how, given=input_logprobs.PROMPT_LOGPROBS, end=end if good else "")
        return replace(how, given=input_logprobs.PROMPT_LOGPROBS)

    def _answers_in(self, sampled: replies.Reply) -> list[tuple[str, replies.Tokens]]:
        return [(self.service.text(c), replies.tokens_of(c)) for c in self.service.choices(sampled)]

    def _reads(self, text: str) -> None:
        """Make sure that the server says how it reads text."""
        came = "refused"
        try:
            grammar.tokens(self.service, text)
            came = "answered"
        finally:
            self.log.append(f"/tokenize: {came}")

    def _draws(self, how: OpenAIAbilities) -> OpenAIAbilities:
        """See that answers are drawn at all, and each for itself.

        Raises `RefusedError` when answers to what has many are the same: those of one reply,
        or, where no more is known of answers than how often they come, those of all replies.
        """
        few = min(how.candidates, DRAWS)
        scored = bool(how.echo or how.forced or how.given) and "seed" not in how.without
        roomy = 1 if self._vary else few  # thoughts are paid for
        most = max(DRAWS // few, 2)
        ways = (
            (1.0, PROBES[0], roomy if how.thinks else how.candidates, 2),
            (FREE, PROBES[2], few, most),
            (1.0, PROBES[0], few, most),  # if no more is taken
            (1.0, PROBES[2], few, most),
        )
        for heat, prompt, n, most in ways:
            batches: list[list[replies.Reply]] = []
            while not (passes := self._are_draws(batches, n, scored)):
                if len(batches) >= most:
                    break
                seed = SEED + n * len(batches)
                body = how.body(
                    self.model, prompt, limit=SHORT, temperature=heat, n=n, seed=seed, top=TOP
                )
                body.pop("stop", None)
                try:
                    reply = self._post(how.path, body, len(batches))
                except Rejection:  # too hot
                    break
                batches.append(self.service.choices(reply))
                self._vary |= _differ(batches[-1])
            if passes:
                return how
            if batches and heat == FREE:
                break
        if self._vary or len({_texts(choices) for choices in batches}) > 1:
            raise errors.RefusedError(COPIES.format(host=self.service.host))
        raise errors.RefusedError(
            f"{self.service.host} gives the same answer each time, whatever temperature it is "
            "told, so no doubt can be read off its answers. Let the server sample (for "
            "transformers serve: “do_sample”: true in the model’s generation_config.json), or "
            "choose another one."
        )

    def _are_draws(self, batches: Sequence[Sequence[replies.Reply]], n: int, scored: bool) -> bool:
        """Whether the answers of one reply differ, and replies where only they can tell."""
        differ = len({_texts(choices) for choices in batches}) > 1
        return differ if n == 1 else self._vary and (differ or scored)

    def _heat(self, how: OpenAIAbilities) -> OpenAIAbilities:
        """See what another temperature changes; whether it is taken at all."""
        if not how.next_token:
            how, reply = self._ask(how, PROBES[0], limit=1, temperature=0.0)
        else:
            how, reply = self._ask(how, PROBES[0], limit=1, temperature=0.5, top=TOP)
            again = replies.top_of(self.service.choices(reply)[0], TOP) if reply else {}
            scaled = _is_scaled(self._top, again)
            how = replace(how, own=how.own and scaled is False, scaled=scaled)
        if reply is None:
            raise self._failure()
        return how

    def _ask(
        self,
        how: OpenAIAbilities,
        prompt: str,
        *,
        limit: int,
        temperature: float = 1.0,
        many: bool = False,
        top: int | None = None,
        stops: bool = True,
    ) -> tuple[OpenAIAbilities, replies.Reply | None]:
        """Ask, without one refused field after the other; no reply where nothing helps."""
        while True:
            n = how.candidates if many else 1
            seeded = partial(how.body, self.model, prompt, seed=SEED)
            body = seeded(limit=limit, temperature=temperature, n=n, top=top)
            if not stops:
                body.pop("stop", None)
            try:
                return how, self._post(how.path, body)
            except Rejection as error:
                self._rejected.append(error)
                absent = error.status in ABSENT
                another = not self._named.issuperset(error.named)  # each field ends once
                self._named.update(error.named)
                spent = len(self._heard) >= MOST_PROBES and not another
                less = None if absent or spent else how.after(error, body)
            if less is None:
                return how, None
            how = less

    def _attempt(
        self, path: str, body: replies.Reply, *, beside: bool = False
    ) -> replies.Reply | Rejection | None:
        """Make a request of no standard; None where what stands before the server stops it.

        Some gateways want another key for what they do not know, or break at it: the second
        fault then is a no.
        """
        key = json.dumps([path, body])
        try:
            return self._post(path, body, beside=beside)
        except Rejection as error:
            return error
        except (errors.RefusedError, errors.NeedsKeyError):
            return None
        except errors.TemporaryError:
            if key in self._broke:
                return None
            self._broke.add(key)
            raise

    def _post(
        self, path: str, body: replies.Reply, number: int = 0, *, beside: bool = False
    ) -> replies.Reply:
        """Make a request, unless it was answered already under that number."""
        key = json.dumps([path, body, number])
        if key not in self._heard:
            try:
                reply = self.service.post(path, body, beside=beside)
                for choice in [] if beside else self.service.choices(reply):
                    self.service.text(choice)  # what is spoilt was not heard
                self._heard[key] = reply
            except Rejection as error:
                self._heard[key] = error
            self.log.append(_line(path, body, self._heard[key]))
        heard = self._heard[key]
        if isinstance(heard, Rejection):
            raise heard
        return heard

    def _failure(self) -> errors.ModelError:
        """Say why no way of asking works."""
        host, words = self.service.host, one_line(self._rejected[-1].words, LONGEST_WORDS)
        if all(error.status in ABSENT for error in self._rejected):
            if any("model" in error.words.lower() for error in self._rejected):
                return errors.UnknownModelError(
                    f"{host} offers no model called “{self.model}”: “{words}”. Check its name."
                )
            return errors.UnknownModelError(
                f"{self.service.address.url} offers no completions. Check the base URL: it often "
                "ends in /v1."
            )
        return errors.RefusedError(
            f"{host} refused every kind of request: “{words}”. Check the model."
        )


def _all_listed(choices: Sequence[replies.Reply]) -> bool:
    return all(
        replies.tokens_of(c) and replies.total(replies.tokens_of(c)) is not None for c in choices
    )


def _texts(choices: Sequence[replies.Reply]) -> str:
    return json.dumps([thinking.all_texts(choice) for choice in choices])


def _differ(choices: Sequence[replies.Reply]) -> bool:
    return len({_texts([choice]) for choice in choices}) > 1


def _line(path: str, body: replies.Reply, heard: replies.Reply | Rejection) -> str:
    fields = [name for name in body if name not in ("model", "prompt", "messages")]
    came = (
        f"refused ({heard.status}: {heard.words})" if isinstance(heard, Rejection) else "answered"
    )
    return f"{path} with {', '.join(fields)}: {one_line(came, LONGEST_WORDS)}"


def _is_scaled(at_one: Mapping[str, float], at_half: Mapping[str, float]) -> bool | None:
    """Whether tokens lie twice as far apart at temperature 0.5; None if that cannot be seen."""
    both = [t for t in at_one if t in at_half and min(at_one[t], at_half[t]) > replies.LEAST]
    both.sort(key=lambda token: at_one[token])
    if not both or at_one[both[-1]] - at_one[both[0]] < 0.1:
        return None
    gaps = [top[both[-1]] - top[both[0]] for top in (at_one, at_half)]
    return gaps[1] > 1.5 * gaps[0]
