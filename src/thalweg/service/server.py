"""The service as a process: opened, listening, stopped politely."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import logging
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import orjson
import uvicorn

from thalweg.client.protocol import DEFAULT_MODEL, Costs, CreateRequest
from thalweg.errors import InvalidParameter
from thalweg.history.automatic import AUTO
from thalweg.history.language import Feature
from thalweg.history.planning import asked_features
from thalweg.option_fields import declared, parse_costs
from thalweg.service.alerts import service_rules
from thalweg.service.auth import Authorizer, read_tokens
from thalweg.service.feeds.feeding import opener
from thalweg.service.http.app import build
from thalweg.service.http.connections import protocol
from thalweg.service.http.observers import AccessLog, Tracing, log_as_json, provider_for
from thalweg.service.journal.databases import open_journal
from thalweg.service.journal.records import Record
from thalweg.service.journal.sql import SqlJournal
from thalweg.service.learning.compaction import compact, cut_points
from thalweg.service.learning.creation import from_file, new
from thalweg.service.options import LOOPBACK, OF_WRITERS, Address, ServeOptions, is_among
from thalweg.service.service import Service
from thalweg.stopping import stopping

#: Seconds after which a thread that computes lets others run: the default of 5 ms is longer than most requests.
_SWITCH_SECONDS = 0.0005
#: Seconds between two signals of which the second ends at once, and for clients to read their last responses.
_PATIENCE_SECONDS = 1.0
#: Objects between collections of garbage, and how many of the younger generation come before one of the older. With
#: Python's own numbers, of which the first is 30 times lower, a request took a seventh more processor time.
_COLLECTIONS = (20_000, 20, 20)
#: Of glibc's `mallopt`, and bytes from which memory is asked of the system and given back when it is freed.
_MMAP_THRESHOLD, _LARGE_BYTES = -3, 512 << 10
_LOG = logging.getLogger("thalweg.service")
_LOCAL_NAMES = frozenset({"127.0.0.1", "localhost", "::1"})


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address.

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    return host == "localhost" or is_among(host, LOOPBACK)


def authorizer_for(options: ServeOptions) -> Authorizer:
    """Who is let in; an `InvalidParameter` where strangers would be."""
    tokens = read_tokens(options.token_file) if options.token_file is not None else []
    local = is_loopback(options.listen.host)
    if not local and not tokens and not options.insecure:
        raise InvalidParameter(
            f"to listen on {options.listen.host} without tokens lets everyone in: give --token-file, "
            "or --insecure where something else keeps strangers out"
        )
    return Authorizer(
        tokens, _LOCAL_NAMES | {options.listen.host} if local and not tokens and not options.insecure else None
    )


def make_first(journal: SqlJournal, options: ServeOptions) -> bool:
    """The model that is asked by default; whether the journal had none yet."""
    if DEFAULT_MODEL in journal.models():
        return False
    body = orjson.dumps(first_model(options))
    seq, _ = journal.last()
    with journal.transaction():
        journal.write([Record(seq + 1, DEFAULT_MODEL, "create", time.time_ns() // 1000, 0, body)])
    return True


def first_model(options: ServeOptions) -> dict[str, Any]:
    """The record that makes it; an error where the options do not allow one."""
    if options.model is not None and options.schema is not None:
        raise InvalidParameter("the model file already has columns: leave out --schema or --model")
    if options.costs is not None and options.positive is None:
        raise InvalidParameter.of_option("positive", "name the label of interest, which --costs needs", None)
    costs = None if options.costs is None else parse_costs(options.costs)
    features = list(map(str, _features(options)))
    if options.model is None:
        asked = CreateRequest(
            DEFAULT_MODEL,
            options.new or "auto",
            positive=options.positive,
            costs=None if costs is None else Costs(**costs),
            task=options.task,
            coverage=options.coverage,
            key=options.key,
            key_memory=options.key_memory,
            features=features or None,
            time=options.time,
        )
        return new(asked, options.schema)
    if options.task is not None or options.coverage is not None:
        raise InvalidParameter("the model file already has a task: leave out --task and --coverage, or --model")
    if options.key is not None or options.key_memory is not None:
        raise InvalidParameter("a model file keeps its own keys: leave out --key and --key-memory, or --model")
    if features or options.time is not None:
        raise InvalidParameter(
            "a model file keeps its own features: leave out --feature, --features and --time, or --model"
        )
    body = from_file(options.model)
    if options.positive is not None and "task" in body:
        raise InvalidParameter.of_option("positive", "be left out: the model predicts numbers", options.positive)
    if options.positive is not None:
        body |= {"positive": options.positive}
    return body if costs is None else body | {"costs": costs}


def _features(options: ServeOptions) -> tuple[Feature, ...]:
    """Those from earlier rows that are asked for."""
    features = asked_features(options.feature, None if options.features is None else str(options.features))
    if features is None:
        rule = "name a file: `thalweg run --features auto` chooses features from a table, and --model serves its model"
        raise InvalidParameter.of_option("features", rule, AUTO)
    return features


class _Server(uvicorn.Server):
    """Lets live views, silent senders and slow readers go when it is asked to stop: they may never end."""

    service: Service
    reload: Callable[[], None]
    asked_to_stop = 0.0

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """At a signal, in the main thread: the first lets all that waits be finished, one a second later does not."""
        now = time.monotonic()
        self.force_exit = self.should_exit and now > self.asked_to_stop + _PATIENCE_SECONDS
        if not self.should_exit:  # some send the same signal twice at once
            self.should_exit, self.asked_to_stop = True, now
        self.service.stop_soon()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Finish the requests in work; then clients have a second to read their responses."""
        letting_go = asyncio.create_task(self._let_go_of_slow_readers())
        await super().shutdown(sockets)
        letting_go.cancel()

    async def _let_go_of_slow_readers(self) -> None:
        last_work = time.monotonic()
        while time.monotonic() < last_work + _PATIENCE_SECONDS:
            await asyncio.sleep(0.05)
            if self.service.in_work:
                last_work = time.monotonic()
        for connection in list(self.server_state.connections):
            connection.transport.abort()


