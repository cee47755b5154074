"""A server that takes its time: it accepts late, reads nothing, or sends byte after byte."""

import itertools
import select
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

EVERY = 0.05  # seconds between two bytes
HELD = 240.0  # seconds after which it gives up, should the client never
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"

# What is sent before it begins to drip, and what drips, again and again.
WAYS = {
    "headers": (b"HTTP/1.1 200 OK\r\nX-", b"a"),
    "many headers": (HEAD, b"X-A: b\r\n"),
    "body": (HEAD + b"Content-Length: 999999\r\n\r\n", b" "),
    "chunks": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "silent": (b"", b""),
    "deaf": (b"", b""),  # and it does not read what is sent
    "unaccepted": (b"", b""),  # nobody takes the connection from the system
}


class Dripping:
    """What a test sees of the server."""

    def __init__(self, way: str) -> None:
        self.way = way
        self.listening = socket.socket()
        self.listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.listening.bind(("127.0.0.1", 0))
        self.listening.listen()
        self.endpoint = f"127.0.0.1:{self.listening.getsockname()[1]}"
        self.base_url = f"http://{self.endpoint}/v1"
        self.connections = 0
        self.begun = threading.Event()  # a client is being kept waiting
        self.left = threading.Event()  # and has gone
        self.awake = threading.Event()  # set by the test: the deaf one reads what was sent
        self.closing = threading.Event()

    def serve(self) -> None:
        """Keep one client after the other waiting."""
        while not self.closing.is_set():
            if not select.select([self.listening], [], [], EVERY)[0]:
                continue
            if self.way == "unaccepted":
                self.begun.set()
                self.closing.wait(EVERY)
                continue
            connection, _ = self.listening.accept()
            self.connections += 1
            with connection:
                self.keep_waiting(connection)

    def keep_waiting(self, connection: socket.socket) -> None:
        """Drip until the client has gone."""
        first, again = WAYS[self.way]
        try:
            if self.way != "deaf":
                self.read_request(connection)
                connection.sendall(first)
            for number in itertools.count():
                if number == 3:
                    self.begun.set()
                if self.closing.wait(EVERY) or number * EVERY > HELD:
                    return
                connection.sendall(again)
                if self.has_gone(connection):
                    break
        except ConnectionError:
            pass
        self.left.set()

    def read_request(self, connection: socket.socket) -> None:
        data = b""
        while b"\r\n\r\n" not in data:
            data += connection.recv(65536)

    def has_gone(self, connection: socket.socket) -> bool:
        if self.way == "deaf" and not self.awake.is_set():
            return False
        connection.settimeout(EVERY)
        try:
            while data := connection.recv(65536):
                assert data
        except TimeoutError:
            return False
        return True


@contextmanager
def dripping(way: str) -> Iterator[Dripping]:
    """Run a server until the end of the block."""
    server = Dripping(way)
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        thread.join()
        server.listening.close()
