"""Where OpenAI-compatible servers stand: what an address may be, and connections to it.

A person types the address, and on a public dashboard that person is a stranger. With
``BELIEVE_PUBLIC=1`` an address therefore must not lead into the network of the machine that
runs Believe: its name is looked up once, every address behind it must be a public one, and
connections go to that very address, whatever the name stands for a moment later.
``BELIEVE_ALLOWED_HOSTS`` (host names with or without a port, between commas) permits these
hosts and no others.
"""

import ipaddress
import re
import socket
from dataclasses import dataclass
from http.cookiejar import DefaultCookiePolicy
from typing import Any, cast
from urllib.parse import urlsplit

import requests
from requests.auth import AuthBase

from core.language_models.backends.openai.presets import KEY_VARIABLE, OPENAI, PRESETS
from core.language_models.connections import WatchedAdapter
from core.language_models.errors import ModelError, NeedsKeyError, RefusedError, UnreachableError
from core.language_models.keys import environment_key
from core.settings import allowed_hosts, is_public, is_shared

WRITE_IT_SO = "Write openai:NAME@BASE_URL, as in openai:llama@http://localhost:8000/v1."

# Python's `is_global` also says yes to addresses outside of it: translated and retired ones, and
# those of segment routing (5f00::/16).
GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")
# Blocks of IANA's registries of special-purpose addresses to which one Python or another says yes.
# Its list is another in each version, and names as global what is answered by whatever device of
# a network is the nearest, such as 192.0.0.9. No model is served at any of them.
SPECIAL = tuple(
    ipaddress.ip_network(block)
    for block in (
        "192.0.0.0/24",  # IETF protocol assignments
        "192.31.196.0/24",  # AS112, as 192.175.48.0/24
        "192.52.193.0/24",  # automatic multicast tunnels
        "192.88.99.0/24",  # relays of 6to4, retired
        "192.175.48.0/24",
        "2001::/23",  # IETF protocol assignments: Teredo, ORCHID and others
        "2001:db8::/32",  # documentation, as 3fff::/20
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",
    )
)
PORTS = {"http": 80, "https": 443}  # unless an address names another
NAME = re.compile(r"(?!-)[a-z0-9._-]+|\[[0-9a-f:.]+\]")
PATH = re.compile(r"[A-Za-z0-9._~%:@!$&'()*+,;=/-]*")
ADDRESSED = re.compile(r"(.*)@(https?://.*)", re.IGNORECASE | re.DOTALL)
NO_SCHEME = re.compile(r"(localhost|[^/@]+:\d+)(/.*)?|[^/@]+/v\d+/?")


def is_permitted(name: str, port: int) -> bool:
    """Whether ``BELIEVE_ALLOWED_HOSTS`` lists a host; a host without a port is all its ports."""
    allowed = allowed_hosts()
    return name in allowed or f"{name}:{port}" in allowed


