"""An inspection in sentences: what comes first, what holds it back, and what is true."""

import math
import re
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from core.abstention.policy import NOT_VERIFIED
from core.codec import count_of, list_of, no_more, percent
from core.studies.evaluation.recorded_answers import counts, source_of
from core.studies.inspection.certificates import MODELS, certified_model, certifies, default_policy
from core.studies.inspection.inspection import Inspection, display
from core.studies.inspection.quick_look import ANSWERS
from core.studies.inspection.recording import Estimator
from core.studies.inspection.taught_questions import TaughtPosition
from core.studies.inspection.verdict import (
    CERTIFIED,
    DEFAULT,
    INFORMED,
    LARGEST_ERROR,
    LEAST_CONFIDENCE,
    SCORE,
    SO_PERHAPS,
    Decision,
    DecisionRule,
    Headline,
    beside_limit,
    digits_apart,
    largest_doubt,
    largest_that_stands,
    repeat_probability,
    rule_of,
)
from core.uncertainty.confidence_limit import CONFIDENCE
from core.uncertainty.scores import SCORES

SYSTEM: Final = {
    True: "The system prompt was a message of its own, before each of these prompts.",
    False: "The system prompt stands in front of each prompt: it has no message of its own here.",
    None: "The system prompt stands in front of each prompt. If the model was asked in a chat, it "
    "may have been a message of its own: this file does not say.",
}
# What is said of the answer. One that is withheld is never the headline, and there is no word of
# trust on what the model was not taught: the decision stands beneath, and small.
QUICK: Final = f"A quick look: {ANSWERS} answers, counted, and no verdict."
NO_PROMISE: Final = "no promise"  # of a policy, in a saved outcome
_NO_GUARANTEE: Final = "no guarantee"  # the same as earlier versions saved it
BELIEF: Final = "Believe limit"
ABOVE: Final = f"above the {BELIEF}"
OTHER_WORDS: Final = "not taught these words"  # why no promise holds of an answer
_DECIDED: Final = (
    r"(?: \((?:(-?\d+\.\d+|inf) ([^,()]+), λ = (-?\d+\.\d+), ([^()]+ policy: [^()]+)"
    r"|(\d+\.\d\d) λ|(\d+% away))\))"
)
_UNVERIFIED: Final = "unverified"  # of a policy that nobody here checked
EARLIER: Final = "by an earlier rule"
LONGEST_CHOICE: Final = 80  # characters of two answers, between which one is to choose
LABELS: Final = 200  # enough for 5% at a first look, if a third of them are answered, and rightly
AFTER_QUICK: Final = (
    "This is no verdict. An inspection tells whether the model does not know, or many answers are "
    "right. It draws none of these answers again."
)


@dataclass(frozen=True)
class Stamp:
    """A verdict in its words, sign and style: the same on every page, slide, list and report."""

    style: str  # a class of `core/ui/components/common.css` and `core/ui/page.css`
    sign: str
    words: str
    reason: str = ""  # what is said under it, whatever the answer

    @property
    def label(self) -> str:
        """What a stamp has on it."""
        return f"{self.sign} {self.words}"

    @property
    def sentence(self) -> str:
        """The same in prose."""
        return f"{self.words}. {self.reason}".rstrip()


