"""A calibration in sentences: its promise by group, its confirmation, what speaks against it."""

import math
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.abstention.ledger import prices
from core.abstention.policy import BELIEVED, NOT_VERIFIED, Belief, Policy, promise_in_words
from core.abstention.thresholds import USUAL_CONFIDENCE, Uncertifiable
from core.codec import at_least, at_most, count_of, list_of, one_line, percent
from core.data.tabular.headings import RULES
from core.data.tabular.labelled_rows import LabelledRows
from core.data.tabular.pipelines import other_answers
from core.data.world.facts import Band
from core.reports.inspection.words import BELIEF, STAMPS_BY_PROMISE, Headline, Stamp
from core.store.labels import MOST
from core.studies.calibration.calibration import BEST, Calibration
from core.studies.calibration.delta_spending import looks_before, other_batches
from core.studies.calibration.first_calibration import OtherRows
from core.studies.calibration.groups import MOST_GROUPS, ByGroup, Group
from core.studies.calibration.holdout import Confirmation
from core.studies.calibration.new_rows import NewScores
from core.studies.inspection import verdict
from core.studies.inspection.inspection import cannot_decide
from core.studies.inspection.verdict import LEAST_CONFIDENCE

MOST_LISTED: Final = 5  # earlier looks
NO_VALUE: Final = "no score has a value"  # why a curve ends
UNKNOWN_ROWS: Final = (
    "Rows that name no question are known again by their answers and their scores, also turned or "
    "rounded. Looks at only some of them, or with labels mended, may not be counted if their "
    "scores are changed, too."
)
UNREAD: Final = (
    "Which looks at these labels came before cannot be read, so nothing is promised of them."
)
UNNOTED: Final = (
    "This look at labels cannot be noted, and later ones would cost too little, so nothing is "
    "promised of them."
)
REMEDY: Final = "Check answers there, or calibrate such a group alone"
NO_SCORE: Final = "No labelled answer has a score."
#: What the band of that name is in the bundled example.
NEVER_SEEN: Final = (
    "“Never seen”: questions in taught words, about facts that training left out. Inspection "
    "recognises them: there, too, their doubt decides."
)


def counts(policy: Policy) -> str:
    """Say what a policy does to the labelled rows."""
    share = policy.answered / policy.labels
    wrong = f", {policy.errors:,} of them wrong" if policy.answered else ""
    if wrong and policy.other_errors is not None and policy.codebook is not None:
        wrong += f" ({policy.other_errors:,} by “{one_line(policy.codebook.other)}”)"
    return (
        f"Answer when {when(policy)}. Of {policy.labels:,} labelled questions this answers "
        f"{policy.answered:,} ({share:.1%}){wrong}."
    )


def by_hand(policy: Policy) -> str:
    """Say in the fewest words what a λ that was moved does to the labelled rows."""
    share = policy.answered / policy.labels
    return f"Your limit answers {policy.answered:,} ({share:.1%}), {policy.errors:,} of them wrong."


def in_use_in_short(policy: Policy) -> str:
    """Return what a policy that decides promises, and what weakens it, in the fewest words.

    The whole of it is behind the badge of every page.
    """
    mark = f"{NOT_VERIFIED}: " if policy.from_file and policy.has_guarantee else ""
    return f"{mark}{policy.in_short}{policy.promise.removeprefix(policy.of_error)}"


def in_short(calibration: Calibration) -> str:
    """Return what comes of a calibration, before all else."""
    if calibration.policy is not None:
        return calibration.policy.in_short
    return f"At most {percent(calibration.target.error)} wrong cannot be promised on these rows."


class HeadlineShare(NamedTuple):
    """The labelled answers that get one word on Inspection."""

    stamp: Stamp
    number: int
    share: str  # of all labelled answers; "" of none
    counted: str  # how many, and the share of them that is wrong
    rule: str  # which get it


def rows_counted(calibration: Calibration, others: OtherRows | None) -> str:
    """Say on which questions `by_headline` counts."""
    if others is None:
        return f"Wrong, of the {len(calibration.doubts):,} that set the limit:"
    return f"Wrong, of {len(others.doubts):,} others (in brackets: those that set the limit):"


