"""What a run came to, in sentences: its scores, one threshold for two kinds, a policy, two runs."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from core import codec
from core.abstention.bayesian_bootstrap import ENOUGH
from core.abstention.intervals import Interval
from core.abstention.ledger import MOST_LOOKS, Look, no_budget
from core.abstention.metrics import MEASURES, auroc
from core.abstention.mixtures import Bar, Mixture
from core.codec import count_of, list_of, one_line
from core.data.datasets.world import NEVER_TAUGHT
from core.reports import text
from core.reports.text import brackets, by_other
from core.studies.evaluation import mixing
from core.studies.evaluation.decisions import PolicyDecisions
from core.studies.evaluation.mixing import COMPARED, HARDLY, Kinds, MixtureResult
from core.studies.evaluation.results import (
    CONFIDENCE,
    RESAMPLES,
    Results,
    RunMeasures,
    affordable,
    share_right,
)
from core.studies.evaluation.row_table import QuestionPoints
from core.studies.evaluation.rows import Match
from core.studies.evaluation.run_comparison import RunSide, SharedQuestions
from core.studies.evaluation.saved_run import DIVERSE
from core.studies.evaluation.score_comparison import (
    FEWEST_OF_A_KIND,
    BestScore,
    ScoreComparison,
    lead,
    ranking,
)
from core.studies.inspection.certificates import SCORE
from core.studies.provenance import Provenance
from core.uncertainty.scores import SCORES
from core.uncertainty.similarity import ANSWER_RULE

NONE: Final = "–"  # where nothing can be said
DIGITS: Final = {"auroc": 2, "aurc": 3, "augrc": 3, "prr": 2}
BETTER: Final = {  # what a score does by a measure
    "auroc": "finds wrong answers",
    **dict.fromkeys(("aurc", "augrc", "prr"), "orders the questions"),
}
NO_TEST: Final = (
    "This describes these rows and is no test: it promises nothing. To test the policy on labelled "
    "rows that did not make it, run: python -m core calibrate ROWS --policy FILE."
)
MOST_LEFT_OUT: Final = 3  # questions that are named
_RULES: Final = {
    mixing.PAPER: "the paper’s rule",
    mixing.GUARANTEED: "the guaranteed threshold (Learn-then-Test)",
}


def provenance(of: Provenance) -> str:
    """Say who answered what is recorded, when, from which file and how asked."""
    return f"{of.sentence}. {of.file}, SHA-256 {of.sha256[:12]}…, in the form {of.form}."


def decimal(value: float, digits: int = 2) -> str:
    """Return a number with a true minus."""
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


def with_interval(of: Interval) -> str:
    """Return a measure with its interval, as far as there is one."""
    value = number_shown(of.value)
    if not (math.isfinite(of.lower) and math.isfinite(of.upper)):
        return value
    return f"{value} ({decimal(of.lower, 3)} to {decimal(of.upper, 3)})"


def number_shown(value: float) -> str:
    """Return a measure without its interval."""
    return decimal(value, 3) if math.isfinite(value) else NONE


def percent(value: float) -> str:
    """Return a share; “–” where it is not known."""
    return NONE if math.isnan(value) else f"{value:.1%}"


def p_in_words(p_value: float) -> str:
    """Return “p = 0.012”, or “p < 0.001”; “–” where it is not known."""
    if math.isnan(p_value):
        return NONE
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"


def missing_scores(results: Results) -> tuple[str, ...]:
    """Return of which scores nothing can be said."""
    if not len(results):
        return ("No row counts, so nothing can be said.",)
    notes = [
        "These scores are of an earlier rule of answers: opened or asked anew, rows have others."
    ] * (results.run.pipeline.answer_rule != ANSWER_RULE)
    notes += [
        f"{SCORES[name].symbol} has no value in any row."
        for name in SCORES
        if name not in results.scores
    ]
    for kind, other, share in (("right", "wrong", 1.0), ("wrong", "right", 0.0)):
        alike = [SCORES[name].symbol for name in results.scores if results.right(name) == share]
        if alike:
            notes.append(
                f"Every answer of {list_of(alike, most=len(alike))} is {kind}: without a {other} "
                "one, nothing shows how well doubt tells them apart."
            )
    return tuple(notes)


def answer(measured: RunMeasures) -> list[str]:
    """Return which doubt finds the wrong answers, no more surely than is shown, and what limits it.

    Nothing of scores without an AUROC.
    """
    of = lead(measured)
    if of is None:
        return []
    sentences = _answer(measured, of)
    return sentences + exclusions(measured.results) if sentences[1:] else sentences


def exclusions(results: Results) -> list[str]:
    """Return which scores are held against no other, and why."""
    return [
        f"{SCORES[name].title} is left out: some of these questions chose its weights."
        for name in results.unfit_scores
    ]


def score_to_use(of: BestScore | None) -> str:
    """Return the score that `answer` names to use; "" where it names none."""
    return of.score if of is not None and of.beats_chance else ""


def _answer(measured: RunMeasures, of: BestScore) -> list[str]:
    results, name = measured.results, SCORES[of.score].title
    correct = results.correct[of.score]
    for kind, count in (("wrong", int((~correct).sum())), ("right", int(correct.sum()))):
        if count < FEWEST_OF_A_KIND:
            return [
                f"Too few answers are {kind} to say which doubt to use: {count:,} of "
                f"{len(results):,}."
            ]
    auroc, among = of.widened, len(ranking(measured))
    if not of.is_largest:  # it was named before anything was seen
        auroc, among = measured.interval(of.score, "auroc"), 1
    ends = "" if math.isnan(auroc.lower) else f" ({auroc.lower:.0%} to {auroc.upper:.0%}"
    if ends:
        ends += f", chosen among {among})" if among > 1 else ")"
    file = str(results.run.manifest["questions"]["name"])
    whose = [f"“{one_line(source)}”" for source in results.only] or [one_line(file)]
    does = (
        f"it doubts a wrong answer more than a right one in {auroc.value:.0%} of "
        f"pairs{ends}, on {_size(results)} of {list_of(whose)}."
    )
    if not measured.number:
        return [f"{name} leads: {does}", "How much of that is chance is not known yet."]
    if not of.beats_chance:
        none = "Use none: no doubt is shown to find the wrong answers."
        return [none, f"{name} leads: {does} Chance alone would in 50%."]
    if of.rivals:
        if not of.is_largest:
            above = [
                SCORES[each].title
                for each in of.rivals
                if measured.interval(each, "auroc").value > auroc.value
            ]
            who = list_of(above, most=len(SCORES))
            chance = f": {who} may lead by chance" if above else ""
            best = f"{name}, which decides on Inspection, {does.removeprefix('it ')}"
            return [best, f"No other is reliably better{chance}."]
        every = list_of([SCORES[each].title for each in of.rivals], most=len(SCORES))
        return [f"{name} leads: {does}", f"Its lead over {every} may be chance."]
    if len(results.scores) < 2:
        return [f"{name} finds wrong answers: {does}", "There is no other score to compare."]
    return [f"Use {name}: {does}", "No other score does so as often."]


def _size(results: Results) -> str:
    """Return how many questions there are, and in how many rows if some repeat."""
    questions = count_of(len(np.unique(results.questions)), "question")
    rows = count_of(len(results), "row")
    return questions if results.has_independent_rows else f"{rows} that ask {questions}"


def never_taught(measured: RunMeasures) -> str:
    """Return what the score to use is worth without the world's lists that were never taught.

    Where nothing was taught, a model can be wrong with little doubt. "" where there is no such row.
    """
    results, of = measured.results, lead(measured)
    is_list = np.array([each.endswith(NEVER_TAUGHT) for each in results.sources], bool)
    if of is None or not is_list.any():
        return ""
    rest = auroc(results.doubts[of.score][~is_list], results.correct[of.score][~is_list])
    if math.isnan(rest):
        return ""
    return (
        f"Without the {int(is_list.sum()):,} lists never taught, which the Laboratory leaves "
        f"out, {SCORES[of.score].title} reaches {rest:.0%}."
    )


def better_and_worse(every: Sequence[ScoreComparison]) -> str:
    """Return which scores one is shown to be better than, worse than, and neither."""
    of = every[0]
    shown = [each for each in every if each.is_significant]
    parts = [
        f"{how} than {_names(others)}"
        for how, others in (
            ("better", [each for each in shown if each.better]),
            ("worse", [each for each in shown if not each.better]),
        )
        if others
    ]
    rest = [each for each in every if not each.is_significant]
    head = f"{SCORES[of.score].title} {BETTER[of.measure]} "
    sentence = f"{head}{' and '.join(parts)}." if parts else ""
    if not rest:
        return sentence
    none = f"No difference between {SCORES[of.score].title} and {_names(rest)} is shown."
    return f"{sentence} {none}".strip()


def _names(every: Sequence[ScoreComparison]) -> str:
    return list_of([SCORES[each.other].title for each in every], most=len(every))


def score_columns(measured: RunMeasures) -> dict[str, list[str]]:
    """Return what every score is worth, by heading."""
    return {
        "score": [info.title for info in SCORES.values()],
        "symbol": [info.symbol for info in SCORES.values()],
        "right": [percent(measured.results.right(name)) for name in SCORES],
        **_shares_by_other_label(measured.results),
        **{
            measure.upper(): [with_interval(measured.interval(name, measure)) for name in SCORES]
            for measure in MEASURES
        },
    }


def _shares_by_other_label(results: Results) -> dict[str, list[str]]:
    """Return what the label that was not chosen calls right of each score's own answers."""
    other = results.by_other_label
    right = other.correct_by(other.match)
    return {label_heading(results): [percent(share_right(right[name])) for name in SCORES]}


