"""Who somebody is among those who use this program at the same time, and what is whose."""

import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Final, TypeVar, cast
from uuid import UUID, uuid4

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core import settings
from core.settings import Sharing, is_public
from core.store.results import THIS_COMPUTER

T = TypeVar("T")
OF_SESSION: Final = "session "  # begins the owner who is not known after a reload
PAGE: Final = "page"  # in the session: the path of the page that is drawn


@dataclass(frozen=True)
class Session:
    """One open page of one person."""

    key: UUID  # Tells it from all others
    id: str  # as the server knows it

    @property
    def is_open(self) -> bool:
        """Whether a browser is connected; without a server nobody can have left."""
        return not runtime.exists() or bool(runtime.get_instance().is_active_session(self.id))


NOBODY = Session(UUID(int=0), "")


def this_session() -> Session:
    """Return the session whose script is running in this thread; `NOBODY` in other threads."""
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        return NOBODY
    session: Session = st.session_state.setdefault("session", Session(uuid4(), context.session_id))
    return session


def public() -> bool:
    """Say whether strangers share this server."""
    return is_public()


def person() -> str | None:
    """Return who signed in, by the name that the service gives them; None where nobody did."""
    claims = st.user.to_dict()
    name = claims.get("sub") or claims.get("email")
    # The same name may be somebody else's at another service.
    return f"{claims.get('iss', '')} {name}" if claims.get("is_logged_in") and name else None


def alone() -> bool:
    """Say whether one person uses this server: the settings say so, or only they can reach it.

    Raises `SettingError` as `settings.sharing` does.
    """
    if public():
        return False
    if (sharing := settings.sharing()) is not Sharing.BY_ADDRESS:
        return sharing is Sharing.EVERYONE
    return not signs_in() and only_here()


def has_strangers() -> bool:
    """Say whether somebody else than who set the environment may use this server.

    Raises `SettingError` as `settings.sharing` does.
    """
    return signs_in() or not (alone() and only_here())


def only_here() -> bool:
    """Say whether this computer alone reaches this server."""
    names = [st.get_option("server.address") or "", *(st.get_option("server.allowedHosts") or ())]
    return all(map(is_here, names))


def owner() -> str:
    """Return whose results are kept and listed here: of all on this computer, or of one person.

    Where several people use a server, it is the person who signed in, else this session alone.
    """
    if alone():
        return THIS_COMPUTER
    who = person()
    return f"person {who}" if who else f"{OF_SESSION}{this_session().key}"


def signs_in() -> bool:
    """Say whether people can sign in to this server."""
    return "is_logged_in" in st.user.to_dict()


def is_here(name: str) -> bool:
    """Say whether a name or an address leads to this computer alone."""
    try:
        return ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return name.lower() == "localhost"


def shared_thing(name: str, make: Callable[[], T]) -> T:
    """Return the one thing of a name: of this process, or of this session in a public demo."""
    key = f"_shared_{name}"
    if public():
        if key not in st.session_state:
            st.session_state[key] = make()
        return cast(T, st.session_state[key])
    lock, everything = _of_this_process()
    with lock:
        if key not in everything:
            everything[key] = make()
        return cast(T, everything[key])


@st.cache_resource(show_spinner=False)
def _of_this_process() -> tuple[threading.Lock, dict[str, Any]]:
    return threading.Lock(), {}


def memory_of(name: str, of: object, make: Callable[[], T], key: Hashable = None) -> T:
    """Return what was made of something under a name; make it anew when that has changed.

    One thing is kept under each name: the last. Another object that it is made of, even an equal
    one, counts as a change; so does another key, on which it depends besides, compared as usual.
    """
    entry = st.session_state.get(f"remembered_{name}")
    if entry is None or entry[0] is not of or entry[1] != key:
        st.session_state[f"remembered_{name}"] = entry = (of, key, make())
    value: T = entry[2]
    return value
