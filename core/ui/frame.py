"""The frame around every screen: page configuration and navigation."""

from pathlib import Path

import streamlit as st
from streamlit.navigation.page import Page

from core.codec import one_line
from core.language_models import keys
from core.settings import SettingError
from core.ui.components import page_scripts
from core.ui.messages import problem
from core.ui.session import PAGE

PAGES = Path(__file__).parents[2] / "pages"

WORDMARK = Path(__file__).with_name("static") / "wordmark.svg"
NAME = "Believe"
ABOUT = (
    "Believe asks a language model a question, puts one of its own answers into the prompt, "
    "and asks again. If the next answer changes, the model does not know. After “To Believe or "
    "Not to Believe Your LLM”, arXiv 2406.02543."
)


def home() -> Page:
    """Return the page that explains the idea; the address without a path."""
    return st.Page(PAGES / "home.py", title="Home", icon=":material/balance:", default=True)


def inspection() -> Page:
    """Return the page that asks one question and shows everything behind the verdict."""
    return st.Page(PAGES / "inspection.py", title="Inspection", icon=":material/search:")


def amplification() -> Page:
    """Return the page that repeats an answer and shows what becomes of another."""
    return st.Page(PAGES / "amplification.py", title="Amplification", icon=":material/repeat:")


def questions() -> Page:
    """Return the page that lists what the embedded model can be asked."""
    return st.Page(
        PAGES / "questions.py",
        title="What can I ask?",
        icon=":material/forum:",
        visibility="hidden",  # the question field completes what is typed, and links here
    )


def calibration() -> Page:
    """Return the page that turns labelled scores into a policy."""
    return st.Page(PAGES / "calibration.py", title="Calibration", icon=":material/rule:")


def evaluation() -> Page:
    """Return the page that asks many questions and holds every score against the truth."""
    return st.Page(PAGES / "evaluation.py", title="Evaluation", icon=":material/query_stats:")


def laboratory() -> Page:
    """Return the page that tries the paper's claims where the truth is known."""
    return st.Page(PAGES / "laboratory.py", title="Laboratory", icon=":material/science:")


def history() -> Page:
    """Return the page that lists what was kept."""
    return st.Page(PAGES / "history.py", title="History", icon=":material/history:")


def draw() -> Page:
    """Configure the page, draw the navigation, and return the page to run."""
    st.set_page_config(page_title=NAME, page_icon="⚖️", layout="wide", menu_items={"About": ABOUT})
    st.html(Path(__file__).with_name("page.css"))
    st.logo(WORDMARK, size="large")
    if st.context.theme.type == "dark":
        st.html(Path(__file__).with_name("dark.css"))
    page_scripts.run()
    page = st.navigation(
        # No sections: on a phone, their items stand outside any list (Streamlit 1.67).
        [
            *(home(), inspection(), amplification(), evaluation()),
            *(calibration(), laboratory(), history(), questions()),
        ],
        position="top",
    )
    st.session_state[PAGE] = page.url_path
    if page.title != home().title:
        tab_title(page.title)
    _check_settings()
    return page


def tab_title(what: str) -> None:
    """Name the browser's tab: by a question, say, so that tabs and bookmarks tell it."""
    st.set_page_config(page_title=f"{one_line(what)} · {NAME}")


def _check_settings() -> None:
    """Show nothing but what is wrong with the settings, if anything is."""
    try:
        keys.check()
    except SettingError as error:
        problem(str(error))
        st.stop()


def show(kind: str, id: str) -> None:
    """Go to a saved result, or a run, on the page that its kind belongs to."""
    pages = {"inspection": inspection, "amplification": amplification, "policy": calibration}
    if kind == "evaluation":
        st.switch_page(evaluation(), query_params={"run": id})
    st.switch_page(pages[kind](), query_params={"saved": id})


def beside(here: str, there: str) -> None:
    """Go to two kept inspections, side by side."""
    st.switch_page(inspection(), query_params={"saved": here, "beside": there})


def amplify(query: str, answer: str, repeated: str) -> None:
    """Go to the curve of a question, its answer, and the answer to repeat."""
    case = {"query": query, "answer": answer, "repeated": repeated}
    for name in (*case, "tab"):  # what was there before would win over the address
        st.session_state.pop(name, None)
    st.switch_page(amplification(), query_params=case)


def inspect(question: str) -> None:
    """Go to the inspection of a question."""
    st.session_state.pop("q", None)  # what was typed there before would win over the address
    st.switch_page(inspection(), query_params={"q": question})


def experiment(name: str, **values: object) -> None:
    """Go to an experiment of the laboratory, with some of its settings, by their names."""
    parameters = {f"{name}_{key}": str(value) for key, value in values.items()}
    for key in parameters:  # what was there before would win over the address
        st.session_state.pop(key, None)
    st.switch_page(laboratory(), query_params={"experiment": name, **parameters})


def calibrate() -> None:
    """Go to the calibration, which has its data already."""
    # With no parameters named, Streamlit refuses to leave a page whose address has bound ones.
    st.switch_page(calibration(), query_params={})