def label_heading(results: Results) -> str:
    """Return the heading of a share that is right by the label that was not chosen."""
    return "same answer" if results.match == "f1" else "right by F1"


def other_label(match: Match) -> str:
    """Return by what answers are judged that was not chosen."""
    return "by the rule for the same answer" if match == "f1" else "by the paper’s token F1"


def labels(results: Results) -> list[str]:
    """Return what the rule for the same answer and the paper’s label differ on, and who serves."""
    if not len(results):
        return []
    name = results.served or SCORE
    by_f1, same = (results.correct_by(match)[name] for match in ("f1", "same_answer"))
    sentences = [
        f"Of {SCORES[name].symbol}’s answers the paper’s token F1 calls {by_f1.sum():,} of "
        f"{len(results):,} right, the rule for the same answer {same.sum():,}: "
        f"{(by_f1 & ~same).sum():,} by F1 alone, {(same & ~by_f1).sum():,} by the rule alone."
    ]
    if results.served:
        sentences.append(
            f"Every score is judged by {SCORES[results.served].symbol}’s answer, so that all are "
            "compared on the same answers."
        )
    return sentences


def right_half(results: Results) -> list[str]:
    """Say that no question with many right answers is answered wrongly, where that is so."""
    by_kind = mixing.kinds(mixing.sources(results))
    many = np.isin(results.sources, list(by_kind.many))
    names = [name for name in COMPARED if name in results.scores]
    if not (by_kind.single and many.any() and names):
        return []
    if not all(results.correct[name][many].all() for name in names):
        return []
    questions = count_of(len(np.unique(results.questions[many])), "question")
    return [
        f"All {questions} with many right answers are answered rightly "
        f"by {list_of([SCORES[name].symbol for name in names])}, so a lead on all rows together "
        "says that a score does not doubt these, and nothing of how it finds wrong answers among "
        "many right ones."
    ]