def by_headline(
    calibration: Calibration, belief: Belief | None, others: OtherRows | None = None
) -> list[HeadlineShare]:
    """Return which words the labelled answers get on Inspection, by a policy that can decide there.

    `belief`: what is promised of the answers that stand. A policy that promises nothing of what it
    serves lists none. `others`: rows that did not certify, which are counted first.
    """
    policy = calibration.policy
    if policy is None or policy.method != "ltt" or no_use(policy):
        return []
    from core.charts.calibration import number as in_words  # Altair takes long to load

    limit = in_words(policy.threshold)  # which a λ that is moved by hand leaves where it is
    marks = STAMPS_BY_PROMISE[verdict.rule_of(policy).error is not None]
    believed, errors, shares = 0, 0, []
    doubts, right, stands = others or (np.empty(0), np.empty(0, bool), np.empty(0, bool))
    below, unseen = doubts < policy.threshold, np.isnan(doubts)

    def add(
        headline: Headline, number: int, wrong: int, rule: str, rows: NDArray[np.bool_]
    ) -> None:
        share, counted = _count_in_words(number, wrong, policy.labels)
        if others is not None:
            own, errors = counted.rpartition(": ")[2], int((rows & ~right).sum())
            share, counted = _count_in_words(int(rows.sum()), errors, len(doubts))
            counted += f" ({own})"
        shares.append(HeadlineShare(marks[headline], number, share, counted, rule))

    if belief is not None:
        believed, errors = belief.answered, belief.errors
        least, most = belief_limits(policy, belief)
        rule = f"doubt ≤ {least:.2f}–{most:.2f}"
        add(Headline.BELIEVE, believed, errors, rule, below & stands)
    rule = f"{'doubt' if belief is None else 'others'} below {limit}"
    perhaps = below & ~stands if belief else below
    add(Headline.PERHAPS, policy.answered - believed, policy.errors - errors, rule, perhaps)
    few, wrong = np.isnan(calibration.doubts), ~calibration.correct
    rest = policy.labels - policy.answered - int(few.sum())
    errors = int((wrong & ~few).sum()) - policy.errors
    add(Headline.ABSTAIN, rest, errors, f"from {limit} on", ~below & ~unseen)
    # Too little seen, or vetoed.
    add(Headline.TOO_LITTLE, int(few.sum()), int((wrong & few).sum()), "doubt not known", unseen)
    return shares


def _count_in_words(number: int, wrong: int, of: int) -> tuple[str, str]:
    """Return which share some answers are of all, and how many of them are wrong."""
    if not number:
        return "", "none"
    return f" {number / of:.1%}", f"{wrong / number:.1%}: {wrong:,}/{number:,}"


def belief_limits(policy: Policy, belief: Belief) -> tuple[float, float]:
    """Return up to which doubt one of two answers may be believed, and one of k; nats."""
    k = policy.pipeline.samples if policy.pipeline else 2
    least, most = (min(verdict.largest_that_stands(m), belief.threshold) for m in (2, k))
    return least, most


def believes(policy: Policy, belief: Belief | None) -> str:
    """Say up to which doubt an answer is believed; "" where none is."""
    if belief is None:
        return ""
    least, most = belief_limits(policy, belief)
    promise = promise_in_words(BELIEVED, belief.target_error, LEAST_CONFIDENCE)
    return (
        f"{promise}: a second promise, which the built-in policy alone has. "
        f"The {BELIEF} is a tenth of ln m nats, of m answers, so "
        f"{least:.3f} of two and at most {most:.3f}. A single answer has to be given again at "
        "least half the time, told others. What λ could not withhold, for its entropy is below λ, "
        "is not believed."
    )


def other_label(data: LabelledRows, score: str) -> str:
    """Return by what a score's answers are judged that does not count; "" without labels of it."""
    other = data.others.get(score)
    return "" if other is None else f"by {other.rule or f'“{one_line(other.column)}”'}"


def number_labels(data: LabelledRows, score: str, others: OtherRows | None) -> dict[str, str]:
    """Return what the shares are called where there are two: of other rows, or by another label."""
    if others is not None:
        of = f"Answers of {len(others.doubts):,} others (of those that set the limit)"
        return {"answers_label": of, "wrong_label": "Wrong of these"}
    if score not in data.others:
        return {}
    rule = {RULES["f1"]: "F1", RULES["same_answer"]: "same answer"}.get(data.others[score].rule)
    return {"wrong_label": f"Wrong on the rows that set the limit ({rule or 'the other label'})"}


