"""A browser of one visitor without the screen: it speaks Streamlit's protocol over a websocket.

As the browser does, it answers a run that wants to be repeated, tells the server which large
messages it still has, and moves to another page when a script does. What the browser would draw is
thrown away, but for the names of the widgets. What it sends is what a person changed.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from types import TracebackType
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import uuid4

import requests
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.Common_pb2 import FileURLs
from streamlit.proto.Delta_pb2 import Delta
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect

PATIENCE: Final = 120.0  # seconds that an action may take
LINK: Final = 10.0  # seconds after which a place for a file is asked for again
LARGEST: Final = 64 * 2**20  # bytes of one message
_WRONG: Final = "A page failed: the server's log has the reason."


class VisitError(Exception):
    """A page failed, or an action did not end in time."""


class Visitor:
    """One open page, at an `address` of a server on this machine.

    Enter it as an asynchronous context; only then is it connected. An action may take `patience`
    seconds; `received` counts the bytes of all messages so far, and `ids` has those of the widgets
    by the keys that the pages give them.
    """

    def __init__(self, address: str, patience: float = PATIENCE) -> None:
        self._patience = patience
        self.received = 0
        self._address = address
        self._socket: ClientConnection | None = None
        self.ids: dict[str, str] = {}
        self._states: dict[str, WidgetState] = {}  # what was changed, by widget
        self._pages: dict[str, str] = {}  # hashes, by the name in the address
        self._page = self._query = ""
        self._large: dict[str, ForwardMsg] = {}
        self._repeated: dict[str, asyncio.Task[None]] = {}
        self._links: asyncio.Queue[ForwardMsg] = asyncio.Queue()
        self._rested = asyncio.Event()
        self._wrong: BaseException | None = None
        self._reading: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Visitor:
        where = urlsplit(self._address)
        if where.hostname not in ("localhost", "127.0.0.1", "::1"):
            raise ValueError("A load is for a server on this machine alone.")
        page = await asyncio.to_thread(requests.get, f"{self._address}/_stcore/health")
        self._cookies = page.cookies.get_dict()
        self._socket = await connect(
            f"ws://{where.netloc}/_stcore/stream",
            subprotocols=["streamlit"],
            additional_headers={
                "Cookie": "; ".join(f"{name}={value}" for name, value in self._cookies.items())
            },
            max_size=LARGEST,
            compression=None,
            open_timeout=PATIENCE,
        )
        self._reading = asyncio.create_task(self._read())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        self._repeat_nothing()
        if self._reading is not None:
            self._reading.cancel()
        if self._socket is not None:
            await self._socket.close()

    # ------------------------------------------------------------------ what a person does

    async def open(self, page: str) -> float:
        """Open a page by its address, or by the navigation; return the seconds until it rests."""
        hash = self._pages.get(page, "")
        return await self._run(page_script_hash=hash, page_name="" if hash else page)

    async def type(self, key: str, text: str) -> float:
        """Type into a field, and press Enter."""
        return await self._change(key, WidgetState(string_value=text))

    async def give(self, key: str, number: float) -> float:
        """Write another number into a field."""
        return await self._change(key, WidgetState(double_value=number))

    async def slide(self, key: str, to: float) -> float:
        """Move a slider."""
        state = WidgetState()
        state.double_array_value.data.append(to)
        return await self._change(key, state)

    async def press(self, key: str) -> float:
        """Press a button."""
        return await self._run(WidgetState(id=self._id(key), trigger_value=True))

    async def upload(self, key: str, name: str, content: bytes) -> float:
        """Bring a file; the time holds its transfer."""
        began = time.perf_counter()
        urls = await self.link(name)
        (await self.put(urls.upload_url, name, content)).raise_for_status()
        state = WidgetState()
        info = state.file_uploader_state_value.uploaded_file_info.add()
        info.name, info.size, info.file_id = name, len(content), urls.file_id
        info.file_urls.CopyFrom(urls)
        await self._change(key, state)
        return time.perf_counter() - began

    def has(self, key: str) -> bool:
        """Say whether a widget of this key was ever drawn."""
        return key in self.ids

    # ------------------------------------------------------------------ what a browser does

    async def link(self, name: str) -> FileURLs:
        """Ask where a file of this name is to be sent."""
        wish = BackMsg()
        wish.file_urls_request.request_id = str(uuid4())
        wish.file_urls_request.file_names.append(name)
        # A run that begins at that moment throws a waiting reply away: then nothing else comes.
        for _ in range(int(PATIENCE / LINK)):
            await self._send(wish)
            with contextlib.suppress(TimeoutError):
                reply = await asyncio.wait_for(self._links.get(), LINK)
                (urls,) = reply.file_urls_response.file_urls
                return urls
        raise VisitError(f"No place for the file after {PATIENCE:.0f} seconds.")

    async def put(self, path: str, name: str, content: bytes) -> requests.Response:
        """Send a file there, which the page is not told."""
        return await asyncio.to_thread(
            requests.put,
            f"{self._address}{path}",
            files={name: (name, content)},
            cookies=self._cookies,
            headers={"X-Xsrftoken": self._cookies.get("_streamlit_xsrf", "")},
            timeout=PATIENCE,
        )

    def _id(self, key: str) -> str:
        if key not in self.ids:
            raise VisitError(f"No page has drawn a widget {key}.")
        return self.ids[key]

    async def _change(self, key: str, state: WidgetState) -> float:
        state.id = self._id(key)
        self._states[state.id] = state
        return await self._run()

    async def _run(self, *pressed: WidgetState, **page: str) -> float:
        """Have the script run, and wait until it has ended and nothing is to be repeated."""
        self._rested.clear()
        began = time.perf_counter()
        await self._ask(*pressed, **page)
        try:
            await asyncio.wait_for(self._rested.wait(), self._patience)
        except TimeoutError:
            raise VisitError(f"No end after {self._patience:.0f} seconds.") from None
        if self._wrong is not None:
            raise VisitError(str(self._wrong)) from self._wrong
        return time.perf_counter() - began

    async def _ask(self, *pressed: WidgetState, **more: Any) -> None:
        message = BackMsg()
        state: ClientState = message.rerun_script
        state.query_string = self._query
        state.page_script_hash = self._page
        for name, value in more.items():
            setattr(state, name, value)
        state.widget_states.widgets.extend([*self._states.values(), *pressed])
        state.cached_message_hashes.extend(self._large)
        state.context_info.timezone = "UTC"
        state.context_info.url = self._address
        await self._send(message)

    async def _send(self, message: BackMsg) -> None:
        assert self._socket is not None, "enter the visitor first"
        await self._socket.send(message.SerializeToString())

    async def _read(self) -> None:
        assert self._socket is not None
        try:
            async for data in self._socket:
                assert isinstance(data, bytes)
                self.received += len(data)
                self._take(ForwardMsg.FromString(data))
        except Exception as error:  # whoever waits is told
            self._wrong = error
        else:
            self._wrong = ConnectionError("The server has closed the connection.")
        self._rested.set()

    def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "ref_hash":  # a large message that came before
            message, kind = self._large[message.ref_hash], "delta"
        if message.metadata.cacheable:
            self._large[message.hash] = message
        if kind == "delta":
            self._note(message.delta)
        elif kind == "new_session":
            self._page = message.new_session.page_script_hash
            if not message.metadata.run.fragment_ids:  # a run of the whole page
                self._repeat_nothing()
        elif kind == "navigation":
            self._pages = {
                page.url_pathname: page.page_script_hash for page in message.navigation.app_pages
            }
            self._page = message.navigation.page_script_hash
        elif kind == "page_info_changed":
            self._query = message.page_info_changed.query_string
        elif kind == "file_urls_response":
            self._links.put_nowait(message)
        elif kind == "auto_rerun":
            self._repeat(message.auto_rerun.fragment_id, message.auto_rerun.interval)
        elif kind == "stop_auto_rerun":
            for fragment in message.stop_auto_rerun.fragment_ids:
                if task := self._repeated.pop(fragment, None):
                    task.cancel()
        elif kind == "script_finished":
            self._finished(message.script_finished)

    def _note(self, delta: Delta) -> None:
        """Remember the widgets' identities: each holds the key that the page gave it."""
        kind = delta.WhichOneof("type")
        if kind == "add_block":
            block = delta.add_block
            inner: Any = getattr(block, block.WhichOneof("type") or "", None)
        else:
            element = delta.new_element
            if element.WhichOneof("type") == "exception":
                self._wrong = VisitError(_WRONG)
            inner = getattr(element, element.WhichOneof("type") or "", None)
        id = getattr(inner, "id", "")
        if isinstance(id, str) and id.count("-") >= 2:
            self.ids[id.split("-", 2)[2]] = id

    def _finished(self, how: int) -> None:
        if how == ForwardMsg.ScriptFinishedStatus.FINISHED_WITH_COMPILE_ERROR:
            self._wrong = VisitError(_WRONG)
        if how != ForwardMsg.ScriptFinishedStatus.FINISHED_EARLY_FOR_RERUN and not self._repeated:
            self._rested.set()

    def _repeat(self, fragment: str, interval: float) -> None:
        async def again() -> None:
            while True:
                await asyncio.sleep(interval)
                await self._ask(fragment_id=fragment, is_auto_rerun=True)

        if fragment not in self._repeated:
            self._repeated[fragment] = asyncio.create_task(again())

    def _repeat_nothing(self) -> None:
        for task in self._repeated.values():
            task.cancel()
        self._repeated.clear()