def curve_ends(results: Results) -> list[str]:
    """Say why curves of precision by recall end early, if they do."""
    return text.curve_ends({name: results.doubts[name] for name in results.scores}, text.NO_DOUBT)


UNVARIED: Final = (
    "Where all resamples are alike, as of an AUROC of 1, they show no doubt: there an AUROC has "
    "exact limits, from its number of right and wrong answers, and other measures have none."
)
OF_FEW: Final = (
    f"Fewer than {ENOUGH} answers of some score are right, or wrong: so each resample has one "
    "question more, which is as bad as can be, or as good, and all intervals are wide."
)


def intervals(measured: RunMeasures) -> str:
    """Return what the intervals are."""
    rows = len(measured.results)
    fits = affordable(rows, len(measured.results.scores))
    if not measured.number:
        if fits:
            return "No intervals yet."
        return f"No intervals yet: resampling {count_of(rows, 'row')} takes a while."
    is_all = max(measured.number, fits) >= RESAMPLES
    less = "" if is_all else f" ({RESAMPLES:,} would take a while)"
    return (
        f"Intervals: {CONFIDENCE:.0%}, paired bootstrap of {measured.number:,} resamples of the "
        f"questions{less}, the same for every score, each interval by itself. "
        f"{OF_FEW if measured.resampled.is_of_few else UNVARIED}"
    )