STAMPS: Final = {
    Headline.BELIEVE: Stamp("believe", "✓", "Believe it"),
    Headline.PERHAPS: Stamp("perhaps", "≈", "Perhaps"),
    Headline.ABSTAIN: Stamp("doubt", "?", "I don’t know"),
    Headline.TOO_LITTLE: Stamp("unsure", "…", "Can’t tell yet"),
    Headline.UNDECIDED: Stamp("unsure", "…", "Can’t tell yet"),
    Headline.UNTAUGHT: Stamp(
        "doubt", "?", "I don’t know", "Not near anything this model was taught."
    ),
}
#: Where nothing promises how many of such answers are wrong, it looks and reads weaker.
UNPROMISED: Final = Stamp("unpromised", "≈", "Perhaps, no promise")
#: By whether one is promised.
STAMPS_BY_PROMISE: Final = {True: STAMPS, False: {**STAMPS, Headline.PERHAPS: UNPROMISED}}
_SERVED: Final = (STAMPS[Headline.BELIEVE], STAMPS[Headline.PERHAPS])
WITHHELD: Final = {
    Decision.ABSTAIN: "It would have said:",
    Decision.TOO_LITTLE: "It may say:",
    Decision.UNDECIDED: "It says:",
}
BENEATH: Final = {
    Decision.ANSWER: "Judged by its doubt alone, it would have answered:",
    Decision.ABSTAIN: "Its doubt alone would have withheld this, too:",
    Decision.TOO_LITTLE: "The answers found cover too little to judge them. It may say:",
    Decision.UNDECIDED: "Nothing decides here. It would have said:",
}


def served_sentence(inspection: Inspection, *, untaught: bool = False) -> tuple[str, str]:
    """Return the sentence that comes first and, where an answer is withheld, the one beneath it.

    With `untaught`, what the model would have said is told even where the page conceals it.
    """
    stamp = STAMPS_BY_PROMISE[inspection.promises][inspection.headline]
    decision = inspection.decision
    headline = stamp.sentence
    answer = display(inspection.verdict.answer)
    if inspection.conceals:
        return headline, f"{BENEATH[inspection.verdict.decision]} {answer}" if untaught else ""
    if decision is Decision.ANSWER:
        stop = "" if answer[-1] in ".!?…。！？" else "."
        return f"{answer}{stop} {headline}", ""
    return headline, f"{WITHHELD[decision]} {answer}"


def outcome(inspection: Inspection) -> str:
    """Return how an inspection ended as it is saved: verdict, doubt, λ, policy, and the answer.

    No doubt where it did not decide, as where too little was seen; where nothing near was taught,
    how far the nearest is.
    """
    stamp, rule, doubt = STAMPS[inspection.headline], inspection.verdict.rule, ""
    if inspection.conceals and (taught := inspection.nearest_taught) and taught.nearest:
        doubt = f" ({taught.nearest[0].distance.partition(',')[0]})"
    decided = inspection.headline in (Headline.BELIEVE, Headline.PERHAPS, Headline.ABSTAIN)
    value = inspection.compared_doubt if decided else None
    if rule and math.isfinite(rule.value) and value is not None:
        why = f"; {reason}" if (reason := _because(inspection)) else ""
        rule = rule if inspection.may_promise else replace(rule, error=None)
        unit = SCORES[rule.score].doubt_unit or SCORES[rule.score].symbol
        digits = digits_apart(value, rule.value)
        doubt = f" ({value:.{digits}f} {unit}, {_grounds(rule, digits)}{why})"
    answer = (WITHHELD.get(inspection.decision), display(inspection.verdict.answer))
    end = stamp.reason or " ".join(filter(None, answer))
    return f"{stamp.words}{doubt}. {end}"


def _because(inspection: Inspection) -> str:
    """Return what else than λ gave “Believe it” or, with a promise, “Perhaps”."""
    rule, belief = inspection.verdict.rule, inspection.belief_limit
    if rule and belief is not None and inspection.headline is Headline.BELIEVE:
        if not inspection.has_repeats:
            return f"{BELIEF} {belief:.3f}"
        return beside_limit(0.0, rule.value, belief, repeat_probability(inspection.others))
    if inspection.headline is not Headline.PERHAPS or rule is None or rule.error is None:
        return ""
    if not inspection.in_taught_words:
        return OTHER_WORDS
    if not inspection.is_verified:
        return ""
    if rule.error > LARGEST_ERROR:
        return f"up to {percent(rule.error)} may be wrong"
    evidence, recording = inspection.evidence, inspection.recording
    if not inspection.stands:
        if evidence.answers == 1 and not recording.others:
            return "not told another answer"
        what = "" if rule.score == SCORE else "M.I. "
        tenth = _tenth(inspection)
        return f"{what}{ABOVE} {tenth}" if tenth else "moved by what it is told"
    if rule.belief is None:
        return "its policy promises no more"
    doubt = inspection.compared_doubt
    if doubt is None or doubt >= rule.belief.threshold:
        return f"{ABOVE} {rule.belief.threshold:.3f}"
    most = largest_doubt(inspection.scores, rule.score)
    return f"even a guess is below the limit: {most:.3f} at most"


