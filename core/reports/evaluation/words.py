"""What a run came to, in sentences: its scores, one threshold for two kinds, a policy, two runs."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from core.abstention.bayesian_bootstrap import ENOUGH
from core.abstention.intervals import Interval
from core.abstention.ledger import MOST_LOOKS, Look, no_budget
from core.abstention.metrics import MEASURES, auroc, share_of_ties
from core.abstention.policy import Pipeline
from core.codec import count_of, list_of, one_line, with_interval
from core.data.datasets.world import NEVER_TAUGHT
from core.data.tabular.fingerprints import of_questions
from core.reports import text
from core.reports.inspection.words import STAMPS, Headline
from core.studies.evaluation import mixing
from core.studies.evaluation.bundled import folders
from core.studies.evaluation.decisions import PolicyDecisions
from core.studies.evaluation.mixing import COMPARED
from core.studies.evaluation.recorded_answers import counts, recorded_answers
from core.studies.evaluation.results import (
    CONFIDENCE,
    RESAMPLES,
    Results,
    RunMeasures,
    affordable,
    share_right,
)
from core.studies.evaluation.row_table import QuestionPoints
from core.studies.evaluation.rows import RIGHT_BY, Match
from core.studies.evaluation.run_comparison import RunSide, SharedQuestions
from core.studies.evaluation.saved_run import DIVERSE, Run
from core.studies.evaluation.score_comparison import (
    FEWEST_OF_A_KIND,
    LEVEL,
    BestScore,
    ScoreComparison,
    lead,
    ranking,
)
from core.studies.inspection.certificates import QWEN, SCORE, certified_model, default_policy
from core.studies.inspection.request import Sampling
from core.studies.provenance import Provenance
from core.uncertainty.scores import SCORES
from core.uncertainty.similarity import ANSWER_RULE

NONE: Final = "–"  # where nothing can be said
RECORDED: Final = "verdict"
DIGITS: Final = 3  # of a measure
BETTER: Final = {  # what a score does by a measure
    "auroc": "finds wrong answers",
    **dict.fromkeys(("aurc", "augrc", "prr"), "orders the questions"),
}
NO_TEST: Final = (
    "This describes these rows and is no test: it promises nothing. To test the policy on labelled "
    "rows that did not make it, run: python -m core calibrate ROWS --policy FILE."
)
MOST_LEFT_OUT: Final = 3  # questions that are named
_HOW_WELL: Final = ((0.9, "very well"), (0.8, "well"), (0.7, "fairly well"))  # least AUROC


def provenance(of: Provenance) -> str:
    """Say who answered what is recorded, when, from which file and how asked."""
    return f"{of.sentence}. {of.file}, SHA-256 {of.sha256[:12]}…, in the form {of.form}."


def decimal(value: float) -> str:
    """Return a number with a true minus."""
    return f"{value:z.{DIGITS}f}".replace("-", "−")


def measure_shown(of: Interval) -> str:
    """Return a measure with its interval, as far as there is one."""
    return with_interval((of.value, of.lower, of.upper), f"z.{DIGITS}f", NONE)


def number_shown(value: float) -> str:
    """Return a measure without its interval."""
    return decimal(value) if math.isfinite(value) else NONE


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


def _answer(measured: RunMeasures, of: BestScore) -> list[str]:
    results, name = measured.results, SCORES[of.score].title
    correct = results.correct[of.score]
    for kind, count in (("wrong", int((~correct).sum())), ("right", int(correct.sum()))):
        if count < FEWEST_OF_A_KIND:
            return [
                f"Too few answers are {kind} to say which doubt to use: {count:,} of "
                f"{len(results):,}."
            ]
    auroc = of.widened
    ends = "" if math.isnan(auroc.lower) else f"{auroc.lower:.0%} to {auroc.upper:.0%}; "
    half = ", ties half" if share_of_ties(results.doubts[of.score], correct) >= 0.01 else ""
    file = str(results.run.manifest["questions"]["name"])
    whose = [f"“{one_line(source)}”" for source in results.only] or [one_line(file)]
    does = (
        f"Of a wrong and a right answer, the wrong one is doubted more in {auroc.value:.0%} of "
        f"pairs ({ends}chance: 50%{half}). On {list_of(whose)} ({size(results)}), "
        f"{int((~correct).sum()):,} answers are wrong."
    )
    largest = [measured.interval(each, "auroc").value for each in ranking(measured)[:2]]
    ahead = f"{name} is ahead" if len({*largest}) == len(largest) else "None is ahead"
    if not measured.number:
        return [f"{ahead}; how much of that is chance is not known yet.", does]
    if not of.beats_chance:
        return ["No doubt is shown to find the wrong answers.", f"{ahead}. {does}"]
    words = (word for least, word in _HOW_WELL if of.widened.lower >= least)
    finds = f"{name} finds wrong answers {next(words, 'better than chance')}"
    if of.rivals and of.is_largest:
        return [f"{finds}; {_others(of.rivals, len(ranking(measured)))} may be as good.", does]
    if of.rivals:
        above = [
            SCORES[each].title
            for each in of.rivals
            if measured.interval(each, "auroc").value > auroc.value
        ]
        chance = f" {list_of(above, most=len(SCORES))} may be ahead by chance." if above else ""
        return [f"{finds}; no other is shown to be better.", f"{does}{chance}"]
    if len(results.scores) < 2:
        return [f"{finds}; there is no other score to compare.", does]
    return [f"{finds}; every other is shown to be worse.", does]


def _others(scores: Sequence[str], among: int) -> str:
    """Return the names of one or two scores of so many; of more, how many."""
    few = list_of([SCORES[each].title for each in scores], most=2)
    many = "all others" if len(scores) == among - 1 else f"{len(scores)} others"
    return few if len(scores) <= 2 else many


def size(results: Results) -> str:
    """Return how many questions there are, and in how many rows if some repeat."""
    questions = count_of(len(np.unique(results.questions)), "question")
    rows = count_of(len(results), "row")
    return questions if results.has_independent_rows else f"{rows} that ask {questions}"


def answers_of(pipeline: Pipeline) -> str:
    """Return how many answers to a question were compared, and how they were found."""
    if pipeline.sampling == Sampling.LIKELIEST:
        return f"the {pipeline.samples:,} likeliest"
    return f"{pipeline.samples:,} drawn"


def apart_from_example(results: Results) -> str:
    """Return what the rows of a run are to those that certified its model; "" where none did."""
    if (model := certified_model(results.run.pipeline.revision)) is None:
        return ""
    policy = default_policy(model)
    questions, labels = of_questions(np.array(results.queries, object)), policy.row_hashes
    shared = int(np.isin(questions, labels & ~np.uint64(1)).sum())
    what = f"{policy.labels:,} questions; {shared:,} of these are among them."
    return f"The model’s policy was made of {what}"


def beneath(results: Results) -> str:
    """Return what a picture by itself is of: the model, how many questions, and who judges."""
    model = one_line(results.run.pipeline.model, 40)
    return f"{model}, {size(results)}, right by {RIGHT_BY[results.match]}"


def recorded_verdicts() -> dict[str, list[str]]:
    """Return how many of the recorded answers that get a word on Inspection are wrong.

    A row a word, a column a recording.
    """
    by_label = {stamp.label: stamp.words for stamp in STAMPS.values()}
    columns = {RECORDED: [*by_label]}
    for run in dict.fromkeys(answer.run for answer in recorded_answers()):
        every = [answer for answer in recorded_answers() if answer.run == run]
        name = one_line(str(Run(folders()[run]).manifest["questions"]["name"]))
        cells = columns[f"{every[0].provenance.title}: {len(every):,} {name}"] = []
        for words in by_label.values():
            number, wrong = counts(words, every)
            share = f"{wrong:,} of {number:,} wrong, {wrong / max(number, 1):.1%}"
            cells.append(share if number else "none")
    return columns


def why_not_believed() -> str:
    """Return why no recorded answer is believed, and what those rows are to that promise."""
    policy, word = default_policy(QWEN), STAMPS[Headline.PERHAPS].words
    number, wrong = counts(word)
    served = (
        f"“{word}” promises at most {policy.target_error:.0%} wrong of both together: "
        f"{wrong:,} of {number:,} are. {policy.labels:,} of these rows set its "
        "limit, so they are no test of it."
    )
    own = " “Believe it” takes a promise of its own, which this model has not."
    return served + own * (policy.belief is None)


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
    lists = f"the {int(is_list.sum()):,} lists that were never taught"
    return f"{SCORES[of.score].title} without {lists}: {rest:.0%} of pairs."


RING: Final = ", may be as good"
#: What the marks of `document.aurocs` are, a line each.
KEY: Final = ("○ its line reaches 0: may be as good", "● it does not: worse")
#: When an answer is right, by how it is compared with the accepted ones.
RIGHT_MEANS: Final[dict[Match, str]] = {
    "same_answer": "the same as an accepted answer",
    "f1": "token F1 ≥ 0.25 with an accepted answer, as in the paper",
    "exact": "word for word an accepted answer",
}


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
            measure.upper(): [measure_shown(measured.interval(name, measure)) for name in SCORES]
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
    own, others = (decimal(value) for value in of.values)
    numbers = f"{of.measure.upper()} {own} against {others}, difference {difference(of)}"
    if math.isnan(of.p_value):
        return f"{one} and {two}: {numbers}; how much of that is chance is not known."
    ends = f"{decimal(of.difference.lower)} to {decimal(of.difference.upper)}"
    numbers += f" ({CONFIDENCE:.0%} {ends}), adjusted {p_in_words(of.adjusted)} ({of.test})."
    if not of.is_significant:
        return f"No difference between {one} and {two} is shown: {numbers}"
    return f"{one} {BETTER[of.measure]} {'better' if of.better else 'worse'} than {two}: {numbers}"


def difference(of: ScoreComparison) -> str:
    """Return by how much a score exceeds another: the difference of what is shown of the two."""
    own, others = (round(value, DIGITS) for value in of.values)
    return decimal(own - others)


def above(plotted: QuestionPoints) -> str:
    """Return how many of the questions drawn either doubts at one threshold, right and wrong."""
    right, wrong = plotted.right, ~plotted.right
    entropy, information = (
        (f"{int((is_above & right).sum()):,}", f"{int((is_above & wrong).sum()):,}")
        for is_above in (plotted.entropy > DIVERSE, plotted.information > DIVERSE)
    )
    (few, least), (more, most) = zip(entropy, information, strict=True)
    return (
        f"Of {int(right.sum()):,} right answers, entropy doubts {few} and mutual information "
        f"{least}; of {int(wrong.sum()):,} wrong ones, {more} and {most}. Doubted: above {DIVERSE} "
        "nats, the lines."
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


def decisions(decided: PolicyDecisions) -> list[str]:
    """Return what a policy answers, how much of that is wrong, and what that is worth."""
    policy, seen = decided.policy, decided.observed
    if not seen.queries:
        return ["No row counts, so there is nothing to decide on."]
    wrong, other = "", decided.other_errors
    if seen.answered:
        also = "also" if other == seen.errors else f"{other / seen.answered:.1%}"
        by = f"{also} {other_label(decided.results.match)}"
        wrong = f"; {seen.errors:,} of them wrongly ({seen.selective_error:.1%}; {by})"
    where = f"It answers where {SCORES[policy.score].symbol} is {policy.where}. "
    return [
        f"The policy answers {count_of(seen.answered, 'question')} of {seen.queries:,} "
        f"({seen.coverage:.1%}){wrong}.",
        *_without_lists(decided),
        f"{where if math.isfinite(policy.threshold) else ''}{NO_TEST}",
    ]


def _without_lists(decided: PolicyDecisions) -> list[str]:
    """Return what is wrong without the world's lists that were never taught, where there are."""
    rest = [each for each in decided.by_source if not each.name.endswith(NEVER_TAUGHT)]
    answered, errors = (sum(getattr(each, of) for each in rest) for of in ("answered", "errors"))
    if len(rest) == len(decided.by_source) or not answered:
        return []
    return [
        f"Without lists that the model was never taught, {errors:,} of {answered:,} answers are "
        f"wrong ({errors / answered:.1%})."
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


def which_run(of: RunSide) -> str:
    """Return which run answers more rightly, and whose doubt is better, where that is shown."""
    title = SCORES[of.score].title
    less, more = map(percent, sorted((of.right_here, of.right_there)))
    who = "This run" if of.right_here > of.right_there else "The other run"
    right = (
        f"{who} answers more rightly: {more} against {less}."
        if of.chance < LEVEL
        else f"Neither run is shown to answer more rightly: {more} against {less}."
    )
    if math.isnan(of.by.p_value):
        return right
    if of.by.is_significant:
        return f"{right} {title} finds wrong answers better {'here' if of.by.better else 'there'}."
    return f"{right} How well {title} finds wrong answers is not shown to differ."


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