def comparison(of: ScoreComparison, one: str = "", two: str = "") -> str:
    """Return what came of two scores, with the numbers; `one` and `two` are other names of them."""
    one, two = one or SCORES[of.score].symbol, two or SCORES[of.other].symbol
    if math.isnan(of.difference.value):
        return f"{one} and {two} cannot be compared by {of.measure.upper()}."
    digits = DIGITS[of.measure]
    numbers = (
        f"{of.measure.upper()} {decimal(of.values[0], digits)} against "
        f"{decimal(of.values[1], digits)}, difference {decimal(of.difference.value, digits)}"
    )
    if math.isnan(of.p_value):
        return f"{one} and {two}: {numbers}; how much of that is chance is not known."
    ends = f"{decimal(of.difference.lower, digits)} to {decimal(of.difference.upper, digits)}"
    numbers += f" ({CONFIDENCE:.0%} {ends}), Holm-adjusted {p_in_words(of.adjusted)} ({of.test})."
    if not of.is_significant:
        return f"No difference between {one} and {two} is shown: {numbers}"
    return f"{one} {BETTER[of.measure]} {'better' if of.better else 'worse'} than {two}: {numbers}"


def above(plotted: QuestionPoints) -> str:
    """Return how many of the questions drawn either doubts at one threshold, right and wrong."""
    right, wrong = plotted.right, ~plotted.right
    entropy, information = (
        (f"{int((is_above & right).sum()):,}", f"{int((is_above & wrong).sum()):,}")
        for is_above in (plotted.entropy > DIVERSE, plotted.information > DIVERSE)
    )
    return (
        f"Above {DIVERSE} nats, entropy doubts {entropy[0]} of {int(right.sum()):,} right answers "
        f"and {entropy[1]} of {int(wrong.sum()):,} wrong ones; mutual information "
        f"{information[0]} and {information[1]}."
    )


def scatter(plotted: QuestionPoints) -> list[str]:
    """Return which questions are not in the picture."""
    notes = []
    if plotted.missing:
        few = count_of(plotted.missing, "question")
        notes.append(f"Not drawn: {few} of which {text.NO_DOUBT}.")
    if len(plotted.rows) < plotted.drawable:
        notes.append(
            f"Drawn: a random sample of {len(plotted.rows):,} of {plotted.drawable:,} questions."
        )
    return notes