def _tenth(inspection: Inspection) -> str | None:
    """Return the largest M.I. at which an answer stands; None where it has no more than that."""
    answers = inspection.evidence.answers
    seen = inspection.scores[SCORE].doubt, inspection.scores[CERTIFIED].doubt
    most = largest_that_stands(answers)
    if answers == 1 or max(each or 0.0 for each in seen) <= most:
        return None
    return f"{most:.3f}"


def _grounds(rule: DecisionRule, digits: int = 3) -> str:
    of = {DEFAULT: "default", NOT_VERIFIED: _UNVERIFIED}
    whose = next((of[begin] for begin in of if rule.origin.startswith(begin)), "own")
    promise = NO_PROMISE if rule.error is None else f"≤ {percent(rule.error)} wrong"
    return f"λ = {rule.value:.{digits}f}, {whose} policy: {promise}"


class SavedOutcome(NamedTuple):
    """How a saved inspection ended."""

    stamp: Stamp | None
    answer: str  # the answer, or why there is none
    policy: str = ""  # in use, where it decided by a doubt; earlier versions did not save it
    doubt: float | None = None  # in `unit`, or λ where no policy is named
    limit: float = 1.0  # λ
    why: str = ""  # what else than λ gave its word
    unit: str = "nats"  # of the doubt, or the symbol of a score that has none
    away: str = ""  # how far the nearest taught question is, where none is near
    overall: bool = True  # whether the policy's promise is of “Believe it” and “Perhaps” together

    @property
    def belief_limit(self) -> float | None:
        """Up to which doubt the answer might be believed; None where nobody saved it."""
        limit = re.match(rf"(?:above the )?{BELIEF} ([\d.]+)", self.why)
        return float(limit[1]) if limit else None

    @property
    def mark(self) -> Stamp | None:
        """What stands beside it; no promise is known of older outcomes."""
        promises = self.policy and not self.policy.endswith((NO_PROMISE, _NO_GUARANTEE))
        return UNPROMISED if self.stamp is _SERVED[1] and not promises else self.stamp


def read_outcome(saved: str) -> SavedOutcome:
    """Read how a saved inspection ended, also as earlier versions saved it.

    What is no outcome has no stamp. A word of trust that a bundled policy gave which was replaced,
    or of whose certificate nothing is told, is marked. “Believe it” has the promise of
    its own, where it was saved what gave it.
    """
    read = _as_saved(saved)
    unverified = read.stamp in _SERVED and read.policy.startswith(_UNVERIFIED)
    if read.why == OTHER_WORDS or unverified:  # of which earlier versions saved a promise
        policy = read.policy.partition(":")[0] + f": {NO_PROMISE}"
        return read._replace(stamp=_SERVED[1], policy=policy)
    rules = [rule_of(default_policy(model), DEFAULT) for model in MODELS]
    today = {_grounds(rule): rule.belief for rule in rules}
    grounds = f"λ = {read.limit:.3f}, {read.policy}"
    default = read.policy.startswith("default") and grounds not in today
    if read.stamp is _SERVED[0] and read.why and (belief := today.get(grounds)):
        policy = f"{read.policy.partition(':')[0]}: ≤ {percent(belief.target_error)} wrong"
        return read._replace(policy=policy, overall=False)
    if read.stamp in _SERVED and (default or (read.stamp is _SERVED[0] and not read.policy)):
        return read._replace(why="; ".join(filter(None, (read.why, EARLIER))))
    return read


