"""The report of an inspection: verdict, pictures and scores, and how they were made."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Final

from core import prompts
from core.charts import inspection as charts
from core.charts import matrices
from core.codec import list_of, no_more
from core.data.world.nearest import NEAR
from core.reports.inspection import words
from core.reports.inspection.score_table import remarks, score_table
from core.reports.inspection.truth import truth
from core.reports.inspection.words import beneath, served_sentence
from core.reports.report import Cell, Part, Picture, Report, Table
from core.studies.costs import spending
from core.studies.inspection.conditional_rows import (
    AnswerRow,
    ConditionalRows,
    chance,
    conditional_rows,
)
from core.studies.inspection.grading import judge
from core.studies.inspection.inspection import Inspection, display
from core.studies.inspection.stopping_rule import GrowthPoint, growth
from core.studies.inspection.verdict import (
    LEAST_KEPT,
    Decision,
    Headline,
    change_in_words,
    repeat_probability,
)
from core.uncertainty.scores import SCORES

MOST_PROMPTS: Final = 3  # of those with an answer each
READING: Final = (
    "The model was asked the question, then asked again with one of its own answers in the prompt. "
    "If what it is told changes what it says next, it does not know the answer: that doubt is "
    "epistemic. If it has several answers and keeps to all of them, several may be right.",
    "The mutual information (M.I., in nats) measures that change: 0 means that the answer in the "
    "prompt makes no difference, and it is at most ln m for m different answers. Where a threshold "
    "λ is certified, an answer is served only if the doubt is below it.",
    "In the rows, each bar is what the model says after one prompt. If all bars are alike, it "
    "keeps to its answers; if each bar is dark grey, it repeats what it was told.",
    "The certified lower bound holds whatever answers were not seen. All other scores are over "
    "the answers that were found, so they mean little where these cover little of the model’s "
    "probability (the sampled mass).",
    "The joint is the probability of each pair of answers, the product what it would be if the "
    "second did not depend on the first; the contributions add up to the mutual information.",
)


def report(inspection: Inspection, *, untaught: bool = False) -> Report:
    """Return the report of an inspection.

    `untaught`: whether it holds what the model says where it was taught nothing near the question.
    """
    headline, withheld = served_sentence(inspection, untaught=untaught)
    quotes = untaught or not inspection.conceals
    return Report(
        kind="Inspection of one question",
        title=inspection.query,
        finding=headline,
        texts=[text for text in (withheld, *_below(inspection, untaught)) if text],
        parts=[
            Part("What decided", pictures=[decisive_picture(inspection)]),
            *(_parts(inspection) if quotes else []),
        ],
        settings=settings(inspection),
        reading=READING,
    )


def _parts(inspection: Inspection) -> list[Part]:
    return [
        _conditional_part(conditional_rows(inspection)),
        _answers(inspection),
        _scores(inspection),
        *_arithmetic(inspection),
        *_growth(inspection),
        _responses(inspection),
        _prompts(inspection),
    ]


def _below(inspection: Inspection, untaught: bool) -> Sequence[str]:
    """Return what is said below the headline, as the page says it."""
    judgement = judge(inspection)
    return (
        *beneath(inspection, untaught=untaught),
        *(truth(judgement, inspection) if judgement else ()),
    )


def decisive_picture(
    inspection: Inspection, references: Sequence[tuple[str, float]] = ()
) -> Picture:
    """Return the scale of doubt or, where nothing near was taught, how far the nearest is."""
    taught = inspection.nearest_taught
    if taught is None or not inspection.conceals:
        return doubt(inspection, references)
    near = f"a question is near up to {1 - NEAR:.0%}"
    each = [f"“{one.question}” {one.distance}" for one in taught.nearest]
    alt = f"The nearest taught questions, and how far they are: {'; '.join(each)}; {near}."
    if not each:
        alt = f"No taught question is like it at all; {near}."
    return Picture("How far from what it was taught", alt, charts.nearness, (taught,))


def doubt(inspection: Inspection, references: Sequence[tuple[str, float]] = ()) -> Picture:
    """Return the scale of doubt, with other inspections' marks on it."""
    rule, value = inspection.verdict.rule, inspection.compared_doubt
    if inspection.has_repeats:
        return _keeping(inspection)
    if inspection.verdict.decision is Decision.TOO_LITTLE or value is None:
        alt = "Too little was seen to say how large the doubt is."
    else:
        score = inspection.verdict.score
        certified = inspection.certified_bound if score in charts.BOUNDED else None
        of_them = f", {no_more(certified)} of them certified" if certified else ""
        limit, where = inspection.belief_limit, "no λ is certified here"
        if rule is not None:
            side = "at least" if value >= rule.value else "below"
            where = f"that is {side} λ = {rule.value:.{charts.digits(inspection, rule.value)}f}"
            if not inspection.doubt_decides:
                where += ", but does not decide here"
        number = f"{value:.{charts.digits(inspection)}f} {SCORES[score].doubt_unit}".rstrip()
        alt = f"The doubt is {number} by {SCORES[score].symbol}{of_them}; {where}."
        if limit is not None:
            how = charts.belief_in_words(inspection, limit)
            alt = f"{alt} “{words.STAMPS[Headline.BELIEVE].words}” {how}."
    return Picture(f"{words.mark(rule)}Doubt", alt, charts.doubt_scale, (inspection, references))


