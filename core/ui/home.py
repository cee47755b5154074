"""The three steps of Home, each with one thing to change, and the ways on."""

from importlib.util import find_spec

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.charts import home as charts
from core.language_models.backends.gguf import SMOLLM2
from core.studies.home import (
    CONTRADICTED,
    EXAMPLES,
    MEASURES,
    SHORT,
    TIMES,
    contradict,
    doubts,
    widest,
)
from core.ui import figures, frame, model, model_opening
from core.ui.glossary import TERMS
from core.ui.inspection.recordings import example


def answers() -> None:
    """Step one: everything gets an answer."""
    words, picture = _step("answers")
    with words:
        st.header("1. The model answers", anchor=False, help=TERMS["Embedded model"])
        st.markdown(
            "A language model always has an answer. One of these questions is about a country "
            "that does not exist, and one has many right answers. **Could you tell which from "
            "the bars alone?**"
        )
        chosen = st.pills(
            "Question",
            list(SHORT),
            default="Known",
            format_func=SHORT.__getitem__,
            key="asked",
            required=True,
            wrap=True,
        )
        st.text(EXAMPLES[chosen])
        _behind(chosen)
    with picture:
        found = example(chosen)
        figures.draw(charts.answers, found, key="answers", alt_text=charts.answers_alt(found))


def contradiction() -> None:
    """Step two: what it knows stays, what it half knows turns."""
    words, picture = _step("contradiction")
    with words:
        st.header("2. Give it a wrong answer", anchor=False, help=TERMS["Amplification"])
        st.markdown(
            "The prompt repeats a wrong answer, as often as you like. **What the model knows "
            "stays. What it half knows changes.**"
        )
        times = st.select_slider("Repetitions", TIMES, 0, key="times")
        answer, repeated = CONTRADICTED["Half known"]
        st.page_link(
            frame.amplification(),
            label="See the details",
            icon=":material/repeat:",
            query_params={"query": EXAMPLES["Half known"], "answer": answer, "repeated": repeated},
        )
    with picture:
        cases = contradict(times, model.embedded())
        figures.draw(charts.turned, cases, key="turned", alt_text=charts.turned_alt(cases))


def many_answers() -> None:
    """Step three: many right answers spread without turning, and only entropy is fooled."""
    words, picture = _step("many")
    with words:
        st.header(
            "3. Many right answers are not doubt", anchor=False, help=TERMS["Aleatoric uncertainty"]
        )
        st.markdown(
            "*Entropy* measures how much the answers differ, and mistakes a yellow fruit for "
            "ignorance. *Mutual information* measures how much one answer in the prompt "
            "changes the next: **only it tells “many answers” from “no idea”.**"
        )
        measure = st.segmented_control(
            "Measure doubt by",
            list(MEASURES),
            default="Entropy",
            key="measure",
            required=True,
            help=f"**Entropy.** {TERMS['Entropy']}\n\n"
            f"**Mutual information.** {TERMS['Mutual information']}",
        )
        st.caption(
            "From the dashed threshold on (in nats), Believe withholds the answer.",
            help=f"**Threshold λ.** {TERMS['Threshold λ']}\n\n**Nat.** {TERMS['Nat']}",
        )
        _behind("Many answers")
    with picture:
        found = {name: example(name) for name in SHORT}
        cases = doubts(MEASURES[measure], found)
        figures.draw(
            charts.doubts,
            cases,
            measure,
            widest(found),
            key="doubts",
            alt_text=charts.doubts_alt(cases, measure),
        )


def onward() -> None:
    """Offer the ways on."""
    with st.container(horizontal=True):
        if st.button("Ask your own question", type="primary", key="own"):
            st.switch_page(frame.inspection())
        if st.button("What does repeating an answer do?", key="repeating"):
            st.switch_page(frame.amplification())
        if st.button("What can I ask?", key="catalogue"):
            st.switch_page(frame.questions())
        if st.button("When should it answer?", key="threshold"):
            st.switch_page(frame.calibration())
    if find_spec(SMOLLM2):
        st.text("All of this works on a real language model, too, which nobody here trained.")
        if st.button("Ask SmolLM2", key="real", icon=":material/smart_toy:"):
            model_opening.use("smollm2", None, None)
            st.switch_page(frame.inspection())


def _step(name: str) -> list[DeltaGenerator]:
    """Return a step's two columns: words and picture; below each other on a phone."""
    step = st.container(border=True, key=f"step_{name}")
    return step.columns([2, 3], gap="large", vertical_alignment="center")


def _behind(name: str) -> None:
    st.page_link(
        frame.inspection(),
        label="See the details",
        icon=":material/search:",
        query_params={"q": EXAMPLES[name]},
    )
