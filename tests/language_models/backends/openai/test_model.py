"""OpenAI-compatible servers: what is found out, sent, summed and said when something is wrong.

The servers are real ones on this machine (`openai_server.py`), and the numbers they give are the
embedded model's own.
"""

import ipaddress
import json
import socket
import ssl
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timedelta

import numpy as np
import pytest

from core import prompts
from core.data.thoughts import TAGS, answer_in
from core.language_models.backends.openai import address, http, probe, replies
from core.language_models.backends.openai.address import (
    Address,
    is_global,
    key_for,
    key_variable,
    read_address,
    split_name,
)
from core.language_models.backends.openai.echo import behind
from core.language_models.backends.openai.http import Service
from core.language_models.backends.openai.model import ENDPOINTS, PAIRS_A_CALL, OpenAICompatible
from core.language_models.backends.openai.presets import PRESETS
from core.language_models.backends.openai.probe import MOST_PROBES
from core.language_models.backends.openai.thinking import has_thought
from core.language_models.client.batch import BatchingModel
from core.language_models.errors import (
    CreditError,
    LoadingError,
    ModelError,
    NeedsKeyError,
    OtherModelError,
    PromptTooLongError,
    RefusedError,
    TemporaryError,
    UnknownModelError,
    UnreachableError,
)
from core.language_models.language_model import MAX_RESPONSE_TOKENS, Response, prompt_seed
from core.language_models.registry import open_model
from core.language_models.usage import Meter
from tests.language_models.gemini_server import Remembered
from tests.language_models.openai_server import END, FAULTS, FLAVOURS, serving

KEY = "sk-never-to-be-shown-1234567890"
QUESTION = "Who wrote the novel Dune?"
PROMPT = prompts.iterative(QUESTION)
TOLD = [PROMPT, *(prompts.iterative(QUESTION, [text]) for text in ("Frank Herbert", "Homer"))]
ANSWERS = ["Frank Herbert", "Homer", "Virginia Woolf and Ærø — “ø”", "7", "東京 👩‍👩‍👧"]


@pytest.fixture
def echo():
    with serving("echo") as server:
        yield server


def probed(server, key=None, **options):
    """A model whose probe is over, and a server that has forgotten it."""
    model = OpenAICompatible(server.rest, key, **options)
    assert model.capabilities
    server.exchanges.clear()
    return model


@contextmanager
def refused(error, *words):
    """Expect a sentence that a person reads, and no key anywhere in what is behind it."""
    with pytest.raises(error) as caught:
        yield caught
    error = caught.value
    message = str(error)
    assert message.endswith(".") and "\n" not in message
    assert all(word in message for word in words), message
    while error is not None:
        assert KEY not in f"{error} {error!r} {vars(error)}"
        error = error.__cause__ or error.__context__


@contextmanager
def spoilt(flavour, change, *, late=True, key=None, **options):
    """Yield a model whose server changes what it answers: all, or what comes after the probe."""
    on = [] if late else [True]

    def after(reply):
        for choice in reply["choices"] if on else ():
            change(choice)
        return reply

    with serving(flavour, after=after, **options) as server:
        model = probed(server, key) if late else OpenAICompatible(server.rest, key)
        on.append(True)
        yield model


def entries(choice):
    """What a server that chats says of each token of an answer."""
    return (choice["logprobs"] or {}).get("content", ())


# --------------------------------------------------------------------- names, addresses


@pytest.mark.parametrize(
    ("rest", "name", "url"),
    [
        ("gpt-4o", "gpt-4o", "https://api.openai.com/v1"),
        ("llama@http://localhost:8000/v1", "llama", "http://localhost:8000/v1"),
        ("org/qwen:7b@q4@HTTPS://host/x", "org/qwen:7b@q4", "HTTPS://host/x"),
        ("@cf/meta/llama", "@cf/meta/llama", "https://api.openai.com/v1"),
        ("claude@20240229", "claude@20240229", "https://api.openai.com/v1"),
        ("a@http://first/v1@http://last/v1", None, None),
    ],
)
def test_a_name_ends_at_the_last_mark_before_an_address(rest, name, url):
    if name is None:
        with pytest.raises(ModelError, match="name of the model"):
            split_name(rest)
    else:
        assert split_name(rest) == (name, url)
        assert OpenAICompatible(rest).name == f"openai:{rest}"


@pytest.mark.parametrize(
    "rest",
    [
        *("", "  ", "@http://localhost/v1", "http://localhost/v1", "m@ftp://localhost/v1"),
        *("m@file:///etc/passwd", "m@localhost:8000/v1", "m@localhost", "m@host.example/v1"),
        *("m@http://", "m@http:///v1", "m@http://:80/v1", "m@http://host:0/v1"),
        *("m@http://host:99999/v1", "m@http://host:x/v1", "m@http://[::1/v1"),
        *("m@http://ho st/v1", "m@http://host\\evil/v1", "m@http://host%2eexample/v1"),
        *("m@http://hôst/v1", "m@http://host/v1?key=1", "m@http://host/v1?"),
        *("m@http://host/v1#x", "m@http://host/v1\n", "m@http://host/\x00"),
        "m@http://host/v1/chat/completions",
    ],
)
def test_what_is_no_name_or_no_address_gets_a_sentence(rest):
    with refused(ModelError):
        OpenAICompatible(rest)


def test_the_back_end_alone_asks_for_a_name():
    with pytest.raises(ModelError, match=r"openai:NAME@BASE_URL"):
        open_model("openai")


@pytest.mark.parametrize(
    ("url", "says"),
    [
        (f"me:{KEY}@host/v1", "remove it"),
        (f"{KEY}@host/v1", "remove it"),
        (f"host/v1?key={KEY}", ""),
    ],
)
def test_a_password_in_an_address_is_refused_and_not_repeated(url, says):
    with refused(ModelError, says):
        OpenAICompatible(f"m@http://{url}")


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_every_preset_is_an_address(preset):
    assert read_address(preset.base_url).url == preset.base_url
    assert OpenAICompatible(f"m@{preset.base_url}/").name
    assert preset.note.endswith(".") and preset.usually


def test_only_allowed_hosts_are_called(monkeypatch, echo):
    port = echo.base_url.split(":")[2].removesuffix("/v1")
    monkeypatch.setenv("BELIEVE_ALLOWED_HOSTS", f" model.example , 127.0.0.1:{port},[::1]")
    assert OpenAICompatible(echo.rest).sample(PROMPT, 1)
    for host in ("MODEL.example", "model.example:8000", "model.example.", "[::1]:80"):
        assert OpenAICompatible(f"m@http://{host}/v1")
    for host in ("127.0.0.1", "127.0.0.1:1", "api.openai.com", "x.model.example", "[::2]"):
        with refused(RefusedError, "BELIEVE_ALLOWED_HOSTS"):
            OpenAICompatible(f"m@https://{host}/v1")