def promise(calibration: Calibration) -> dict[str, str]:
    """Return the fewest words for what is promised, and for the line and the band of a curve."""
    target = calibration.target
    share = f"at most {percent(target.error)} wrong"
    sure = f" ({percent(target.confidence)} sure)" if target.method == "ltt" else ""
    return {
        "promised_label": f"Promised for more like these{sure}",
        "promise": f"{share}{' of all' if target.method == 'crc' else ''}",
        "target": share,
        "band": f"band: the {percent(target.confidence)} interval of each point by itself",
    }


def rule(policy: Policy) -> str:
    """Say by which rule the files of a policy decide."""
    promised = "" if policy.has_guarantee else " Nothing is promised."
    return f"What these take along: answer when {when(policy)}.{promised}"


def own_rule(policy: Policy) -> str:
    """Say by which λ all is decided that does not follow one that is moved by hand."""
    return f"By the λ that was found, wherever it was moved: answer when {when(policy)}."


def when(policy: Policy) -> str:
    """Return when a policy answers: “agreement > 0.920”."""
    from core.charts.calibration import rule_of  # Altair takes long to load

    width = policy.codebook.width if policy.codebook else math.inf
    return rule_of(policy.score, policy.threshold, policy.larger_is_surer, width)


def no_use(policy: Policy) -> str | None:
    """Say why a policy cannot decide inspections, and what to do; None where it can."""
    if policy.pipeline is None:
        return (
            "It decides on files like this one: upload new rows under “New questions”, or export "
            "it. It cannot decide on inspections here, as the file does not say how its scores "
            "were made: for that, have a model asked questions with right answers."
        )
    return cannot_decide(policy)


def upper_limit(calibration: Calibration) -> str:
    """Say what the labelled rows by themselves suggest; "" where nothing was tested on them."""
    policy, target = calibration.policy, calibration.target
    if policy is None or policy.method != "ltt" or policy.upper_bound is None:
        return ""
    why = "" if target.score_confidence == target.confidence else ", as this look spends part of δ"
    return (
        f"These rows by themselves suggest at most {at_most(policy.upper_bound)} wrong "
        f"(Clopper–Pearson, {percent(target.score_confidence)}{why}). That is a description and no "
        "promise, because λ was chosen on the same rows."
    )


def choice(calibration: Calibration) -> str:
    """Say what the choice among several scores cost; "" where one was named."""
    from core.charts.calibration import name_of  # Altair takes long to load

    number = calibration.target.scores_tried
    if calibration.target.score != BEST:
        if number == 1:
            return ""
        return (
            f"{name_of(calibration.score)} was named after {number} scores had been shown, so that "
            f"it is tested at δ divided by {number}."
        )
    return (
        f"Best of {number} scores, each tested at δ divided by {number}: "
        f"{name_of(calibration.score)}."
    )


def why_not(calibration: Calibration) -> str:
    """Return why nothing is certified; what a later look costs is among `looks`."""
    outcome = calibration.outcome
    if not isinstance(outcome, Uncertifiable):
        return ""
    return outcome.reason.removesuffix(_costs(calibration)).rstrip()


def _costs(calibration: Calibration) -> str:
    """Say what looks after this one cost; "" where looks are not counted."""
    look, target = calibration.look, calibration.target
    return prices(look.place, 1 - target.confidence, target.error) if look else ""


def looks(calibration: Calibration) -> list[str]:
    """Say which look at the labels this is, what it may spend, and what came before."""
    look, target = calibration.look, calibration.target
    if look is None or target.method != "ltt":
        return earlier_looks(calibration) if look else []
    sentences = [_costs(calibration)]
    if calibration.policy is None:  # of a policy, its sentence says it
        sentences.insert(
            0,
            f"Look {look.place:d} at these labels: it may spend {target.delta:.3g} of "
            f"δ = {1 - target.confidence:.3g}.",
        )
    if calibration.policy is not None:
        sentences.append(batches(calibration))
    return [*sentences, *earlier_looks(calibration)]


def earlier_looks(calibration: Calibration) -> list[str]:
    """Say what was looked at before, and which rows may not be known again."""
    sentences, look = [], calibration.look
    if before := looks_before(look, calibration.looks or ()) if look else []:
        sentences.append(f"Looks before it: {list_of(before, most=MOST_LISTED)}.")
    if len(calibration.looks or ()) >= MOST:
        sentences.append(f"Only the newest {MOST:,} looks are read: older ones are not counted.")
    if calibration.data.cells is not None:
        sentences.append(UNKNOWN_ROWS)
    return sentences


