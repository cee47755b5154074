"""More answers: to a number, until they certify something, or with one setting moved."""

from dataclasses import replace
from functools import partial
from typing import Final

import streamlit as st

from core.charts.laboratory import deciding as charts
from core.language_models.language_model import LanguageModel
from core.reports.laboratory.deciding import MOVING, ONE, chart_data, plan
from core.reports.laboratory.deciding import sentence as sentence_of
from core.studies.costs import computed_tokens, lasting
from core.studies.inspection.inspection import Inspection
from core.studies.inspection.recording import Estimator
from core.studies.inspection.request import Request
from core.studies.inspection.stopping_rule import is_settled
from core.studies.laboratory import deciding
from core.studies.laboratory.deciding import DecidingSettings, Variations
from core.studies.laboratory.experiment import plain
from core.ui import figures, frame
from core.ui.inspection.form import COMPARED_FOR, certify, draw_growth
from core.ui.model import current, study_model
from core.ui.runs.job import Job
from core.ui.runs.registry import Registry
from core.ui.runs.widget import run, run_of, want
from core.ui.session import shared_thing

MORE = (30, 100, 300)  # answers that one press compares


def more(inspection: Inspection) -> None:
    """Offer more answers of every kind: of the same question, and of settings and chains."""
    st.markdown("**Has enough been seen?**")
    _extend(inspection)
    if not inspection.refused:  # the policy in use decides nothing, and no other in its place
        stable(inspection)
    longer_chains(inspection)


def _extend(inspection: Inspection) -> None:
    """Extend the same evidence, to a number or until it certifies something."""
    request = inspection.recording.request
    settled = is_settled(inspection.recording, inspection.reading, inspection.policy)
    local = current().capabilities.local
    if inspection.recording.estimator is not Estimator.EXACT:
        st.text(
            "Nothing can be certified here: that takes exact likelihoods of whole answers, "
            "which this model does not report."
        )
        _more_answers(request)
        _say_how_long(request)
        return
    st.markdown(
        "The certified lower bound holds whatever answers were not seen, so you may stop at "
        "any time. It rises towards the model’s own mutual information, and stays "
        "near 0 for what the model knows."
    )
    with st.container(horizontal=True):
        _more_answers(request)
        st.button(
            "Compare until certified",
            key="certify",
            on_click=certify,
            args=(inspection.recording,),
            disabled=settled is not None or not local,
        )
    _say_how_long(request)
    if settled:
        st.text(settled)
    elif not local:
        st.text(
            "A service is asked for a fixed number of answers, after this page states the cost."
        )
    draw_growth(inspection.recording, inspection.reading, "growth")


def _more_answers(request: Request) -> None:
    with st.container(horizontal=True, width="content"):
        for samples in MORE:
            st.button(
                f"Compare up to {samples:d}",
                key=f"sample_{samples}",
                disabled=samples not in larger_numbers(request),
                on_click=compare,
                args=(samples,),
            )


def larger_numbers(request: Request) -> list[int]:
    """Return the larger k that are offered, as far as answers of this limit go."""
    return [samples for samples in MORE if request.samples < samples <= request.most_samples]


def compare(samples: int) -> None:
    """Compare up to so many answers to this question, with the next run of the page."""
    st.session_state["k"] = samples
    st.session_state[COMPARED_FOR] = st.session_state.get("q")


def _say_how_long(request: Request) -> None:
    times = [
        f"{samples} answers {takes}"
        for samples in larger_numbers(request)
        if (takes := lasting(computed_tokens(replace(request, samples=samples)), current()))
    ]
    if times:
        st.text(f"On this machine: {', '.join(times)}.")


PLACE: Final = "stable"
MANY: Final = 50  # answers
#: Of a model that is paid for or slow, and where many answers are compared.
FEWER: Final = DecidingSettings(samples=(2, 5, 10), temperatures=(0.7, 0.9, 1.1), seeds=3)


def stable(inspection: Inspection) -> None:
    """Offer to move every setting, and say whether the verdict of an inspection stays."""
    model = study_model()
    recording, rule = inspection.recording, inspection.verdict.rule
    settings = settings_for(model, recording.request)
    key = (model.name, model.revision, recording.request, inspection.reading, rule)
    paid = None
    if not model.capabilities.local:
        most = plan((inspection.query,), model, recording.request, inspection.reading, settings)
        paid = (model, most)

    def start() -> Job[Variations]:
        def work(job: Job[Variations]) -> Variations:
            return deciding.run(
                (inspection.query,),
                model,
                recording.request,
                inspection.reading,
                settings,
                lambda stage, share: job.progress(MOVING, share),
                rule=rule,
            )

        calls = paid[1].requests if paid else None
        return shared_thing("stable", Registry).start(key, work, model, most=calls)

    variations: Variations | None = run(
        PLACE, key, start, paid=paid, on_press=True, cancelled="Cancelled."
    )
    if variations is not None:
        _show(variations)
    elif run_of(PLACE, key) is None:
        _offer(inspection, model, settings, partial(want, PLACE, key))


def settings_for(model: LanguageModel, request: Request) -> DecidingSettings:
    """Return which values are tried: fewer where each takes long, or is paid for."""
    able = model.capabilities
    return DecidingSettings() if able.local and able.quick and request.samples <= MANY else FEWER


def _offer(
    inspection: Inspection, model: LanguageModel, settings: DecidingSettings, press: partial[None]
) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="stable_offer"):
        st.button(
            "Is this verdict stable?",
            key="ask_stable",
            icon=":material/tune:",
            on_click=press,
            help="The question is asked again with one setting moved at a time: the number of "
            "answers, τ, the similarity, the temperature, the seed, the sampling rule.",
        )
        if model.capabilities.local:
            requests = deciding.requests_of(
                inspection.recording.request, inspection.reading, model, settings
            )
            if takes := lasting(sum(map(computed_tokens, requests)), model):
                st.text(f"It takes {takes} on this machine.", width="content")


def _show(variations: Variations) -> None:
    st.header("Is this verdict stable?", anchor=False)
    with st.container(key="stable_sentence"):
        st.text(sentence_of(variations))
    data = plain(chart_data(variations))
    figures.draw(charts.strip, data, key="stable", alt_text=charts.strip_alt(data))
    st.caption(
        "Each mark is one value of one setting, all else as in this inspection; it is filled "
        "where at least 90% of the draws keep the verdict."
        + ("" if data["limit"] is None else " Dashed: λ.")
    )
    for sentence in variations.left_out:
        st.text(sentence)
    if st.button("Panel by panel in the Laboratory", key="panels", icon=":material/science:"):
        frame.experiment("deciding", about=ONE, question=variations.queries[0])


def longer_chains(inspection: Inspection) -> None:
    """Offer to tell the model two and three of its answers, in the laboratory."""
    able = current().capabilities
    if not (able.scores_given_text or able.own_log_likelihoods):
        return
    if st.button("What would longer chains add?", key="chains", icon=":material/link:"):
        frame.experiment("chains", question=inspection.query)