def check_alerts(options: ServeOptions) -> None:
    """Refuse rules and addresses that cannot be, before anything is opened."""
    service_rules(options.alert)
    if options.alert_webhook is not None:
        if not options.alert:
            raise InvalidParameter.of_option("alert", "be given together with --alert-webhook", None)
        from thalweg.service.webhook import Webhook, read_secret

        Webhook(options.alert_webhook, read_secret(options.alert_secret_file))


def serve(options: ServeOptions, say: Callable[[str], None]) -> None:
    """Run until SIGINT or SIGTERM; ``say`` gets a line when it listens."""
    authorizer = authorizer_for(options)
    check_alerts(options)
    spans = None if options.otel_endpoint is None else provider_for(options.otel_endpoint)
    if options.log_json:
        log_as_json()
        say = _LOG.info
    feeds = [opener(address) for address in options.sources]
    with listening(options.listen) as listener:
        gc.disable()  # what there is once it listens stays
        service = _opened(options, say)
        sys.setswitchinterval(_SWITCH_SECONDS)
        _give_back_memory()
        application: Any = build(service, authorizer, feeds)
        if options.log_json:
            application = AccessLog(application)
        if spans is not None:
            application = Tracing(application, spans)
        config = uvicorn.Config(
            application,
            loop="auto",  # uvloop, where there is one: Windows has none
            http=protocol(options),
            ws="none",
            log_level="error",  # errors of clients are in their responses
            access_log=False,
            log_config=None if options.log_json else uvicorn.config.LOGGING_CONFIG,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=options.keep_alive,  # type: ignore[arg-type]
            timeout_graceful_shutdown=30,
        )
        server = _Server(config)
        server.service = service
        server.reload = partial(_reload_tokens, authorizer, options)
        stopping().release()  # from here on a signal lets the requests in work be finished
        with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
            runner.run(
                _run(
                    server, listener, lambda port: say(f"thalweg serves at http://{options.listen._replace(port=port)}")
                )
            )


