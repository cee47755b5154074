"""What real servers replied, recorded by this script, and played to the back end by the tests.

To record a server of your own again, start it as the recording says, and run::

    python -m tests.language_models.backends.openai.recording NAME@BASE_URL FILE.json \
        "llama-server b1-0c1e570, llama-server -m SmolLM2-135M-Instruct.Q4_1.gguf"

It asks what `ask` asks, through a proxy that writes requests and replies down. Only the lists of
bytes and the timings of replies are left out. Nothing of the machine or of a key is written.
"""

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import requests

from core import prompts
from core.language_models.backends.openai.model import OpenAICompatible
from core.language_models.backends.openai.probe import SEED
from tests.language_models.openai_server import Server, serving

FOLDER = Path(__file__).parent / "recorded"
PROMPT = "Q: What is the capital of France? A:"
STATEMENT = prompts.self_verification("What is the capital of France?", "Paris")
LEFT_OUT = {"timings", "generation_settings", "__verbose", "created", "system_fingerprint"}


def ask(model: OpenAICompatible) -> dict[str, Any]:
    """Ask once for everything that a study asks for."""
    able = model.capabilities
    found: dict[str, Any] = {
        "drawn": model.sample(PROMPT, able.candidates_a_call),
        "greedy": model.sample(PROMPT, 1, temperature=0.0),
    }
    if able.next_token:
        found["next"] = model.next_token(STATEMENT)
    if able.scores_given_text:
        found["scores"] = model.log_likelihoods([PROMPT], ["Paris"])
    return found


# ------------------------------------------------------------------------------- replaying


@contextmanager
def replayed(name: str) -> Iterator[Server]:
    """Run a server that replies what a real one did to the request most like each of ours."""
    recorded = json.loads((FOLDER / f"{name}.json").read_text())

    def reply(path: str, body: dict) -> tuple[int, dict, bytes]:
        if body.get("seed", 0) >= SEED:  # when these were recorded, a probe counted from 0
            body |= {"seed": body["seed"] - SEED}
        asked = [e for e in recorded["exchanges"] if e["path"] == path]
        if not asked:
            return 404, {}, b"Not Found"
        nearest = max(asked, key=lambda exchange: _likeness(exchange["body"], body))
        return nearest["status"], {}, json.dumps(nearest["reply"]).encode()

    with serving("echo", before=reply) as server:
        yield server


def _likeness(one: dict, other: dict) -> int:
    """Return how many fields of two requests are the same, less those that are not."""
    names = {*one, *other} - {"model"}
    same = sum(name in one and name in other and one[name] == other[name] for name in names)
    texts = ("prompt", "messages", "content")
    return 2 * same - len(names) + 100 * all(one.get(n) == other.get(n) for n in texts)


# ------------------------------------------------------------------------------- recording


@contextmanager
def _proxy(target: str, exchanges: list[dict]) -> Iterator[str]:
    """Pass requests on to a server, and write them down with their replies."""
    root = target.removesuffix("/v1")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            came = requests.post(root + self.path, json=body, timeout=300)
            try:
                reply = _without(came.json())
            except ValueError:
                reply = came.text
            entry = {"path": self.path, "body": body, "status": came.status_code, "reply": reply}
            exchanges.append(entry)
            self.send_response(came.status_code)
            self.send_header("Content-Length", str(len(came.content)))
            self.end_headers()
            self.wfile.write(came.content)

        def log_message(self, *arguments: object) -> None:
            """Say nothing."""

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{httpd.server_port}" + target.removeprefix(root)
    httpd.shutdown()


def _without(said: Any) -> Any:
    if isinstance(said, list):
        return [_without(item) for item in said]
    if isinstance(said, dict):
        return {name: _without(item) for name, item in said.items() if name not in LEFT_OUT}
    return round(said, 5) if isinstance(said, float) else said


def _record(rest: str, file: str, server: str) -> None:
    name, _, target = rest.rpartition("@")
    exchanges: list[dict] = []
    with _proxy(target.rstrip("/"), exchanges) as url:
        model = OpenAICompatible(f"{name}@{url}")
        try:
            print(ask(model), *model.capabilities.notes, sep="\n")
        finally:
            lines = ",\n".join(json.dumps(e, separators=(",", ":")) for e in exchanges)
            text = f'{{"server": {json.dumps(server)}, "exchanges": [\n{lines}\n]}}\n'
            (FOLDER / file).write_text(text)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    _record(*sys.argv[1:])
