"""Inspection: one question to a model, and everything behind the verdict on its answer.

`run` asks the model (`recorder.record`) and reads the recording (`read`); moving τ, the
similarity, γ or λ means reading the same recording again, which asks nothing.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Final

import numpy as np

from core import prompts
from core.abstention.policy import (
    NOT_VERIFIED,
    UNKNOWN_ORIGIN,
    Pipeline,
    Policy,
    PolicyError,
    check_pipeline,
)
from core.codec import finite, one_line
from core.language_models import meaning
from core.language_models.language_model import LanguageModel
from core.studies.inspection.certificates import certificate, strictest_least_mass
from core.studies.inspection.pipeline import pipeline_of
from core.studies.inspection.recorder import LIKELIEST, record
from core.studies.inspection.recording import EXACT, LEFT_OUT, Estimator, Recording
from core.studies.inspection.request import InvalidRequestError, Reading, Request
from core.studies.inspection.taught_questions import TaughtPosition, taught_position
from core.studies.inspection.verdict import (
    DEFAULT,
    INFORMED,
    LEAST_KEPT,
    SCORE,
    Decision,
    DecisionRule,
    Headline,
    Verdict,
    belief_limit,
    decide,
    doubt_of,
    largest_that_stands,
    raised_doubt,
    rule_of,
    stands,
    surprise,
)
from core.studies.inspection.vetoes import remainder, veto
from core.uncertainty.confidence_limit import lower_confidence_limit
from core.uncertainty.evidence import ComparedTuples, Evidence
from core.uncertainty.prefixes import without_continuations
from core.uncertainty.sampled_evidence import Chain, from_chains, from_tallies
from core.uncertainty.scores import SCORES, Score
from core.uncertainty.similarity import ANSWER_RULE, JUDGE

NOT_OF_THESE_WORDS: Final = "Holds of taught words alone:"


def display(text: str) -> str:
    """Return a response as it is displayed; one that says nothing says so."""
    return text or "(no text)"


@dataclass(frozen=True)
class Cluster:
    """Responses that count as one answer, named by the likeliest of them."""

    text: str  # the centre: what is displayed, served, judged and conditioned on
    probability: float  # μ̂₁, normalised over the answers found
    mass: float  # the cluster's share of the model's whole probability
    samples: int  # how many of the drawn answers, or of the likeliest, fell into it
    # Each distinct text with ln Q(text | F_0) in nats and how often it was drawn; 1 where answers
    # were searched for.
    members: tuple[tuple[str, float, int], ...]


@dataclass(frozen=True)
class MatrixCell:
    """One entry of the joint distribution, with what it was computed from."""

    first: str
    second: str
    joint: float
    product: float
    contribution: float
    prompt: str
    log_likelihoods: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Inspection:
    """A recording as read under some settings: clusters, scores, verdict."""

    recording: Recording
    reading: Reading
    evidence: Evidence
    scores: Mapping[str, Score]
    verdict: Verdict
    refused: str | None = None  # why the policy in use does not decide here; then nothing does
    # The policy that a person brought, whether it decides or is refused.
    policy: Policy | None = None
    # Whether it came from a file, or another person's policy decided.
    from_file: bool = False

    @property
    def query(self) -> str:
        """The question."""
        return self.recording.request.query

    @property
    def read_as(self) -> str | None:
        """Say which taught question was asked in place of what was typed; None if it was not."""
        return f"Read as: {self.query}" if self.recording.request.typed else None

    @property
    def outcome(self) -> str:
        """What came of it, in a few words: the headline, and the answer that it is about."""
        return self.headline if self.conceals else f"{self.headline}: {self.verdict.answer}"

    @property
    def conceals(self) -> bool:
        """Whether no text of the model is shown unasked: it was taught nothing near the question.

        What is made up has no place on a page, in a report, in a list or in a terminal until
        somebody wants to see it. Files that a program reads hold everything.
        """
        return self.nearest_taught is not None and self.nearest_taught.outside

    @property
    def decision(self) -> Decision:
        """What to do with the answer: the verdict's decision, where enough answers were wanted."""
        return self.verdict.decision if self.samples_needed is None else Decision.TOO_LITTLE

    @property
    def headline(self) -> Headline:
        """What may be said of the answer: no more than what was certified for such a case."""
        if self.conceals:
            return Headline.UNTAUGHT
        if self.decision is not Decision.ANSWER:
            return Headline(self.decision)
        firm = self.verdict.firm and self.may_promise
        return Headline.BELIEVE if firm else Headline.PERHAPS

    @cached_property
    def nearest_taught(self) -> TaughtPosition | None:
        """Where the question stands to those that the model was taught, where these are known."""
        return taught_position(self.query, self.recording.model)

    @property
    def samples_needed(self) -> int | None:
        """How many answers a verdict takes, where fewer were asked for; else None."""
        request = self.recording.request
        fewest = Request.samples if request.draws else LIKELIEST
        return fewest if request.samples < fewest else None

    @property
    def least_mass(self) -> float:
        """The sampled mass below which nothing is decided, in [0, 1]."""
        rule = self.verdict.rule
        return rule.least_mass if rule else strictest_least_mass()

    @property
    def more_can_help(self) -> bool:
        """Whether more answers may bring a verdict where too little was seen.

        Of answers that were searched for, those not seen yet are no likelier than the last, which
        bounds what `most_samples` of them could add.
        """
        request, samples = self.recording.request, self.recording.samples
        if self.decision is not Decision.TOO_LITTLE or self.headline is Headline.UNTAUGHT:
            return False
        if self.samples_needed is not None or request.draws:
            return request.samples < request.most_samples
        likelihoods = [sample.log_likelihood or 0.0 for sample in samples]
        cut = math.log(LEFT_OUT / request.samples) + likelihoods[0]
        least = min(likelihoods[-1], cut) if len(samples) < request.samples else likelihoods[-1]
        unseen = (request.most_samples - len(samples)) * math.exp(least)
        return self.sampled_mass + unseen >= self.least_mass

    @property
    def pipeline(self) -> Pipeline:
        """What the scores were made with."""
        return _pipeline(self.recording, self.reading, self.least_mass)

    @property
    def default_fits(self) -> bool:
        """Whether a bundled policy was certified for what was done here."""
        return certificate(self.pipeline) is not None

    @property
    def information_threshold(self) -> float:
        """What the certified bound is compared with, nats.

        λ of the deciding score where M.I. is in it, or the certificate's if another decides.
        Where nothing is certified, what an answer that stands may reach.
        """
        rule = self.verdict.rule
        if rule is not None and rule.score in INFORMED and math.isfinite(rule.value):
            return rule.value
        default = certificate(self.pipeline, SCORE)
        if default is not None and math.isfinite(default.threshold):
            return default.threshold
        return largest_that_stands(self.evidence.answers)

    @property
    def withholding_bound(self) -> float | None:
        """The certified bound from which on an answer is withheld, nats; None if none withholds it.

        As where the policy in use does not fit, or decides by a score that M.I. is not in.
        """
        rule = self.verdict.rule
        decides = rule is None or (rule.score in INFORMED and math.isfinite(rule.value))
        return self.information_threshold if decides and not self.refused else None

    @property
    def sampled_mass(self) -> float:
        """The share of the model's probability that the distinct answers found hold."""
        return self.evidence.sampled_mass

    @property
    def in_taught_words(self) -> bool:
        """Whether nothing shows that the question is worded unlike all that the model was taught.

        What is certified is certified on questions in taught words.
        """
        return self.nearest_taught is None or self.nearest_taught.recognised

    @property
    def is_verified(self) -> bool:
        """Whether nothing of it, nor the policy that decided, is of a file that nobody checked."""
        return not (self.from_file or (self.policy and self.policy.from_file))

    @property
    def may_promise(self) -> bool:
        """Whether what a policy promises holds of such a question, as far as anybody here knows."""
        return self.in_taught_words and self.is_verified

    @property
    def others(self) -> tuple[tuple[str, float], ...]:
        """What else the model was told where it gives a single answer; see `Recording.others`."""
        return self.recording.others if self.evidence.answers == 1 else ()

    @property
    def promises(self) -> bool:
        """Whether what decides promises how many of such answers that it serves are wrong."""
        rule = self.verdict.rule
        return rule is not None and rule.error is not None and self.may_promise

    @property
    def origin(self) -> str:
        """What decides, what it promises, and whether of such a question; "" where nothing does."""
        rule = self.verdict.rule
        origin = rule.origin if rule else ""
        if origin and not self.in_taught_words:
            return f"{NOT_OF_THESE_WORDS} {origin}"
        promises = rule is not None and rule.error is not None
        unmarked = self.from_file and promises and not origin.startswith(NOT_VERIFIED)
        return f"{NOT_VERIFIED}: {origin}" if unmarked else origin

    @property
    def stands(self) -> bool:
        """Whether telling the model another answer hardly changes the next one.

        Nor is it so only because all others are rare: M.I. is small then, whatever is followed.
        """
        stood = stands(self.scores, self.evidence.answers, self.recording.others)
        return stood and remainder(self.evidence, self.verdict.answer) >= LEAST_KEPT

    @property
    def doubt_decides(self) -> bool:
        """Whether an answer is served exactly where its doubt is below a certified λ."""
        doubt, rule = self.compared_doubt, self.verdict.rule
        if rule is None or self.conceals:
            return False
        return doubt is None or self.decision is Decision.ANSWER or doubt >= rule.value

    @property
    def belief_limit(self) -> float | None:
        """The doubt up to which this answer may be believed, nats; None where it may not.

        Nothing where it is withheld, or low doubt alone does not serve it: no word of trust is
        near. Nor where so low a doubt is there, and something else speaks against the answer.
        """
        serves = self.decision is Decision.ANSWER and self.doubt_decides
        if not (serves and self.may_promise):
            return None
        of = self.scores, self.evidence.answers, self.verdict.rule, self.recording.others
        limit, doubt = belief_limit(*of), self.compared_doubt
        is_within = limit is not None and doubt is not None and doubt <= limit
        return None if is_within and not self.verdict.firm else limit

    @property
    def compared_doubt(self) -> float | None:
        """The doubt that the verdict compares with λ, or would if enough had been seen."""
        return raised_doubt(self.scores, self.verdict.score, self.recording.others)

    @property
    def has_repeats(self) -> bool:
        """Whether the doubt is of a single answer, and of nothing but how likely that is kept."""
        rule, others = self.verdict.rule, self.others
        if not others or self.decision is Decision.TOO_LITTLE:
            return False
        return rule is None or (
            rule.score == SCORE
            and 0 < rule.value < math.inf
            and self.compared_doubt == surprise(others)
        )

    @property
    def doubts(self) -> dict[str, float | None]:
        """Every score's doubt as a policy compares it with λ; None abstains.

        It is None, too, where its answer is not served whatever the doubt: a policy is calibrated
        on what it serves.
        """
        least_mass, others = self.pipeline.least_mass, self.recording.others
        seen = self.sampled_mass, self.evidence.answers, least_mass, others
        about = self.recording, self.evidence
        vetoes = {
            answer: veto(*about, answer, self.reading.similarity, certified=True)
            for answer in {score.answer for score in self.scores.values()}
        }
        doubts = {name: doubt_of(self.scores, name, *seen) for name in self.scores}
        return {
            name: None if doubt is None or vetoes[self.scores[name].answer] else finite(doubt)
            for name, doubt in doubts.items()
        }

    @property
    def certified_bound(self) -> float | None:
        """The certified lower bound of the mutual information, nats."""
        return self.scores["certified_mutual_information"].value

    @cached_property
    def confidence_limit(self) -> float | None:
        """A lower limit of the model's own M.I. at `CONFIDENCE`, nats; None where none is valid."""
        if not self.recording.independent:
            return None
        try:
            return lower_confidence_limit(*self.evidence.sample_table())
        except ValueError:  # no exact likelihoods of whole answers: the certified score says why
            return None

    @property
    def largest_information(self) -> float:
        """ln m for m clusters, nats: the most that entropies and M.I. can be (for γ = 0)."""
        return math.log(len(self.clusters))

    @cached_property
    def clusters(self) -> tuple[Cluster, ...]:
        """The clusters, the likeliest centre first."""
        e = self.evidence
        return tuple(
            Cluster(
                text=text,
                probability=float(np.exp(e.log_first[i])),
                mass=float(np.exp(e.cluster_log_marginal[i])),
                samples=int(e.cluster_counts[i]),
                members=tuple(
                    (e.responses[j], float(e.log_marginal[j]), int(e.counts[j]))
                    for j in np.flatnonzero(e.labels == i)
                ),
            )
            for i, text in enumerate(e.centre_texts)
        )

    def cell(self, first: int, second: int) -> MatrixCell:
        """Return the entry of the joint for clusters `first` (row) and `second` (column)."""
        e, information = self.evidence, self.evidence.mutual_information
        row = e.centres[first]
        return MatrixCell(
            first=e.centre_texts[first],
            second=e.centre_texts[second],
            joint=float(information.joint[first, second]),
            product=float(information.product[first, second]),
            contribution=float(information.contributions[first, second]),
            prompt=self.recording.front
            + prompts.iterative(self.recording.question, [e.centre_texts[first]]),
            log_likelihoods=tuple(
                (e.responses[j], float(e.log_conditionals[row, j]))
                for j in np.flatnonzero(e.labels == second)
            ),
        )