def batches(calibration: Calibration) -> str:
    """Say that new labels, brought until some pass, have more than one chance of a false promise.

    And how often they were, as far as that is known.
    """
    look, number = calibration.look, 0
    if look is not None:
        number = other_batches(look, calibration.looks or ())
    return _of_batches(number, calibration.target.confidence, "with this score and target")


def _of_batches(number: int, confidence: float, what: str) -> str:
    others = f" Looks at other labels {what}, known here: {number:,}."
    return (
        "Other labels have a δ of their own, so the confidence is that of one batch. Of batches "
        "that are brought until one passes, each may pass by chance, with a probability of up to "
        f"{1 - confidence:.3g}.{others if number else ''}"
    )


def repeated_questions(number: int) -> str:
    """Say how many rows repeat another row’s question, and what follows; "" where none does."""
    if not number:
        return ""
    return (
        f"Rows that repeat another row’s question: {number:,}. One row of each question counts, "
        "drawn at random, because several answers to one question are not independent evidence. An "
        "answer that is labelled both right and wrong is wrong."
    )


def contradiction(against: Mapping[str, float]) -> str:
    """Say which scores the labels contradict, by their AUROC; "" where they contradict none."""
    named = [
        f"“{one_line(name)}” (AUROC {auroc:.2f}, where 0.5 is guessing)"
        for name, auroc in against.items()
    ]
    if not named:
        return ""
    return (
        f"The labels speak against the direction of {list_of(named)}: wrong answers look surer "
        "than right ones. Look first at what counts as right. A direction turned after a look at "
        "the labels promises nothing on these rows; calibrate on others."
    )


def confirmation(checked: Confirmation) -> str:
    """Say what a policy did on rows that are not its own, and whether it kept its promise."""
    observed, policy = checked.observed, checked.policy
    what = (
        "of all questions are answered and wrong"
        if policy.method == "crc"
        else "of answered questions are wrong"
    )
    rows = count_of(observed.queries, "new question")
    by_other = checked.other_errors
    other = "" if by_other is None else f" ({by_other:,} by the other label)"
    sentences = [
        f"On {rows} it answered {observed.answered:,}, {observed.errors:,} of them wrongly{other}.",
        f"With {percent(checked.confidence)} confidence, at most {at_most(observed.upper_bound)} "
        f"{what}, {'within' if checked.keeps_target else 'above'} the target of "
        f"{percent(policy.target_error)}.",
    ]
    if checked.exceeds_target:
        sentences.append(f"At least {at_least(checked.lower_bound)} are, with the same confidence.")
    elif not checked.keeps_target:
        sentences.append("This does not refute the policy, but fails to confirm it.")
    return " ".join(sentences)


def limits_of_test(checked: Confirmation) -> list[str]:
    """Say what a test on new rows is not a test of."""
    policy, look, sentences = checked.policy, checked.look, []
    if not policy.has_guarantee:
        sentences.append("The policy promises nothing; its target was tested.")
    if policy.belief:
        sentences.append("What it promises of the answers that it believes was not tested.")
    own = policy.codebook.label if policy.codebook else ""
    if own and checked.label not in ("", own):
        sentences.append(
            f"Right is what “{one_line(checked.label)}” calls so here; what the policy promises "
            f"goes by “{one_line(own)}”."
        )
    if look and look.place > 1:
        sentences.append(
            f"This is look {look.place} at these labels, so each bound was computed at "
            f"{percent(checked.confidence)}, for all counted looks together."
        )
    if checked.batches:
        of_one = policy.confidence or USUAL_CONFIDENCE
        sentences.append(_of_batches(checked.batches, of_one, "by policies of this score"))
    return sentences


def by_group(every: ByGroup) -> str:
    """Say for which groups the promise holds, too; "" where all rows are of one group."""
    policy = every.policy
    if policy is None or not every.groups:
        return ""
    if policy.method != "ltt":
        return "Nothing is promised for any group by itself."
    if every.number > MOST_GROUPS:
        return (
            f"There are {every.number:,} groups, too many for a promise for each. Choose a column "
            f"with at most {MOST_GROUPS}."
        )
    promised = [_quote(each) for each in every.groups if each.promised]
    too = " and all" if policy.looks else ""
    others = _groups_without_promise(every, policy)
    sentences = []
    if promised:
        sentences.append(
            f"With {percent(policy.confidence or 0)} confidence for these groups{too} "
            f"together, at most {percent(policy.target_error)} of answered questions are wrong "
            f"in each of them, too: {list_of(promised)}."
        )
    if others:
        counts = [f"{_quote(each)} ({_errors(each, policy)})" for each in others]
        sentences.append(
            f"No promise holds by itself for {list_of(counts)}. {REMEDY} for a threshold of its "
            "own."
        )
    return " ".join(sentences)


