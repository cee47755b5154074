"""The mechanism: why repeating turns a model that does not know, on one head and on real ones."""

import streamlit as st

from core.charts.amplification.mechanism import ON_ANSWER, ON_QUESTION
from core.codec import count_of
from core.data.world.facts import Band, Fact, facts
from core.reports.amplification import document
from core.reports.amplification.words import percent
from core.studies.amplification.curve import DEFAULT_REPETITIONS, amplify
from core.studies.amplification.gallery import EXAMPLES, draw, of_fact
from core.studies.amplification.mechanism import PromptAttention, looking, shows_attention
from core.ui import figures
from core.ui.addresses import number
from core.ui.examples import examples
from core.ui.glossary import TERMS
from core.ui.model import embedded_model
from core.uncertainty import attention
from core.uncertainty.attention import CASES

CHOICES, SEED = 12, 0  # facts of a band to choose from, and their draw
MOST_COPIES = (10, 100, 1000)


def mechanism() -> None:
    """Draw the idealised head with its controls, then the embedded model's own heads."""
    ideal_head()
    real()


# -------------------------------------------------------------------- the idealised head


def ideal_head() -> None:
    """The head of the paper's Section 3.1, to be moved."""
    st.header("One idealised attention head", anchor=False, help=TERMS["Attention head"])
    st.markdown(
        "The last token of the prompt attends to whole statements: the query X, and t copies "
        "of a statement Y. **A query seen often in training lies in the span of the large "
        "principal components** of the key–query product; its weight wins until t is huge. One "
        "never seen is outside, and the answer follows the context (Section 3.1)."
    )
    controls, weights, outputs = st.columns([2, 3, 3], gap="large")
    with controls:
        st.caption("The paper’s three cases: X was …")
        chips = st.container()
        in_span = st.slider(
            "Share of X in the span",
            0.0,
            1.0,
            CASES["seen sometimes"],
            0.05,
            key="in_span",
            bind="query-params",
            persist_state="session",
        )
        with chips:
            examples(CASES, in_span, lambda share: st.session_state.update(in_span=share))
        copies = st.select_slider(
            "Copies of Y up to",
            MOST_COPIES,
            1000,
            key="copies",
            bind="query-params",
            persist_state="session",
        )
        dimension = number("dimension", 3, 1024, 512)
    head = attention.ideal_head(dimension=dimension, in_span=in_span)
    repeated = attention.repeat(head, attention.spread(copies))
    attention_picture, output_picture = document.ideal_head(repeated)
    with weights:
        st.markdown("**Attention from the last token**")
        figures.show(attention_picture, "ideal_weights")
        st.caption("Circles: the closed form, 1 / (1 + t·exp(logit of Y − logit of X)).")
    with outputs:
        st.markdown("**Output of the head**")
        figures.show(output_picture, "ideal_outputs")
        st.caption("The answers of X and of Y, mixed by these weights.")
    t = attention.crossing(repeated.gap)
    st.text(
        "The copies of Y weigh as much as X "
        + (
            "from the first copy."
            if t <= 1
            else f"at about {t:,.1f} repetitions: e to the power of the difference in logits."
        )
    )


# ------------------------------------------------------------------------ the real heads


def real() -> None:
    """Every head of the embedded model, on a fact known by heart and on one rarely seen."""
    st.header("The real heads of the embedded model", anchor=False)
    if not shows_attention(embedded_model()):
        st.text("This model does not expose its attention.")
        return
    st.markdown(
        "Each head’s attention from the last token of the prompt, where the answer begins, to "
        "the question and to the sentences that repeat a wrong answer. The rest goes to the "
        "words between. **Go from no repetition to one:** on a fact known by heart, the middle "
        "layers stay with the question; on one rarely seen, they move to the repeated answer."
    )
    times = st.select_slider(
        "Repetitions",
        DEFAULT_REPETITIONS,
        1,
        key="heads_at",
        bind="query-params",
        persist_state="session",
    )
    for column, band in zip(st.columns(2, gap="large"), (Band.BY_HEART, Band.RARELY), strict=True):
        with column, st.container(border=True, key=f"heads_{band.name.lower()}"):
            _heads_of(band, times)


def _heads_of(band: Band, times: int) -> None:
    choices = draw(band, CHOICES, seed=SEED)
    if band is Band.BY_HEART:  # the example of the other tabs first
        choices = [f for f in facts() if f.question == EXAMPLES["Known"].query] + choices
    chosen = {fact.question: fact for fact in choices}
    question = st.selectbox(
        {Band.BY_HEART: "Known by heart", Band.RARELY: "Rarely seen"}[band],
        list(chosen),
        key=f"fact_{band.name.lower()}",
        persist_state="session",
    )
    look, share = _looking(chosen[question], times, question)
    case = of_fact(chosen[question])
    st.text(
        f"“{case.repeated}” repeated {count_of(times, 'time')}, “{case.answer}” "
        f"keeps {percent(share)} of the two."
    )
    for which in (ON_QUESTION, ON_ANSWER):
        st.markdown({ON_QUESTION: "On the question", ON_ANSWER: "On the repeated answer"}[which])
        figures.show(document.heads(look, which), f"heads_{band.name}_{which}")


@st.cache_data(show_spinner=False, max_entries=256)
def _looking(_fact: Fact, times: int, question: str) -> tuple[PromptAttention, float]:
    """Return where the heads look, and the normalised probability there."""
    model = embedded_model()
    case = of_fact(_fact)
    (look,) = looking(case, model, [times])
    (point,) = amplify(case, model, [times]).points
    return look, point.normalised_probability or 0.0
