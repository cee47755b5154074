"""What an experiment found: the sentence, the pictures, the table, files, and the command."""

from collections.abc import Sequence
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.charts.laboratory.catalogue import PICTURES
from core.language_models.language_model import LanguageModel
from core.reports.laboratory import document as reports
from core.reports.laboratory.catalogue import EXPERIMENTS
from core.reports.laboratory.rulings import sentences
from core.studies.laboratory.bundled import others
from core.studies.laboratory.experiment import AskedModel, Experiment, Finding, form_of, to_json
from core.ui import downloads, figures
from core.ui.folds import fold
from core.ui.model import name_in_use

MOST_SHOWN = 2000  # rows


def results(finding: Finding, place: str = "") -> None:
    """Draw the sentence and the pictures; `place` tells the results on one page apart."""
    experiment = EXPERIMENTS[finding.experiment]
    first, *others = sentences(finding)
    with st.container(key=f"laboratory_sentence{place}"):
        st.text(first)
    for sentence in others[:1]:
        st.text(sentence)
    if not place:  # of the first: beneath what came of it, what was done
        st.markdown(experiment.about)
    for sentence in others[1:]:
        st.text(sentence)
    here: DeltaGenerator
    beside: DeltaGenerator | None = None  # the column in which the second of two halves goes
    pictures = reports.pictures(finding)
    for each in PICTURES[finding.experiment]:
        if each.name not in pictures:
            continue
        if each.wide:
            here, beside = st.container(), None
        elif beside is None:
            here, beside = st.columns(2)
        else:
            here, beside = beside, None
        with here:
            st.subheader(each.title, anchor=False)
            key = f"laboratory_{finding.experiment}_{each.name}{place}"
            figures.show(pictures[each.name], key)
            if each.caption:
                st.caption(each.caption)


def beside(experiment: Experiment, model: LanguageModel | None) -> None:
    """Offer what is shipped of other models, with the settings of each."""
    for i, other in enumerate(others(experiment, model)):
        fold(
            "The same of another model",
            partial(_other, other, f"_of_{i}"),
            key=f"laboratory_other_{i:d}",
            icon=":material/robot_2:",
        )


def _other(finding: Finding, place: str) -> None:
    experiment = EXPERIMENTS[finding.experiment]
    own = [
        f"{field.label} {finding.values[field.name]}"
        for field in experiment.fields
        if finding.values[field.name] != field.value
    ]
    st.text(f"{finding.model}. {'; '.join(own) or 'The usual settings'}.")
    results(finding, place)


def behind(finding: Finding, model: LanguageModel | None) -> None:
    """Offer the table, the files, and the command that finds the same."""
    experiment, of_model = EXPERIMENTS[finding.experiment], (name_in_use(), form_of(model))
    fold(
        "The table behind it",
        partial(_table, finding),
        key="laboratory_table",
        icon=":material/table:",
    )
    st.text("This command finds the same without a browser:")
    st.code(experiment.command(finding.values, *of_model), language=None, wrap_lines=True)
    downloads.menu(partial(_files, finding, *of_model))


def _files(finding: Finding, model: str, form: str) -> None:
    name = finding.experiment
    downloads.report(partial(reports.report, finding, model, form), f"laboratory_{name}")
    downloads.table(dict(finding.columns), f"laboratory_{name}")
    downloads.download("All of it (JSON)", partial(to_json, finding), f"laboratory_{name}.json")
    for each, picture in reports.pictures(finding).items():
        figures.as_files(f"laboratory_{name}_{each}", picture, finding.model)


def _table(finding: Finding) -> None:
    columns = {name: list(cells[:MOST_SHOWN]) for name, cells in finding.columns.items()}
    st.dataframe(
        columns,
        hide_index=True,
        key=f"laboratory_table_{finding.experiment}",
        column_config={
            name: st.column_config.NumberColumn(format="localized" if _whole(cells) else "%.4g")
            for name, cells in columns.items()
            if any(isinstance(cell, float) for cell in cells) or _whole(cells)
        },
        alt="The table behind the pictures",
    )
    rows = max(map(len, finding.columns.values()), default=0)
    if rows > MOST_SHOWN:
        st.caption(f"Shown: the first {MOST_SHOWN:,d} of {rows:,d} rows. The file has all.")


def _whole(cells: Sequence[object]) -> bool:
    return bool(cells) and all(type(cell) is int for cell in cells)


def about_model(asks: AskedModel, model: LanguageModel | None) -> str:
    """Say which model is asked."""
    if asks is AskedModel.NOTHING or model is None:
        return "Asks no model."
    if asks is AskedModel.EMBEDDED:
        return "Asks the embedded model, whichever is chosen above: its training data are known."
    return f"Asks the model chosen above: {model.name}."