def words_then(saved: str, reason: str, inspection: Inspection) -> str | None:
    """Return what was said of a saved inspection, and why; None where it is said today, too."""
    then, now = _as_saved(saved).stamp, STAMPS[inspection.headline]
    if then is None or then.words == now.words:
        return None
    return f"It was “{then.words}” when it was saved. {reason}".rstrip()


def _as_saved(saved: str) -> SavedOutcome:
    word, _, answer = saved.partition(": ")
    if word in {*Headline}:
        stamp = STAMPS[Headline(word)]
        return SavedOutcome(stamp, stamp.reason or answer)
    for stamp in STAMPS.values():
        if stamp.reason and saved.startswith(stamp.reason):
            return SavedOutcome(stamp, stamp.reason)
        # The answer stands behind: no text of a model passes for a doubt.
        if match := re.match(rf"{stamp.words}{_DECIDED}?\.(?: |$)", saved):
            answer, (doubt, unit, limit, policy, times, away) = saved[match.end() :], match.groups()
            if doubt is None:
                part = None if times is None else float(times)
                return SavedOutcome(stamp, answer, doubt=part, away=away or "")
            policy, _, why = policy.partition("; ")
            return SavedOutcome(stamp, answer, policy, float(doubt), float(limit), why, unit)
    return SavedOutcome(None, saved)


def beneath(inspection: Inspection, *, untaught: bool = False) -> tuple[str, ...]:
    """Return what is said below the served sentence: what holds it back, and why it is so."""
    origin = inspection.read_as, source_sentence(inspection)
    about = *about_training(inspection.nearest_taught), too_few(inspection)
    about = (*origin, front_sentence(inspection), *about)
    quotes = untaught or not inspection.conceals
    return (*filter(None, about), *reasons(inspection, quotes=quotes))


def source_sentence(inspection: Inspection) -> str | None:
    """Return who answered, and when, where what was said is a recording that ships with Believe.

    And that nothing is proved on it, where it is of the rows that made the policy which decides.
    """
    if (source := source_of(inspection.recording)) is None:
        return None
    decides = inspection.policy is None and inspection.verdict.rule is not None
    is_label = decides and certifies(inspection.query)
    label = " It is one of the labelled answers that certified λ." if is_label else ""
    return f"{source.sentence}. No model was asked now.{label}"


def front_sentence(inspection: Inspection) -> str | None:
    """Return what stood in front of the question; None where nothing did."""
    request = inspection.recording.request
    fronts = {"a system prompt": request.system, "a context": request.context}
    if not (texts := [name for name, text in fronts.items() if text]):
        return None
    return f"Asked behind {list_of(texts)}, which can decide what it says."


def reasons(inspection: Inspection, *, quotes: bool, measured: bool = True) -> tuple[str, ...]:
    """Return why it is so.

    `quotes`: whether texts of the model may be among it; `measured`: whether the numbers are,
    which the scale of doubt shows. Of what was not taught, these say that they decide nothing.
    """
    first = not_the_first(inspection) if quotes else None
    # A reason quotes only what the model was told beside its only answer. On what it was not taught
    # there is no word of trust, and “it does not know” is none.
    abstains = inspection.verdict.decision is Decision.ABSTAIN and not inspection.others
    verdict = inspection.verdict
    idle = idle_doubt(inspection) if measured and inspection.conceals else None
    why = None
    if quotes or (abstains and measured):
        why = verdict.reason if measured and (quotes or not idle) else verdict.why
    others = caveat(inspection), check(inspection), cut_at_limit(inspection)
    return tuple(filter(None, (first, why, idle, *others, *inspection.recording.notes)))


