"""Why a model gives way: the paper's Section 3.1 on a real network, over many facts.

The section argues on one idealised head, E⊤W_Q (ZW_K)⊤/√d. Rows of Z are whole statements: the
question X first, then copies of a statement Y; E is the end of the input. A question seen often in
training lies in the span of the large principal components of the key–query product and keeps the
attention whatever is repeated; one seen rarely does not, and gives way. Here the claim is tried on
every head of a model that runs here:

- *X* is what comes into a layer at the last token of the question's first mention, which has read
  the whole question and nothing else: no repetition stands before it. *E* is the prompt's last
  token.
- *The overlap* is the share of X's squared length in the span of the components that hold half of
  the squared singular values, averaged over all heads of all layers. The section speaks of this,
  and it was chosen before anything was computed. Averaged over all tokens of the question instead,
  it is a measure of its own.
- *The logit* is E⊤W_Q W_K⊤X/√d of these components, the quantity that the section calls large.
- *The gap* is ln of the attention on the question less ln of that on Y, told once: on one idealised
  head, Y overtakes at e^gap repetitions.

What the network has and the section has not: several layers, between which other weights work; the
norm in front of each, whose weights are counted to W_Q and W_K; rotary positions, which are in the
gap and not in the product; and a second mention of the question, which is in the gap. Facts of one
relation are asked in the same words, and words have overlaps, too: so there is also a correlation
within relations.
"""

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.abstention.intervals import Interval, rank_correlation
from core.data.world.facts import Band, Fact
from core.language_models.backends.llama.model import LlamaModel
from core.language_models.errors import ModelError
from core.language_models.language_model import LanguageModel
from core.studies.amplification.curve import Amplification, Case, amplify, grid
from core.studies.amplification.gallery import draw, of_fact
from core.studies.amplification.mechanism import looking, places
from core.studies.inspection.taught_questions import WORLD_OF
from core.studies.laboratory.settings import ExperimentSettings, seed_setting, setting
from core.studies.progress import Progress, silent
from core.uncertainty.attention import Principal, principal
from core.uncertainty.validation import Floats

#: Of facts with many right answers another right one is repeated: nothing wrong wins.
OF_BANDS: Final = (Band.BY_HEART, Band.HALF_KNOWN, Band.RARELY, Band.NEVER_SEEN)

#: What may go with the repetitions that it takes, as an axis calls it; the first is the section's.
MEASURES: Final = {
    "overlap": "overlap with the large components",
    "every_token": "overlap, all tokens of the question",
    "logit": "logit through the large components",
    "gap": "attention gap, nats",
    "exposures": "times that training showed it",
    "odds": "log-odds before any repetition, nats",
}


@dataclass(frozen=True)
class YieldingSettings(ExperimentSettings):
    """Which facts are asked, as evenly from each band as there are, and how far.

    Facts that stand the largest number of repetitions are all counted as lasting longest.
    """

    facts: int = setting(300, "Facts", 8, 2000, 10)
    most: int = setting(100, "Repetitions up to", 1, 200, 10)
    large: float = setting(
        0.5, "Share of the squared singular values that is large", 0.01, 1, 0.05, folded=True
    )
    seed: int = seed_setting()  # of the draw of facts and of the bootstrap


@dataclass(frozen=True)
class YieldingRow:
    """One fact."""

    question: str
    relation: str
    band: str
    exposures: int
    # The first number at which the repeated answer is the likelier one; 0 where it is so before
    # any, None where it is at none.
    repetitions: int | None
    odds: float  # ln Q(right answer) − ln Q(repeated answer) before any repetition, nats
    # overlap, every_token, logit, gap: see the module; means over all heads.
    overlap: float
    every_token: float
    logit: float
    gap: float


@dataclass(frozen=True, eq=False)
class YieldingFacts:
    """Every fact, and what goes with the repetitions that it takes to turn."""

    settings: YieldingSettings
    model: str
    revision: str
    components: float  # how many components are large, the mean over heads
    rows: tuple[YieldingRow, ...]
    # (layers, heads): the rank correlation of each head's own overlap with the repetitions. The
    # largest among so many proves nothing.
    heads: Floats = field(repr=False)

    def of(self, measure: str) -> Floats:
        """Return a measure of every fact, a key of `MEASURES`, (facts,)."""
        return np.array([getattr(row, measure) for row in self.rows], float)

    @functools.cached_property
    def lasts(self) -> Floats:
        """The repetitions of every fact, (facts,); one more than the most where none turns it."""
        return _lasts([row.repetitions for row in self.rows], self.settings.most)

    @functools.cached_property
    def correlations(self) -> Mapping[str, Interval]:
        """The rank correlation of every measure with the repetitions, with its 95% interval.

        How often training showed a fact is known of the embedded model alone.
        """
        return {
            name: self._with(self.of(name), self.lasts)
            for name in MEASURES
            if self._was_taught or name != "exposures"
        }

    @property
    def _was_taught(self) -> bool:
        return self.model == WORLD_OF

    @functools.cached_property
    def by_band(self) -> Mapping[str, tuple[int, Interval]]:
        """The same of the overlap among facts of one band, and how many there are.

        Empty for a model other than the embedded one: bands are those of its training.
        """
        if not self._was_taught:
            return {}
        bands = np.array([row.band for row in self.rows])
        overlap = self.of("overlap")
        return {
            band.value: (int(at.sum()), self._with(overlap[at], self.lasts[at]))
            for band in OF_BANDS
            if (at := bands == band.value).any()
        }

    @functools.cached_property
    def within(self) -> Interval:
        """That of the overlap among facts of one relation, which are asked in the same words."""
        return self._with(self.of("overlap"), self.lasts, [row.relation for row in self.rows])

    def _with(self, x: Floats, y: Floats, groups: Sequence[str] | None = None) -> Interval:
        return rank_correlation(x, y, groups=groups, seed=self.settings.seed)