def two_kinds(of: Kinds) -> str:
    """Return how the sources were divided."""
    begins = "No source names several right answers to its median question"
    if not of.many:
        return f"{begins}, and none has a median entropy above {DIVERSE} nats."
    names = list_of(
        [f"“{one_line(name)}”" if name else "questions of no source" for name in of.many]
    )
    so = f"so {'they count' if len(of.many) > 1 else 'it counts'} as having many."
    if of.by == mixing.BY_ANSWERS:
        return f"{names}: the median question has two right answers or more, {so}"
    return (
        f"{begins}. {names}: the median entropy of the model’s answers is above {DIVERSE} nats, "
        f"{so}"
    )


def mixtures(mixed: MixtureResult) -> list[str]:
    """Return what the mixtures were made of, then what every score answers by each rule."""
    sentences = [_composition(mixed)]
    if not mixed.scores:
        sentences.append("None of the chosen scores has a value in these rows.")
    if not mixed.found:
        return sentences
    outcomes = [_outcome(mixed, rule) for rule in mixing.RULES]
    return [*sentences, *outcomes, brackets(other_label(mixed.match))]


def at_high_entropy(mixed: MixtureResult) -> str:
    """Return what every score answers where entropy is highest, by the paper's rule.

    "" where one finds no threshold, or has no question there.
    """
    of = [each for each in mixed.found if each.rule == mixing.PAPER]
    if not of or any(len(each.bars) < 2 or math.isnan(each.bars[-2].recall) for each in of):
        return ""
    shares = [f"{SCORES[each.score].title} answers {each.bars[-2].recall:.0%}" for each in of]
    return (
        f"At an entropy of {of[0].bars[-2].name} nats, {list_of(shares, most=len(shares))} of the "
        f"questions, on average of {mixing.REPETITIONS} draws."
    )


def finding(results: Results) -> str:
    """Return what one threshold does to both kinds by the paper's rule, where that is worth a box.

    "" where the sources are not of two kinds, where there are few questions, or where the run lacks
    one of the two scores.
    """
    by_kind = mixing.kinds(mixing.sources(results))
    mixed = mixing.mix(results, by_kind.single, by_kind.many)
    if mixed.each < mixing.FEWEST or {mixture.score for mixture in mixed.found} != {*COMPARED}:
        return ""
    if any(each.rule == mixing.PAPER and each.bars[-1].recall >= HARDLY for each in mixed.found):
        return (
            "Tried on as many questions with one right answer as with many. "
            f"{_outcome(mixed, mixing.PAPER)} {brackets(other_label(results.match))}"
        )
    both = results, results.by_other_label
    wrong, by_other = (1 - min(map(each.right, COMPARED)) for each in both)
    return (
        f"{wrong:.0%} of the answers are wrong ({by_other:.0%} {other_label(results.match)}). "
        f"For a target loss of {mixed.target_error:.0%}, the "
        f"paper’s rule leaves fewer than {HARDLY:.0%} of the questions answered by M.I. or S.E."
    )


def _composition(mixed: MixtureResult) -> str:
    one, many = (count_of(size, "question") for size in (mixed.single, mixed.many))
    sentence = f"There are {one} with one right answer and {many} with many"
    if mixed.diverse_only:
        sentence += (
            f" and an entropy above {DIVERSE} nats "
            f"({count_of(mixed.dropped, 'row')} without it left out)"
        )
    if not mixed.each:
        return f"{sentence}. Figure 6 takes at least two of either kind: one calibrates, one tests."
    fewer = "as in the paper" if mixed.each == mixing.PAPERS else f"the paper has {mixing.PAPERS}"
    return (
        f"{sentence}. Each half has {mixed.each:,} of either kind ({fewer}), drawn anew "
        f"{mixing.REPETITIONS} times from the same questions: the bars’ two standard deviations "
        "show what the draw changes."
    )