def _give_back_memory() -> None:
    """Keep glibc's bound for large pieces, which it would raise up to 32 MB as such pieces are freed.

    Between pieces of many sizes gaps would stay: 93 MB of them after 30 models had come and gone, 20 MB with the bound.
    Rows in large batches of Arrow take a quarter more time. Other libraries of C have no such bound.
    """
    with suppress(AttributeError, TypeError):  # the latter on Windows
        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE_BYTES)


def _reload_tokens(authorizer: Authorizer, options: ServeOptions) -> None:
    """At SIGHUP: read the tokens again; where that fails, those from before stay."""
    if options.token_file is None:
        _LOG.warning("there is no --token-file to be read again")
        return
    try:
        tokens = read_tokens(options.token_file)
    except InvalidParameter as error:
        _LOG.error("%s; the tokens from before stay", error)
        return
    authorizer.replace(tokens)
    _LOG.warning("%d tokens were read from %s", len(tokens), options.token_file)


def listening(at: Address) -> socket.socket:
    """The socket that clients come to; an `InvalidParameter` where it cannot be had.

    Examples
    --------
    >>> with listening(Address("127.0.0.1", 0)) as listener:
    ...     listener.getsockname()[0]
    '127.0.0.1'
    """
    family = socket.AF_INET6 if ":" in at.host else socket.AF_INET
    try:
        return socket.create_server(at, family=family, backlog=2048)
    except OSError as error:
        raise InvalidParameter(f"--listen {at} cannot be opened: {error.strerror or error}") from error


def _opened(options: ServeOptions, say: Callable[[str], None]) -> Service:
    """The service as the journal says it is; with a first model where there is none."""
    if options.follow is not None:
        return _following(options, options.follow)
    if options.database is None and not options.data.exists():
        first_model(options)  # refused before there is a folder
    silence, new = options.database_timeout, options.new_journal
    journal = open_journal(options.data, options.database, new=new, silence=silence)
    try:
        journal.claim()
        journal.prepare()
        if options.keep is not None:
            compact(journal, cut_points(journal, options.keep), shrink=False)
        if not make_first(journal, options) and any(
            (options.model, options.new, options.schema, options.task, options.key)
        ):
            where = options.data if options.database is None else "the database"
            ignored = "--model, --new, --task, --schema and --key"
            say(f"thalweg continues with the models in {where} and ignores {ignored}")
        return Service(journal, options)
    except BaseException:
        journal.close()
        raise


def _following(options: ServeOptions, journal: str) -> Service:
    """A replica of the service that writes a journal."""
    infos = declared(ServeOptions)
    for name in OF_WRITERS:
        if getattr(options, name):
            typed = (infos[name].typed or name).replace("_", "-")
            raise InvalidParameter(
                f"--follow predicts with the models of another service and learns nothing: leave out --{typed}"
            )
    if "://" in journal and not journal.startswith(("postgresql://", "postgres://")):
        raise InvalidParameter.of_option("follow", "be a folder, or begin with postgresql://", journal)
    database = journal if "://" in journal else None
    opened = open_journal(Path(journal), database, read_only=True, silence=options.database_timeout)
    try:
        return Service(opened, options)
    except BaseException:
        opened.close()
        raise


async def _run(server: _Server, listener: socket.socket, say: Callable[[int], None]) -> None:
    if hasattr(signal, "SIGHUP"):  # Windows has none: there, new tokens need a restart
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, server.reload)
    running = asyncio.create_task(server.serve([listener]))
    while not server.started and not running.done():
        await asyncio.sleep(0.005)
    if server.started:
        gc.freeze()  # collections need not look at it
        gc.enable()
        gc.set_threshold(*_COLLECTIONS)
        say(listener.getsockname()[1])
    await running