def read(
    recording: Recording,
    reading: Reading | None = None,
    rule: DecisionRule | None = None,
    *,
    policy: Policy | None = None,
) -> Inspection:
    """Turn a recording into an inspection; asks the model nothing.

    Without a rule, the bundled policy that was certified for this pipeline decides; where none was,
    nothing is promised. A `policy` decides instead. One that was calibrated for another pipeline
    decides nothing, and no other takes its place.

    Raises `InvalidRequestError` where the model is to compare the answers, and was not asked to.
    """
    reading = reading or Reading()
    evidence = evidence_of(recording, reading)
    scores = {name: info.function(evidence) for name, info in SCORES.items()}
    refused = None if policy is None else _refusal(policy, recording, reading)
    if policy is not None:
        rule = None if refused else rule_of(policy)
    elif rule is None:
        default = certificate(_pipeline(recording, reading, 0.0))
        rule = rule_of(default, f"{DEFAULT} ") if default else None
    others, is_tested = recording.others, policy is not None and policy.method == "ltt"
    promises = rule is not None and (is_tested or rule.error is not None)
    answer = scores[rule.score if rule else SCORE].answer
    verdict = decide(
        scores,
        evidence.sampled_mass,
        evidence.answers,
        rule,
        others,
        veto=veto(recording, evidence, answer, reading.similarity, certified=promises),
        remainder=remainder(evidence, answer),
    )
    if refused:
        verdict = Verdict(Decision.UNDECIDED, verdict.answer, refused, None)
    return Inspection(recording, reading, evidence, scores, verdict, refused, policy)