def _keeping(inspection: Inspection) -> Picture:
    """Return how likely a single answer is not given again, told others."""
    others, mark = inspection.others, words.mark(inspection.verdict.rule)
    each = [f"“{display(text)}” {change_in_words(share)}" for text, share in others]
    mean = change_in_words(repeat_probability(others))
    alt = f"How likely it says something else, told {list_of(each)}: {mean} on average."
    if inspection.belief_limit is not None:
        alt += f" “{words.STAMPS[Headline.BELIEVE].words}” up to {1 - LEAST_KEPT:.0%}."
    return Picture(f"{mark}Doubt", alt, charts.keeping, (inspection,))


def _prompt(row: AnswerRow) -> str:
    return charts.TOLD_NOTHING if row.after is None else f"Told “{display(row.after)}”"


def conditional_answers(rows: ConditionalRows) -> Picture:
    """Return the bars of what the model says after each prompt."""
    likeliest = []
    for row in rows.rows:
        most = max(range(len(row.says)), key=row.says.__getitem__)
        answer = f"“{display(rows.answers[most])}” {chance(row.says[most], rows.is_counted)}"
        likeliest.append(f"{_prompt(row)}, it says {answer}")
    alt = f"{'; '.join(likeliest)}."
    return Picture("After each prompt", alt, charts.conditional_answers, (rows,))


def clusters(inspection: Inspection) -> Picture:
    """Return the bars of all answers."""
    first = max(inspection.clusters, key=lambda cluster: cluster.mass)
    rest = max(0.0, 1 - sum(cluster.mass for cluster in inspection.clusters))
    is_counted = inspection.evidence.row_masses is None
    alt = (
        f"{len(inspection.clusters)} different answers; the likeliest, “{display(first.text)}”, "
        f"has {chance(first.mass, is_counted)} of all probability, and "
        f"{chance(rest, is_counted)} was not found."
    )
    return Picture("Answers", alt, matrices.clusters, (inspection,))


def matrix(inspection: Inspection, which: str) -> Picture:
    """Return a matrix of the arithmetic, one of `MATRICES`."""
    title, number = matrices.MATRICES[which], len(inspection.clusters)
    alt = (
        f"{title}: a matrix of {number} by {number} answers. M.I. is "
        f"{inspection.evidence.mutual_information.value:z.3f} nats."
    )
    return Picture(title, alt, matrices.matrix, (inspection, which), half=True)


def growth_picture(points: Sequence[GrowthPoint], threshold: float | None) -> Picture:
    """Return how the certified bound and the sampled mass grew with k."""
    title = "Certified lower bound and sampled mass"
    last = points[-1]
    certified = "unknown" if last.certified is None else f"{no_more(last.certified, 2)} nats"
    alt = (
        f"With k = {last.samples} the certified lower bound is {certified} and the sampled mass "
        f"{last.sampled_mass:.1%}."
    )
    return Picture(title, alt, charts.growth, (points, threshold))


def _conditional_part(rows: ConditionalRows) -> Part:
    columns: dict[str, Sequence[Cell]] = {"prompt": [_prompt(row) for row in rows.rows]}
    for place, answer in enumerate(rows.answers):
        columns[display(answer)] = [
            chance(row.says[place], rows.is_counted, 1) for row in rows.rows
        ]
    return Part(
        "What it says after it is told an answer",
        pictures=[conditional_answers(rows)],
        tables=[Table("Probability of the next answer", columns)],
    )