PRIVATE = [
    *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1"),
    *("0.0.0.0", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::1", "::", "fe80::1"),
    *("fc00::1", "fec0::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1"),
    *("64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::1", "2001:db8::1"),
]


@pytest.mark.parametrize("address", PRIVATE)
def test_a_public_dashboard_calls_no_private_address(monkeypatch, address):
    assert not is_global(address)
    rest = f"m@http://[{address}]:9/v1" if ":" in address else f"m@http://{address}:9/v1"
    assert OpenAICompatible(rest)
    monkeypatch.setenv("BELIEVE_PUBLIC", "1")
    with refused(RefusedError, "public internet"):
        OpenAICompatible(rest)
    assert all(map(is_global, ("8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8")))


# Every block of IANA's registries of IPv4 and IPv6 addresses for special purposes (of 9 October
# 2025), but ::ffff:0:0/96 and 2002::/16: such an address counts as the one inside it.
REGISTRIES = [
    *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"),
    *("172.16.0.0/12", "192.0.0.0/24", "192.0.0.0/29", "192.0.0.8/32", "192.0.0.9/32"),
    *("192.0.0.10/32", "192.0.0.170/32", "192.0.0.171/32", "192.0.2.0/24", "192.31.196.0/24"),
    *("192.52.193.0/24", "192.88.99.0/24", "192.88.99.2/32", "192.168.0.0/16"),
    *("192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4"),
    "255.255.255.255/32",
    *("::1/128", "::/128", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64"),
    *("2001::/23", "2001::/32", "2001:1::1/128", "2001:1::2/128", "2001:1::3/128"),
    *("2001:2::/48", "2001:3::/32", "2001:4:112::/48", "2001:10::/28", "2001:20::/28"),
    *("2001:30::/28", "2001:db8::/32", "2620:4f:8000::/48", "3fff::/20", "5f00::/16"),
    *("fc00::/7", "fe80::/10"),
]


@pytest.mark.parametrize("block", REGISTRIES)
def test_an_address_of_a_special_purpose_is_not_public(block):
    network = ipaddress.ip_network(block)
    middle = network.network_address + network.num_addresses // 2
    for ip in (network.network_address, middle, network.broadcast_address):
        assert not is_global(str(ip))
        if ip.version == 4:
            assert not is_global(f"::ffff:{ip}")
            assert not is_global(f"2002:{int(ip) >> 16:x}:{int(ip) & 0xFFFF:x}::1")


NEXT_TO_THEM = [
    *("192.0.1.1", "192.31.197.1", "192.52.192.1", "192.88.98.255", "192.175.49.1", "100.128.0.1"),
    *("198.20.0.1", "223.255.255.255", "2001:200::1", "2001:db9::1", "2620:4f:8001::1"),
]


@pytest.mark.parametrize("address", NEXT_TO_THEM)
def test_an_address_next_to_such_a_block_is_public(address):
    assert is_global(address)


def test_one_private_address_among_public_ones_is_enough(monkeypatch):
    answers = [["8.8.8.8", "10.0.0.1"], ["2606:4700::1111", "8.8.8.8"], []]

    def getaddrinfo(host, port, **options):
        return [(0, 0, 0, "", (address, port)) for address in answers.pop(0)]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    address = read_address("http://model.example/v1")
    assert address.look_up() is None, "only a public dashboard asks"
    monkeypatch.setenv("BELIEVE_PUBLIC", "1")
    with pytest.raises(RefusedError):
        address.look_up()
    assert address.look_up() == "2606:4700::1111"
    with pytest.raises(UnreachableError, match="no host called"):
        address.look_up()


def certificate(folder, name):
    """Make a certificate for a name; return the server's context, and the authority's file."""
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    private = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    today = datetime.now()
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(today - timedelta(days=2))
        .not_valid_after(today + timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(private, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    (folder / "authority.pem").write_bytes(made.public_bytes(pem))
    (folder / "server.pem").write_bytes(
        private.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + made.public_bytes(pem)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem")
    return context, str(folder / "authority.pem")


def test_a_pinned_connection_asks_for_the_host_by_name_and_checks_it(tmp_path, monkeypatch):
    context, authority = certificate(tmp_path, "model.example")
    asked_for, connect = [], Address.connect
    context.sni_callback = lambda connection, name, _: asked_for.append(name)
    with serving("echo", tls=context) as server:
        for host, right in (("model.example", True), ("other.example", False)):
            address = read_address(server.base_url.replace("127.0.0.1", host))
            session = connect(address, "127.0.0.1", KEY)
            session.verify = authority
            monkeypatch.setattr(Address, "look_up", lambda self: "127.0.0.1")
            monkeypatch.setattr(Address, "connect", lambda *_, session=session: session)
            service = Service(address, KEY, Meter())
            body = {"model": server.model, "prompt": "A:", "max_tokens": 1}
            if right:
                assert service.post("/completions", body)["choices"]
            else:
                with refused(UnreachableError, "certificate"):
                    service.post("/completions", body)
        assert asked_for == ["model.example", "other.example"]
        assert len(server.exchanges) == 1


# ---------------------------------------------------------------------------------- keys


def test_the_key_comes_from_the_environment_or_the_hand(monkeypatch):
    with serving("echo", key=KEY) as server:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        assert open_model(server.name).sample(PROMPT, 1)
        monkeypatch.setenv("OPENAI_API_KEY", "another")
        assert open_model(server.name, f" {KEY}\n").sample(PROMPT, 1)
        with pytest.raises(NeedsKeyError):
            open_model(server.name).sample(PROMPT, 1)


def test_without_a_key_none_is_sent(echo, tmp_path, monkeypatch):
    (tmp_path / ".netrc").write_text(f"machine 127.0.0.1 login me password {KEY}")
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    OpenAICompatible(echo.rest).sample(PROMPT, 1)
    assert all("Authorization" not in exchange.headers for exchange in echo.exchanges)


@pytest.mark.parametrize("public", [True, False])
def test_a_dashboard_that_others_reach_keeps_its_key_from_their_servers(monkeypatch, public):
    def allowed(url):
        return read_address(url).may_have_our_key

    assert allowed("http://10.0.0.1/v1")
    if public:
        monkeypatch.setenv("BELIEVE_PUBLIC", "1")
    else:
        monkeypatch.setattr(address, "is_shared", lambda: True)
    assert allowed("https://api.openai.com/v1")
    for stranger in ("api.openai.com:8443", "api.openai.com.evil.example", "model.example"):
        assert not allowed(f"https://{stranger}/v1")
    assert not allowed("http://api.openai.com/v1")
    monkeypatch.setenv("BELIEVE_ALLOWED_HOSTS", "model.example")
    assert allowed("https://model.example/v1")


SERVICES = [preset for preset in PRESETS if preset.key]


@pytest.mark.parametrize("preset", SERVICES, ids=lambda preset: preset.name)
def test_a_service_with_a_key_of_its_own_gets_that_and_no_other(monkeypatch, preset):
    rest = f"m@{preset.base_url}"
    for other in SERVICES:
        monkeypatch.setenv(other.key, f"of-{other.name}")
    assert key_for(read_address(preset.base_url), None) == (f"of-{preset.name}", True)
    name = preset.base_url.split("/")[2]
    for elsewhere in (f"http://{name}/v1", f"https://{name}:8443/v1"):  # nor another's
        assert key_for(read_address(elsewhere), None) == (None, False)
    assert key_for(read_address(preset.base_url), "") == (None, False)
    monkeypatch.setenv("BELIEVE_PUBLIC", "1")
    assert key_for(read_address(preset.base_url), None) == (None, False)
    monkeypatch.setenv("BELIEVE_PUBLIC_KEYS", preset.key)
    assert key_for(read_address(preset.base_url), None) == (f"of-{preset.name}", True)
    assert key_variable(rest) == (preset.key, True)
    stranger = preset.base_url.replace("https://", "https://stranger.example/")
    assert key_for(read_address(stranger), None) == (None, False)
    monkeypatch.delenv(preset.key)
    assert key_for(read_address(preset.base_url), None) == (None, False)


def test_a_strangers_server_gets_no_key_of_the_environment(monkeypatch, echo):
    monkeypatch.setattr(address.Address, "look_up", lambda self: "127.0.0.1")
    monkeypatch.setenv("BELIEVE_PUBLIC", "1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    stranger = echo.rest.replace("127.0.0.1", "stranger.example")
    OpenAICompatible(stranger).sample(PROMPT, 1)
    assert all("Authorization" not in exchange.headers for exchange in echo.exchanges)
    OpenAICompatible(stranger, "their-own").sample(PROMPT, 1)
    assert echo.exchanges[-1].headers["Authorization"] == "Bearer their-own"


@pytest.mark.parametrize("sent", [None, "wrong-key"])
def test_a_wrong_or_missing_key_ends_the_probe_with_a_sentence(sent):
    with serving("echo", key=KEY) as server:
        with refused(NeedsKeyError, "127.0.0.1"):
            OpenAICompatible(server.rest, sent).capabilities  # noqa: B018
        assert server.outcomes == ["401"]


@pytest.mark.parametrize("bad", ["two words", "line\nbreak", "schlüssel", "\x00"])
def test_a_key_that_cannot_be_one_is_refused_and_not_repeated(bad):
    with refused(NeedsKeyError):
        OpenAICompatible("m@http://localhost/v1", f"{KEY}{bad}")


# --------------------------------------------------------------------------------- probe


NEUTRAL = ("min_p", "top_k", "repeat_penalty", "repetition_penalty")
# What OpenAI's models that reason refuse.
NEWER = ("max_tokens", "logprobs", *NEUTRAL, "generation_config")
SAMPLER = f"neutral {', '.join(NEUTRAL)}"


@pytest.mark.parametrize(
    ("flavour", "options", "scores", "own", "next_token", "candidates", "requests", "said"),
    [
        ("echo", {}, True, True, True, 8, 3, f"completions, echo, end token “{END}”, {SAMPLER}"),
        ("echo", {"least_tokens": 1}, True, True, True, 8, 3, "echo, end token"),
        ("echo", {"lists_end": False}, True, True, True, 8, 3, "echo, no end token"),
        ("echo", {"scaled": True}, True, False, True, 8, 3, "scaled by temperature"),
        ("echo", {"refuses": ("n",)}, True, True, True, 1, 5, "echo, end token"),
        ("top", {}, False, True, True, 8, 5, f"completions, {SAMPLER}; "),
        ("top", {"written": "content", "n": False}, False, True, True, 1, 6, "completions, "),
        ("top", {"refuses": ("echo",)}, False, True, True, 8, 5, "completions, "),
        ("top", {"scaled": True}, False, False, True, 8, 5, "scaled by temperature"),
        ("none", {}, False, False, False, 8, 5, "completions, "),
        ("none", {"refuses": ("logprobs",), "n": False}, False, False, False, 1, 8, SAMPLER),
        ("chat-top", {}, False, True, True, 8, 5, f"chat completions, {SAMPLER}; "),
        ("chat-top", {"scaled": True}, False, False, True, 8, 5, "scaled by temperature"),
        ("chat-top", {"refuses": ("top_logprobs",)}, False, True, True, 8, 6, SAMPLER),
        ("chat-top", {"refuses": ("logprobs",)}, False, False, False, 8, 5, SAMPLER),
        ("chat-top", {"refuses": ("seed", "stop")}, False, True, True, 8, 7, "without seed, stop"),
        ("chat-none", {}, False, False, False, 8, 4, "chat completions"),
        ("chat-none", {"refuses": NEWER}, False, False, False, 8, 7, "chat completions; "),
        ("chat-none", {"refuses": ("top_k",)}, False, False, False, 8, 5, "chat completions; "),
    ],
)
def test_a_few_small_requests_find_out_what_a_server_can_do(
    flavour, options, scores, own, next_token, candidates, requests, said
):
    with serving(flavour, **options) as server:
        model = OpenAICompatible(server.rest)
        assert server.exchanges == []
        found = model.capabilities
        assert found.scores_given_text is scores
        assert found.own_log_likelihoods is own
        assert found.next_token is next_token
        assert found.candidates_a_call == candidates
        assert found.seeded is ("seed" not in options.get("refuses", ()))
        assert not found.local
        told = " ".join(found.notes)
        assert ("Its log-probabilities depend on the temperature" in told) is (
            "scaled by temperature" in said
        )
        # Who does not know one of these fields is sent none of them.
        left = NEUTRAL if {*NEUTRAL} & {*options.get("refuses", ())} else []
        assert (f"It refuses the fields {', '.join(left)}." in told) is bool(left)
        assert len(server.exchanges) == requests <= MOST_PROBES
        assert said in model.revision and server.model in model.revision
        # Where 0 stands for no limit, it would cost whatever fits into the context.
        assert all(1 <= body.get("max_tokens", 1) <= 16 for body in server.bodies)
        before = len(server.exchanges)
        assert len(model.sample(PROMPT, candidates)) == candidates
        assert len(server.exchanges) == before + 1


def test_the_strictest_service_is_asked_as_it_wants():
    """One unknown field a refusal, one answer a request, thoughts, and no temperature but 1."""
    refuses = (*NEWER, "seed", "stop", "top_p", "top_logprobs", "n")
    with serving("chat-none", refuses=refuses, fixed_temperature=True, thinks="field") as server:
        model = OpenAICompatible(server.rest)
        able = model.capabilities
        assert able.candidates_a_call == 1 and able.thoughts and not able.seeded
        assert server.outcomes.count("400") <= 9
        assert model.sample(PROMPT, 2, temperature=0.5)[1].text


def test_fields_of_a_service_that_calls_them_unsupported_go_together():
    """As Groq's; and of two that a service does not take together, temperature stays (Claude)."""

    def strict(path, body):
        if field := next((name for name in NEUTRAL if name in body), None):
            return 400, {}, said(f"property '{field}' is unsupported, did you mean 'stop'?")
        if {"temperature", "top_p"} <= body.keys():
            return 400, {}, said("`temperature` and `top_p` cannot both be specified. Use one.")
        return None

    with serving("chat-none", before=strict) as server:
        model = OpenAICompatible(server.rest)
        assert "without top_p" in model.revision and "no temperature" not in str(model.capabilities)
        assert server.outcomes.count("400") == 4, "two of completions, which it has not"


def test_there_is_no_limit_while_each_refusal_names_another_field(monkeypatch):
    monkeypatch.setattr(probe, "MOST_PROBES", 3)
    with serving("chat-none", refuses=NEWER) as server:
        assert OpenAICompatible(server.rest).capabilities


def test_a_refusal_that_names_no_field_costs_one_field_after_the_other():
    def strict(path, body):
        known = {"model", "messages", "temperature", "max_tokens", "stop"}
        return None if body.keys() <= known else (400, {}, b'{"error": "Bad Request"}')

    with serving("chat-none", before=strict) as server:
        model = OpenAICompatible(server.rest)
        assert "without seed, top_p" in model.revision and "stop" not in model.revision
        assert len({response.text for response in model.sample(PROMPT, 6, temperature=2.0)}) > 1


@pytest.mark.parametrize(("slots", "candidates", "requests"), [(4, 4, 6), (3, 2, 7), (1, 1, 8)])
def test_as_many_answers_at_once_as_a_server_has_slots(slots, candidates, requests):
    with serving("top", slots=slots) as server:
        found = OpenAICompatible(server.rest).capabilities
        assert found.candidates_a_call == candidates and found.own_log_likelihoods
        assert len(server.exchanges) == requests


def test_a_service_that_gives_fewer_answers_than_it_did_is_asked_for_fewer():
    fewer = [8]

    def after(reply):
        return reply | {"choices": reply["choices"][: fewer[0]]}

    with serving("chat-none", after=after) as server:
        model = probed(server)
        assert model.capabilities.candidates_a_call == 8
        for most, tried, enough in ((3, 1, 3), (1, 3, 8)):
            fewer[0] = most
            assert len(BatchingModel(model).sample(PROMPT, 8)) == 8
            assert model.capabilities.candidates_a_call == most
            # One that comes late may know already that fewer are given.
            assert 1 <= len(server.exchanges) - enough <= tried
            server.exchanges.clear()


@pytest.mark.parametrize("flavour", ["none", "chat-none", "chat-top", "top"])
@pytest.mark.parametrize("n", [True, False])
def test_a_server_that_draws_nothing_is_said_to_when_it_is_opened(flavour, n):
    with serving(flavour, greedy=True, n=n) as server:
        with refused(RefusedError, "same answer each time", "do_sample", "127.0.0.1"):
            OpenAICompatible(server.rest).capabilities  # noqa: B018
        assert len(server.exchanges) <= 9


def test_a_service_that_rarely_varies_and_cannot_be_heated_is_given_more_draws():
    """Its answers to the long question are one, and the first three colours happen to be."""
    colours = iter(["Blue"] * 3 + ["Red"] * 9)

    def rarely(path, body):
        if path != "/v1/chat/completions" or body.get("temperature", 1) != 1:
            return None
        text = next(colours) if "colour" in str(body["messages"]) else "ABCDEFGHIJKL"
        choice = {"message": {"content": text}, "finish_reason": "stop"}
        return 200, {}, json.dumps({"choices": [choice]}).encode()

    with serving("chat-none", before=rarely, fixed_temperature=True, n=False) as server:
        assert OpenAICompatible(server.rest).capabilities.candidates_a_call == 1


@pytest.mark.parametrize("slots", [8, 2, 1])
def test_equal_requests_that_get_the_same_reply_are_no_draws(slots):
    with serving("chat-none", slots=slots, memory={}) as server:
        assert OpenAICompatible(server.rest).capabilities.candidates_a_call == slots
    with (
        serving("chat-none", slots=slots, memory={}, refuses=("seed",)) as server,
        refused(RefusedError, "copies of one answer" if slots > 1 else "same answer"),
    ):
        OpenAICompatible(server.rest).capabilities  # noqa: B018


class WithoutSeeds(dict):
    """Replies that are kept, whatever the seed; `share`: by how long a beginning of a prompt."""

    def __init__(self, share=None):
        self.share = share

    def setdefault(self, request, reply):
        path, body = json.loads(request)
        prompt = body["messages"][-1]["content"] if "messages" in body else body["prompt"]
        body |= {"seed": 0, "messages": [], "prompt": prompt[: self.share]}
        return super().setdefault(json.dumps([path, body]), reply)


@pytest.mark.parametrize("share", [None, 20])
@pytest.mark.parametrize("flavour", ["chat-none", "chat-top", "none"])
def test_what_keeps_replies_whatever_the_seed_is_no_model(flavour, share):
    """Ten draws would be eight and two, and what is told might change nothing."""
    with (
        serving(flavour, memory=WithoutSeeds(share)) as server,
        refused(RefusedError, "Switch off what keeps its replies"),
    ):
        OpenAICompatible(server.rest).capabilities  # noqa: B018


@pytest.mark.parametrize("most", [2**31 - 1, 2**32 - 1])
def test_a_seed_that_a_service_cannot_take_is_found_out_by_the_probe(most):
    """As Google's, whose seeds have 32 bits: the probe's are as large as those of an inspection."""

    def too_large(path, body):
        words = f"Invalid value at 'generation_config.seed' (TYPE_INT32), {body.get('seed')}"
        return (400, {}, said(words)) if body.get("seed", 0) > most else None

    with serving("chat-none", before=too_large) as server:
        model = OpenAICompatible(server.rest)
        assert not model.capabilities.seeded
        assert model.sample(PROMPT, 2)


@pytest.mark.parametrize(("slots", "thinks"), [(8, None), (2, None), (8, "field")])
def test_copies_of_one_answer_in_a_reply_are_no_draws(slots, thinks):
    def copies(reply):
        first = reply["choices"][0]["message"]
        return reply | {"choices": [choice | {"message": first} for choice in reply["choices"]]}

    with (
        serving("chat-none", slots=slots, after=copies, thinks=thinks) as server,
        refused(RefusedError, "no doubt can be read off"),
    ):
        OpenAICompatible(server.rest).capabilities  # noqa: B018


def test_samplers_that_a_server_leaves_on_are_switched_off(embedded):
    wanted = [r.text for r in embedded.sample(PROMPT, 40, temperature=1.2)]
    with serving("top", filters=True) as server:
        drawn = OpenAICompatible(server.rest).sample(PROMPT, 40, temperature=1.2)
        assert [response.text for response in drawn] == wanted
    with serving("top", filters=True, refuses=("min_p",)) as server:
        drawn = OpenAICompatible(server.rest).sample(PROMPT, 40, temperature=1.2)
        assert [response.text for response in drawn] != wanted, "or this shows nothing"


@pytest.mark.parametrize("thinks", ["field", "tags"])
@pytest.mark.parametrize("quiet", ["chat_template_kwargs", "reasoning_effort"])
def test_thinking_is_switched_off_where_a_server_can(thinks, quiet, embedded):
    with serving("chat-top", thinks=thinks, quiet=quiet) as server:
        model = OpenAICompatible(server.rest)
        assert model.capabilities.own_log_likelihoods
        assert any("switched off" in note for note in model.capabilities.notes)
        assert "thinking off" in model.revision
        drawn = [response.text for response in model.sample(PROMPT, 5)]
        assert drawn == [response.text for response in embedded.sample(PROMPT, 5)]
        assert server.bodies[-1][quiet] in ("none", {"enable_thinking": False})


@pytest.mark.parametrize("thinks", ["field", "tags"])
def test_thoughts_get_room_and_are_left_out_of_the_answer(thinks, embedded):
    with serving("chat-top", thinks=thinks) as server:
        model = OpenAICompatible(server.rest)
        found = model.capabilities
        assert not (found.own_log_likelihoods or found.next_token)
        assert any("thoughts are left out" in note for note in found.notes)
        assert "thinking left out" in model.revision
        drawn = model.sample(PROMPT, 5)
        wanted = [response.text for response in embedded.sample(PROMPT, 5)]
        assert [response.text for response in drawn] == wanted
        assert {response.log_likelihood for response in drawn} == {None}


@pytest.mark.parametrize(("begin", "end"), TAGS.items())
def test_thoughts_are_known_by_their_tags(begin, end):
    for text in (f"{begin}Lyon? No", f"{begin}Lyon?\n{end}Paris", f"Lyon?{end}\n\nParis"):
        assert has_thought({"message": {}, "finish_reason": "stop"}, text)
        assert answer_in(text).strip() == ("Paris" if end in text else "")
    assert not has_thought({"message": {}, "finish_reason": "stop"}, "Think: Paris")


@pytest.mark.parametrize("thinks", ["field", None])
def test_a_text_in_parts_is_one(thinks, embedded):
    def in_parts(reply):
        for choice in reply["choices"]:
            message = choice["message"]
            thoughts = message.pop("reasoning_content", None)
            said = [{"type": "text", "text": half} for half in halves(message["content"])]
            hidden = [{"type": "thinking", "thinking": [{"type": "text", "text": thoughts}]}]
            message["content"] = (hidden if thoughts else []) + said
        return reply

    def halves(text):
        return text[: len(text) // 2], text[len(text) // 2 :]

    with serving("chat-none", after=in_parts, **({"thinks": thinks} if thinks else {})) as server:
        model = OpenAICompatible(server.rest)
        assert bool(model.capabilities.thoughts) == bool(thinks)
        drawn = [response.text for response in model.sample(PROMPT, 5)]
    assert drawn == [response.text for response in embedded.sample(PROMPT, 5)]


@pytest.mark.parametrize("late", [False, True])
def test_a_model_that_only_thinks_gets_a_sentence_and_no_empty_answer(late):
    def endless(choice):
        choice["message"] = {"content": "", "reasoning": "Hm. " * 9}
        choice["finish_reason"] = "length"

    with spoilt("chat-none", endless, late=late, thinks="field") as model:
        if late:
            refusal = "its thoughts took all tokens"
            assert model.sample(PROMPT, 2) == [Response("", False, refusal=refusal)] * 2
        else:
            with refused(RefusedError, "without an answer", "Switch thinking off"):
                model.sample(PROMPT, 2)


def test_a_model_that_begins_to_think_later_gets_a_sentence():
    with (
        spoilt("chat-none", lambda c: c["message"].update(reasoning_content="Hm.")) as model,
        refused(RefusedError, "thinks before it answers"),
    ):
        model.sample(PROMPT, 2)


def test_each_reply_of_another_model_is_refused_until_it_is_opened_anew():
    with serving(
        "none", after=lambda reply: reply | (dict(model=other[0]) if other else {})
    ) as server:
        other = []
        model = probed(server)
        before = model.revision
        assert model.sample(PROMPT, 1)
        for name, words in (("", "gives no name"), ("bad-2", "gives “bad-2”")):
            other[:] = [name]
            for _ in range(2):
                with refused(OtherModelError, words):
                    model.sample(PROMPT, 1)
        anew = OpenAICompatible(server.rest)
        assert anew.sample(PROMPT, 1) and "bad-2" in anew.revision
        other.clear()
        assert model.sample(PROMPT, 1) and model.revision == before


def test_a_model_that_takes_no_temperature_is_found_out_by_the_probe():
    with serving("chat-none", fixed_temperature=True, refuses=("max_tokens",)) as server:
        model = probed(server)
        assert any("takes no temperature" in note for note in model.capabilities.notes)
        assert "without temperature" in model.revision
        assert model.sample(PROMPT, 3, temperature=0.7) and model.sample(PROMPT, 1, temperature=0)
        assert server.outcomes == ["ok", "ok"]
        assert all("max_completion_tokens" in body for body in server.bodies)


@pytest.mark.parametrize(("error", "believed"), [(0.0, True), (0.02, True), (0.5, False)])
def test_an_echo_that_differs_from_what_was_sampled_is_not_used(error, believed):
    with serving("echo", echo_error=error) as server:
        found = OpenAICompatible(server.rest).capabilities
        assert found.scores_given_text is believed
        assert found.own_log_likelihoods
        assert any("repeats given texts" in note for note in found.notes) is not believed


@pytest.mark.parametrize(
    "spoil",
    [
        lambda entry: entry.update(logprob=0.0),
        lambda entry: (
            entry["top_logprobs"].append({"token": entry["token"], "logprob": entry["logprob"] - 1})
            or entry["top_logprobs"].__delitem__(slice(0, -1))
        ),
    ],
    ids=["all certain", "not those of the list"],
)
def test_log_probabilities_that_cannot_be_true_are_not_used(spoil):
    with spoilt("chat-top", lambda c: [spoil(entry) for entry in entries(c)], late=False) as model:
        able = model.capabilities
    assert not able.own_log_likelihoods and not able.next_token
    assert any("contradict" in note for note in able.notes)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("token", ["Rome", None])
def test_log_probabilities_of_what_was_not_said_are_no_scores(token, late):
    def misspell(choice):
        for entry in entries(choice):
            entry["token"] = token

    with spoilt("chat-top", misspell, late=late) as model:
        assert model.capabilities.own_log_likelihoods is late
        assert [r.log_likelihood for r in model.sample(PROMPT, 2)] == [None] * 2


@pytest.mark.parametrize(
    ("tokens", "spelt"),
    [
        (["Ġa", "<0xC3>", "<0xB8>", "b"], True),
        (["▁a", "bytes:\\xc3\\xb8", "b", "."], True),
        ([1, 2], True),  # mlx-lm's numbers
        (["a"], False),
        ([None, None], False),
    ],
)
def test_tokens_spell_a_text_in_whatever_way_vocabularies_write_them(tokens, spelt):
    entries = [{"id" if type(t) is int else "token": t, "logprob": -1.0} for t in tokens]
    assert replies.spells({"logprobs": {"content": entries}}, "aøb") is spelt


def test_an_end_token_that_is_not_read_as_one_is_no_part_of_a_score():
    def read_as_text(reply):
        for choice in reply["choices"]:
            tokens = choice["logprobs"]["tokens"]
            if choice["text"].startswith("Q:") and END in tokens[:-1]:
                tokens[tokens.index(END)] = "<|"
        return reply

    with serving("echo", after=read_as_text) as server:
        model = OpenAICompatible(server.rest)
        assert model.capabilities.scores_given_text and not model.capabilities.whole_answers
        assert "no end token" in model.revision


def test_one_server_has_one_name():
    with serving("echo") as server:
        port = server.base_url.split(":")[2]
        rests = [f"m@http://{host}:{port}" for host in ("127.0.0.1", "localhost", "LOCALHOST")]
        models = [OpenAICompatible(rest) for rest in (*rests, f"{rests[0]}/")]
        assert {model.canonical_name for model in models} == {f"openai:m@http://localhost:{port}"}
        assert OpenAICompatible("m@https://Model.example:443/v1/").canonical_name == (
            "openai:m@https://model.example/v1"
        )
        here, there = (rest.replace("m@", f"{server.model}@") for rest in rests[:2])
        assert OpenAICompatible(here).capabilities
        before = len(server.exchanges)
        assert OpenAICompatible(there).capabilities
        assert len(server.exchanges) == before


def test_connections_are_kept_for_threads_to_come(echo):
    model = probed(echo)
    for _ in range(3):
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda i: model.sample(PROMPT, 1, first=i), range(4)))
    assert len({exchange.port for exchange in echo.exchanges}) <= 3


def test_the_probe_is_made_once_for_all_threads_and_models(echo):
    models = [OpenAICompatible(echo.rest) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda model: model.capabilities, models))
    assert len(echo.exchanges) == 3
    assert set(found) == {models[0].capabilities}
    OpenAICompatible(echo.rest, "another-key").capabilities  # noqa: B018
    assert len(echo.exchanges) == 6


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault != "slow"])
def test_a_probe_that_failed_is_made_again(fault):
    with serving("echo", faults=iter([None, fault, *[None] * 20])) as server:
        model = OpenAICompatible(server.rest)
        if fault == "choices":  # another number of texts than were to be repeated
            assert not model.capabilities.scores_given_text
            return
        with refused(TemporaryError):
            model.capabilities  # noqa: B018
        assert len(server.exchanges) == 2
        assert model.capabilities.scores_given_text
        assert len(server.exchanges) == 4, "what was answered before is not asked again"


@pytest.mark.parametrize(
    ("flavour", "rest", "words"),
    [
        ("echo", "mistaken@{}/v1", "no model called “mistaken”"),
        ("chat-top", "mistaken@{}/v1", "no model called “mistaken”"),
        ("echo", "mistaken@{}", "/v1"),  # an address without its end
    ],
)
def test_a_model_that_is_not_there_gets_a_sentence(flavour, rest, words):
    with serving(flavour) as server:
        model = OpenAICompatible(rest.format(server.base_url.removesuffix("/v1")))
        with refused(UnknownModelError, words):
            model.revision  # noqa: B018
        assert len(server.exchanges) == 2


def test_a_proxy_that_cools_down_is_asked_on_and_not_anew():
    """As LiteLLM: there are no completions, and then for some seconds nothing at all."""
    answers = [None, (429, {}, said("No deployments available for selected model")), None]
    answers += [(404, {}, said("Deployment over limit, cooldown_list=[1]")), *[None] * 4]

    with serving("chat-top", before=lambda *_: answers.pop(0)) as server:
        model = OpenAICompatible(server.rest)
        for _ in range(2):
            with pytest.raises(TemporaryError):
                model.capabilities  # noqa: B018
        assert model.capabilities.own_log_likelihoods
        paths = [exchange.path.removeprefix("/v1") for exchange in server.exchanges]
        assert paths == ["/completions", *["/chat/completions"] * 6]


def test_a_server_that_refuses_everything_gets_a_sentence():
    with serving("echo", refuses=("model",)) as server:
        with refused(RefusedError, "Unsupported parameter: 'model'"):
            OpenAICompatible(server.rest).capabilities  # noqa: B018
        assert len(server.exchanges) <= MOST_PROBES


@pytest.mark.parametrize(
    "spoil",
    [
        lambda choice: choice.update(text=choice["text"][1:]),
        lambda choice: choice.update(text=choice["text"][:-99]),
        lambda choice: choice["logprobs"].update(token_logprobs=[]),
        lambda choice: choice.update(logprobs=None),
        *(
            lambda choice, n=number: choice["logprobs"]["token_logprobs"].__setitem__(2, n)
            for number in (None, 3.5, float("nan"), "-1")
        ),
    ],
)
def test_an_echo_is_believed_only_if_the_text_came_back_with_all_its_numbers(spoil):
    def spoilt(reply):
        if reply["choices"][0]["text"].startswith("Q:"):
            spoil(reply["choices"][1])
        return reply

    with serving("echo", after=spoilt) as server:
        assert not OpenAICompatible(server.rest).capabilities.scores_given_text


# ------------------------------------------------------------------------------ sampling


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_samples_are_those_of_the_model_in_process(flavour, embedded):
    with serving(flavour) as server:
        model = probed(server)
        for temperature, seed, first in [(0.9, 0, 0), (1.3, 5, 3)]:
            drawn = model.sample(PROMPT, 10, temperature=temperature, seed=seed, first=first)
            wanted = embedded.sample(PROMPT, 10, temperature=temperature, seed=seed, first=first)
            assert [(r.text, r.complete) for r in drawn] == [(r.text, r.complete) for r in wanted]
        assert len(server.exchanges) == 4, "ten candidates are two requests of at most eight"
        whole = model.sample(PROMPT, 9, temperature=1.3)
        parts = model.sample(PROMPT, 4, temperature=1.3)
        parts += model.sample(PROMPT, 5, temperature=1.3, first=4)
        assert whole == parts


def test_one_request_says_what_is_wanted_and_nothing_else(echo):
    model = probed(echo)
    model.sample(PROMPT, 8, temperature=0.7, seed=3, first=5)
    model.sample(PROMPT, 5, temperature=0)
    drawn, greedy = echo.bodies
    assert drawn == {
        "model": echo.model,
        "prompt": PROMPT,
        "temperature": 0.7,
        "max_tokens": MAX_RESPONSE_TOKENS,
        "top_p": 1.0,
        "stop": ["\n"],
        "seed": prompt_seed(3, PROMPT) * 2**20 + 5,
        "min_p": 0,
        "top_k": -1,
        "repeat_penalty": 1,
        "repetition_penalty": 1,
        "n": 8,
        "logprobs": 1,
    }
    assert greedy["temperature"] == 0 and "n" not in greedy


def test_a_server_that_only_chats_gets_the_prompt_as_a_message():
    with serving("chat-top") as server:
        model = probed(server)
        model.sample(PROMPT, 1)
        model.next_token(PROMPT)
        assert [body["messages"] for body in server.bodies] == 2 * [
            [{"role": "user", "content": PROMPT}]
        ]
        assert server.bodies[0]["logprobs"] is True


@pytest.mark.parametrize("flavour", ["top", "chat-top"])
@pytest.mark.parametrize("lists_end", [True, False])
def test_its_own_likelihoods_are_those_of_the_model_in_process(flavour, lists_end, embedded):
    with serving(flavour, lists_end=lists_end) as server:
        drawn = OpenAICompatible(server.rest).sample(PROMPT, 8, temperature=0.9)
        scored = embedded.log_likelihoods([PROMPT], [response.text for response in drawn])[0]
        for response, score in zip(drawn, scored, strict=True):
            if lists_end:
                assert response.log_likelihood == pytest.approx(score, abs=1e-4)
            else:
                assert score - 1e-4 <= response.log_likelihood <= 0


@pytest.fixture
def scripted(embedded, monkeypatch):
    """Make the model say given texts, one token after the other, each with ln p = -0.25."""

    def play(*texts):
        said = iter([t for text in texts for t in (text if text == [1] else embedded.encode(text))])

        def log_softmax(hidden):
            scores = np.full((len(hidden), len(embedded.llama.embeddings)), -50.0, np.float32)
            scores[:, next(said)] = -0.25
            return scores

        monkeypatch.setattr(embedded.llama, "log_softmax", log_softmax)

    return play


@pytest.mark.parametrize("flavour", ["top", "chat-top"])
@pytest.mark.parametrize(
    ("said", "response"),
    [
        ([" Paris", "\n", " Q: And"], Response("Paris", True, -0.5)),
        (["\n", " Paris", "\n", " Q: And"], Response("Paris", True, -0.75)),
        ([" Paris", "\n\nOne answer to question Q is", " a"], Response("Paris", True, -0.5)),
        ([" a"] * 33, Response(" ".join("a" * 32), False, -8.0)),  # cut off
    ],
    ids=["line break", "line break first", "phrase", "no end"],
)
def test_a_server_without_stops_is_cut_at_the_line_break(
    flavour, said, response, embedded, scripted
):
    with serving(flavour, model=embedded, stops=False) as server:
        model = probed(server)
        scripted(*said, *[" a"] * 40)
        found = model.sample(PROMPT, 1)[0]
        assert (found.text, found.complete) == (response.text, response.complete)
        assert found.log_likelihood == pytest.approx(response.log_likelihood)


def test_an_empty_response_is_a_response(embedded, scripted):
    with serving("chat-top", model=embedded, lists_end=False) as server:
        model = probed(server)
        scripted([embedded.end])
        assert model.sample(PROMPT, 1) == [Response("", True, 0.0)]


def test_an_answer_that_is_too_long_is_as_likely_as_its_beginning():
    numbers = {"tokens": [" word"] * 90, "token_logprobs": [-0.25] * 90}
    change = {"text": " word" * 90, "finish_reason": "stop", "logprobs": numbers}
    with spoilt("top", lambda choice: choice.update(change)) as model:
        (response,) = model.sample(PROMPT, 1)
    assert (response.text, response.complete) == (" ".join(["word"] * 60), False)
    assert response.log_likelihood == -0.25 * 60 and response.overlong


@pytest.mark.parametrize(
    "change",
    [
        {"logprobs": None},
        # The list of numbers is shorter than that of tokens: nothing says that ln p is 0.
        {"text": "", "finish_reason": "stop"}
        | {"logprobs": {"tokens": [END], "token_logprobs": []}},
    ],
    ids=["left out", "empty, without its number"],
)
def test_a_likelihood_that_is_not_there_is_asked_for_again(change):
    with (
        spoilt("top", lambda choice: choice.update(change)) as model,
        refused(TemporaryError, "log-probabilities"),
    ):
        model.sample(PROMPT, 4)


@pytest.mark.parametrize("flavour", ["echo", "top", "chat-top"])
def test_next_tokens_are_those_of_the_model_in_process(flavour, embedded):
    tokens = embedded.encode(PROMPT)
    row = embedded.llama.log_softmax(embedded.llama.forward(np.array([tokens]))[0][:, -1])[0]
    best = [int(token) for token in np.argsort(-row)[:5]]
    with serving(flavour) as server:
        top = probed(server).next_token(PROMPT)
        assert list(top) == [embedded.tokenizer.decode([token]) for token in best]
        assert list(top.values()) == pytest.approx([row[token] for token in best])
        (body,) = server.bodies
        assert "stop" not in body


def test_the_token_that_was_drawn_is_no_likely_one_for_that():
    """Servers list it behind the likeliest; others that are missing may be likelier."""
    listed = []

    def watched(reply):
        listed.extend(reply["choices"][0]["logprobs"]["top_logprobs"])
        return reply

    with serving("top", after=watched) as server:
        model = probed(server)
        for prompt in ["A:", "The", "Q: Who?", "One", "Paris is", "Homer", "Why", "In 19", "I"]:
            assert len(model.next_token(prompt)) == 5
    assert max(map(len, listed)) == 6, "or this shows nothing"


# ------------------------------------------------------------------------------- scoring


@pytest.mark.parametrize("options", [{}, {"least_tokens": 1}, {"opening": "<s>"}, {"scaled": True}])
def test_scores_with_the_end_are_those_of_the_model_in_process(options, embedded):
    with serving("echo", **options) as server:
        model = OpenAICompatible(server.rest, end=END)
        np.testing.assert_allclose(
            model.log_likelihoods(TOLD, ANSWERS), embedded.log_likelihoods(TOLD, ANSWERS), atol=1e-4
        )
        assert f"end token “{END}”" in model.revision


def log_likelihood(embedded, text, start=0):
    """The sum over the tokens of a text from the one with the number `start` on, in process."""
    tokens = embedded.encode(text)
    rows = embedded.llama.log_softmax(embedded.llama.forward(np.array([tokens]))[0][0])
    values = [float(rows[i - 1, tokens[i]]) for i in range(1, len(tokens))]
    return sum(values[max(start, 1) - 1 :])


def test_scores_without_the_end_sum_the_tokens_behind_the_prompt(embedded):
    with serving("echo", lists_end=False) as server:
        scored = OpenAICompatible(server.rest).log_likelihoods([PROMPT], ANSWERS)[0]
    start = len(embedded.encode(PROMPT))
    wanted = [log_likelihood(embedded, f"{PROMPT} {answer}", start) for answer in ANSWERS]
    assert scored == pytest.approx(wanted, abs=1e-4)
    with_end = embedded.log_likelihoods([PROMPT], ANSWERS)[0]
    assert (with_end < scored + 1e-4).all() and not np.allclose(with_end, scored, atol=1e-3)


@pytest.mark.parametrize("options", [{}, {"lists_end": False}])
def test_an_empty_answer_is_scored_as_one_or_hardly_possible(options, embedded):
    """With its end: that of the prompt and nothing, not even a space. Else it is no answer."""
    with serving("echo", **options) as server:
        (scored,) = OpenAICompatible(server.rest).log_likelihoods([PROMPT], [""])[0]
    tokens = embedded.encode(PROMPT)
    row = embedded.llama.log_softmax(embedded.llama.forward(np.array([tokens]))[0][:, -1])[0]
    wanted = replies.LEAST if options else float(row[embedded.end])
    assert scored == pytest.approx(wanted, abs=1e-4)


A, B, C, E = ("a", None), ("b", -1.0), ("c", -2.0), ("e", -8.0)
LONGER = [A, *((letter, -1.0) for letter in "bcde")]


@pytest.mark.parametrize(
    ("prompt", "whole", "value"),
    [
        ([A, B, C], [A, B, C, (" d", -4.0), E], -12.0),
        ([A, B, C], [A, B, ("c d", -5.0), E], -11.0),
        ([A, B, C], [A, ("bc d", -7.0), E], -12.0),
        ([A, B, C], [A, ("bc d", -2.5)], None),  # likelier than its own beginning
        ([A, B, C], [("abc d", None), E], None),  # nothing in common
        ([A, B, C], [A, B, C], None),  # nothing behind it
        ([A, B, C], [A, B, C, (" d", None)], None),
        ([A, B, C], [], None),
        (LONGER, [*LONGER[:3], ("de f", -7.0)], -5.0),
        (LONGER, [*LONGER[:2], ("cde f", -7.0)], None),  # at most two are split anew
    ],
)
def test_a_token_across_the_border_is_split_by_the_chain_rule_or_refused(prompt, whole, value):
    service = Service(read_address("http://localhost/v1"), None, Meter())
    if value is None:
        with refused(RefusedError, "token by token"):
            behind(service, prompt, whole, "")
    else:
        assert behind(service, prompt, whole, "") == value


def test_pairs_go_out_in_as_few_requests_as_may_be(echo):
    model = probed(echo)
    model.log_likelihoods(TOLD[:2], [f"Answer {i}" for i in range(PAIRS_A_CALL // 2)])
    assert len(echo.exchanges) == 1
    body = echo.bodies[0]
    assert len(body["prompt"]) == PAIRS_A_CALL + 2
    assert (body["echo"], body["max_tokens"], body["temperature"]) == (True, 1, 1.0)
    model.log_likelihoods(TOLD, [f"Answer {i}" for i in range(PAIRS_A_CALL)])
    assert len(echo.exchanges) == 4


def test_an_end_that_the_server_does_not_know_is_refused(echo):
    model = OpenAICompatible(echo.rest, end="</s>")
    with refused(RefusedError, "“</s>”"):
        model.log_likelihoods([PROMPT], ANSWERS)


@pytest.mark.parametrize(
    "part", [slice(3, None), slice(0), slice(2)], ids=["without beginning", "empty", "without end"]
)
def test_texts_that_come_back_changed_are_not_scored(part):
    def cut(choice):
        for name in ("tokens", "token_logprobs") if choice["index"] else ():
            choice["logprobs"][name] = choice["logprobs"][name][part]

    with spoilt("echo", cut) as model, refused(RefusedError, "token by token"):
        model.log_likelihoods([PROMPT], ANSWERS)


# ---------------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize(
    ("fault", "words", "wait"),
    [
        ("busy", "too many requests", None),
        ("busy for a while", "too many requests", 0.01),
        ("broken", "status 500", None),
        ("cut", "broke", None),
        ("malformed", "JSON", None),
        ("empty", "JSON", None),
        ("choices", "number of answers", None),
        ("no choices", "number of answers", None),
        ("numbers", "log-probabilities", None),
    ],
)
def test_what_may_pass_is_a_temporary_error(fault, words, wait):
    with serving("echo", faults=iter([None] * 3 + [fault] * 2 + [None] * 9)) as server:
        model = probed(server)
        before = model.meter.requests
        for ask in (
            lambda: model.sample(PROMPT, 2),
            lambda: model.log_likelihoods([PROMPT], ANSWERS),
        ):
            with refused(TemporaryError, words, "127.0.0.1") as caught:
                ask()
            assert caught.value.retry_after == wait
        assert len(server.exchanges) == 2, "a back end never tries again by itself"
        assert model.meter.requests == before + 2, "it came back, whatever was wrong with it"
        assert len(model.sample(PROMPT, 2)) == 2


def test_a_server_that_takes_too_long_is_temporary(monkeypatch):
    monkeypatch.setattr(http, "TIMEOUTS", (5.0, 0.05))
    with serving("echo", latency=0.5) as server:
        model = OpenAICompatible(server.rest, KEY)
        with refused(TemporaryError, "too long"):
            model.sample(PROMPT, 1)
        assert model.meter.requests == 0


def test_a_port_without_a_server_and_a_host_that_is_none_get_sentences():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        here = f"127.0.0.1:{free.getsockname()[1]}"
        there = "no-such-host.invalid"
        for host, *words in ((here, here, "server runs"), (there, f"no host called {there}")):
            with refused(UnreachableError, *words):
                OpenAICompatible(f"m@http://{host}/v1", KEY).sample(PROMPT, 1)


def test_plain_http_where_tls_is_spoken_gets_a_sentence(echo):
    with refused(UnreachableError, "https://"):
        OpenAICompatible(echo.rest.replace("http:", "https:"), KEY).sample(PROMPT, 1)


def said(message, **more):
    return json.dumps({"error": {"message": message, **more}}).encode()


@pytest.mark.parametrize("key", ["k", "n", "model"])
def test_a_short_key_does_not_hide_what_is_refused(key):
    with serving("chat-top", refuses=("top_k", "n")) as server:
        model = OpenAICompatible(server.rest, key)
        assert model.capabilities.own_log_likelihoods
        assert model.capabilities.candidates_a_call == 1 and "top_k" not in model.revision
        assert server.model in model.revision
    refusal = 400, {}, said(f"top_k? key: {key}.")
    with (
        serving("chat-top", before=lambda *_: refusal) as server,
        pytest.raises(RefusedError, match=r"“top_k\? key: …\.”"),
    ):
        OpenAICompatible(server.rest, key).capabilities  # noqa: B018


def sure(choice):
    """As if whatever is said had a probability of .99."""
    for entry in (listed := entries(choice)):
        entry |= {"logprob": -0.01 / len(listed), "top_logprobs": []}


@pytest.mark.parametrize("late", [False, True])
def test_log_probabilities_that_add_up_to_more_than_one_are_not_used(late):
    with spoilt("chat-top", sure, late=late) as model:
        assert model.capabilities.own_log_likelihoods is late
        if late:
            with refused(RefusedError, "add up to more than 1"):
                model.sample(PROMPT, 8, temperature=2.0)
        assert not model.capabilities.own_log_likelihoods
        assert any("add up to more than 1" in note for note in model.capabilities.notes)


@pytest.mark.parametrize(
    ("reason", "about", "used", "whole"),
    [
        *((reason, {}, 32, True) for reason in ("stop", "STOP", "eos", "end_turn")),
        *((reason, {}, 2, False) for reason in ("length", "MAX_TOKENS", "model_length", "abort")),
        (None, {}, 0, True),  # five bytes are no 32 tokens
        (None, {"text": "Paris " * 8}, 0, False),
        (None, {"text": "Paris " * 8}, 9, True),
        (None, {}, 32, False),
        (None, {"logprobs": {"tokens": ["x"] * 32, "token_logprobs": [-1] * 32}}, 0, False),
    ],
)
def test_an_answer_is_whole_if_its_server_says_so_or_no_limit_was_reached(
    reason, about, used, whole
):
    choice = {"text": "Paris", "finish_reason": reason} | about
    assert replies.is_whole(choice, 32, used, 1) is whole


TOOL = "a call of a tool that it does not have"
NOT = b'{"choices": [{"message": {"content": null, "refusal": "I will not"}}]}'


@pytest.mark.parametrize(
    ("status", "body", "why"),
    [
        (200, b'{"choices": [{"finish_reason": "content_filter"}]}', "its filter"),
        (200, b'{"choices": [{"text": "", "finish_reason": "tool_calls"}]}', TOOL),
        (200, NOT, "the model declined"),
        (400, said("The prompt was filtered", code="content_filter"), "its filter of prompts"),
        (400, said("Invalid prompt: your prompt was flagged as"), "its filter of prompts"),
        (403, said("m requires moderation. Your input was flagged."), "its filter of prompts"),
        (403, said("Content violates usage guidelines."), "its filter of prompts"),
    ],
)
def test_an_answer_that_is_none_is_no_end_of_the_run(status, body, why):
    answers = []
    with serving("echo", before=lambda *_: answers.pop() if answers else None) as server:
        model = probed(server, KEY)
        answers.append((status, {}, body))
        assert model.sample(PROMPT, 1) == [Response("", False, refusal=why)]


@pytest.mark.parametrize(
    ("key", "repeated", "shown"),
    [
        (KEY, f"Paris {KEY}", "Paris …"),
        (KEY, f"Paris {' '.join(KEY[:16])}!", "Paris …!"),
        (KEY, f"{KEY[:4]}\n{KEY[4:]}", "…"),
        ("sk-no-key-required", "not required", "not required"),
        ("Paris", "Paris", "Paris"),
    ],
)
def test_a_key_in_an_answer_is_left_out_before_anything_stores_it(key, repeated, shown):
    with spoilt("none", lambda choice: choice.update(text=repeated), key=key) as model:
        assert [response.text for response in model.sample(PROMPT, 2)] == [shown] * 2


UNPAID = [
    (402, "Pay first", None),
    (429, "No money", "insufficient_quota"),
    (400, "Your credit balance is too low to access the API.", None),
]


@pytest.mark.parametrize(("status", "text", "code"), UNPAID)
def test_who_has_to_pay_first_hears_so_once_and_loses_nothing(status, text, code):
    """No field that is left out helps, and what a server can do is known as before."""
    answers = [(status, {}, said(text, code=code))]
    memory = Remembered()
    with serving("chat-none", before=lambda *_: answers[0] if answers else None) as server:
        for remembered in (False, True):
            model = OpenAICompatible(server.rest)
            model.remember_in(lambda: memory)
            with refused(CreditError, "paid first"):
                model.sample(PROMPT, 1)
            assert len(server.exchanges) == 1
            answers.clear()
            assert model.sample(PROMPT, 1)
            assert len(server.exchanges) == (2 if remembered else 6)
            answers.append((status, {}, said(text, code=code)))
            ENDPOINTS.clear()
            server.exchanges.clear()


@pytest.mark.parametrize(
    ("status", "body", "error", "words"),
    [
        (400, said("Your prompt is odd"), RefusedError, "“Your prompt is odd”"),
        (400, said(f"bad key {KEY} there"), RefusedError, "“bad key … there”"),
        (400, said(f"bad key {KEY[:9]}, {KEY[-9:]}."), RefusedError, "“bad key …, ….”"),
        (400, said(f"not {' '.join(KEY)} here"), RefusedError, "“not … here”"),
        (400, f"bad {KEY} there".encode("utf-16-le"), RefusedError, "“b a d … t h e r e”"),
        (400, said("x" * 5000), RefusedError, f"“{'x' * 199}…”"),
        (400, said("two\nlines\x00\x1b[31m"), RefusedError, "“two lines [31m”"),
        (422, b'{"detail": [{"msg": "no such field"}]}', RefusedError, "no such field"),
        (404, b"<html>gone</html>", OtherModelError, "gone"),  # it ends a run: none is there
        (410, said("deprecated"), OtherModelError, "“deprecated”. Open it anew"),
        *(
            (status, said(text, code=code), CreditError, "paid first")
            for status, text, code in UNPAID
        ),
        (403, said(f"not with {KEY}"), NeedsKeyError, "did not accept"),
        (400, said("Incorrect API key provided: sk***."), NeedsKeyError, "did not accept"),  # xAI
        (400, said("API key not valid. Please pass a valid one."), NeedsKeyError, "did not accept"),
        (403, said("Not in your country"), NeedsKeyError, "It says: “Not in your country”."),
        (400, said("This model's maximum context length is 9"), PromptTooLongError, "Shorten"),
        (413, said("Too many tokens"), PromptTooLongError, "Shorten"),
        (302, b"", RefusedError, "another address"),
        (200, said("Provider failed"), RefusedError, "Provider failed"),
        (200, said("Overloaded", code=503), TemporaryError, "503"),
        (503, b"", TemporaryError, "503"),
        (500, said("it requires more memory"), TemporaryError, "500): “it requires more memory”."),
        (502, b"<html>Bad Gateway</html>", TemporaryError, "(status 502). Try"),
        (503, said("Loading model"), LoadingError, "still loading"),
        (408, b"", TemporaryError, "408"),
        (200, b"[" * 100_000, TemporaryError, "JSON"),
        (200, b"[]", TemporaryError, "without answers"),
        (200, b'data: {"choices": [{"delta": {}}]}\n\n', OtherModelError, "streams its replies"),
        (200, b"\xff\xfe", TemporaryError, "JSON"),
        (200, b"{}", TemporaryError, "answers"),
        (200, b'{"choices": [1]}', TemporaryError, "answers"),
        (200, b'{"choices": []}', TemporaryError, "number of answers"),
        (200, b'{"choices": [{"text": 5}]}', TemporaryError, "text"),
        (200, b'{"choices": [{"text": "a", "error": {"code": 502}}]}', TemporaryError, "broke off"),
        (200, b" " * 9_000_000, RefusedError, "8 MB"),
    ],
)
def test_what_servers_say_becomes_a_sentence(status, body, error, words):
    answers = []
    headers = {"Location": "http://127.0.0.1:9/v1"} if status == 302 else {}
    with serving("echo", before=lambda *_: answers.pop() if answers else None) as server:
        model = probed(server, KEY)
        answers.append((status, headers, body))
        with refused(error, words):
            model.sample(PROMPT, 1)
        assert len(server.exchanges) == 1, "redirections are never followed"


@pytest.mark.parametrize(
    ("sent", "seconds"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        *((text, None) for text in ("soon", "nan", "inf", "9" * 400, "Mon, 99 Foo", "\xb2")),
    ],
)
def test_how_long_a_server_asks_to_wait_is_handed_on(sent, seconds):
    with serving("echo", before=lambda *_: (429, {"Retry-After": sent}, b"")) as server:
        with pytest.raises(TemporaryError) as caught:
            OpenAICompatible(server.rest).sample(PROMPT, 1)
        assert caught.value.retry_after == seconds


def test_choices_come_in_the_order_of_their_numbers(embedded):
    def turned(reply):
        reply["choices"] = reply["choices"][::-1]
        return reply

    with serving("echo", after=turned) as server:
        model = OpenAICompatible(server.rest, end=END)
        np.testing.assert_allclose(
            model.log_likelihoods(TOLD, ANSWERS), embedded.log_likelihoods(TOLD, ANSWERS), atol=1e-4
        )
        drawn = model.sample(PROMPT, 8, temperature=1.5)
        wanted = embedded.sample(PROMPT, 8, temperature=1.5)
        assert [r.text for r in drawn] == [r.text for r in wanted]


def test_odd_numbers_of_a_server_do_no_harm(embedded):
    """Rounding above ln 1, ln 0 as infinity, usage that is none."""

    def odd(reply):
        reply["usage"] = {"prompt_tokens": "many", "completion_tokens": None}
        for choice in reply["choices"] if on else ():
            values = choice["logprobs"]["token_logprobs"]
            values[-1] = 0.0001 if len(values) % 2 else float("-inf")
        return reply

    on = []
    with serving("echo", after=odd) as server:
        model = probed(server)
        on.append(True)
        table = model.log_likelihoods(TOLD, ANSWERS)
        assert np.isfinite(table).all() and (table <= 0).all()
        assert model.meter.usage.prompt_tokens == model.meter.usage.response_tokens == 0
