"""Asking a model everything an inspection needs, on the highest rung that it reaches.

It scores any text: every sample under every prompt. It says how likely its own samples are:
each sample is told, and answered once more. It says nothing of the kind: every distinct
sample is told, and answered many times. It may be asked, too, which answers mean the same. What
does not depend on each other goes out together.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core import prompts
from core.abstention.policy import USUAL_LIMIT
from core.language_models.client.concurrency import AT_ONCE, at_once
from core.language_models.errors import ModelError, RefusedError
from core.language_models.language_model import Capabilities, LanguageModel, Response, notes_on_cut
from core.language_models.true_false import OPINIONS, opinion, question, sameness
from core.language_models.usage import Usage
from core.studies.inspection.counter_answers import OTHERS, alike, counter_answers, may_be_one
from core.studies.inspection.gaps import (
    check_sum,
    no_answers,
    sum_of,
    texts_to_score,
    with_likelihoods,
    with_weight,
    without_gaps,
)
from core.studies.inspection.pairs import compare
from core.studies.inspection.recording import (
    EXACT,
    Call,
    Estimator,
    Recording,
    estimator_of,
    likely,
)
from core.studies.inspection.request import (
    MAX_SAMPLES,
    MOST_TEXTS,
    InvalidRequestError,
    Request,
    Sampling,
)
from core.studies.inspection.tasks import ModelTask, calls_of, draws, in_groups, list_calls
from core.studies.progress import Progress, Stages, silent
from core.uncertainty.logarithms import log_sum_exp
from core.uncertainty.no_answer import is_no_answer

# How many (prompt, answer) pairs one scoring call holds. Small enough that progress moves
# and a person can cancel; an inspection with ten samples is always a single call.
PAIRS_A_CALL = 2000
SLOW_PAIRS_A_CALL = 128  # of a model to which so many take a second or two
LIKELIEST = 8  # answers, where they are searched for: they cost no more than ten drawn ones
FEWEST_CHAINS = 100  # samples, where each says its own likelihood and no more
LEAST_TEMPERATURE = 0.7  # where samples are counted: a lower one makes any model look sure
MOST_SILENT = 0.1  # of the first answers: so many are left out if nothing is said after them
SECONDS = 30  # second answers after each distinct first one, where samples are counted

# Where all samples are alike.
OTHER_DRAWS = 8  # answers among which to find them, where a model cannot be searched
FREE_TEMPERATURE = 1.5  # of these
AFTER_OTHERS = 8  # second answers after each, where they are counted

SAMPLING = "Finding answers"
TELLING = "Asking again with each answer in the prompt"
JUDGING = "Comparing the answers"
TELLING_OTHERS = "Asking again with answers that it did not give"


def record(
    request: Request,
    model: LanguageModel,
    progress: Progress = silent,
    *,
    previous: Recording | None = None,
) -> Recording:
    """Ask the model everything an inspection needs.

    `previous`: a recording by the same model of the same query, temperature and seed: it is
    extended, and nothing it holds is asked again. Either may be judged, or not.

    Raises `InvalidRequestError` when the samples are too few, or too cold, for what the model can
    do, or when its likeliest answers are wanted and it cannot be searched.
    """
    if (
        previous
        and replace(previous.request, samples=request.samples, judged=request.judged) != request
    ):
        raise ValueError("Only a recording of the same query, temperature and seed can grow.")
    if previous and (previous.model, previous.revision) != (model.name, model.revision):
        raise ValueError("Only a recording of the same model can grow.")
    estimator = estimator_of(model.capabilities)
    if previous and previous.estimator is not estimator:
        raise ValueError("Only a recording of the same estimator can grow.")
    check_samples(request, model.capabilities)
    model = model.with_limit(request.answer_tokens)
    front = request.front
    if request.system and (behind := model.with_system(request.system)) is not None:
        model, front = behind, prompts.front(context=request.context)
    fewer = None
    if previous and previous.request.samples >= request.samples:
        fewer = previous.first(request.samples)
        if not request.judged:
            return fewer.without_judgement()
        if previous.request.judged:
            return fewer
    progress = Stages(progress, SAMPLING, TELLING, *[JUDGING][: request.judged], TELLING_OTHERS)
    asking = _Asking(request, model, front, progress, list(previous.calls) if previous else [])
    before = model.meter.usage
    recording = fewer or (_exact if estimator in EXACT else _sample)(asking, previous, estimator)
    if request.judged:
        recording = _judge(asking, recording, previous)
    if previous and previous.texts == recording.texts:
        recording = replace(recording, others=previous.others)
    else:
        recording = _tell_others(asking, recording)
    if model.capabilities.local:
        return recording
    earlier = previous.used if previous and previous.used else Usage()
    return replace(recording, used=earlier + (model.meter.usage - before))


def usual_request(query: str, capabilities: Capabilities, **options: Any) -> Request:
    """Return how one asks a question to begin with, by what a back end can do.

    The likeliest answers rank wrong ones better than as many drawn ones, and are the same every
    time. `options` are fields of `Request` that somebody chose.
    """
    searches = capabilities.searches
    usual: dict[str, Any] = {"sampling": Sampling.LIKELIEST if searches else Sampling.DRAWN}
    if options.get("sampling", usual["sampling"]) == Sampling.LIKELIEST:
        usual["samples"] = LIKELIEST
    elif estimator_of(capabilities) is Estimator.CHAINED:
        usual["samples"] = FEWEST_CHAINS
    return Request(query, **(usual | options))


def check_samples(request: Request, capabilities: Capabilities) -> None:
    """Refuse what a model cannot do, and samples so few, or so cold that they mean nothing.

    Raises `InvalidRequestError` with a sentence.
    """
    estimator = estimator_of(capabilities)
    if request.answer_tokens != USUAL_LIMIT and not capabilities.limits_answers:
        raise InvalidRequestError(
            f"The limit of this model’s answers cannot be chosen: it is {USUAL_LIMIT} tokens."
        )
    if request.front and not capabilities.reads_front:
        raise InvalidRequestError(
            "This model was taught questions alone: a context or a system prompt means nothing to "
            "it. Leave it out, or choose another model."
        )
    if request.sampling is Sampling.LIKELIEST and not capabilities.searches:
        raise InvalidRequestError(
            "This model cannot be searched for its likeliest answers. Choose drawn answers."
        )
    if estimator is Estimator.CHAINED and request.samples < FEWEST_CHAINS:
        raise InvalidRequestError(
            "This model scores its own answers but no other text, which takes at least "
            f"{FEWEST_CHAINS} samples. Choose {FEWEST_CHAINS} or more."
        )
    if estimator is Estimator.COUNTED and request.temperature < LEAST_TEMPERATURE:
        raise InvalidRequestError(
            "This model does not report how likely its answers are, so they are counted. At a "
            f"temperature of {request.temperature:g} nearly all are the same, whatever it "
            f"knows. Choose {LEAST_TEMPERATURE:g} or more."
        )


@dataclass
class _Asking:
    """One recording in the making: the model, the request, and the calls so far."""

    request: Request
    model: LanguageModel
    front: str  # of every prompt
    progress: Progress
    calls: list[Call]
    searched: Sequence[Response] = ()  # the likeliest answers, those left out too

    @property
    def pairs_a_call(self) -> int:
        return PAIRS_A_CALL if self.model.capabilities.quick else SLOW_PAIRS_A_CALL

    @property
    def query(self) -> str:
        return self.model.reads(self.request.query)

    @property
    def first_prompt(self) -> str:
        return self.front + prompts.iterative(self.query)

    def prompt_after(self, text: str) -> str:
        return self.front + prompts.iterative(self.query, [text])

    def judging(self, text: str) -> str:
        return self.front + prompts.self_verification(self.query, text)

    def together(self, stage: str, tasks: Sequence[ModelTask]) -> list[Any]:
        """Run tasks that do not depend on each other; write down what each call took."""
        local = self.model.capabilities.local
        groups = in_groups(tasks, self.pairs_a_call if local else 0)
        each = at_once(
            [partial(calls_of, self.model, group) for group in groups],
            workers=1 if local else AT_ONCE,
            tick=lambda share: self.progress(stage, share),
        )
        done = [pair for group in each for pair in group]
        self.calls += list_calls([call for _, call in done])
        return [result for result, _ in done]

    def sample(self, first: int, count: int) -> ModelTask:
        return self._draw("sample", self.first_prompt, self.request.seed, first, count)

    def search(self, count: int) -> ModelTask:
        return ModelTask("search", count, partial(self.model.likeliest, self.first_prompt, count))

    def freely(self, count: int, temperature: float) -> ModelTask:
        how = {"temperature": temperature, "seed": self.request.seed}
        return draws("sample freely", self.model, self.first_prompt, count, **how)

    def second(self, text: str, first: int, count: int) -> ModelTask:
        """Sample after a text was told; seeds of its own, or it would repeat the first draw."""
        seeded = f"{self.request.seed}\0{text}".encode("utf-8", "surrogatepass")
        seed = int.from_bytes(hashlib.sha256(seeded).digest()[:4])
        return self._draw("sample again", self.prompt_after(text), seed, first, count)

    def _draw(self, purpose: str, prompt: str, seed: int, first: int, count: int) -> ModelTask:
        how = {"temperature": self.request.temperature, "seed": seed, "first": first}
        return draws(purpose, self.model, prompt, count, **how)

    def greedy(self) -> ModelTask:
        return draws("greedy", self.model, self.first_prompt, 1, temperature=0.0)

    def score(
        self, contexts: Sequence[str], answers: Sequence[str], purpose: str = "score"
    ) -> ModelTask:
        return ModelTask(
            purpose,
            len(contexts) * len(answers),
            partial(self.model.log_likelihoods, contexts, answers),
            (contexts, answers),
        )

    def weigh(self, answers: Sequence[str]) -> NDArray[np.float64]:
        """Return ln Q of answers to the question alone, (n,), nats, before more is paid for."""
        (row,) = self.together(TELLING, [self.score([self.first_prompt], answers)])
        return np.array(row[0])

    def recording(self, **fields: Any) -> Recording:
        model = self.model
        greedy, samples = fields["greedy"], fields["samples"]
        first = samples if greedy in samples else (*samples, greedy)
        notes = (*model.capabilities.notes, *notes_on_cut(chain(first, *fields.get("seconds", ()))))
        fields |= {"calls": tuple(self.calls), "notes": notes}
        fields["system_turn"] = self.front != self.request.front
        fields["read_as"] = self.query if self.query != self.request.query else None
        return Recording(self.request, model.name, model.revision, **fields)

    def compare(self, questions: Sequence[str], sequences_each: int) -> ModelTask:
        return ModelTask(
            "judge", len(questions) * sequences_each, partial(sameness, self.model, questions)
        )


def _exact(asking: _Asking, previous: Recording | None, estimator: Estimator) -> Recording:
    samples, greedy = _first_answers(asking, previous)
    texts = texts_to_score(samples, previous)
    weight = unlikely = None
    if not asking.model.capabilities.local:
        texts, unlikely, weight, weight_of_greedy = with_weight(
            asking.weigh, texts, greedy.text, previous
        )
    contexts = [asking.first_prompt, *map(asking.prompt_after, texts)]
    matrix = np.empty((len(texts) + 1, len(texts)))
    verification = np.empty((len(texts), 2))
    alone = np.empty((1, 1))  # of the greedy answer, where it was not sampled
    first_new = first_new_row = 0
    if previous:
        first_new, first_new_row = len(previous.texts), len(previous.texts) + 1
        matrix[:first_new_row, :first_new] = previous.log_likelihoods
        verification[:first_new] = previous.verification
    weighed = 0
    if weight is not None:
        weighed, matrix[0], alone[0, 0] = 1, weight, weight_of_greedy

    # Each call beside the part of an array that its values go to. Only the new columns of the
    # old rows; every column of the new rows.
    calls: list[tuple[ModelTask, NDArray[np.float64]]] = []
    for rows, first in (
        (slice(weighed, first_new_row), first_new),
        (slice(max(weighed, first_new_row), None), 0),
    ):
        answers = texts[first:]
        for block in _blocks(contexts[rows], answers, asking.pairs_a_call):
            part = matrix[rows, first:][block]
            calls.append((asking.score(contexts[rows][block], answers), part))
    if new := texts[first_new:]:
        questions = [asking.judging(text) for text in new]
        task = asking.score(questions, [prompts.TRUE, prompts.FALSE], "verify")
        calls.append((task, verification[first_new:]))
    if not previous and weight is None and greedy.text not in texts:
        calls.append((asking.score([asking.first_prompt], [greedy.text]), alone))
    scored = asking.together(TELLING, [task for task, _ in calls])
    for (_, part), values in zip(calls, scored, strict=True):
        part[...] = values

    of_texts = dict(zip(texts, matrix[0].tolist(), strict=True))
    texts, matrix, verification = without_gaps(asking.model, texts, matrix, verification)
    if previous:
        of_greedy = previous.greedy_log_likelihood
    else:
        of_greedy = float(of_texts.get(greedy.text, alone[0, 0]))
        if math.isnan(of_greedy):  # what cannot be scored is not served: the likeliest is
            best = int(np.argmax(matrix[0]))
            whole = next(sample for sample in samples if sample.text == texts[best])
            greedy, of_greedy = whole, float(matrix[0, best])
    return asking.recording(
        samples=samples,
        greedy=greedy,
        greedy_log_likelihood=of_greedy,
        texts=texts,
        log_likelihoods=matrix,
        verification=verification,
        estimator=estimator,
        unlikely=unlikely or (),
    )


def _blocks(contexts: Sequence[str], answers: Sequence[str], pairs_a_call: int) -> list[slice]:
    """Cut prompts into blocks of at most so many pairs; none where nothing is asked."""
    if not contexts or not answers:
        return []
    size = max(1, pairs_a_call // len(answers))
    return [slice(i, min(i + size, len(contexts))) for i in range(0, len(contexts), size)]


def _first_answers(
    asking: _Asking, previous: Recording | None
) -> tuple[tuple[Response, ...], Response]:
    """Find the answers that are missing and, the first time, the greedy response."""
    samples = previous.samples if previous else ()
    most = asking.request.samples
    if asking.request.sampling is Sampling.LIKELIEST:
        find = asking.search(max(most, LIKELIEST))
    else:
        find = asking.sample(len(samples), most - len(samples))
    # A search goes first: what it sees of the greedy answer need not be computed again.
    searched = asking.request.sampling is Sampling.LIKELIEST
    tasks = [find, asking.greedy()] if searched else [asking.greedy(), find]
    replies = asking.together(SAMPLING, [find] if previous else tasks)
    candidates = replies[0] if searched or previous else replies[1]
    greedy = previous.greedy if previous else replies[1 if searched else 0][0]
    if searched:
        asking.searched = candidates
        texts = {sample.text for sample in samples}
        candidates = [
            collected for collected in likely(candidates, most) if collected.text not in texts
        ]
    collected = (*samples, *candidates)
    answers = Counter(response.text for response in collected if response.text)
    if not answers:
        raise no_answers(asking.model, collected, "it is asked")
    if not greedy.text:  # nothing at all is no answer, and none to serve
        often = answers.most_common(1)[0][0]
        greedy = next(response for response in collected if response.text == often)
    return collected, greedy


def _sample(asking: _Asking, previous: Recording | None, estimator: Estimator) -> Recording:
    samples, greedy = _first_answers(asking, previous)
    if estimator is Estimator.CHAINED:
        (samples,) = with_likelihoods(asking.model, [samples])
    counts = Counter(sample.text for sample in samples if sample.text)
    texts = tuple(counts)
    if estimator is Estimator.COUNTED and len(texts) > (
        most := MOST_TEXTS * asking.request.most_samples // MAX_SAMPLES // (1 + SECONDS)
    ):
        raise ModelError(
            f"{asking.model.name} gave {len(texts)} different answers to {len(samples)} samples, "
            f"and would be asked {SECONDS} times more after each. That could be more answers than "
            f"can be compared: at most {most} may differ. Nothing more was "
            "asked. Choose fewer samples."
        )
    before = dict(zip(previous.texts, previous.seconds, strict=True)) if previous else {}
    missing = []
    for text in texts:
        there = len(before.get(text, ()))
        most = counts[text] if estimator is Estimator.CHAINED else SECONDS
        if most > there:
            missing.append((text, there, most - there))
    new = texts[len(before) :]
    calls = [asking.second(*m) for m in missing]
    replies = asking.together(TELLING, [*calls, *(_opinion(asking, text) for text in new)])
    for (text, _, _), reply in zip(missing, replies, strict=False):
        before[text] = (*before.get(text, ()), *reply)
    if estimator is Estimator.CHAINED:
        before = dict(zip(before, with_likelihoods(asking.model, [*before.values()]), strict=True))
    silent = sum(
        counts[text] for text, row in before.items() if not any(response.text for response in row)
    )
    if silent > MOST_SILENT * counts.total():
        seconds = [response for row in before.values() for response in row]
        raise no_answers(asking.model, seconds, "it is told an answer")
    for responses in (samples, *before.values()) if estimator is Estimator.CHAINED else ():
        check_sum(asking.model, sum_of(responses))
    verification = np.array(replies[len(calls) :]).reshape(-1, 2)
    if previous:
        verification = np.concatenate([previous.verification, verification])
    return asking.recording(
        samples=samples,
        greedy=greedy,
        greedy_log_likelihood=greedy.log_likelihood,
        texts=texts,
        log_likelihoods=np.empty((0, 0)),
        verification=verification,
        estimator=estimator,
        seconds=tuple(before[text] for text in texts),
    )


def _opinion(asking: _Asking, text: str) -> ModelTask:
    """Ask whether a text is correct: for probabilities, or, without them, for samples."""
    prompt = asking.judging(text)
    sequences = 2 if asking.model.capabilities.next_token else OPINIONS
    return ModelTask(
        "verify", sequences, partial(opinion, asking.model, prompt, seed=asking.request.seed)
    )


def _tell_others(asking: _Asking, recording: Recording) -> Recording:
    """Tell a model that may have one answer only a few others, and see whether it keeps to it."""
    texts = [text for text in recording.texts if not is_no_answer(text)] or [recording.texts[0]]
    first = texts[0]
    if len(alike(first, texts)) < len(texts) and not may_be_one(first, texts):
        return recording
    others = _others(asking, first)
    if recording.estimator in EXACT:
        contexts = [asking.prompt_after(text) for text in others]
        task = asking.score(contexts, texts, "tell others")
        replies = asking.together(TELLING_OTHERS, [task] if contexts else [])
        scored = [
            (text, row)
            for text, row in zip(others, [row for m in replies for row in m], strict=True)
            if not np.isnan(row).any()
        ]
        others = [text for text, _ in scored]
        shares = [float(np.exp(log_sum_exp(row))) for _, row in scored]
    else:
        reply = asking.together(TELLING_OTHERS, [asking.second(t, 0, AFTER_OTHERS) for t in others])
        shares = [len(alike(first, [r.text for r in row])) / len(row) for row in reply]
    shares_of = tuple((text, min(share, 1.0)) for text, share in zip(others, shares, strict=True))
    return replace(recording, others=shares_of, calls=tuple(asking.calls))


def _others(asking: _Asking, own: str) -> list[str]:
    """Return up to `OTHERS` counter-answers: searched for, or drawn as freely as still answers."""

    def among(responses: Sequence[Response]) -> list[str]:
        whole = [response.text for response in responses if response.complete]
        texts = [text for text, _ in Counter(whole).most_common()]
        return counter_answers(asking.request.query, asking.model.name, own, texts)

    if not asking.model.capabilities.searches:
        try:
            (reply,) = asking.together(
                TELLING_OTHERS, [asking.freely(OTHER_DRAWS, FREE_TEMPERATURE)]
            )
        except RefusedError:  # some services take 1 at most
            (reply,) = asking.together(TELLING_OTHERS, [asking.freely(OTHER_DRAWS, 1.0)])
        return among(reply)
    # The likeliest may be spellings of the one, or no answers: then further ones are looked at.
    others = among(asking.searched)
    if len(others) < OTHERS:
        (further,) = asking.together(TELLING_OTHERS, [asking.search(4 * LIKELIEST)])
        others = among(further)
    return others


def _judge(asking: _Asking, recording: Recording, previous: Recording | None) -> Recording:
    """Ask about the pairs of answers that nobody has asked about yet, all at once."""
    capabilities = asking.model.capabilities
    texts = recording.distinct_texts
    older = previous if previous and previous.request.judged else None
    matrix, missing = compare(
        texts,
        len(recording.texts),
        *((older.judged_texts, len(older.texts), older.judged) if older else ()),
    )
    rows, columns = np.nonzero(missing)
    pairs = zip(rows, columns, strict=True)
    questions = [asking.front + question(asking.query, texts[i], texts[j]) for i, j in pairs]
    if capabilities.scores_given_text:
        blocks = _blocks(questions, (prompts.TRUE, prompts.FALSE), asking.pairs_a_call)
    else:
        blocks = [slice(i, i + 1) for i in range(len(questions))]
    weight = 2 if capabilities.scores_given_text or capabilities.next_token else 1
    replies = asking.together(JUDGING, [asking.compare(questions[b], weight) for b in blocks])
    opinions = np.concatenate([np.empty(0), *replies])
    judged = ~np.isnan(opinions)
    rows, columns = rows[judged], columns[judged]
    matrix[rows, columns] = matrix[columns, rows] = opinions[judged]
    return replace(recording, request=asking.request, judged=matrix, calls=tuple(asking.calls))
