"""What a server's bytes make a library of HTTP raise: a sentence, and never another error."""

import contextlib
import gzip
import random
import socket
import threading

import pytest

from core.language_models.backends.gemini.model import Gemini
from core.language_models.backends.openai.address import Address, read_address
from core.language_models.backends.openai.http import Service
from core.language_models.backends.openai.model import OpenAICompatible
from core.language_models.connections import Fault, exchange
from core.language_models.errors import ModelError, TemporaryError
from core.language_models.registry import model_names
from core.language_models.usage import Meter

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
GZIP = OK + b"Content-Encoding: gzip\r\n"
JSON = b'{"data": [{"id": "m"}], "choices": [{"text": "a"}]}'
REPLIES = {
    "nothing": b"",
    "no HTTP": b"220 ready\r\n",
    "no status": b"HTTP/1.1\r\n\r\n",
    "status of letters": b"HTTP/1.1 two OK\r\n\r\n",
    "status below 100": b"HTTP/1.1 -5 OK\r\n\r\n",
    "status of 9,999": b"HTTP/1.1 9999 OK\r\n\r\n",
    "status of other digits": "HTTP/1.1 \u0662\u0660\u0660 OK\r\n\r\n".encode(),
    "version": b"HTTP/9.9 200 OK\r\n\r\n{}",
    "endless status": b"HTTP/1.1 200 " + b"x" * 70_000 + b"\r\n\r\n",
    "only go on": b"HTTP/1.1 100 Continue\r\n\r\n" * 50,
    "cut off in a header": OK + b"Content-Length: 1",
    "header without a colon": OK + b"nonsense\r\n\r\n{}",
    "header of no bytes": OK + b"\x00\xff: \x00\r\n\r\n{}",
    "endless header": OK + b"X: " + b"x" * 70_000 + b"\r\n\r\n{}",
    "300 headers": OK + b"X: 1\r\n" * 300 + b"\r\n{}",
    "length below 0": OK + b"Content-Length: -5\r\n\r\n{}",
    "length of letters": OK + b"Content-Length: five\r\n\r\n{}",
    "two lengths": OK + b"Content-Length: 2, 5\r\n\r\n{}",
    "length of 5,000 digits": OK + b"Content-Length: " + b"9" * 5_000 + b"\r\n\r\n{}",
    "cut off": OK + b"Content-Length: 50\r\n\r\n{",
    "chunk below 0": CHUNKED + b"-5\r\n{}\r\n0\r\n\r\n",
    "chunk of letters": CHUNKED + b"xyz\r\n{}\r\n0\r\n\r\n",
    "chunk without a size": CHUNKED + b"\r\n{}\r\n0\r\n\r\n",
    "chunk with underscores": CHUNKED + b"1_0\r\n{}\r\n0\r\n\r\n",
    "chunk of 5,000 digits": CHUNKED + b"f" * 5_000 + b"\r\n{}\r\n0\r\n\r\n",
    "chunk with an extension": CHUNKED + b"2;a=\xff\x00\r\n{]\r\n0\r\n\r\n",
    "chunk with an endless extension": CHUNKED + b"2;" + b"x" * 70_000 + b"\r\n{}\r\n0\r\n\r\n",
    "chunk that is cut off": CHUNKED + b"ff\r\n{}",
    "chunk without its end": CHUNKED + b"2\r\n{}",
    "chunk with a broken trailer": CHUNKED + b"2\r\n{}\r\n0\r\n\xff\xff",
    "bad gzip": GZIP + b"\r\nno gzip",
    "gzip that is cut off": GZIP + b"\r\n" + gzip.compress(JSON * 100)[:40],
    "gzip with another sum": GZIP + b"\r\n" + gzip.compress(JSON)[:-8] + b"\x00" * 8,
    "gzip in gzip": OK + b"Content-Encoding: gzip, gzip\r\n\r\n" + gzip.compress(JSON),
    "bad deflate": OK + b"Content-Encoding: deflate\r\n\r\n\xff\xff\xff",
    "bad brotli": OK + b"Content-Encoding: br\r\n\r\n\xff\xff\xff",
    "bad zstandard": OK + b"Content-Encoding: zstd\r\n\r\n\xff\xff\xff",
    "no UTF-8": OK + b'\r\n{"data": "\xff\xfe"}',
    "a character set that nobody has": OK + b"Content-Type: text/plain; charset=\xff\r\n\r\n\xff",
    "half of a character": OK + b'\r\n{"data": "\\ud83d"}',
    "a number of 5,000 digits": OK + b'\r\n{"data": ' + b"9" * 5_000 + b"}",
    "brackets": OK + b"\r\n" + b"[" * 100_000,
    "no text": OK + b"\r\nnull",
    "an error that is a number": b'HTTP/1.1 400 Bad\r\n\r\n{"error": 5}',
    "an error whose parts are none": b"HTTP/1.1 429 Bad\r\nRetry-After: \xff\r\n\r\n"
    b'{"error": {"code": [], "message": 5, "status": {}, "details": 5}}',
    "quotas that are none": b"HTTP/1.1 429 Bad\r\n\r\n"
    b'{"error": {"message": "m", "details": [{"@type": "google.rpc.QuotaFailure",'
    b' "violations": 5}]}}',
    "a redirect to nowhere": b"HTTP/1.1 302 Found\r\nLocation: http://[\r\n\r\n",
    "wants a password": b"HTTP/1.1 401 No\r\nWWW-Authenticate: \xff\r\n\r\n",
    "cookies": OK + b"Set-Cookie: \x00=\xff; expires=\xff; domain=[\r\n\r\nx",
}