def _lasts(repetitions: Sequence[int | None], most: int) -> Floats:
    return np.array([most + 1 if t is None else t for t in repetitions], float)


def run(
    model: LanguageModel, settings: YieldingSettings, progress: Progress = silent
) -> YieldingFacts:
    """Measure the overlap of many questions, and how many repetitions turn each.

    Raises `ModelError` when the model does not run here, or normalises its keys;
    `InvalidRequestError`, also when a curve does not fit the model's context.
    """
    if not isinstance(model, LlamaModel):
        raise ModelError(
            f"{model.name} does not show its weights. Choose a model that runs here, such as the "
            "embedded one."
        )
    if model.llama.normalises_keys:
        raise ModelError(
            f"{model.name} normalises its queries and keys, so that no key–query product makes its "
            "attention. Choose another model, such as the embedded one."
        )
    components = [principal(q, k, settings.large) for q, k in model.llama.key_query()]
    facts = list(_draw(settings))
    times = grid(model, settings.most)
    rows, overlaps = [], []
    for done, fact in enumerate(facts):
        progress(f"{done} of {len(facts)} facts done", done / len(facts))
        case = of_fact(fact)
        overlap, *others = _of_heads(case, model, components)
        overlaps.append(overlap)
        curve = amplify(case, model, times)
        means = [float(one.mean()) for one in (overlap, *others)]
        at, odds = curve.crossing, _odds(curve)
        what = (fact.question, fact.relation, fact.band.value, fact.exposures)
        rows.append(YieldingRow(*what, at, odds, *means))
    progress(f"{len(facts)} of {len(facts)} facts done", 1.0)
    return YieldingFacts(
        settings,
        model.name,
        model.revision,
        float(np.mean([len(one.sizes) for one in components])),
        tuple(rows),
        _by_head(np.array(overlaps), _lasts([row.repetitions for row in rows], settings.most)),
    )


def _draw(settings: YieldingSettings) -> Iterator[Fact]:
    """Draw as many facts of each band; of a small one all, and more of the others."""
    left = settings.facts
    bands = sorted(OF_BANDS, key=lambda band: len(draw(band, settings.facts)))
    for place, band in enumerate(bands):
        facts = draw(band, round(left / (len(bands) - place)), settings.seed)
        left -= len(facts)
        yield from facts


def _odds(curve: Amplification) -> float:
    first = curve.points[0]
    assert first.log_likelihood_answer is not None and first.log_likelihood_repeated is not None
    return first.log_likelihood_answer - first.log_likelihood_repeated


def _of_heads(
    case: Case, model: LlamaModel, components: Sequence[Principal]
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return overlap, that of every token, logit and gap of every head, (layers, heads) each."""
    shape = (len(model.llama.layers), model.llama.heads)
    states: list[NDArray[np.float32]] = []
    spans, _ = model.attention(case.prompt(0, model.reads(case.query)), states)
    mention = np.flatnonzero(places(case, model, 0, spans).first)
    questions, end = (_norm(np.array([s[at] for s in states])) for at in (mention, -1))
    rows = []
    for head, one in enumerate(components):
        layer = head // shape[1]
        overlap = one.overlap(questions[layer])
        logit = one.logit(end[layer], questions[layer, -1], model.llama.head_width)
        rows.append((overlap[-1], overlap.mean(), logit))
    overlap, every_token, logit = np.transpose(rows).reshape(3, *shape)
    return overlap, every_token, logit, _gap(case, model)


def _gap(case: Case, model: LlamaModel) -> Floats:
    """Return ln of the attention on the question less that on the answer, told once."""
    (look,) = looking(case, model, [1])
    tiny = np.finfo(np.float32).tiny  # of a head that looks at neither
    on_question, on_answer = np.maximum([look.on_question, look.on_answer], tiny)
    return np.asarray(np.log(on_question) - np.log(on_answer))


def _norm(x: NDArray[np.float32]) -> Floats:
    """Divide rows by their root mean square, as a layer's norm does before its weights."""
    wide = x.astype(np.float64)
    return np.asarray(wide / np.sqrt(np.square(wide).mean(axis=-1, keepdims=True)))


def _by_head(overlaps: Floats, lasts: Floats) -> Floats:
    """Return the rank correlation of every head's overlap with the repetitions."""
    rows = [
        rank_correlation(overlaps[:, i, j], lasts, number=1).value
        for i, j in np.ndindex(overlaps.shape[1:])
    ]
    return np.reshape(rows, overlaps.shape[1:])