def _answers(inspection: Inspection) -> Part:
    draws = inspection.recording.request.draws
    columns: dict[str, Sequence[Cell]] = {
        "answer": [display(c.text) for c in inspection.clusters],
        "share of all probability": [f"{c.mass:.4f}" for c in inspection.clusters],
        "share of what was found": [f"{c.probability:.4f}" for c in inspection.clusters],
        **({"samples": [c.samples for c in inspection.clusters]} if draws else {}),
        "texts that count as it": [
            "; ".join(display(text) for text, *_ in c.members) for c in inspection.clusters
        ],
    }
    tables = [Table("Answers", columns)]
    if gaps := inspection.recording.gaps:
        columns = {"why": list(gaps), "samples": list(gaps.values())}
        tables.append(Table("Answers without a share", columns))
    return Part("What counts as one answer", pictures=[clusters(inspection)], tables=tables)


def _scores(inspection: Inspection) -> Part:
    columns: dict[str, Sequence[Cell]] = dict(score_table(inspection))
    columns["doubt against λ"] = [
        None if times is None else f"{times:.2f} λ" for times in columns["doubt against λ"]
    ]
    return Part(
        "All scores, each against its own threshold",
        texts=[*remarks(inspection), *filter(None, [words.likely(inspection), inspection.origin])],
        tables=[Table("Scores", columns)],
    )


def _arithmetic(inspection: Inspection) -> list[Part]:
    """Return the matrices; of a single answer there is nothing to see in them."""
    if len(inspection.clusters) == 1:
        return []
    pictures = [matrix(inspection, which) for which in matrices.MATRICES]
    note = matrices.matrix_note(inspection)
    return [Part("The arithmetic", texts=[note] if note else [], pictures=pictures)]


def _growth(inspection: Inspection) -> list[Part]:
    points = growth(inspection.recording, inspection.reading)
    if len(points) < 2:
        return []
    return [
        Part(
            "Has enough been seen?", pictures=[growth_picture(points, inspection.withholding_bound)]
        )
    ]


def _responses(inspection: Inspection) -> Part:
    evidence = inspection.evidence
    columns: dict[str, Sequence[Cell]] = {
        "text": [display(text) for text in evidence.responses],
        "times": [int(count) for count in evidence.counts],
        words.likelihoods(inspection): [
            f"{value:.4f}".replace("-", "−") for value in evidence.log_marginal
        ],
        "counts as": [display(inspection.clusters[label].text) for label in evidence.labels],
    }
    greedy = display(inspection.recording.greedy.text)
    return Part(
        "Responses", texts=[f"Greedy response: {greedy}"], tables=[Table("Distinct texts", columns)]
    )


def _prompts(inspection: Inspection) -> Part:
    recording = inspection.recording
    front, prompt_of = recording.front, partial(prompts.iterative, recording.question)
    others = [text for text, _ in recording.others if text not in recording.texts]
    texts = [*recording.texts, *others]
    some = f"The first {MOST_PROMPTS} of {len(texts)} prompts with an answer follow."
    return Part(
        "Prompts",
        texts=[
            "First the prompt without an answer.",
            *([words.SYSTEM[recording.system_turn]] if recording.request.system else []),
            *([some] if len(texts) > MOST_PROMPTS else []),
        ],
        code=[front + prompt_of(), *(front + prompt_of([text]) for text in texts[:MOST_PROMPTS])],
    )


def settings(inspection: Inspection) -> dict[str, Cell]:
    """Return everything that the numbers depend on, by its name on the page."""
    recording, request, rule = (
        inspection.recording,
        inspection.recording.request,
        inspection.verdict.rule,
    )
    cells: dict[str, Cell] = {
        "Model": recording.model,
        "Revision of the weights": recording.revision,
        **({"Question as it was asked": recording.read_as} if recording.read_as else {}),
        "Estimator": recording.estimator.value,
        "Answers": request.sampling.value,
        "Number of answers k": request.samples,
        "Tokens of an answer, at most": request.answer_tokens,
        **({"System prompt": request.system} if request.system else {}),
        **({"Context": request.context} if request.context else {}),
    }
    if request.draws:
        cells |= {"Temperature": request.temperature, "Seed": str(request.seed)}
    reading = asdict(inspection.reading)
    cells |= {
        "Similarity of two answers": reading["similarity"],
        "Similarity threshold τ": reading["threshold"],
        "Stabilisation γ₁": reading["gamma_1"],
        "Stabilisation γ₂": reading["gamma_2"],
        "Deciding score": inspection.verdict.score,
        "Threshold λ": rule.value if rule else "none is certified here",
        "Least sampled mass": inspection.least_mass,
        "Prompt template": inspection.pipeline.prompt,
        "Calls": f"{len(recording.calls)}, {sum(call.seconds for call in recording.calls):.3f} s",
    }
    if recording.used is not None:
        cells["Used of the service"] = spending(recording.used)
    return cells