@contextlib.contextmanager
def answering(reply: bytes):
    """Run a server that answers every request with these bytes; yield its host and port."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer(connection):
            with connection, contextlib.suppress(OSError):
                connection.recv(100_000)
                connection.sendall(reply)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(100_000):  # until the other side has read it all
                    pass

        def serve():
            with contextlib.suppress(OSError):  # it was closed
                while True:
                    connection, _ = server.accept()
                    threading.Thread(target=answer, args=(connection,), daemon=True).start()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield f"127.0.0.1:{server.getsockname()[1]}"
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()


def sentences(host: str) -> list[str]:
    """Ask a broken server in every way; return what is said, and fail on any other error."""
    calls = [
        lambda: model_names("openai", f"http://{host}/v1"),
        lambda: OpenAICompatible(f"m@http://{host}/v1").sample("Q", 1),
        lambda: model_names("gemini", host, "AIza-key"),
        lambda: Gemini("m", key="AIza-key", endpoint=host).sample("Q", 1),
    ]
    errors = []
    for call in calls:
        try:
            call()
        except ModelError as error:
            assert error.__cause__ is None and error.__context__ is None  # which may hold the key
            errors.append(str(error))
    assert all(sentence[-1] in ".…”" and "AIza" not in sentence for sentence in errors)
    return errors


@pytest.mark.parametrize("what", REPLIES)
def test_a_broken_reply_is_a_sentence(what):
    with answering(REPLIES[what]) as host:
        assert sentences(host)


@pytest.mark.parametrize("seed", range(40))
def test_bytes_that_were_changed_are_a_sentence_or_an_answer(seed):
    random_ = random.Random(seed)
    reply = bytearray(
        random_.choice(
            [
                CHUNKED + b"%x\r\n" % len(JSON) + JSON + b"\r\n0\r\n\r\n",
                OK + b"Content-Length: %d\r\n\r\n" % len(JSON) + JSON,
                GZIP + b"\r\n" + gzip.compress(JSON),
            ]
        )
    )
    for _ in range(random_.randint(1, 6)):
        reply[random_.randrange(len(reply))] = random_.choice(b'\x00\xff-;,:{}[]"\r\n 09af')
    with answering(bytes(reply)) as host:
        sentences(host)


def test_a_chunk_of_a_negative_size_is_worth_another_try():
    with answering(REPLIES["chunk below 0"]) as host, pytest.raises(TemporaryError) as caught:
        model_names("openai", f"http://{host}/v1")
    assert str(caught.value) == f"The connection to {host} broke. Try again."


def test_whatever_a_library_raises_is_a_fault_and_a_sentence_of_ours_stays_one():
    fault = exchange(lambda: 1 / 0)
    assert isinstance(fault, Fault) and isinstance(fault.error, ZeroDivisionError)
    assert exchange(lambda: 5) == 5
    for error in (TemporaryError("Try again."), MemoryError(), KeyboardInterrupt()):
        with pytest.raises(type(error)):
            exchange(lambda error=error: (_ for _ in ()).throw(error))


def test_a_mistake_of_our_own_is_not_taken_for_one_of_the_connection(monkeypatch):
    service = Service(read_address("http://127.0.0.1:9/v1"), None, Meter())
    with pytest.raises(TypeError):
        service.post("/completions", {"prompt": object()})
    with pytest.raises(ValueError, match="JSON"):
        service.post("/completions", {"temperature": float("nan")})
    monkeypatch.setattr(Address, "look_up", lambda self: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        service.get("/models")
