"""Reading a file that a person brought, while the page waits and can be left."""

from functools import partial

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from core.data.tabular import isolation
from core.data.tabular.isolation import LIMITS
from core.data.tabular.uploads import Upload, UploadError
from core.ui.memory import COST, MEMORY, FullError
from core.ui.messages import problem
from core.ui.session import memory_of, this_session
from core.ui.upload_places import content_of, file_field, let_go

TYPES = ["csv", "tsv", "txt", "json", "jsonl", "parquet", "xlsx"]

_WAITING = (
    f"Reading the file, for at most {LIMITS.seconds:.0f} seconds of a processor. Remove the file "
    "to stop."
)
#: Of a file that a page goes through itself. A question takes 10 µs, and each answer 2 µs.
_FEW_ROWS, _FEW_BYTES = 5_000, 200_000


def prepare() -> None:
    """Have a process ready that reads the next file; without one, reading takes longer."""
    try:
        isolation.prepare()
    except UploadError:
        return  # said once a file comes


def is_long(upload: Upload) -> bool:
    """Say whether going through all rows may take longer than the thread of a page may compute."""
    return len(upload.table) > _FEW_ROWS or bool(
        upload.table.memory_usage(index=False).sum() > _FEW_BYTES
    )


def read(content: bytes, name: str) -> Upload:
    """Read a file in a process of its own, saying so meanwhile.

    Whatever the person does on the page stops it, as does closing the page.

    Raises `UploadError` when it cannot be read, or not within its limits, or when there is no room
    for it.
    """
    with st.spinner(_WAITING):
        heartbeat = st.empty()

        def is_cancelled() -> bool:
            # Streamlit ends the run of a page only where it draws, by raising here.
            heartbeat.empty()
            return False

        session = this_session().id
        try:
            with MEMORY.room(session, COST * len(content)):
                upload = isolation.parse_isolated(content, name, cancelled=is_cancelled)
            size = int(upload.table.memory_usage().sum())
            MEMORY.charge_while(upload, session, COST * size)
        except FullError as error:
            raise UploadError(str(error)) from error
        return upload


def table_field(label: str, *, key: str) -> Upload | None:
    """Let the person bring a table, and return it; None without one, or where it cannot be read."""
    file = file_field(label, TYPES, key=key)
    if file is None:
        return None
    # One that cannot be read is not tried again at every rerun of the page.
    upload = memory_of(key, None, partial(_upload_or_problem, file), file.file_id)
    let_go(file)
    if isinstance(upload, str):
        problem(upload)
        return None
    return upload


def _upload_or_problem(file: UploadedFile) -> Upload | str:
    try:
        return read(content_of(file), file.name)
    except UploadError as error:
        return str(error)