def _comparison(recording: Recording, similarity: str) -> ComparedTuples | None:
    """Return the texts that a model has compared, and how alike they are; None by a rule."""
    if similarity == JUDGE:
        return recording.judged_texts, recording.judged
    if not meaning.compares(similarity):
        return None
    texts = recording.distinct_texts
    return texts, meaning.alike(similarity, recording.question, texts)


def _refusal(policy: Policy, recording: Recording, reading: Reading) -> str | None:
    """Say why a policy decides nothing here; None where it decides."""
    if reason := cannot_decide(policy):
        return reason
    try:
        check_pipeline(policy, _pipeline(recording, reading, rule_of(policy).least_mass))
    except PolicyError as error:
        return str(error)
    return None


EARLIER_RULE: Final = (
    "The scores that made this policy are of another rule of answers than this version has, so it "
    "decides nothing here. Have the questions asked again for a policy that can."
)


def cannot_decide(policy: Policy) -> str | None:
    """Say why a policy decides no inspection, whatever its settings; None if it may."""
    name = one_line(policy.score)
    if policy.pipeline is None:
        return UNKNOWN_ORIGIN
    if policy.score not in SCORES:
        return f"This policy uses the score “{name}”, which is not computed here."
    if policy.larger_is_surer:
        return (
            f"This policy takes a large “{name}” as a sign of a sure answer; here it is a sign of "
            "doubt."
        )
    return None if policy.pipeline.answer_rule == ANSWER_RULE else EARLIER_RULE