def caution(every: ByGroup) -> str | None:
    """Name the group in which most are wrong beyond a promise, as a `Policy` carries it.

    "" where the promise holds for each group by itself, None where nothing shows either.
    """
    if (worst := _worst(every)) is None:
        policy = every.policy
        unknown = policy is None or not every.groups or _groups_without_promise(every, policy)
        return None if unknown else ""
    return (
        f"Not for every group: of {_quote(worst)}, {worst.errors:,} of "
        f"{worst.answered:,} answered are wrong."
    )


def proportion(every: ByGroup, errors_of_belief: Callable[[str], int] | None = None) -> str:
    """Say what the promise does not cover, and what to do: of the group that `caution` names.

    "" where it names none. An answer of that group is to be checked under either word of trust:
    the promise of “Believe it” is for all together, too. `errors_of_belief`: how many of a group's
    wrong answers get that word, where that is known.
    """
    policy = every.policy
    if (worst := _worst(every)) is None or policy is None:
        return ""
    number = errors_of_belief(worst.name) if errors_of_belief else 0
    word = f", {number:,} under “Believe it”" if number else ""
    what = _quote(worst) + " (facts that it was not taught)" * (worst.name == Band.NEVER_SEEN)
    return (
        f"Not for {what}: {worst.errors:,} of its {worst.answered:,} answers are wrong{word}. "
        "Check these."
    )


def _worst(every: ByGroup) -> Group | None:
    policy = every.policy
    if policy is None or not policy.has_guarantee:
        return None
    for worst in _groups_without_promise(every, policy)[:1]:
        if worst.errors > policy.target_error * worst.answered:
            return worst
    return None


def _groups_without_promise(every: ByGroup, policy: Policy) -> list[Group]:
    """Return the groups for which nothing holds by itself, the worst first."""
    others = [each for each in every.groups if each.answered and not each.promised]
    return sorted(others, key=lambda each: policy.target_error * each.answered - each.errors)


def _errors(group: Group, policy: Policy) -> str:
    wrong = f"{group.errors:,} of {group.answered:,} wrong"
    if group.other_errors is None or policy.codebook is None:
        return wrong
    return f"{wrong}, {group.other_errors:,} by “{one_line(policy.codebook.other)}”"


def _quote(group: Group) -> str:
    return f"“{one_line(group.name)}”" if group.name else "rows of no group"


def promise_for(fresh: NewScores) -> str:
    """Return what a policy promises of the answers to new rows; nothing where these differ."""
    policy = fresh.policy
    if fresh.others:
        return (
            f"Nothing is promised of these rows: {fresh.others}. Give rows like those, under the "
            "same headings, or calibrate anew on rows like these."
        )
    if fresh.is_answered_as_often and fresh.shows_nothing and policy.has_guarantee:
        rows, below = count_of(len(fresh.doubts), "row"), f"{fresh.passes.sum():,}"
        return (
            f"What was seen of {rows}, {below} of them below λ, does not show whether they are "
            f"like those that made the policy. Only if they are: {policy.sentence}"
        )
    if fresh.is_answered_as_often:
        return policy.sentence
    return (
        f"Nothing is promised of these rows: {fresh.passes.sum():,} of {len(fresh.doubts):,} are "
        f"below λ, and {policy.answered:,} of the {policy.labels:,} that made the policy were. So "
        "they are not like those. Label some of them and calibrate anew."
    )


def decisions_in_words(fresh: NewScores) -> str:
    """Return how many new rows are answered, how many that pass hold no answer, and whose it is."""
    withheld = int((fresh.passes & fresh.silent).sum())
    sentences = [f"{fresh.answered:,} of {len(fresh.doubts):,} rows are answered."]
    if withheld:
        rows = f"{count_of(withheld, 'row')} below λ hold{'s' * (withheld == 1)} no answer"
        sentences.append(f"{rows}: nothing, a refusal or an error.")
    return " ".join(filter(None, [*sentences, other_answers(fresh.upload, fresh.policy.score)]))
