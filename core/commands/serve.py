"""The command that puts a guard behind the interface of chat completions."""

import socket
from pathlib import Path

import click

from core.commands.files import FilesFirst, Input, Range
from core.commands.model import open_for_study, opens, tell
from core.guard import Guard, policy_in
from core.hosts import LOCAL, is_name
from core.language_models.client.stack import stop
from core.studies import costs

PARTING = 1  # seconds for replies that are under way when it is stopped


@click.command(
    cls=FilesFirst,
    help="Serve a guarded model to programs: POST /v1/chat/completions answers where "
    "the policy allows it, with the decision, its reason and its promise in the field “believe”.",
)
@opens
@click.option(
    "--policy", type=Input(), help="What decides.  [default: what is certified for the model]"
)
@click.option("--system", default="", help="The system prompt, where a request brings none.")
@click.option(
    "--deadline",
    type=Range(0, min_open=True),
    default=120.0,
    show_default=True,
    help="Seconds after which an answer is withheld.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="The address to listen on. Whoever reaches it may spend the budget: no key is checked.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True)
@click.option(
    "--allowed-host",
    "names",
    multiple=True,
    default=LOCAL,
    show_default=True,
    help="A name under which it is reached. Repeat it for several; they replace the usual ones.",
)
def serve(
    policy: Path | None,
    system: str,
    deadline: float,
    host: str,
    port: int,
    names: tuple[str, ...],
    model: str,
    form: str,
    budget: int,
) -> None:
    """Answer requests until somebody presses Ctrl-C."""
    import uvicorn

    from core.proxy import proxy

    if not all(map(is_name, names)):
        raise click.BadParameter(
            "give a name alone, such as believe.example, without http:// and port.",
            param_hint="--allowed-host",
        )
    rule = policy_in(policy) if policy else None
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family)
    except OSError as error:
        raise click.ClickException(
            f"Nothing can listen on {host}, port {port}: {error.strerror or error}. Choose another "
            "--port or --host."
        ) from error
    with listening:
        guard = Guard(open_for_study(model, form, budget), rule, system=system)
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{listening.getsockname()[1]}/v1"
        tell(guard.policy.sentence if guard.policy else NOTHING)
        tell(f"{guard.model.name} answers at {address} until you press Ctrl-C.")
        application = proxy(guard, seconds=deadline, names=names)
        settings = uvicorn.Config(
            application,
            log_level="warning",
            server_header=False,
            access_log=False,  # of addresses
            timeout_graceful_shutdown=PARTING,
        )
        try:
            uvicorn.Server(settings).run([listening])
        finally:
            stop(guard.model)
            if not guard.model.capabilities.local:
                tell(f"Used: {costs.spending(guard.model.meter.usage)}")


NOTHING = (
    "Nothing is certified for this model as it is asked, so every answer is withheld. Calibrate "
    "it, and give --policy."
)