def cut_at_limit(inspection: Inspection) -> str | None:
    """Return which answers are no whole ones, because the limit or a server ended them."""
    recording, limit = inspection.recording, inspection.recording.request.answer_tokens
    why = f"did not end within {count_of(limit, 'token')}."
    samples, every = recording.samples, (recording.greedy, *recording.samples)
    whole = {each.text for each in every if each.complete}  # a search scores it to its end
    if inspection.verdict.answer in {each.text for each in every} - whole:
        return f"The answer is cut: it {why}"
    number = sum(bool(each.text) and not each.complete for each in samples)
    return f"{number} of {len(samples)} answers {why}" if number else None


def about_training(taught: TaughtPosition | None) -> list[str]:
    """Return what is to be known of a question that is none of those that were taught."""
    if taught is None or taught.recognised:
        return []
    listed = taught.nearest if taught.outside else taught.offers
    offers = [f"  {offer.question} ({offer.distance})" for offer in listed]
    return [untaught_words(taught), *([introduction(taught), *offers] if offers else [])]


def introduction(taught: TaughtPosition) -> str:
    """Return what stands before the taught questions that are like one that was not."""
    return "Did you mean:" if taught.near else "Nearest that it was taught, though not near:"


def untaught_words(taught: TaughtPosition) -> str:
    """Return what an answer is worth to a question that is not recognised."""
    if taught.near:
        return "The model was not taught these words, so its answer may be made up."
    return "What it says to such a question is a guess, whatever its doubt. Ask someone else."


def idle_doubt(inspection: Inspection) -> str | None:
    """Return the doubt of what was not taught, which decides nothing; None where there is none."""
    doubt = inspection.compared_doubt
    if doubt is None or inspection.verdict.decision is Decision.TOO_LITTLE:
        return None
    unit = f" {SCORES[inspection.verdict.score].doubt_unit}".rstrip()
    return f"Its doubt, {doubt:z.3f}{unit}, decides nothing here."


def too_few(inspection: Inspection) -> str | None:
    """Return that fewer answers were asked for than a verdict takes; None where enough were."""
    if inspection.samples_needed is None:
        return None
    samples = inspection.recording.request.samples
    return f"Only k = {samples:d}: a verdict takes {inspection.samples_needed:d}."


def not_the_first(inspection: Inspection) -> str | None:
    """Return why the answer is not the one that is likeliest without an answer in the prompt."""
    first, answer = inspection.clusters[0].text, inspection.verdict.answer
    is_second = answer == inspection.evidence.likeliest_second
    if inspection.verdict.score not in INFORMED or answer == first or not is_second:
        return None
    return (
        f"Without an answer in the prompt, it is likelier to say “{display(first)}”. This is the "
        "answer that it gives most often with its answers in the prompt."
    )


#: What stands beside an offer of more answers where a certificate decides.
USUAL_NUMBER_ALONE = "What is certified holds for the usual number of answers alone."


def caveat(inspection: Inspection) -> str | None:
    """Return what “Believe it” is worth, why it is no more than “Perhaps”, or what would help.

    None where the reason of the verdict says why, or nothing is served.
    """
    rule = inspection.verdict.rule
    if inspection.refused:
        return None
    if rule is None:
        return _no_certificate(inspection)
    if inspection.headline is Headline.BELIEVE and rule.belief:
        belief = rule.belief
        return (
            f"Use it: {belief.errors:,} of {belief.answered:,} labelled “{_SERVED[0].words}” were "
            f"wrong. Promised for such questions: at most {percent(belief.target_error)} "
            f"({percent(LEAST_CONFIDENCE)} sure)."
        )
    if inspection.headline is not Headline.PERHAPS or rule.error is None:
        return None
    if not inspection.promises:
        return None if inspection.is_verified else f"{NOT_VERIFIED}{SO_PERHAPS}"
    if rule.error > LARGEST_ERROR:
        believe = f"“Believe it” takes {percent(LARGEST_ERROR)} at most"
        of = "Of such answers to questions like the labelled ones"
        sure = f"({percent(LEAST_CONFIDENCE)} sure)"
        return f"{of}, up to {percent(rule.error)} are wrong {sure}: {believe}."
    if inspection.stands:
        return None
    if inspection.evidence.answers == 1:
        return f"Whether it would keep to this one is not known{SO_PERHAPS}"
    if rule.perhaps and all(rule.perhaps):
        number, wrong = rule.perhaps
        were = f"{wrong:,} ({wrong / number:.1%}) were wrong"
        return f"Of {number:,} labelled questions with “Perhaps”, {were}."
    if tenth := _tenth(inspection):
        what = "a doubt" if rule.score == SCORE else "an M.I."
        return f"“Believe it” takes {what} of at most {tenth}."
    return "To believe it, what it is told would have to change less of what it says."