def _outcome(mixed: MixtureResult, rule: str) -> str:
    """Return what every score answers by one rule, of all questions and at high entropies."""
    sure = (
        f", with {codec.percent(mixed.confidence)} confidence" if rule == mixing.GUARANTEED else ""
    )
    head = f"At a target loss of {codec.percent(mixed.target_error)}{sure}, by {_RULES[rule]}: "
    return f"{head}{'; '.join(mixture(each) for each in mixed.found if each.rule == rule)}."


def mixture(of: Mixture) -> str:
    """Return what one score answers by one rule."""
    symbol = SCORES[of.score].symbol
    none = sum(value is None for value in of.values)
    if none == len(of.values):
        return f"{symbol} finds no threshold in any of {none} repetitions"
    *bins, every = of.bars
    sentence = f"{symbol} answers {_shares(every)}"
    if bins:
        sentence += f", and {_shares(bins[-1])} at an entropy of {bins[-1].name} nats"
    if none:
        sentence += f" (no threshold in {none} of {len(of.values)} repetitions)"
    return sentence


def _shares(bar: Bar) -> str:
    if 0 < bar.recall < HARDLY:
        return f"fewer than {HARDLY:.0%}"
    if math.isnan(bar.error):
        return f"{bar.recall:.0%}"
    return f"{bar.recall:.0%} with {bar.error:.1%}{by_other(bar)} wrong"


def decisions(decided: PolicyDecisions) -> list[str]:
    """Return what a policy answers, and how much of that is wrong."""
    policy, seen = decided.policy, decided.observed
    symbol = SCORES[policy.score].symbol
    where = f", where {symbol} is {policy.where}" if math.isfinite(policy.threshold) else ""
    if not seen.queries:
        return ["No row counts, so there is nothing to decide on."]
    wrong = (
        f"; {seen.errors:,} of them wrongly ({seen.selective_error:.1%}; "
        f"{decided.other_errors / seen.answered:.1%} {other_label(decided.results.match)})"
        if seen.answered
        else ""
    )
    return [
        f"The policy answers {count_of(seen.answered, 'question')} of {seen.queries:,} "
        f"({seen.coverage:.1%}){where}{wrong}.",
        NO_TEST,
    ]


def overlap(both: SharedQuestions) -> str:
    """Say how many questions two runs share, and which some others are."""
    others = [f"“{one_line(both.here.queries[row])}”" for row in both.at_others]
    common = len(both) + len(others)
    alone = (len(np.unique(run.questions)) - common for run in (both.here, both.there))
    sentence = "{} in both; {:,} only in this run, {:,} only in the other.".format(
        count_of(common, "question"), *alone
    )
    if not others:
        return sentence
    return (
        f"{sentence} Left out, for other answers count as right in the other run: "
        f"{count_of(len(others), 'question')} ({list_of(others, most=MOST_LEFT_OUT)})."
    )


def side(of: RunSide, results: Results) -> str:
    """Say how one score differs between two runs; `results` are of one."""
    symbol, judged = SCORES[of.score].symbol, SCORES[results.served or of.score].symbol
    return (
        f"{judged}’s answer is right in {of.right_here:.1%} here and {of.right_there:.1%} there "
        f"({other_label(results.match)} {of.other_here:.1%} and {of.other_there:.1%}): "
        f"only here {of.only_here:,}, only there {of.only_there:,} (McNemar, Holm-adjusted "
        f"{p_in_words(of.chance)}). {comparison(of.by, f'{symbol} here', f'{symbol} there')}"
    )


def price_of_view(taken: Look) -> str:
    """Say what a later look at labels costs a promise; "" for the first."""
    if taken.place == 1:
        return ""
    if taken.place > MOST_LOOKS:
        return no_budget(taken.place)
    return (
        f"Look {taken.place} at these labels: other rows or labels of them were shown before, or "
        "a run is looked at while it goes on, and a promise made of these pays for the choice. It "
        f"may spend δ/{2**taken.place:,}."
    )