def _pipeline(recording: Recording, reading: Reading, least_mass: float) -> Pipeline:
    return pipeline_of(
        recording.model,
        recording.revision,
        recording.request,
        reading,
        least_mass,
        recording.estimator,
    )


def run(request: Request, model: LanguageModel, reading: Reading | None = None) -> Inspection:
    """Ask and read in one go; see `recorder.record` and `read`."""
    return read(record(request, model), reading)


def evidence_of(recording: Recording, reading: Reading) -> Evidence:
    """Return what the scores look at, on the rung that the recording was made on.

    Raises `InvalidRequestError` where the model is to compare the answers, and was not asked to.
    """
    if reading.similarity == JUDGE and not recording.request.judged:
        raise InvalidRequestError(
            "The model has not compared these answers. Ask the question again with the "
            f"similarity “{JUDGE}”, or choose another similarity."
        )
    verification = {
        text: (float(true), float(false))
        for text, (true, false) in zip(recording.texts, recording.verification, strict=True)
    }
    options: dict[str, Any] = {
        "greedy": recording.greedy.text,
        "verification": verification,
        "parameters": reading,
        "compared": _comparison(recording, reading.similarity),
    }
    if recording.estimator in EXACT:
        assert recording.greedy_log_likelihood is not None
        log_likelihoods = recording.log_likelihoods
        if recording.estimator is Estimator.PREFIX:
            log_likelihoods = without_continuations(recording.texts, log_likelihoods)
        return Evidence.build(
            recording.texts,
            log_likelihoods[0],
            log_likelihoods[1:],
            recording.counts,
            greedy_log_likelihood=recording.greedy_log_likelihood,
            complete=recording.complete & (recording.estimator is Estimator.EXACT),
            **options,
        )
    seconds = dict(zip(recording.texts, recording.seconds, strict=True))
    cut = {
        response.text: False
        for response in (*recording.samples, *chain.from_iterable(recording.seconds))
        if not response.complete
    }
    if recording.estimator is Estimator.CHAINED:
        return from_chains(
            sampled_chains(recording),
            greedy_log_likelihood=recording.greedy_log_likelihood,
            complete=cut,
            **options,
        )
    second_counts = {text: Counter(r.text for r in row if r.text) for text, row in seconds.items()}
    counts = dict(zip(recording.texts, map(int, recording.counts), strict=True))
    return from_tallies(
        # As with pairs: an answer after which nothing was ever said is left out.
        {text: count for text, count in counts.items() if second_counts[text]},
        {text: row for text, row in second_counts.items() if row},
        complete=cut,
        **options,
    )


def sampled_chains(recording: Recording) -> list[Chain]:
    """Pair each sample with the answer after it was told: the next one of its text.

    Where one of the two is empty, there is no pair: nothing at all is no answer.
    """
    following = {
        text: iter(row) for text, row in zip(recording.texts, recording.seconds, strict=True)
    }
    chains = []
    for first in recording.samples:
        second = next(following.get(first.text, iter(())), None)
        if second is None or not second.text:
            continue
        assert first.log_likelihood is not None and second.log_likelihood is not None
        chains.append((first.text, second.text, first.log_likelihood, second.log_likelihood))
    return chains