def trust_recorded() -> str:
    """Return how many recorded answers are served with which word, and how many are wrong."""
    each = []
    for stamp in _SERVED:
        served, wrong = counts(stamp.words)
        number, of_them = (f"{served:,}", f" ({wrong:,} wrong)") if served else ("none", "")
        each.append(f"{number} “{stamp.words}”{of_them}")
    return ", ".join(each)


def check(inspection: Inspection) -> str | None:
    """Return what to do with an answer that is not to be believed.

    Of a “Perhaps”, it is which answers a source has to tell apart.
    """
    if inspection.headline is Headline.ABSTAIN:
        return "Ask someone else."
    if inspection.headline is not Headline.PERHAPS:
        return None
    answer = inspection.verdict.answer
    texts = [answer, *(each.text for each in inspection.clusters if each.text != answer)][:2]
    which = " or ".join(f"“{display(text)}”" for text in texts)
    is_choice = len(texts) == 2 and len(which) <= LONGEST_CHOICE
    return f"Check a source before you rely on it{f': is it {which}?' if is_choice else '.'}"


def mark(rule: DecisionRule | None) -> str:
    """Return what stands before all that a policy says which nobody here checked."""
    return f"{NOT_VERIFIED}: " if rule and rule.origin.startswith(NOT_VERIFIED) else ""


def _no_certificate(inspection: Inspection) -> str:
    """Return that nothing is certified here, why, and what would bring a certificate."""
    label = f"Label {LABELS} answers on Calibration: if the surest are right, a λ applies here."
    most = ", so “Perhaps” is the most that is said" * (inspection.headline is Headline.PERHAPS)
    model = certified_model(inspection.recording.revision, any_form=True)
    own = default_policy(model).pipeline if model else None
    if own is None:
        return f"Nothing is certified for this model{most}. {label}"
    differences = own.differences(replace(inspection.pipeline, least_mass=own.least_mass))
    if not differences:
        return f"These are the weights of {model}, named otherwise: nothing is certified{most}."
    return (
        f"This model was certified with other settings{most}: {'; '.join(differences)}. "
        f"Restore them, or make a policy for these. {label}"
    )


def likely(inspection: Inspection) -> str | None:
    """Return what is likely beyond what is certified; None where nothing is."""
    limit = inspection.confidence_limit
    if limit is None or limit <= (inspection.certified_bound or 0.0):
        return None
    return (
        f"With {CONFIDENCE:.0%} confidence, the model’s own M.I. is at least {no_more(limit)} "
        "nats. This is more than what is certified without any doubt."
    )


def likelihoods(inspection: Inspection) -> str:
    """Return what the logarithms beside texts are, in nats."""
    counted = inspection.recording.estimator is Estimator.COUNTED
    return "ln of the share of samples" if counted else "log-likelihood (nats)"


def by_draws(inspection: Inspection) -> str:
    """Return by what the sampled mass is estimated; "" where the model says it."""
    counted = inspection.recording.estimator is Estimator.COUNTED
    return f", as {inspection.recording.request.samples} draws estimate it" if counted else ""