def is_global(address: str) -> bool:
    """Whether an IP address is one of the public internet, and carries no other inside it."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour
        if inner is not None:
            return is_global(str(inner))
        if ip not in GLOBAL_UNICAST:
            return False
    if any(ip in block for block in SPECIAL):
        return False
    return ip.is_global and not (ip.is_multicast or ip.is_reserved)


@dataclass(frozen=True)
class Address:
    """A base URL that was checked."""

    url: str  # without a slash at its end
    # scheme, name: ``http`` or ``https``; the host in small letters, an IPv6 address in brackets.
    scheme: str
    name: str
    port: int

    @property
    def host(self) -> str:
        """The host as people and servers write it: with its port, unless that is the usual."""
        return self.name if self.port == PORTS[self.scheme] else f"{self.name}:{self.port}"

    @property
    def canonical_url(self) -> str:
        """The URL under which results are kept: this machine has one name."""
        here = self.name == "127.0.0.1"
        return self.url.replace(self.name, "localhost", 1) if here else self.url

    @property
    def key_variable(self) -> str:
        """The environment variable of the key for it: its own, or that of all others."""
        return self._own_key or KEY_VARIABLE

    @property
    def may_have_our_key(self) -> bool:
        """Whether the key of this machine's environment may be sent there.

        A service's own goes to its usual port, and never in clear text; no other goes to it. Where
        others reach Believe, one of them could name a server of theirs and collect the usual one.
        Whether the key is lent to strangers at all is another question: `environment_key`.
        """
        if self._own_key:
            return self.scheme == "https" and self.port == PORTS["https"]
        return not is_shared() or is_permitted(self.name, self.port)

    @property
    def _own_key(self) -> str:
        own = {urlsplit(preset.base_url).hostname: preset.key for preset in PRESETS}
        return own.get(self.name, "")

    def look_up(self) -> str | None:
        """Return the only IP address to connect to; None where any will do.

        Raises `UnreachableError` when the name is not known; `RefusedError` when any address behind
        it is not public.
        """
        if not is_public():
            return None
        try:
            records = socket.getaddrinfo(self.name.strip("[]"), self.port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            records = []
        if not records:
            raise UnreachableError(unknown_host(self.host))
        addresses = [str(entry[4][0]) for entry in records]
        if not all(map(is_global, addresses)):
            raise RefusedError(_not_public(self.host))
        return addresses[0]

    def connect(self, pinned: str | None, key: str | None) -> requests.Session:
        """Return a session for one thread at a time; it connects to `pinned`, if that is given.

        It keeps no cookies and sends no password that a .netrc may hold.
        """
        session = requests.Session()
        session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        session.auth = _Bearer(key)
        session.trust_env = not pinned  # a proxy would look the name up again
        adapter = PinnedAdapter(self, pinned) if pinned else WatchedAdapter()
        session.mount(f"{self.scheme}://", adapter)
        return session


class _Bearer(AuthBase):
    """Sends the key, if there is one; being there at all, it keeps requests from a .netrc."""

    def __init__(self, key: str | None) -> None:
        self._key = key

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._key:
            request.headers["Authorization"] = f"Bearer {self._key}"
        return request


class PinnedAdapter(WatchedAdapter):
    """Connects to one IP address, and speaks to it as the host that the URL names."""

    def __init__(self, address: Address, pinned: str) -> None:
        self.address, self.pinned = address, pinned
        super().__init__()

    def build_connection_pool_key_attributes(
        self, request: requests.PreparedRequest, verify: Any, cert: Any = None
    ) -> Any:
        """Say where to connect to, and whom the certificate must name."""
        attributes = super().build_connection_pool_key_attributes(request, verify, cert)
        host, options = cast(tuple[dict[str, Any], dict[str, Any]], attributes)
        host["host"] = self.pinned
        if self.address.scheme == "https":
            options["server_hostname"] = self.address.name.strip("[]")
        return host, options

    def add_headers(self, request: requests.PreparedRequest, **options: Any) -> None:
        """Name the host; it would be the IP address otherwise."""
        request.headers["Host"] = self.address.host


def split_name(rest: str) -> tuple[str, str]:
    """Split ``NAME@BASE_URL`` at the last "@" that an address follows; without one: OpenAI's.

    Raises `ModelError` when there is no name, or what stands behind the "@" only looks like an
    address.
    """
    if rest.endswith("@"):  # as with an empty variable of a shell: it is not OpenAI that is meant
        raise ModelError(f"There is no base URL after the “@”. {WRITE_IT_SO}")
    match = ADDRESSED.fullmatch(rest)
    name, url = match.groups() if match else (rest, OPENAI)
    behind = rest.rpartition("@")[2] if "@" in rest else ""
    if not match and ("://" in behind or NO_SCHEME.fullmatch(behind)):
        raise ModelError(f"The address of a server begins with http:// or https://. {WRITE_IT_SO}")
    if not name.strip() or "://" in name:
        raise ModelError(f"The name of the model is missing. {WRITE_IT_SO}")
    return name, url


def read_address(url: str) -> Address:
    """Check a base URL.

    Raises `ModelError` when it is none; `RefusedError` when it leads where Believe may not go.
    """
    unreadable = ModelError(f"The address of the server cannot be read. {WRITE_IT_SO}")
    if not url.isprintable() or " " in url:  # the parser would drop some of these in silence
        raise unreadable
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise unreadable from None
    if "@" in parts.netloc:  # said first, so that no sentence repeats a password
        raise ModelError(
            "The address of the server contains a name or a password: remove it, and enter the "
            "key in the field for keys."
        )
    name = (parts.netloc.rpartition(":")[0] if port is not None else parts.netloc).lower()
    if not NAME.fullmatch(name.removesuffix(":")) or not PATH.fullmatch(parts.path) or port == 0:
        raise ModelError(
            "The address of the server has characters that no address has, or no host. "
            f"{WRITE_IT_SO}"
        )
    name = name.removesuffix(":").rstrip(".")
    if parts.query or parts.fragment or "?" in url or "#" in url:
        raise ModelError(f"The address of a server has no “?” and no “#”. {WRITE_IT_SO}")
    if parts.path.rstrip("/").endswith("/completions"):
        raise ModelError(
            "The address names one endpoint: give the base URL, which often ends in /v1."
        )
    scheme = parts.scheme.lower()
    if scheme not in PORTS:
        raise ModelError(f"The address of a server begins with http:// or https://. {WRITE_IT_SO}")
    port = port or PORTS[scheme]
    address = Address("", scheme, name, port)
    url = f"{scheme}://{address.host}{parts.path.rstrip('/')}"
    if allowed_hosts() and not is_permitted(name, port):
        raise RefusedError(
            f"This Believe may not call {address.host}. Whoever runs it can add the host to "
            "BELIEVE_ALLOWED_HOSTS."
        )
    if is_public() and _is_literal(name) and not is_global(name.strip("[]")):
        raise RefusedError(_not_public(address.host))
    return Address(url, scheme, name, port)


def key_for(address: Address, key: str | None) -> tuple[str | None, bool]:
    """Return the key for an address, and whether it is the environment's; None where none is sent.

    `key`: by default the environment's, where that may be sent; "" for none.

    Raises `NeedsKeyError` when it cannot stand in a header.
    """
    lent = None
    if key is None and address.may_have_our_key:
        lent = environment_key(address.key_variable)
    key = (key or lent or "").strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise NeedsKeyError("The key contains characters that no key has. Copy it again.")
    return key or None, lent is not None


def key_variable(rest: str) -> tuple[str, bool]:
    """Return the variable of the key for ``NAME@BASE_URL``, and whether it may be sent there."""
    try:
        address = read_address(rest.rpartition("@")[2] if "@" in rest else OPENAI)
    except ModelError:
        return KEY_VARIABLE, False
    return address.key_variable, address.may_have_our_key


def unknown_host(host: str) -> str:
    """Return the sentence for a name that does not resolve."""
    return f"There is no host called {host}. Check the address and this machine’s connection."


def _not_public(host: str) -> str:
    return (
        f"{host} is not on the public internet, and this Believe is open to the public. Run "
        "Believe on your own machine to use a server of your own network."
    )


def _is_literal(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True
